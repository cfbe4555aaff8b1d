/* Method `delegates` on GPUs: state and functions that the files of its host side share. */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_HOST_DELEGATES_HOST_H
#define HOPWAVE_GPU_BFS_DELEGATES_HOST_DELEGATES_HOST_H

#include "gpu/bfs/delegates/delegates.h"
#include "gpu/device/device.h"
#include "gpu/engine/gpu_engine.h"
#include "lib/engine/bfs_delegates/delegates_options.h"
#include "lib/layout/part.h"

/* ---- gpu/bfs/delegates/host/delegates_upload.c: the four subgraphs on the device ---- */

/* What the host knows of the subgraphs. */
struct hw_gpu_delegates_upload {
    const struct hw_part *part;
    hw_count *all;                             /* [parts][parts] edges of nn from part to part */
    hw_count to[HW_GPU_DELEGATES_MAX_PARTS];   /* those from this part to each part */
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS]; /* those from each part to this part */
    uint32_t *counts;                          /* [1] on the device */
};

/* Fills the counts of `graph` and lists its arrays; refuses parts that are too large. The caller
 * frees upload->all. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_plan_graph(const struct hw_context *ctx, const struct hw_part *part,
                                           struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_gpu_arrays *arrays, struct hw_error *err);

/* Fills the arrays. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_fill_graph(const struct hw_context *ctx,
                                           const struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_error *err);

/* Bytes of the four subgraphs of this part on the device, transposes of directed graphs included;
 * *edges: stored in them. Local. */
hw_count hw_gpu_delegates_graph_bytes(const struct hw_part *part, hw_count *edges);

/* Bytes that filling allocates temporarily on the device. Local. */
hw_count hw_gpu_delegates_fill_device_bytes(const struct hw_part *part);

/* The most bytes that filling allocates on the host. Local. */
hw_count hw_gpu_delegates_fill_bytes(const struct hw_part *part);

/* ---- the search ---- */

/* Offsets in the heaps, in bytes. */
struct hw_gpu_delegates_heap {
    hw_count signals, found[2], dirty[2], candidate;
    /* Updates from each part; in two hops: of this node, or of the node whose device this is. */
    hw_count in[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS]; /* to each part, where the host stages them */
    hw_count in_level[HW_GPU_DELEGATES_MAX_PARTS], out_level[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count relay[HW_GPU_DELEGATES_MAX_PARTS]; /* two hops: updates for this device of each node */
    hw_count unique[HW_GPU_DELEGATES_MAX_PARTS]; /* the same without duplicates */
    hw_count gathered;                           /* [parts] masks of others, where not mapped */
    hw_count combined;                /* the mask of all parts, where the host stages masks */
    hw_count request_out, request_in; /* delegates whose parent others know: [owned], [all] */
    hw_count reply_out, reply_in;     /* graph ids: [all], [parts][owned] */
    hw_count bytes;
};

/* Host times of a step, in seconds, and what it sent, where the host stages. */
struct hw_gpu_delegates_times {
    double expansion, local, normal, reduction, counts, update;
    struct hw_traffic sent;
    bool overlapped; /* masks were combined while slots were visited */
};

/* State of searches in which the host stages masks and updates. */
struct hw_gpu_delegates_staged {
    bool two_phases; /* the layout has several nodes of several devices, or there are leaders */
    bool leader;     /* the first device of a node combines its masks, else each device a range */
    bool overlaps;   /* masks are combined while slots are visited */
    bool two_hops;   /* updates are relayed by this node's device of the owner's number */
    uint32_t *relayed_bits; /* [parts * slots / 32 + 1] two hops, uniquify */
    MPI_Comm reduce_comm;   /* whose masks MPI combines: the parts of this device number, by node,
                               or all; MPI_COMM_NULL where GPUs combine all */
    MPI_Comm own_comm;      /* the same, if this struct is to free it */
    int group_first, group_count;             /* ranks whose masks GPUs combine by themselves */
    uint32_t *combined;                       /* [mask_words] in the heap */
    uint32_t *mask;                           /* [mask_words] on the host, pinned */
    uint32_t *received_lists;                 /* likewise: lists of delegates */
    uint32_t *count;                          /* [1] on the device */
    uint64_t *words;                          /* [ranks][ranks] what all ranks exchange in a step */
    hw_count owned_delegates;                 /* delegates of this part */
    struct hw_gpu_delegates_control *control; /* [1] on the host, pinned: after the visits */
    struct hw_gpu_delegates_times *times;     /* [HW_GPU_DELEGATES_TIMES] */
    hw_count num_times;                       /* of those, written by the last search */
};

/* Steps whose times are stored; later ones add to the last. */
#define HW_GPU_DELEGATES_TIMES ((hw_count)1 << 16)

struct hw_gpu_delegates_state {
    struct hw_gpu_delegates_upload upload;
    struct hw_gpu_delegates_params params;
    struct hw_gpu_delegates_heap heap;
    struct hw_gpu_delegates_root root;
    struct hw_gpu_delegates_staged staged; /* where params.config.host_staged */
    bool canonical;
    unsigned long long *host_status; /* pinned */
    void *stream[2], *event[3];      /* cudaStream_t: delegates, normal; cudaEvent_t: fork, join,
                                        masks combined */
    void *step;                      /* cudaGraphExec_t: one step, where the host does not stage */
    uint32_t *parent_id;             /* [owned] on the device, by rising graph id */
    int32_t *level;                  /* likewise */
};

/* gpu/bfs/delegates/host/delegates_host_staged.c: searches in which the host stages masks and
 * updates. open and search are collective, ranks agree; close is local but for freeing own_comm. */
enum hw_status hw_gpu_delegates_staged_open(struct hw_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_gpu_delegates_staged_search(struct hw_gpu_engine *engine, struct hw_error *err);
void hw_gpu_delegates_staged_close(struct hw_gpu_delegates_staged *staged);

/* gpu/bfs/delegates/host/delegates_parents.c: requests from all parts the parents of this part's
 * delegates that it does not know; every: the least parent that any part knows, of all. status: of
 * this rank's work so far. Collective; ranks agree except on the last kernels. */
enum hw_status hw_gpu_delegates_request_parents(struct hw_gpu_engine *engine, enum hw_status status,
                                                bool every, struct hw_error *err);

/* Replaces the parents of a search by canonical ones. Collective; ranks agree except on the last
 * kernels. */
enum hw_status hw_gpu_delegates_canonical(struct hw_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/delegates/host/delegates_device_loop.c: a search whose steps are CUDA graphs; GPUs
 * exchange data by themselves. Local; returns when it has ended. */
enum hw_status hw_gpu_delegates_device_search(struct hw_gpu_engine *engine, struct hw_error *err);

#endif
