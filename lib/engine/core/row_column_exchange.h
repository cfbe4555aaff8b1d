/*
 * Frontier exchanges along one row or one column of the grid of parts ("Parallel Distributed
 * Breadth First Search on the Kepler Architecture", sections 3.3 and 5): point to point, with
 * receives posted ahead. A message is a list of 32-bit positions in one part's block or a bitmap
 * over them, whichever is smaller. The tag says which, so that no message needs a header.
 *
 * In an all-gather over nodes that hold several ranks of the row or column (the line), one copy
 * goes to each node: its carrier for that sender receives it and forwards it within the node.
 *
 * No function allocates. Where the comment does not say otherwise, a function is collective over
 * the line only in so far as sends and receives must match.
 */
#ifndef HOPWAVE_ENGINE_CORE_ROW_COLUMN_EXCHANGE_H
#define HOPWAVE_ENGINE_CORE_ROW_COLUMN_EXCHANGE_H

#include "lib/comm/halo_exchange.h"
#include "lib/engine/core/arrays.h"
#include "lib/engine/core/engine_options.h"
#include "lib/engine/core/trace.h"

/* Encoded positions of a block. */
struct hw_frontier_message {
    const void *data; /* hw_lid list[count], or a bitmap of `count` bytes */
    hw_lid count;
    bool bitmap;
};

/* The ranks of one row or column. A line of one rank has no communicator. */
struct hw_rowcol {
    MPI_Comm comm;
    int size, me;
    enum hw_exchange exchange; /* what the user forces */
    hw_lid *active;            /* [size] positions of each rank's block that messages may hold */
    size_t capacity;           /* bytes of the largest message, in multiples of 64 */
    unsigned char *received;   /* [size][capacity] */
    unsigned char *scratch;    /* [size][capacity] encoded messages to send */
    struct hw_frontier_message
        *messages;         /* [size] received from each rank; valid until the next receive */
    struct hw_halo halo;   /* its slot is the sender's rank; zeroed if size is 1 */
    struct hw_nodes nodes; /* of the line's ranks */
    struct hw_traffic sent;
    unsigned routines; /* bits: a list was sent (1), a bitmap was (2) */
};

/* Counts a message that was sent to a rank of the line. Local. */
void hw_rowcol_count_message(struct hw_rowcol *line, int to, hw_count bytes);

/* Resets the traffic counters; adds them to a step's. Local. */
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

/* All-gathers `active` and the node of each rank. The arrays are allocated before. Collective over
 * the line. */
enum hw_status hw_rowcol_open(struct hw_rowcol *line, const struct hw_context *ctx, hw_lid active,
                              struct hw_error *err);

/* Frees the communicator, not the arrays. Collective over the line. */
void hw_rowcol_close(struct hw_rowcol *line);

/* All-gather in place of blocks of `block` elements, of which each rank has filled in its own.
 * blocks: [size][block]. Collective over the line. */
enum hw_status hw_rowcol_allgather(const struct hw_rowcol *line, void *blocks, hw_lid block,
                                   MPI_Datatype type, struct hw_error *err);

/*
 * Encodes a list of positions, or a bitmap with `count` bits set, of the block of the line's
 * rank `block`; positions not active in it are left out. The message borrows `list` or `bitmap`,
 * or the scratch memory of `slot`, until the exchange is complete. Local.
 */
struct hw_frontier_message hw_frontier_message_of_list(struct hw_rowcol *line, int slot, int block,
                                                       const hw_lid *list, hw_lid count);
struct hw_frontier_message hw_frontier_message_of_bits(struct hw_rowcol *line, int slot, int block,
                                                       const uint64_t *bitmap, hw_lid count);

/* Decodes into a bitmap of `words` words. Local. */
void hw_frontier_message_to_bits(const struct hw_frontier_message *message, uint64_t *bitmap,
                                 hw_lid words);

/* Decodes into a list, sorted if the message is a bitmap; returns its length. Local. */
hw_lid hw_frontier_message_to_list(const struct hw_frontier_message *message, hw_lid *list);

/* Posts a receive from one rank of the line, or from all others (HW_ROWCOL_ALL). Local. */
#define HW_ROWCOL_ALL (-1)
enum hw_status hw_rowcol_receive(struct hw_rowcol *line, int from, struct hw_error *err);

/* Starts to send a message. Local. */
enum hw_status hw_rowcol_send(struct hw_rowcol *line, int to,
                              const struct hw_frontier_message *message, struct hw_error *err);

/* Waits for all sends and receives; line->messages has what was received. */
enum hw_status hw_rowcol_wait(struct hw_rowcol *line, struct hw_error *err);

/* All-gather of messages: sends one to all other ranks of the line and waits for theirs, in
 * line->messages. hw_rowcol_allgatherv_start() posts the receives; call it before the message is
 * encoded, so that no sender waits for them. Collective over the line. */
enum hw_status hw_rowcol_allgatherv_start(struct hw_rowcol *line, struct hw_error *err);
enum hw_status hw_rowcol_allgatherv(struct hw_rowcol *line,
                                    const struct hw_frontier_message *message,
                                    struct hw_error *err);

/* Elements of `size` bytes (1, 4 or 8) to and from one rank; hw_rowcol_wait_elements() waits for
 * them. Local. */
enum hw_status hw_rowcol_send_elements(struct hw_rowcol *line, int to, const void *data,
                                       hw_lid count, int size, struct hw_error *err);
enum hw_status hw_rowcol_receive_elements(struct hw_rowcol *line, int from, void *data,
                                          hw_lid count, int size, struct hw_error *err);
enum hw_status hw_rowcol_wait_elements(struct hw_rowcol *line, struct hw_error *err);

#endif
