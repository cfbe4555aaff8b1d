/*
 * Units of what shortest paths share: arithmetic of distances, the table of the
 * best ones, lists sorted by weight.
 */
#include "lib/base/bitmap.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/sorted_csr.h"
#include "tests/tap/tap.h"

#include <float.h>
#include <stdlib.h>

static bool orders_floats(void)
{
    const float value[] = {-INFINITY, -FLT_MAX, -2.5f,    -1,      -FLT_MIN, -1e-45f, 0,
                           1e-45f,    FLT_MIN,  0.33333f, 1.0001f, 16777216, FLT_MAX, INFINITY};
    const size_t count = sizeof value / sizeof *value;
    bool holds = hw_distance_key_f32(0) == 0;

    for (size_t k = 0; k < count; k++) {
        int64_t key = hw_distance_key_f32(value[k]);
        holds = holds && hw_distance_f32(key) == value[k];
        holds = holds && (k == 0 || hw_distance_key_f32(value[k - 1]) < key);
    }
    return holds && hw_distance_key_f32(INFINITY) == hw_distance_none(HW_DISTANCE_F32);
}

static bool adds(void)
{
    union hw_weight real = {.f32 = 1e-30f}, huge = {.f32 = FLT_MAX}, whole = {.i32 = -7};
    int64_t one = hw_distance_key_f32(1);

    return hw_distance_add(HW_DISTANCE_F32, one, real) == one &&
           hw_distance_add(HW_DISTANCE_F32, hw_distance_key_f32(FLT_MAX), huge) ==
               hw_distance_none(HW_DISTANCE_F32) &&
           hw_distance_add(HW_DISTANCE_I64, INT64_C(1) << 40, whole) == (INT64_C(1) << 40) - 7 &&
           hw_distance_add(HW_DISTANCE_I32, 5, whole) == -2;
}

static bool bounds(void)
{
    int64_t third = hw_distance_bound(HW_DISTANCE_F32, 1.0 / 3);

    return (double)hw_distance_f32(third) <= 1.0 / 3 &&
           (double)hw_distance_f32(third + 1) > 1.0 / 3 &&
           hw_distance_bound(HW_DISTANCE_F32, 1e300) == hw_distance_none(HW_DISTANCE_F32) - 1 &&
           hw_distance_bound(HW_DISTANCE_I32, 1e300) == INT32_MAX - 1 &&
           hw_distance_bound(HW_DISTANCE_I64, 1e300) == INT64_MAX - 1 &&
           hw_distance_bound(HW_DISTANCE_I64, -2.5) == -3;
}

/* All threads offer falling distances to the same few entries. */
static bool improves(enum hw_distance kind)
{
    enum { ENTRIES = 3, OFFERS = 20000 };
    _Alignas(64) char table[ENTRIES * sizeof(struct hw_best_wide)];
    int successes = 0;
    bool holds = true;

    for (size_t v = 0; v < ENTRIES; v++)
        hw_best_set(kind, table, v, hw_distance_none(kind), UINT32_MAX);
#pragma omp parallel for reduction(+ : successes)
    for (int k = OFFERS; k > 0; k--) {
        int64_t key = (k % 2 ? -1 : 1) * (int64_t)k * 3;
        bool better;
        if (kind == HW_DISTANCE_F32)
            better = hw_best_improve(HW_DISTANCE_F32, true, table, (size_t)k % ENTRIES, key,
                                     (uint32_t)k);
        else if (kind == HW_DISTANCE_I32)
            better = hw_best_improve(HW_DISTANCE_I32, true, table, (size_t)k % ENTRIES, key,
                                     (uint32_t)k);
        else
            better = hw_best_improve(HW_DISTANCE_I64, true, table, (size_t)k % ENTRIES, key,
                                     (uint32_t)k);
        successes += better;
    }
    for (int v = 0; v < ENTRIES; v++) {
        int min = OFFERS; /* the greatest odd number that goes to this entry */
        while (min % 2 == 0 || min % ENTRIES != v)
            min--;
        holds = holds && hw_best_key(kind, table, (size_t)v) == -3 * (int64_t)min;
        holds = holds && hw_best_parent(kind, table, (size_t)v) == (uint32_t)min;
        holds = holds && !hw_best_improve(kind, false, table, (size_t)v, -3 * min, 1);
        holds = holds && hw_best_improve(kind, false, table, (size_t)v, -3 * min - 1, 77);
        holds = holds && hw_best_parent(kind, table, (size_t)v) == 77;
    }
    return holds && successes >= ENTRIES;
}

/* A matrix of lists of many lengths, by fixed arithmetic. */
static struct hw_csr make_matrix(enum hw_weights weights)
{
    enum { ROWS = 9 };
    static const hw_count length[ROWS] = {0, 1, 2, 95, 96, 97, 3000, 0, 7};
    struct hw_csr matrix = {.rows = ROWS};
    uint32_t state = 12345;

    matrix.offset = calloc(ROWS + 1, sizeof *matrix.offset);
    for (int r = 0; r < ROWS; r++)
        matrix.offset[r + 1] = matrix.offset[r] + length[r];
    matrix.index = calloc((size_t)matrix.offset[ROWS], sizeof *matrix.index);
    matrix.weight = calloc((size_t)matrix.offset[ROWS], sizeof *matrix.weight);
    for (hw_lid r = 0; r < ROWS; r++)
        for (hw_count e = matrix.offset[r]; e < matrix.offset[r + 1]; e++) {
            state = state * 1664525 + 1013904223;
            matrix.index[e] = (hw_lid)(e - matrix.offset[r]);
            int32_t weight = (int32_t)(state >> 8) % 1000 - 500;
            if (weights == HW_WEIGHTS_I32)
                matrix.weight[e].i32 = weight * 4000000;
            else
                matrix.weight[e].f32 = (float)weight / 7;
        }
    return matrix;
}

/* Is each list sorted and stable, and complete but for what was left out? */
static bool lists_are_right(enum hw_weights weights, const uint64_t *leave_out,
                            const uint64_t *whole)
{
    struct hw_csr matrix = make_matrix(weights);
    struct hw_sorted_csr lists;
    struct hw_error err;
    bool holds = hw_sorted_csr_build(&matrix, weights, leave_out, whole, &lists, &err) == HW_OK;

    for (hw_lid r = 0; holds && r < matrix.rows; r++) {
        hw_count begin = matrix.offset[r], count = matrix.offset[r + 1] - begin, stay = 0;
        bool all = !leave_out || (whole && hw_bitmap_test(whole, r));
        for (hw_count k = 0; k < count; k++)
            stay += all || !hw_bitmap_test(leave_out, (size_t)k);
        holds = lists.offset[r + 1] - lists.offset[r] == stay;
        for (hw_count e = lists.offset[r]; holds && e < lists.offset[r + 1]; e++) {
            const struct hw_edge *edge = &lists.edge[e];
            holds = edge->weight.i32 == matrix.weight[begin + edge->index].i32 &&
                    (all || !hw_bitmap_test(leave_out, edge->index));
            if (e == lists.offset[r])
                continue;
            int64_t before = weights == HW_WEIGHTS_F32 ? hw_distance_key_f32(edge[-1].weight.f32)
                                                       : edge[-1].weight.i32;
            int64_t here = weights == HW_WEIGHTS_F32 ? hw_distance_key_f32(edge->weight.f32)
                                                     : edge->weight.i32;
            holds = before < here || (before == here && edge[-1].index < edge->index);
        }
    }
    hw_sorted_csr_free(&lists);
    free(matrix.offset);
    free(matrix.index);
    free(matrix.weight);
    return holds;
}

static bool reaches(void)
{
    struct hw_edge edge[5];

    for (int k = 0; k < 5; k++)
        edge[k] = (struct hw_edge){.index = 0, .weight.i32 = 10 * k};
    return hw_sorted_csr_reach(HW_DISTANCE_I64, edge, 0, 5, 100, 100) == 0 &&
           hw_sorted_csr_reach(HW_DISTANCE_I64, edge, 0, 5, 100, 101) == 1 &&
           hw_sorted_csr_reach(HW_DISTANCE_I64, edge, 0, 5, 100, 120) == 2 &&
           hw_sorted_csr_reach(HW_DISTANCE_I64, edge, 2, 5, 100, 0) == 2 &&
           hw_sorted_csr_reach(HW_DISTANCE_I64, edge, 0, 5, 100, 200) == 5;
}

int main(void)
{
    struct tap tap = {0};
    uint64_t leave_out[64] = {0}, whole = 1 << 6 | 1 << 8;

    tap_plan(&tap, 11);
    for (size_t k = 0; k < 4096; k += 3)
        hw_bitmap_set(leave_out, k);
    tap_ok(&tap, orders_floats(), "keys of floats have the order of the floats");
    tap_ok(&tap, adds(), "sums round as their type does");
    tap_ok(&tap, bounds(), "bounds are the greatest keys that are no more");
    tap_ok(&tap, improves(HW_DISTANCE_F32), "the table keeps the least float");
    tap_ok(&tap, improves(HW_DISTANCE_I32), "the table keeps the least 32-bit distance");
    tap_ok(&tap, improves(HW_DISTANCE_I64), "the table keeps the least 64-bit distance");
    tap_ok(&tap, lists_are_right(HW_WEIGHTS_F32, NULL, NULL), "lists sorted by float weights");
    tap_ok(&tap, lists_are_right(HW_WEIGHTS_I32, NULL, NULL), "lists sorted by integer weights");
    tap_ok(&tap, lists_are_right(HW_WEIGHTS_I32, leave_out, NULL), "lists with ends left out");
    tap_ok(&tap, lists_are_right(HW_WEIGHTS_F32, leave_out, &whole), "but for those left whole");
    tap_ok(&tap, reaches(), "the first entry that reaches a bound");
    return tap_done(&tap);
}
