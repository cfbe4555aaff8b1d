/*
 * Launchers of the kernels that validate trees on the device, by the rules of lib/verify/verify.h
 * and with the counts and examples of hw_verify_bfs() and hw_verify_sssp(). They read the input
 * tuples, which the generator of the graph, if it has one, makes again in the kernel.
 */
#ifndef HOPWAVE_GPU_VALIDATE_VALIDATION_KERNELS_H
#define HOPWAVE_GPU_VALIDATE_VALIDATION_KERNELS_H

#include "gpu/graph/build/edge_tuples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trees that one iteration over the tuples checks at most. */
#define HW_GPU_MAX_TREES 8

/* Rules 1 to 5, as lib/verify/verify.h numbers them. */
#define HW_GPU_CHECK_RULES 5

/* The values of a tree, one a vertex besides the parent: levels, or distances as floats or as
 * 32-bit integers. */
enum hw_gpu_value { HW_GPU_LEVELS, HW_GPU_FLOATS, HW_GPU_INTS };

/* Values of unreached vertices: -1, infinity, and a distance that no vertex has. */
#define HW_GPU_NO_LEVEL (-1)
#define HW_GPU_NO_FLOAT 0x7f800000
#define HW_GPU_NO_INT INT32_MAX

/* Parents on the device: none, and a parent that is no vertex. */
#define HW_GPU_NO_PARENT UINT32_MAX
#define HW_GPU_BAD_PARENT (UINT32_MAX - 1)

/* The counts of one tree. Ranks reduce them: sums; the maximum of `levels`; minima of `example`. */
struct hw_gpu_violation_counts {
    uint64_t violations[HW_GPU_CHECK_RULES];
    uint64_t suspects; /* vertices that may not descend from the root */
    uint64_t flat;     /* tree edges along which distances stay equal */
    uint64_t reached, tuples;
    uint64_t levels;                      /* one more than the deepest */
    uint64_t example[HW_GPU_CHECK_RULES]; /* the least: first vertex above, second plus 1 (0 if
                                             there is none) below; UINT64_MAX at first */
};

/* A vertex in one tree. */
struct hw_gpu_tree_record {
    uint32_t parent; /* a vertex, or one of the two above */
    int32_t value;   /* a level or distance; of a float the bits, NaN for all that is not finite */
};

/* A batch of trees; all arrays are on the device. Every rank has whole trees and checks its range
 * of the tuples and the vertices [begin, end). */
struct hw_gpu_trees {
    uint32_t vertices;
    uint32_t begin, end;
    bool directed;
    int value;                              /* enum hw_gpu_value */
    int roots;                              /* records of a vertex: 1, 2, 4 or 8 */
    uint32_t root[HW_GPU_MAX_TREES];        /* HW_GPU_NO_PARENT where there is no tree */
    struct hw_gpu_tree_record *record;      /* [vertices][roots] */
    uint8_t *edge_found;                    /* likewise: a tuple joins vertex and parent */
    uint8_t *edge_tight;                    /* likewise: and has the weight; NULL of levels */
    struct hw_gpu_violation_counts *counts; /* [HW_GPU_MAX_TREES] */
};

/* Makes records of a tree as the host gives it: levels (int32_t) or distances (float, int64_t
 * less than HW_GPU_NO_INT either way) and parents as in struct hw_result, [count]. Record i goes
 * to to[i * stride]. */
int hw_gpu_launch_record(const struct hw_gpu_trees *trees, uint64_t count, const void *values,
                         const int64_t *parent, struct hw_gpu_tree_record *to, int stride);

/* The same of a tree as a search leaves it: parent ids and whole distances of 32 bits. */
int hw_gpu_launch_record_device(const struct hw_gpu_trees *trees, uint64_t count,
                                const void *values, const uint32_t *parent,
                                struct hw_gpu_tree_record *to, int stride);

/* Makes all vertices unreached in all trees. */
int hw_gpu_launch_clear_trees(const struct hw_gpu_trees *trees);

/* Puts records into a tree: record i is of vertex id[i]; both [count]. */
int hw_gpu_launch_scatter_records(const struct hw_gpu_trees *trees, int tree,
                                  const struct hw_gpu_tree_record *record, const uint32_t *id,
                                  uint64_t count);

/* Rules 1, 2 and 4 as far as a vertex shows them, with levels its parent's too. */
int hw_gpu_launch_check_vertices(const struct hw_gpu_trees *trees);

/* Rules 3 and 4 for each tuple, which joins its ends. */
int hw_gpu_launch_check_tuples(const struct hw_gpu_trees *trees,
                               const struct hw_gpu_tuples *tuples);

/* `edge_found` of all vertices as a word each, bit r for tree r, and `edge_tight` 8 bits above. */
int hw_gpu_launch_pack_edge_bits(const struct hw_gpu_trees *trees, uint16_t *packed);

/* Adds what another rank has packed of vertices [begin, end) to both. */
int hw_gpu_launch_merge_edge_bits(const struct hw_gpu_trees *trees, const uint16_t *packed);

/* Rule 5, and of distances 2, after all tuples. */
int hw_gpu_launch_check_tree_edges(const struct hw_gpu_trees *trees);

/*
 * Rules 1 and 4 for a tree that may have a cycle: begin (flat: only along edges on which distances
 * stay equal, to find cycles only), jump until *changed, cleared before each, stays 0 or 33 times,
 * end, which counts [begin, end) alone. to: [vertices].
 */
int hw_gpu_launch_jump_begin(const struct hw_gpu_trees *trees, int tree, bool flat, uint32_t *to);
int hw_gpu_launch_jump(uint32_t vertices, uint32_t *to, uint32_t *changed);
int hw_gpu_launch_jump_end(const struct hw_gpu_trees *trees, int tree, const uint32_t *to);

#ifdef __cplusplus
}
#endif

#endif
