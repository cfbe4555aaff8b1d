/* Method `delegates` on GPUs where the host stages masks and updates: the state of one search,
 * which its files share, and the reduction of masks. */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_HOST_DELEGATES_STAGED_RUN_H
#define HOPWAVE_GPU_BFS_DELEGATES_HOST_DELEGATES_STAGED_RUN_H

#include "gpu/bfs/delegates/host/delegates_host.h"

/* State of one search. [HW_GPU_DELEGATES_MAX_PARTS] arrays are by rank and count updates. */
struct hw_gpu_delegates_run {
    struct hw_gpu_engine *engine;
    struct hw_gpu_delegates_state *state;
    struct hw_gpu_delegates_staged *staged;
    struct hw_gpu_delegates_counts counts; /* of the step */
    uint64_t *words;                       /* staged->words */
    bool any_updates;                      /* some part sends updates in this step */
    hw_count sent_before[HW_GPU_DELEGATES_MAX_PARTS], received[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count sent_now[HW_GPU_DELEGATES_MAX_PARTS], received_now[HW_GPU_DELEGATES_MAX_PARTS];
    MPI_Request request;
    hw_count steps;
    double phase_begin;
    enum hw_status deferred_error; /* of work on the GPU: returned when the ranks agree next */
};

/* Flags of the words that ranks exchange, below their counts: of entries for the other, of
 * delegates found where it is the rank itself. */
enum {
    HW_GPU_DELEGATES_FOUND_SLOT = 1,
    HW_GPU_DELEGATES_SENDS = 2,
    HW_GPU_DELEGATES_FAILED = 4,
    HW_GPU_DELEGATES_FLAG_BITS = 3
};

/* Delegates that part q discovered in this step, from the words that were exchanged. */
static inline uint32_t hw_gpu_delegates_found_by(const struct hw_gpu_delegates_run *run, int q)
{
    return (uint32_t)(run->words[q * run->engine->ctx->size + q] >> HW_GPU_DELEGATES_FLAG_BITS);
}

/* Lists of delegates replace masks where they have at most one number for so many words. */
#define HW_GPU_DELEGATES_LIST_FRACTION 8

/* Adds the time since the end of the last phase to the member at that offset of the times of this
 * step. Local. */
void hw_gpu_delegates_end_phase(struct hw_gpu_delegates_run *run, size_t which);

#define HW_GPU_DELEGATES_END_PHASE(run, member)                                                    \
    hw_gpu_delegates_end_phase(run, offsetof(struct hw_gpu_delegates_times, member))

/* Counts what is sent to other ranks in one exchange: bytes [ranks]. Over mpi what is sent to
 * another node is one message. Local. */
void hw_gpu_delegates_count_sent(const struct hw_gpu_delegates_run *run, const hw_count *bytes);

/* Notes in the times of this step that masks were combined while slots were visited. Local. */
void hw_gpu_delegates_note_overlap(const struct hw_gpu_delegates_run *run);

/* ---- gpu/bfs/delegates/host/delegates_host_masks.c: the reduction of masks ---- */

/* Whether this step's delegates are sent as lists: where MPI would combine the masks of all parts,
 * and lists are much shorter. The same on all ranks. */
bool hw_gpu_delegates_sends_lists(const struct hw_gpu_delegates_run *run);

/* All-gather of lists of delegates in place of a reduction of masks; the error of the last kernel
 * is deferred. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_reduce_lists(struct hw_gpu_delegates_run *run,
                                             struct hw_error *err);

/* The first phase, and the start of the second. Collective; ranks agree, likewise. */
enum hw_status hw_gpu_delegates_reduce_start(struct hw_gpu_delegates_run *run,
                                             struct hw_error *err);

/* The rest of the reduction, whose errors are deferred. status: of what ran in between, on which
 * ranks have agreed. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_reduce_finish(struct hw_gpu_delegates_run *run,
                                              enum hw_status status, struct hw_error *err);

#endif
