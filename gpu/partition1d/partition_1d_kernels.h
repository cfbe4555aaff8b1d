/*
 * C launchers of the kernels on one part of a 1d partition. They return a cudaError_t as an int
 * (see hw_cuda()) and do not wait.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_KERNELS_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_KERNELS_H

#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a search on the device. */
struct hw_partition_1d_output {
    uint32_t *parent; /* [active] global ids by local id; HW_INVALID_VERTEX if unreached */
    uint32_t *parent_is_first_neighbor; /* [active / 32] bits */
    uint32_t *parent_id;                /* [owned] graph ids, by rising graph id */
    int32_t *level;                     /* [owned] likewise; -1 if unreached */
    uint64_t *ancestor; /* [parts * active] for levels: ancestor and distance to it, by global id */
    uint32_t *changed;  /* [1] */
};

/* Fills first_in_neighbor and next_in_neighbors from the lists. refs: [parts][core], how many of
 * this part's core vertices have each as their first in-neighbor, by owner and local id. */
int hw_partition_1d_launch_first(const struct hw_partition_1d *partition, uint32_t *refs);

/* Fills first_id from first_in_neighbor and graph_id. */
int hw_partition_1d_launch_first_ids(const struct hw_partition_1d *partition);

/* Copies a part's array [active] by local id into all [parts * active] by global id. */
int hw_partition_1d_launch_interleave(const struct hw_partition_1d *partition, uint32_t part,
                                      const uint32_t *own, uint32_t *all);

/* Fills output->parent_id from parent and parent_is_first_neighbor. root_index: the root's index
 * among the owned vertices, or HW_INVALID_VERTEX if another part owns it. */
int hw_partition_1d_launch_parent_ids(const struct hw_partition_1d *partition,
                                      const struct hw_partition_1d_output *output,
                                      uint32_t root_index, uint32_t root_id);

/*
 * Levels from the parents of all parts, by pointer jumping: pointer_jump_begin for each part, then
 * pointer_jump until *output->changed stays 0 (the caller clears it before each), then levels,
 * which fills output->level. Each jump doubles the distance to a vertex's ancestor. root: global
 * id, HW_INVALID_VERTEX if it has no edges.
 */
int hw_partition_1d_launch_pointer_jump_begin(const struct hw_partition_1d *partition,
                                              uint32_t part, const uint32_t *parent,
                                              uint64_t *ancestor);
int hw_partition_1d_launch_pointer_jump(const struct hw_partition_1d *partition,
                                        const struct hw_partition_1d_output *output, uint32_t root);
int hw_partition_1d_launch_levels(const struct hw_partition_1d *partition,
                                  const struct hw_partition_1d_output *output, uint32_t root,
                                  uint32_t root_index);

/* Replaces output->parent_id by canonical parents, from complete ancestors: the minimum graph id
 * among the in-neighbors one level up. */
int hw_partition_1d_launch_canonical_parents(const struct hw_partition_1d *partition,
                                             const struct hw_partition_1d_output *output,
                                             uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
