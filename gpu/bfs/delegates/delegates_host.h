/* Method `delegates` on GPUs: what the files of its host side share. */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_HOST_H
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_HOST_H

#include "gpu/bfs/delegates/delegates.h"
#include "gpu/device/device.h"
#include "gpu/engine/multi_gpu_engine.h"
#include "lib/layout/part.h"

/* ---- gpu/bfs/delegates/delegates_upload.c: the four subgraphs on the device ---- */

/* What is known of it on the host. */
struct hw_gpu_delegates_upload {
    const struct hw_part *part;
    hw_count *all;                         /* [parts][parts] edges of nn from part to part */
    hw_count to[HW_GPU_DELEGATES_PARTS];   /* those that lead from here to each part */
    hw_count from[HW_GPU_DELEGATES_PARTS]; /* and from each part to here */
    uint32_t *counts;                      /* [1] on the device */
};

/* Fills the counts of `graph` and lists its arrays; refuses parts that are too large. The
 * caller frees upload->all. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_plan_graph(const struct hw_context *ctx, const struct hw_part *part,
                                           struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_gpu_arrays *arrays, struct hw_error *err);

/* Fills the arrays. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_fill_graph(const struct hw_context *ctx,
                                           const struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_error *err);

/* Bytes that the four subgraphs of this part take on the device, transposes of directed
 * graphs included, and edges stored in them. Local. */
hw_count hw_gpu_delegates_graph_bytes(const struct hw_part *part, hw_count *edges);

/* Bytes that filling takes on the device for a while. Local. */
hw_count hw_gpu_delegates_fill_device_bytes(const struct hw_part *part);

/* Bytes that filling takes on the host at most. Local. */
hw_count hw_gpu_delegates_fill_bytes(const struct hw_part *part);

/* ---- the search ---- */

/* Where things stand in the heaps. */
struct hw_gpu_delegates_heap {
    hw_count mail, found[2], dirty[2], candidate;
    hw_count in[HW_GPU_DELEGATES_PARTS];  /* entries from each part; in two hops: of this node,
                                             or of the node whose device this is */
    hw_count out[HW_GPU_DELEGATES_PARTS]; /* for each part, where the host carries them */
    hw_count in_level[HW_GPU_DELEGATES_PARTS], out_level[HW_GPU_DELEGATES_PARTS]; /* canonical */
    hw_count relay[HW_GPU_DELEGATES_PARTS];  /* two hops: entries for this device of each node */
    hw_count unique[HW_GPU_DELEGATES_PARTS]; /* the same without duplicates */
    hw_count gathered;                       /* [parts] masks of others, where not reached */
    hw_count combined;                       /* the mask of all parts, where the host carries */
    hw_count ask_out, ask_in;                /* delegates whose parent others know: [own], [all] */
    hw_count answer_out, answer_in;          /* graph ids: [all], [parts][own] */
    hw_count bytes;
};

/* Host time of a step whose masks and entries the host carries, in seconds, and what it sent. */
struct hw_gpu_delegates_times {
    double expansion, local, normal, reduction, counts, update;
    struct hw_step sent; /* bytes and messages alone */
};

/* What carrying needs. */
struct hw_gpu_delegates_carrier {
    bool two_phases;  /* the layout has several nodes of several devices */
    bool two_hops;    /* and entries go through the own node's device of the owner's number */
    uint32_t *passed; /* [parts * slots / 32 + 1] two hops, uniquify */
    MPI_Comm across;  /* whose masks MPI combines: the parts of this device, by node, or all;
                         MPI_COMM_NULL where GPUs do it all */
    MPI_Comm split;   /* the same where it is this one's to free */
    int group_first, group_count;             /* ranks whose masks GPUs combine by themselves */
    uint32_t *combined;                       /* [mask_words] in the heap */
    uint32_t *mask;                           /* [mask_words] on the host, pinned */
    uint32_t *others;                         /* likewise: lists of delegates that come */
    uint32_t *unknown;                        /* [1] on the device */
    hw_count own;                             /* delegates of this part */
    struct hw_gpu_delegates_control *control; /* [1] on the host, pinned: after the visits */
    struct hw_gpu_delegates_times *times;     /* [TIMES] */
    hw_count timed;                           /* of those, how many the last search wrote */
};

/* Steps whose times are kept; later ones add to the last. */
#define HW_GPU_DELEGATES_TIMES ((hw_count)1 << 16)

struct hw_gpu_delegates_state {
    struct hw_gpu_delegates_upload upload;
    struct hw_gpu_delegates_params plan;
    struct hw_gpu_delegates_heap heap;
    struct hw_gpu_delegates_root root;
    struct hw_gpu_delegates_carrier carrier; /* where plan.carried */
    bool canonical;
    unsigned long long *watch;  /* pinned */
    void *stream[2], *event[3]; /* cudaStream_t: delegates, normal; cudaEvent_t: fork, join,
                                   masks combined */
    void *step;                 /* cudaGraphExec_t: one step, where nothing is carried */
    uint32_t *parent_id;        /* [owned] on the device, by rising graph id */
    int32_t *level;             /* likewise */
    uint32_t *staging;          /* [owned] on the host, pinned; NULL before it is needed */
};

/* The same where the host carries: opens it, searches, closes. Collective; ranks agree but on
 * closing. */
enum hw_status hw_gpu_delegates_carry_open(struct hw_multi_gpu_engine *engine,
                                           struct hw_error *err);
enum hw_status hw_gpu_delegates_carry(struct hw_multi_gpu_engine *engine, struct hw_error *err);
void hw_gpu_delegates_carry_close(struct hw_gpu_delegates_carrier *carrier);

/* Parents of this part's delegates that other parts know; every: the least that any knows.
 * status: what this rank's work came to. Collective; ranks agree but on the last kernels. */
enum hw_status hw_gpu_delegates_ask(struct hw_multi_gpu_engine *engine, enum hw_status status,
                                    bool every, struct hw_error *err);

/* Canonical parents in place of those found. Likewise. */
enum hw_status hw_gpu_delegates_canonical(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* A search whose steps are graphs that need no host. Local; returns when it has ended. */
enum hw_status hw_gpu_delegates_run(struct hw_multi_gpu_engine *engine, struct hw_error *err);

#endif
