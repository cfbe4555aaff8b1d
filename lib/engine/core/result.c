#include "lib/engine/core/result.h"

#include "lib/base/memory.h"

#include <math.h>
#include <stdlib.h>

struct hw_values hw_values(enum hw_algorithm algorithm, enum hw_weights weights)
{
    if (algorithm == HW_BFS)
        return (struct hw_values){"/level", HW_I32, sizeof(int32_t)};
    if (weights == HW_WEIGHTS_I32)
        return (struct hw_values){"/distance", HW_I64, sizeof(int64_t)};
    return (struct hw_values){"/distance", HW_F32, sizeof(float)};
}

void *hw_result_values(const struct hw_result *result)
{
    if (result->level)
        return result->level;
    return result->distance_f32 ? (void *)result->distance_f32 : result->distance_i64;
}

enum hw_status hw_result_open(const struct hw_part *part, enum hw_algorithm algorithm,
                              struct hw_result *result, struct hw_error *err)
{
    const hw_count count = part->own.count;

    HW_TRY(hw_alloc(&result->parent, count, sizeof *result->parent, "parents", err));
    switch (hw_values(algorithm, part->weights).type) {
    case HW_F32:
        return hw_alloc(&result->distance_f32, count, sizeof(float), "distances", err);
    case HW_I64:
        return hw_alloc(&result->distance_i64, count, sizeof(int64_t), "distances", err);
    default:
        return hw_alloc(&result->level, count, sizeof(int32_t), "levels", err);
    }
}

void hw_result_poison(const struct hw_part *part, struct hw_result *result)
{
    const hw_lid count = part->own.count;

#pragma omp parallel for if (count > 1 << 16)
    for (hw_lid i = 0; i < (result->parent ? count : 0); i++) {
        result->parent[i] = INT64_MIN;
        if (result->level)
            result->level[i] = INT32_MIN;
        else if (result->distance_f32)
            result->distance_f32[i] = NAN;
        else if (result->distance_i64)
            result->distance_i64[i] = INT64_MIN;
    }
    result->outcome = HW_OUTCOME_TREE;
    hw_cycle_free(&result->cycle);
    result->seconds = result->seconds_search_order = 0;
    hw_trace_clear(&result->trace);
    result->reached = (struct hw_reached_counts){.max_level = -1};
}

bool hw_result_legal(const struct hw_part *part, const struct hw_result *result, hw_lid i)
{
    hw_gid parent = result->parent[i];
    bool reached = parent != -1;

    if (parent < -1 || parent >= part->vertices)
        return false;
    if (result->level)
        return result->level[i] >= -1 && result->level[i] < part->vertices;
    if (result->distance_f32)
        return reached ? isfinite(result->distance_f32[i]) : result->distance_f32[i] == INFINITY;
    return reached ? result->distance_i64[i] != INT64_MIN : result->distance_i64[i] == -1;
}

void hw_result_close(struct hw_result *result)
{
    hw_trace_free(&result->trace);
    hw_cycle_free(&result->cycle);
    free(result->parent);
    free(result->level);
    free(result->distance_f32);
    free(result->distance_i64);
    *result = (struct hw_result){0};
}
