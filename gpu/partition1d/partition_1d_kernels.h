/*
 * C launchers of the kernels on one part of several. They return a cudaError_t as an int
 * (see hw_cuda()) and do not wait.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_KERNELS_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_KERNELS_H

#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a search leaves on the device. */
struct hw_partition_1d_output {
    uint32_t *parent;    /* [active] global ranks by local rank; HW_INVALID_VERTEX unreached */
    uint32_t *settled;   /* [active / 32] bits: the parent is the first source */
    uint32_t *parent_id; /* [owned] graph ids, by rising graph id */
    int32_t *level;      /* [owned] likewise; -1 unreached */
    uint64_t *chain;     /* [parts * active] for levels */
    uint32_t *changed;   /* [1] */
};

/* Fills first and next from the lists; led: [parts][core] how many of this part's vertices
 * each one leads, by owner and local rank. */
int hw_partition_1d_launch_first(const struct hw_partition_1d *share, uint32_t *led);

/* Fills first_id from first and graph_id. */
int hw_partition_1d_launch_first_ids(const struct hw_partition_1d *share);

/* A part's array [active] by local rank into [parts * active] by global rank. */
int hw_partition_1d_launch_block_cyclic(const struct hw_partition_1d *share, uint32_t part,
                                        const uint32_t *own, uint32_t *all);

/* output->parent_id from parent and settled. root_place: where the root is among the owned
 * vertices, or HW_INVALID_VERTEX where another part owns it. */
int hw_partition_1d_launch_translate(const struct hw_partition_1d *share,
                                     const struct hw_partition_1d_output *output,
                                     uint32_t root_place, uint32_t root_id);

/*
 * Levels from the parents of all parts, by pointer jumping: begin for each part, then jump
 * until *output->changed stays 0 (which the caller clears before each), then end, which
 * writes output->level. root: global, HW_INVALID_VERTEX where it has no edges.
 */
int hw_partition_1d_launch_chain_begin(const struct hw_partition_1d *share, uint32_t part,
                                       const uint32_t *parent, uint64_t *chain);
int hw_partition_1d_launch_chain_jump(const struct hw_partition_1d *share,
                                      const struct hw_partition_1d_output *output, uint32_t root);
int hw_partition_1d_launch_chain_end(const struct hw_partition_1d *share,
                                     const struct hw_partition_1d_output *output, uint32_t root,
                                     uint32_t root_place);

/* output->parent_id again, from chains that are complete: the least graph id among the
 * sources one level up. */
int hw_partition_1d_launch_canonical(const struct hw_partition_1d *share,
                                     const struct hw_partition_1d_output *output, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
