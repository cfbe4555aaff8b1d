/* The trace record of one step of a search on a GPU, and the routines that steps run. Kernels
 * append such records (gpu/engine/trace_append.cuh); the host converts them
 * (gpu/engine/step_trace.h). */
#ifndef HOPWAVE_GPU_ENGINE_TRACE_RECORD_H
#define HOPWAVE_GPU_ENGINE_TRACE_RECORD_H

#include <stdint.h>

/* What a step ran. */
enum hw_gpu_routine {
    HW_ROUTINE_BLOCK,           /* top-down in one block */
    HW_ROUTINE_PUSH,            /* top-down on the whole device */
    HW_ROUTINE_PUSH_ONLY,       /* the same without a queue of the discovered vertices */
    HW_ROUTINE_PULL,            /* bottom-up */
    HW_ROUTINE_PULL_BLOCK,      /* bottom-up in one block, while the others visit leaves */
    HW_ROUTINE_LEAVES,          /* vertices of degree 1, at the end */
    HW_ROUTINE_MERGE_SEPARATE,  /* top-down: work redistributed by merge path, then gathered */
    HW_ROUTINE_MERGE_GATHER,    /* the same in one: balanced gathering */
    HW_ROUTINE_MERGE_EXPAND,    /* the same in one: balanced redistribution */
    HW_ROUTINE_DIRECT,          /* top-down without redistribution */
    HW_ROUTINE_SCAN2D,          /* top-down by exclusive scan and binary search */
    HW_ROUTINE_SCATTER_COMPACT, /* the same without atomic operations on vertices */
    HW_ROUTINE_CTA_WARP_SCAN,   /* top-down by the length of lists */
    HW_ROUTINE_PHASES_SEPARATE, /* the same with kernels for the phases of a level */
    HW_ROUTINE_PHASES_GATHER,
    HW_ROUTINE_PHASES_EXPAND,
    HW_ROUTINE_PHASES_DIRECT,
    HW_ROUTINE_PHASES_CTA,
    HW_ROUTINES
};

/* A step. */
struct hw_gpu_trace_record {
    uint32_t routine;
    uint32_t frontier, found;
    uint64_t edges; /* examined */
    uint64_t clock; /* when it ended, in ticks of the recording multiprocessor */
};

#endif
