/*
 * Rounds of several GPUs: what the ranks agree on between kernels, in the order of a
 * stream. A round sums a few words over all ranks, or takes their maxima, tells every rank
 * all ranks' words, and is a barrier: what any rank's stream did before it, stores into
 * peers' heaps included, is seen by all that follows it on every rank's stream.
 *
 * Over `peer` a round is one kernel of one block, with no host in the way: it leaves the
 * words in every GPU's heap, half a word and the round's number in each store of 64 bits,
 * and waits for the others' in its own. Waiting is bounded: who waits too long tells the
 * others, and then every round gives zeros at once. Over other transports the host carries
 * the words, and hw_allgather_start() waits for the stream.
 *
 * Rounds are numbered alike on all ranks, since all start the same ones in the same order.
 * The results of the last HW_ALLGATHER_AHEAD of them are kept, so that the host may start as
 * many before it looks at the first.
 *
 * Mail: boxes in the heaps for what kernels leave for other ranks before a round. Over
 * `peer` they write straight into the others' heaps, and the round delivers; over other
 * transports hw_outbox_deliver() moves what lies in this rank's heap.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_H
#define HOPWAVE_GPU_COMM_ALLGATHER_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdint.h>

#define HW_ALLGATHER_WORDS 16
#define HW_ALLGATHER_RANKS 32 /* at most */
#define HW_ALLGATHER_AHEAD 4

/* What a round gave: on the device, and the same on the host. */
struct hw_allgather_result {
    uint64_t all[HW_ALLGATHER_WORDS];                    /* sums or maxima; zeros where it failed */
    uint64_t of[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS]; /* each rank's words, likewise */
    uint32_t failed;                                     /* a rank did not come in time */
    uint32_t number;                                     /* of the round */
};

/* Elements of what a round's kernel leaves in the host's memory: 2 * HW_ALLGATHER_WORDS for each
 * rank, as in the slots, and one: whether it failed, above its number. */
#define HW_ALLGATHER_MIRROR (HW_ALLGATHER_RANKS * 2 * HW_ALLGATHER_WORDS + 1)

/* What a round's kernel is told. */
struct hw_allgather_params {
    uint32_t ranks, rank;
    uint64_t *slot[HW_ALLGATHER_RANKS];   /* of each rank: [2][ranks][2 * HW_ALLGATHER_WORDS] */
    uint32_t *failed[HW_ALLGATHER_RANKS]; /* of each rank: somebody gave up */
    uint64_t patience;                    /* nanoseconds */
};

/* Launches a round's kernel. words: [count] on the device; bit k of maxima: word k takes the
 * maximum; to: on the device; mirror: [HW_ALLGATHER_MIRROR] on the host. stream: a cudaStream_t.
 * Returns a cudaError_t; does not wait. */
int hw_allgather_launch(const struct hw_allgather_params *plan, const uint64_t *words, int count,
                        uint32_t maxima, uint32_t number, struct hw_allgather_result *to,
                        uint64_t *mirror, void *stream);

#ifdef __cplusplus
}
#else

#include "gpu/comm/transport.h"

struct hw_allgather {
    struct hw_transport *transport;
    struct hw_allgather_params plan;
    struct hw_allgather_result *device;  /* [HW_ALLGATHER_AHEAD] */
    struct hw_allgather_result *host;    /* [HW_ALLGATHER_AHEAD] */
    uint64_t *mirror;                    /* [HW_ALLGATHER_AHEAD][HW_ALLGATHER_MIRROR], pinned */
    uint32_t maxima[HW_ALLGATHER_AHEAD]; /* of these rounds */
    uint64_t *carried;   /* [ranks + 1][HW_ALLGATHER_WORDS + 1], pinned: not over peer */
    uint32_t number;     /* of the last round that was started */
    enum hw_status owed; /* a failure that the next round is to tell */
    void *stream;        /* it went to */
};

/* Bytes that rounds take in each heap. */
hw_count hw_allgather_heap_bytes(int ranks);

/* Opens rounds over a transport whose heap has that many bytes for them at an offset, a
 * multiple of 8, zeroed. Local; all ranks do so before any starts a round, and agree in
 * between. Returns HW_RESOURCES, HW_BAD_INPUT for more than HW_ALLGATHER_RANKS ranks. */
enum hw_status hw_allgather_open(struct hw_transport *transport, hw_count offset,
                                 struct hw_allgather *round, struct hw_error *err);

/*
 * Starts a round after what is in the stream: words [count <= HW_ALLGATHER_WORDS] on the device,
 * which later work in the stream may change. status: what this rank's work came to since the
 * last round; where it is a failure the round fails on all ranks, and this one gets it back,
 * so that nobody leaves a loop of rounds alone. Collective: all ranks start the same rounds.
 * Over peer returns before the round ends, with failures of this rank alone; over others the
 * round ends first, and ranks agree.
 */
enum hw_status hw_allgather_start(struct hw_allgather *round, enum hw_status status,
                                  const uint64_t *words, int count, uint32_t maxima, void *stream,
                                  struct hw_error *err);

/* Where the result of the last round that was started is, or will be: for kernels in the
 * same stream, until HW_ALLGATHER_AHEAD further ones are started. Local. */
const struct hw_allgather_result *hw_allgather_device(const struct hw_allgather *round);

/* Waits for the last round that was started; *result, on the host, lasts as long. Returns
 * HW_INTERNAL where a rank did not come. Local. */
enum hw_status hw_allgather_wait(struct hw_allgather *round,
                                 const struct hw_allgather_result **result, struct hw_error *err);

/* The same for an earlier one of the last HW_ALLGATHER_AHEAD, by its number (round->number when
 * it had been started). */
enum hw_status hw_allgather_wait_for(struct hw_allgather *round, uint32_t number,
                                     const struct hw_allgather_result **result,
                                     struct hw_error *err);

/* Frees all; accepts one that is zeroed. Local. */
void hw_allgather_close(struct hw_allgather *round);

/* Boxes of `room` bytes in each heap: for every rank, what came from it and, not over peer,
 * what is to go to it. Offsets are multiples of 256, as room is. */
struct hw_outbox {
    hw_count in, out, room;
};

/* Lays boxes into heaps at *offset and moves that past them. Local. */
struct hw_outbox hw_outbox_reserve(const struct hw_transport *transport, hw_count room,
                                   hw_count *offset);

/* The box for rank q, as this device's kernels reach it; and what comes from rank q. */
void *hw_outbox_send_buffer(const struct hw_transport *transport, const struct hw_outbox *mail,
                            int q);
const void *hw_outbox_recv_buffer(const struct hw_transport *transport,
                                  const struct hw_outbox *mail, int q);

/* Moves what lies in the boxes, sent[q] and came[q] bytes (of the box's beginning), on the
 * default stream; nothing to do over peer, where the round before it has delivered. A box
 * may be filled again after the next round. Collective; ranks agree. */
enum hw_status hw_outbox_deliver(struct hw_transport *transport, const struct hw_outbox *mail,
                                 const hw_count *sent, const hw_count *came, struct hw_error *err);

/* The same, where the boxes for all ranks that get any hold the same: over mpi one copy goes to
 * each node. */
enum hw_status hw_outbox_broadcast(struct hw_transport *transport, const struct hw_outbox *mail,
                                   const hw_count *sent, const hw_count *came,
                                   struct hw_error *err);

#endif

#endif
