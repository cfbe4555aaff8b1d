/*
 * Exchanges of sets of vertices along one row or one column of the grid of
 * parts ("Parallel Distributed Breadth First Search on the Kepler
 * Architecture", sections 3.3 and 5): point to point, receives posted ahead,
 * each message a list of 32-bit positions in one part's block or a bitmap over
 * them, whichever is smaller. Tags tell the two apart, so that no message
 * carries more than the set.
 *
 * All functions are collective over the line only as far as sends and receives
 * must match; none of them allocates.
 */
#ifndef HOPWAVE_ENGINE_LINE_H
#define HOPWAVE_ENGINE_LINE_H

#include "comm/context.h"
#include "engine/arrays.h"
#include "engine/engine.h"

/* A set of positions as it travels. */
struct hw_set {
    const void *data; /* hw_lid list[count], or a bitmap of `count` bytes */
    hw_lid count;
    bool bitmap;
};

/* The ranks of one row or column. A line of one rank has no communicator. */
struct hw_line {
    MPI_Comm comm;
    int size, me;
    enum hw_exchange exchange; /* what the user forces */
    hw_lid *active;            /* [size] positions of each one's block that sets may hold */
    size_t capacity;           /* bytes of the largest message, in multiples of 64 */
    unsigned char *received;   /* [size][capacity] */
    unsigned char *scratch;    /* [size][capacity] sets on their way out */
    struct hw_set *got;        /* [size] what came in from whom, until the next receive */
    MPI_Request *request;      /* [2 size] receives, then sends */
    MPI_Status *status;        /* [2 size] */
    hw_count bytes_sent, messages_sent;
    unsigned routines; /* bits: a list was sent (1), a bitmap was (2) */
};

/* Bytes of the largest message for blocks of `block` positions, in multiples of 64. */
size_t hw_line_capacity(hw_lid block, enum hw_exchange exchange);

/* Adds the arrays of a line whose size and capacity are known. Local. */
void hw_line_arrays(struct hw_line *line, struct hw_arrays *arrays);

/* Splits the world's ranks by colour, ordered by key. Fills comm, size and me.
 * Collective over ctx->world. */
enum hw_status hw_line_split(struct hw_line *line, const struct hw_context *ctx, int color, int key,
                             int size, struct hw_error *err);

/* Gives each rank's `active` to the others of the line. Arrays are allocated
 * already. Collective over the line. */
enum hw_status hw_line_open(struct hw_line *line, hw_lid active, struct hw_error *err);

/* Frees the communicator, not the arrays. Collective over the line. */
void hw_line_close(struct hw_line *line);

/* Gives all ranks of the line each other's block of `block` elements, of which
 * each has filled in its own. blocks: [size][block]. Collective over the line. */
enum hw_status hw_line_gather(const struct hw_line *line, void *blocks, hw_lid block,
                              MPI_Datatype type, struct hw_error *err);

/*
 * Makes the set of a list of positions, or of a bitmap of which `count` bits are
 * set, in the block of the line's rank `block`; positions not active in it are
 * left out. It borrows `list` or `bitmap`, or the scratch memory of `slot`,
 * until the exchange is done. Local.
 */
struct hw_set hw_set_of_list(struct hw_line *line, int slot, int block, const hw_lid *list,
                             hw_lid count);
struct hw_set hw_set_of_bits(struct hw_line *line, int slot, int block, const uint64_t *bitmap,
                             hw_lid count);

/* The set as a bitmap of `words` words. Local. */
void hw_set_to_bits(const struct hw_set *set, uint64_t *bitmap, hw_lid words);

/* The set as a list, rising if it travelled as a bitmap; returns its length. Local. */
hw_lid hw_set_to_list(const struct hw_set *set, hw_lid *list);

/* Posts a receive from one rank of the line, or from all others (HW_LINE_ALL). Local. */
#define HW_LINE_ALL (-1)
enum hw_status hw_line_receive(struct hw_line *line, int from, struct hw_error *err);

/* Starts to send a set. Local. */
enum hw_status hw_line_send(struct hw_line *line, int to, const struct hw_set *set,
                            struct hw_error *err);

/* Waits for all sends and receives; what came is in line->got. */
enum hw_status hw_line_wait(struct hw_line *line, struct hw_error *err);

#endif
