/*
 * Memory that the ranks of a node share: a shared window of MPI-3. Where all ranks of a run are
 * on one node, a search may keep its tables in it, so that a rank reads and improves entries of
 * other ranks' vertices in place; nothing of them is sent then.
 *
 * Ranks change words that others may change at the same time by atomic operations only, as
 * threads do. Between two barriers of all ranks (hw_node_window_barrier(), or a reduction over
 * all of them) a word is written by one rank, or by atomic operations, or by none.
 */
#ifndef HOPWAVE_COMM_NODE_WINDOW_H
#define HOPWAVE_COMM_NODE_WINDOW_H

#include "lib/comm/context.h"

/* Begin with {0}. */
struct hw_node_window {
    void *memory; /* the same bytes on all ranks, at an address of this process; or NULL */
    hw_count bytes;
    MPI_Comm comm; /* of all ranks; borrowed */
    MPI_Win window;
};

/* Bytes left in the file system for shared memory, if there is one. Containers make it small, and
 * MPI would only notice by a SIGBUS. Local. */
hw_count hw_dev_shm_available(void);

/* Whether all ranks, and more than one, share memory and count as one node (node_id). The same on
 * all ranks. Local. */
bool hw_node_window_applies(const struct hw_context *ctx);

/*
 * Allocates `bytes` bytes of zeros that all ranks share, which must be as many on all of them.
 * Where that is more than half of the shared memory that is left, memory is NULL, rank 0 says so
 * in a note, and the caller sends messages instead; that is no error. hw_node_window_applies() must
 * hold. Collective over ctx->world; ranks agree. A failure, which is MPI's, leaves it zeroed.
 */
enum hw_status hw_node_window_open(struct hw_node_window *window, const struct hw_context *ctx,
                                   hw_count bytes, struct hw_error *err);

/* Bytes of an array in whole cache lines; and the next array of a window, from *at on. Local. */
static inline hw_count hw_node_window_lines(hw_count count, size_t size)
{
    return (count * (hw_count)size + 63) / 64 * 64;
}

static inline void *hw_node_window_next(char **at, hw_count count, size_t size)
{
    void *array = *at;

    *at += hw_node_window_lines(count, size);
    return array;
}

/* Frees it, and leaves it zeroed; accepts one that is. Collective over the ranks. */
void hw_node_window_close(struct hw_node_window *window);

/* A barrier of all ranks: what any of them stored before, all see after. Collective. */
enum hw_status hw_node_window_barrier(const struct hw_node_window *window, struct hw_error *err);

/* The same of a window among the ranks of another communicator. Collective over comm. */
enum hw_status hw_window_barrier(MPI_Win window, MPI_Comm comm, struct hw_error *err);

#endif
