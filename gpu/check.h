/*
 * Validation of breadth-first trees on the device, by the rules of verify/verify.h and with
 * the same counts and examples as hw_verify_bfs(), from the input tuples, which a recipe
 * makes again there.
 */
#ifndef HOPWAVE_GPU_CHECK_H
#define HOPWAVE_GPU_CHECK_H

#include "tuples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Roots that one pass over the tuples checks. */
#define HW_GPU_CHECK_ROOTS 8

/* Rules 1 to 5, as verify.h numbers them. */
#define HW_GPU_CHECK_RULES 5

/* Parents on the device: none, and what is no vertex. */
#define HW_GPU_NO_PARENT UINT32_MAX
#define HW_GPU_BAD_PARENT (UINT32_MAX - 1)

/* What is counted for one root. */
struct hw_gpu_tally {
    uint64_t violations[HW_GPU_CHECK_RULES];
    uint64_t example[HW_GPU_CHECK_RULES]; /* the least: first vertex above, second plus 1 (0 if
                                             there is none) below; UINT64_MAX at first */
    uint64_t suspects;                    /* what may keep a vertex from the root */
    uint64_t reached, tuples;
    uint64_t levels; /* one more than the deepest */
};

/* What a vertex has in one tree. */
struct hw_gpu_place {
    uint32_t parent; /* a vertex, or one of the two above */
    int32_t level;
};

/* Some trees; all on the device. */
struct hw_gpu_trees {
    uint32_t vertices;
    bool directed;
    uint32_t root[HW_GPU_CHECK_ROOTS]; /* HW_GPU_NO_PARENT where there is no tree */
    struct hw_gpu_place *place;        /* [vertices][HW_GPU_CHECK_ROOTS] */
    uint8_t *joined;                   /* likewise: a tuple joins vertex and parent */
    struct hw_gpu_tally *tally;        /* [HW_GPU_CHECK_ROOTS] */
};

/* Puts a tree in its place; NULL: none. level: [vertices]; parent: [vertices] as in
 * struct hw_result. */
int hw_gpu_launch_place_tree(const struct hw_gpu_trees *trees, int tree, const int32_t *level,
                             const int64_t *parent);

/* The same of a tree as a search leaves it: parent ids of 32 bits. */
int hw_gpu_launch_place_found(const struct hw_gpu_trees *trees, int tree, const int32_t *level,
                              const uint32_t *parent);

/* Rules 1, 2 and 4 as far as a vertex and its parent show them; clears `joined`. */
int hw_gpu_launch_check_vertices(const struct hw_gpu_trees *trees);

/* Rules 3 and 4 for each tuple, which joins its ends. */
int hw_gpu_launch_check_tuples(const struct hw_gpu_trees *trees,
                               const struct hw_gpu_tuples *tuples);

/* Rule 5, after all tuples. */
int hw_gpu_launch_check_joined(const struct hw_gpu_trees *trees);

/*
 * Rules 1 and 4 for a tree under suspicion: begin, jump until *changed, cleared before
 * each, stays 0 or 33 times, end. to: [vertices].
 */
int hw_gpu_launch_follow_begin(const struct hw_gpu_trees *trees, int tree, uint32_t *to);
int hw_gpu_launch_follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed);
int hw_gpu_launch_follow_end(const struct hw_gpu_trees *trees, int tree, const uint32_t *to);

#ifdef __cplusplus
}
#endif

#endif
