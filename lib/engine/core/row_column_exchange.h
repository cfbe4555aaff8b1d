/*
 * Exchanges of sets of vertices along one row or one column of the grid of
 * parts ("Parallel Distributed Breadth First Search on the Kepler
 * Architecture", sections 3.3 and 5): point to point, receives posted ahead,
 * each message a list of 32-bit positions in one part's block or a bitmap over
 * them, whichever is smaller. Tags distinguish the two, so that no message
 * carries more than the set.
 *
 * Where all give each other one set and nodes hold several ranks of the line, one copy goes to
 * each node: to the rank of it that carries the sender's sets, which hands them on inside.
 *
 * All functions are collective over the line only as far as sends and receives
 * must match; none of them allocates.
 */
#ifndef HOPWAVE_ENGINE_CORE_ROW_COLUMN_EXCHANGE_H
#define HOPWAVE_ENGINE_CORE_ROW_COLUMN_EXCHANGE_H

#include "lib/comm/halo_exchange.h"
#include "lib/engine/core/arrays.h"
#include "lib/engine/core/engine_options.h"
#include "lib/engine/core/trace.h"

/* A set of positions as it travels. */
struct hw_set {
    const void *data; /* hw_lid list[count], or a bitmap of `count` bytes */
    hw_lid count;
    bool bitmap;
};

/* The ranks of one row or column. A line of one rank has no communicator. */
struct hw_rowcol {
    MPI_Comm comm;
    int size, me;
    enum hw_exchange exchange; /* what the user forces */
    hw_lid *active;            /* [size] positions of each one's block that sets may hold */
    size_t capacity;           /* bytes of the largest message, in multiples of 64 */
    unsigned char *received;   /* [size][capacity] */
    unsigned char *scratch;    /* [size][capacity] sets on their way out */
    struct hw_set *got;        /* [size] what came in from whom, until the next receive */
    struct hw_halo halo;       /* the messages; slot: whose set it is; zeroed if size is 1 */
    struct hw_nodes nodes;     /* of the line's ranks */
    struct hw_traffic sent;
    unsigned routines; /* bits: a list was sent (1), a bitmap was (2) */
};

/* Notes that a message has gone to a rank of the line. Local. */
void hw_rowcol_count_message(struct hw_rowcol *line, int to, hw_count bytes);

/* Forgets what was sent; adds what was to a step. Local. */
void hw_rowcol_begin_traffic(struct hw_rowcol *line);
void hw_rowcol_end_traffic(const struct hw_rowcol *line, struct hw_trace_record *step);

/* Bytes of the largest message for blocks of `block` positions, in multiples of 64. */
size_t hw_rowcol_capacity(hw_lid block, enum hw_exchange exchange);

/* Adds the arrays of a line whose size and capacity are known. Local. */
void hw_rowcol_arrays(struct hw_rowcol *line, struct hw_arrays *arrays);

/* Splits the world's ranks by colour, ordered by key. Fills comm, size and me.
 * Collective over ctx->world. */
enum hw_status hw_rowcol_split(struct hw_rowcol *line, const struct hw_context *ctx, int color,
                               int key, int size, struct hw_error *err);

/* Gives each rank's `active` and node to the others of the line. Arrays are allocated
 * already. Collective over the line. */
enum hw_status hw_rowcol_open(struct hw_rowcol *line, const struct hw_context *ctx, hw_lid active,
                              struct hw_error *err);

/* Frees the communicator, not the arrays. Collective over the line. */
void hw_rowcol_close(struct hw_rowcol *line);

/* Gives all ranks of the line each other's block of `block` elements, of which
 * each has filled in its own. blocks: [size][block]. Collective over the line. */
enum hw_status hw_rowcol_gather(const struct hw_rowcol *line, void *blocks, hw_lid block,
                                MPI_Datatype type, struct hw_error *err);

/*
 * Makes the set of a list of positions, or of a bitmap of which `count` bits are
 * set, in the block of the line's rank `block`; positions not active in it are
 * left out. It borrows `list` or `bitmap`, or the scratch memory of `slot`,
 * until the exchange is done. Local.
 */
struct hw_set hw_set_of_list(struct hw_rowcol *line, int slot, int block, const hw_lid *list,
                             hw_lid count);
struct hw_set hw_set_of_bits(struct hw_rowcol *line, int slot, int block, const uint64_t *bitmap,
                             hw_lid count);

/* The set as a bitmap of `words` words. Local. */
void hw_set_to_bits(const struct hw_set *set, uint64_t *bitmap, hw_lid words);

/* The set as a list, rising if it travelled as a bitmap; returns its length. Local. */
hw_lid hw_set_to_list(const struct hw_set *set, hw_lid *list);

/* Posts a receive from one rank of the line, or from all others (HW_LINE_ALL). Local. */
#define HW_LINE_ALL (-1)
enum hw_status hw_rowcol_receive(struct hw_rowcol *line, int from, struct hw_error *err);

/* Starts to send a set. Local. */
enum hw_status hw_rowcol_send(struct hw_rowcol *line, int to, const struct hw_set *set,
                              struct hw_error *err);

/* Waits for all sends and receives; what came is in line->got. */
enum hw_status hw_rowcol_wait(struct hw_rowcol *line, struct hw_error *err);

/* Gives all others of the line the same set and waits for theirs, which are in line->got then.
 * The receives are posted before, so that nothing waits for them. Collective over the line. */
enum hw_status hw_rowcol_receive_shared(struct hw_rowcol *line, struct hw_error *err);
enum hw_status hw_rowcol_share(struct hw_rowcol *line, const struct hw_set *set,
                               struct hw_error *err);

/* Elements of `size` bytes (1, 4 or 8) to and from one rank; hw_rowcol_finish() waits for them.
 * Local. */
enum hw_status hw_rowcol_give(struct hw_rowcol *line, int to, const void *data, hw_lid count,
                              int size, struct hw_error *err);
enum hw_status hw_rowcol_take(struct hw_rowcol *line, int from, void *data, hw_lid count, int size,
                              struct hw_error *err);
enum hw_status hw_rowcol_finish(struct hw_rowcol *line, struct hw_error *err);

#endif
