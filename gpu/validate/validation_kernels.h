/*
 * Validation of trees on the device, by the rules of verify/verify.h and with the same counts
 * and examples as hw_verify_bfs() and hw_verify_sssp(), from the input tuples, which a recipe
 * makes again there.
 */
#ifndef HOPWAVE_GPU_VALIDATE_VALIDATION_KERNELS_H
#define HOPWAVE_GPU_VALIDATE_VALIDATION_KERNELS_H

#include "gpu/graph/build/edge_tuples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Roots that one pass over the tuples checks at most. */
#define HW_GPU_CHECK_ROOTS 8

/* Rules 1 to 5, as lib/verify/verify.h numbers them. */
#define HW_GPU_CHECK_RULES 5

/* What trees have beside parents: levels, or distances as floats or as integers of 32 bits. */
enum hw_gpu_value { HW_GPU_LEVELS, HW_GPU_REALS, HW_GPU_WHOLES };

/* How places say unreached: -1, infinity, and a distance that none has. */
#define HW_GPU_NO_LEVEL (-1)
#define HW_GPU_NO_REAL 0x7f800000
#define HW_GPU_NO_WHOLE INT32_MAX

/* Parents on the device: none, and what is no vertex. */
#define HW_GPU_NO_PARENT UINT32_MAX
#define HW_GPU_BAD_PARENT (UINT32_MAX - 1)

/* What is counted for one root: sums over the ranks, the greatest of them, the least. */
struct hw_gpu_tally {
    uint64_t violations[HW_GPU_CHECK_RULES];
    uint64_t suspects; /* what may keep a vertex from the root */
    uint64_t flat;     /* tree edges along which distances stay equal */
    uint64_t reached, tuples;
    uint64_t levels;                      /* one more than the deepest */
    uint64_t example[HW_GPU_CHECK_RULES]; /* the least: first vertex above, second plus 1 (0 if
                                             there is none) below; UINT64_MAX at first */
};

/* What a vertex has in one tree. */
struct hw_gpu_place {
    uint32_t parent; /* a vertex, or one of the two above */
    int32_t value;   /* a level or distance; of a float the bits, NaN for all that is not finite */
};

/* Some trees; all on the device. Every rank has all of them, and judges its share: the tuples
 * that it is given, and the vertices [begin, end). */
struct hw_gpu_trees {
    uint32_t vertices;
    uint32_t begin, end;
    bool directed;
    int value;                         /* enum hw_gpu_value */
    int roots;                         /* places of a vertex: 1, 2, 4 or 8 */
    uint32_t root[HW_GPU_CHECK_ROOTS]; /* HW_GPU_NO_PARENT where there is no tree */
    struct hw_gpu_place *place;        /* [vertices][roots] */
    uint8_t *joined;                   /* likewise: a tuple joins vertex and parent */
    uint8_t *fitted;                   /* likewise: and has the weight; NULL of levels */
    struct hw_gpu_tally *tally;        /* [HW_GPU_CHECK_ROOTS] */
};

/* Makes records of a tree as the host gives it: levels (int32_t) or distances (float, int64_t
 * less than HW_GPU_NO_WHOLE either way) and parents as in struct hw_result, [count]. Record i goes
 * to to[i * stride]. */
int hw_gpu_launch_record(const struct hw_gpu_trees *trees, uint64_t count, const void *values,
                         const int64_t *parent, struct hw_gpu_place *to, int stride);

/* The same of a tree as a search leaves it: parent ids and whole distances of 32 bits. */
int hw_gpu_launch_record_found(const struct hw_gpu_trees *trees, uint64_t count, const void *values,
                               const uint32_t *parent, struct hw_gpu_place *to, int stride);

/* Makes all vertices unreached in all trees. */
int hw_gpu_launch_empty(const struct hw_gpu_trees *trees);

/* Puts records into a tree: record i is of vertex id[i]; both [count]. */
int hw_gpu_launch_place(const struct hw_gpu_trees *trees, int tree,
                        const struct hw_gpu_place *record, const uint32_t *id, uint64_t count);

/* Rules 1, 2 and 4 as far as a vertex shows them, with levels its parent's too. */
int hw_gpu_launch_check_vertices(const struct hw_gpu_trees *trees);

/* Rules 3 and 4 for each tuple, which joins its ends. */
int hw_gpu_launch_check_tuples(const struct hw_gpu_trees *trees,
                               const struct hw_gpu_tuples *tuples);

/* `joined` of all vertices as a word each, bit r for tree r, and `fitted` 8 bits above. */
int hw_gpu_launch_pack_joined(const struct hw_gpu_trees *trees, uint16_t *packed);

/* Adds what another rank has packed of vertices [begin, end) to both. */
int hw_gpu_launch_join(const struct hw_gpu_trees *trees, const uint16_t *packed);

/* Rule 5, and of distances 2, after all tuples. */
int hw_gpu_launch_check_joined(const struct hw_gpu_trees *trees);

/*
 * Rules 1 and 4 for a tree under suspicion: begin (flat: only along edges on which distances stay
 * equal, where only cycles are looked for), jump until *changed, cleared before
 * each, stays 0 or 33 times, end, which counts [begin, end) alone. to: [vertices].
 */
int hw_gpu_launch_follow_begin(const struct hw_gpu_trees *trees, int tree, bool flat, uint32_t *to);
int hw_gpu_launch_follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed);
int hw_gpu_launch_follow_end(const struct hw_gpu_trees *trees, int tree, const uint32_t *to);

#ifdef __cplusplus
}
#endif

#endif
