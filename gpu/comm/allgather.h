/*
 * All-gathers of a few words between GPUs, in the order of a stream: what ranks agree on between
 * kernels.
 *
 * An all-gather gives every rank all ranks' words, and their sums or maxima. It is also a barrier:
 * what any rank's stream did before it, stores into peers' heaps included, is visible to all that
 * follows it on every rank's stream.
 *
 * Over `peer` an all-gather is one kernel of one block, without the host: it stores this rank's
 * words into a slot of every GPU's heap, half a word and the sequence number of the all-gather in
 * each store of 64 bits, and polls the slots of its own heap until the others' words are there.
 * The wait is bounded: a rank that times out sets the failure flag of all ranks, and from then on
 * every all-gather returns zeros at once. Over other transports the host exchanges the words, and
 * hw_allgather_start() waits for the stream.
 *
 * All ranks start the same all-gathers in the same order, so that sequence numbers agree. The
 * results of the last HW_ALLGATHER_IN_FLIGHT are stored: the host may start as many before it reads
 * the first.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_H
#define HOPWAVE_GPU_COMM_ALLGATHER_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdint.h>

#define HW_ALLGATHER_WORDS 16
#define HW_ALLGATHER_RANKS 32 /* at most */
#define HW_ALLGATHER_IN_FLIGHT 4

/* The result of an all-gather: on the device, and the same on the host. */
struct hw_allgather_result {
    uint64_t reduced[HW_ALLGATHER_WORDS]; /* sums or maxima; zeros if it failed */
    uint64_t by_rank[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS]; /* each rank's words, likewise */
    uint32_t failed;                                          /* a rank timed out */
    uint32_t number;                                          /* sequence number */
};

/* Elements that the kernel stores in host memory: 2 * HW_ALLGATHER_WORDS for each rank, in the
 * encoding of the slots, and one more: the failure flag above the sequence number. */
#define HW_ALLGATHER_HOST_SLOTS (HW_ALLGATHER_RANKS * 2 * HW_ALLGATHER_WORDS + 1)

/* Parameters of the kernel. */
struct hw_allgather_params {
    uint32_t ranks, rank;
    uint64_t *slot[HW_ALLGATHER_RANKS];   /* of each rank: [2][ranks][2 * HW_ALLGATHER_WORDS] */
    uint32_t *failed[HW_ALLGATHER_RANKS]; /* of each rank: set once some rank has timed out */
    uint64_t timeout_ns;
};

/* Launches the kernel. words: [count] on the device; bit k of maxima: word k is reduced by maximum,
 * else by sum; to: on the device; host_slots: [HW_ALLGATHER_HOST_SLOTS], mapped host memory;
 * stream: a cudaStream_t. Returns a cudaError_t; does not wait. */
int hw_allgather_launch(const struct hw_allgather_params *params, const uint64_t *words, int count,
                        uint32_t maxima, uint32_t number, struct hw_allgather_result *to,
                        uint64_t *host_slots, void *stream);

#ifdef __cplusplus
}
#else

#include "gpu/comm/transport.h"

struct hw_allgather {
    struct hw_transport *transport;
    struct hw_allgather_params params;
    struct hw_allgather_result *device_results; /* [HW_ALLGATHER_IN_FLIGHT] */
    struct hw_allgather_result *host_results;   /* [HW_ALLGATHER_IN_FLIGHT] */
    uint64_t *host_slots; /* [HW_ALLGATHER_IN_FLIGHT][HW_ALLGATHER_HOST_SLOTS], pinned */
    uint32_t maxima[HW_ALLGATHER_IN_FLIGHT];
    uint64_t *host_staged;         /* [ranks + 1][HW_ALLGATHER_WORDS + 1], pinned; NULL over peer */
    uint32_t number;               /* sequence number of the last one started */
    enum hw_status deferred_error; /* the next all-gather returns it on all ranks */
    void *stream;                  /* of the last one started */
};

/* Bytes of each heap that all-gathers use. Local. */
hw_count hw_allgather_heap_bytes(int ranks);

/*
 * Opens all-gathers over a transport whose heaps have hw_allgather_heap_bytes() for them at
 * `offset`, a multiple of 8, zeroed. Borrows the transport. Local; ranks must agree before any
 * starts an all-gather. Returns HW_RESOURCES, or HW_BAD_INPUT for more than HW_ALLGATHER_RANKS
 * ranks.
 */
enum hw_status hw_allgather_open(struct hw_transport *transport, hw_count offset,
                                 struct hw_allgather *allgather, struct hw_error *err);

/*
 * Starts an all-gather after the work in the stream. words: [count <= HW_ALLGATHER_WORDS] on the
 * device; later work in the stream may change them. status: the outcome of this rank's work since
 * the last one; a failure fails the all-gather on all ranks and is returned on this one, so that
 * no rank waits for others that left the loop. Collective: all ranks start the same ones. Over peer
 * returns before the all-gather ends, with failures of this rank only; over other transports it is
 * complete on return, and ranks agree.
 */
enum hw_status hw_allgather_start(struct hw_allgather *allgather, enum hw_status status,
                                  const uint64_t *words, int count, uint32_t maxima, void *stream,
                                  struct hw_error *err);

/* Where the result of the last one started is, or will be, on the device: for kernels in the same
 * stream, until HW_ALLGATHER_IN_FLIGHT further ones are started. Local. */
const struct hw_allgather_result *hw_allgather_device(const struct hw_allgather *allgather);

/* Waits for the last one started; *result is on the host and valid as long. Returns HW_INTERNAL if
 * a rank timed out. Local. */
enum hw_status hw_allgather_wait(struct hw_allgather *allgather,
                                 const struct hw_allgather_result **result, struct hw_error *err);

/* The same for an earlier one of the last HW_ALLGATHER_IN_FLIGHT, by its sequence number
 * (allgather->number after it was started). Local. */
enum hw_status hw_allgather_wait_for(struct hw_allgather *allgather, uint32_t number,
                                     const struct hw_allgather_result **result,
                                     struct hw_error *err);

/* Frees all; accepts one that is zeroed. Local. */
void hw_allgather_close(struct hw_allgather *allgather);

#endif

#endif
