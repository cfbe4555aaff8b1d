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

#include "gpu/comm/allgather_kernel.h"
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
 * ranks, over peer HW_ALLGATHER_PEERS.
 */
enum hw_status hw_allgather_open(struct hw_transport *transport, hw_count offset,
                                 struct hw_allgather *allgather, struct hw_error *err);

/*
 * Starts an all-gather after the work in the stream. words: [count <= HW_ALLGATHER_WORDS, over peer
 * HW_ALLGATHER_PEER_WORDS] on the device; later work in the stream may change them. status: the
 * outcome of this rank's work since the last one; a failure fails the all-gather on all ranks and
 * is returned on this one, so that no rank waits for others that left the loop. Collective: all
 * ranks start the same ones. Over peer returns before the all-gather ends, with failures of this
 * rank only; over other transports it is complete on return, and ranks agree.
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
