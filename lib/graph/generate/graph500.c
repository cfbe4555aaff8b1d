/*
 * Tuple e starts at the state that lies e * 2^64 steps after the seed's. A batch
 * of LANES neighbouring tuples is made side by side: their start states are
 * advanced together by the matrix of LANES * 2^64 steps, and each level is one
 * loop over the lanes that compilers turn into vector code. The rare draws that
 * the reference rejects (3647 of 2^31) mark a lane to be made again one draw at
 * a time.
 */
#include "lib/graph/generate/graph500.h"

#include "lib/graph/generate/random.h"

#include <string.h>

enum {
    LANE_BITS = 6,
    LANES = 1 << LANE_BITS,
    HIGH_LEVELS = 20 /* above scale 32 the first scale-20 levels are kept apart */
};

/* The states and tuples of a batch. */
struct batch {
    uint32_t start[5][LANES]; /* states at the tuples' start, newest first */
    uint32_t z[5][LANES];     /* states on the way, in a ring */
    uint32_t row[LANES], column[LANES];
    uint32_t diagonal[LANES]; /* 1 while source and target agree */
    uint32_t rejected[LANES]; /* 1 if a draw was rejected */
    hw_gid high_row[LANES], high_column[LANES];
};

/* ---- states ---- */

/* Sets the start states of tuples first .. first+LANES-1. */
static void start_lanes(const struct hw_graph500 *graph, hw_count first, struct batch *batch)
{
    struct hw_mrg state = hw_graph500_state(graph, (uint64_t)first);

    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 5; k++)
            batch->start[k][i] = state.z[k];
        state = hw_mrg_apply(&graph->skip[0], &state);
    }
}

/* Moves the start states to the next batch. */
HW_CLONES
static void next_lanes(const struct hw_mrg_matrix *matrix, uint32_t start[restrict 5][LANES])
{
    for (int i = 0; i < LANES; i++) {
        uint32_t z1 = start[0][i], z2 = start[1][i], z3 = start[2][i], z4 = start[3][i];
        uint32_t z5 = start[4][i];
        start[0][i] = hw_mrg_dot(matrix->m[0], z1, z2, z3, z4, z5);
        start[1][i] = hw_mrg_dot(matrix->m[1], z1, z2, z3, z4, z5);
        start[2][i] = hw_mrg_dot(matrix->m[2], z1, z2, z3, z4, z5);
        start[3][i] = hw_mrg_dot(matrix->m[3], z1, z2, z3, z4, z5);
        start[4][i] = hw_mrg_dot(matrix->m[4], z1, z2, z3, z4, z5);
    }
}

/* ---- labels ---- */

/* Labels of a batch. Only the low `scale` bits of the products matter, so that
 * 32 bits do up to scale 32. */
HW_CLONES
static void label_lanes(const struct hw_graph500 *graph, const uint32_t *restrict id,
                        hw_gid *restrict label)
{
    const int shift = 32 - graph->scale;
    const uint32_t add = (uint32_t)(graph->scramble[0] + graph->scramble[1]);
    const uint32_t one = (uint32_t)graph->scramble[0] | 0x11493211;
    const uint32_t two = (uint32_t)graph->scramble[1] | 0x02C843A5;

    for (int i = 0; i < LANES; i++) {
        uint32_t v = hw_reverse32((id[i] + add) * one) >> shift;
        label[i] = hw_reverse32(v * two) >> shift;
    }
}

/* ---- tuples ---- */

/*
 * One level of a batch: level n overwrites the oldest number of each ring.
 * Source and target are swapped while they agree, so that source <= target
 * before labels.
 */
HW_CLONES
static void descend(struct batch *restrict batch, int n)
{
    const uint32_t *restrict newest = batch->z[4 * n % 5];
    uint32_t *restrict oldest = batch->z[(4 * n + 4) % 5];

    for (int i = 0; i < LANES; i++) {
        uint32_t draw = hw_mrg_follow(newest[i], oldest[i]);
        oldest[i] = draw;
        /* draw / 10000 for 31 bits: 3518437209 = ceil(2^45 / 10000). */
        uint32_t quotient = (uint32_t)((draw * (uint64_t)3518437209u) >> 45);
        uint32_t square = draw - quotient * HW_GRAPH500_DENOMINATOR;
        uint32_t not_b = square >= HW_GRAPH500_BELOW_B, not_bc = square >= HW_GRAPH500_BELOW_C,
                 d = square >= HW_GRAPH500_BELOW_A;
        uint32_t down = not_b ^ not_bc ^ d, right = 1 ^ not_b ^ d;
        uint32_t swap = batch->diagonal[i] & down & ~right;
        down ^= swap;
        right ^= swap;
        batch->diagonal[i] &= ~(down ^ right);
        batch->rejected[i] |= draw < HW_GRAPH500_REJECTED;
        batch->row[i] = batch->row[i] << 1 | down;
        batch->column[i] = batch->column[i] << 1 | right;
    }
}

HW_CLONES
static void weigh(struct batch *restrict batch, int n, union hw_weight *restrict weight)
{
    const uint32_t *restrict newest = batch->z[4 * n % 5];
    const uint32_t *restrict oldest = batch->z[(4 * n + 4) % 5];

    for (int i = 0; i < LANES; i++)
        weight[i].f32 = hw_graph500_weight(hw_mrg_follow(newest[i], oldest[i]));
}

/* Puts the high levels aside, above scale 32, so that 32 bits hold the rest. */
static void keep_high_levels(struct batch *batch)
{
    for (int i = 0; i < LANES; i++) {
        batch->high_row[i] = (hw_gid)batch->row[i] << HIGH_LEVELS;
        batch->high_column[i] = (hw_gid)batch->column[i] << HIGH_LEVELS;
    }
    memset(batch->row, 0, sizeof batch->row);
    memset(batch->column, 0, sizeof batch->column);
}

/* Labels the batch's tuples. */
static void label_batch(const struct hw_graph500 *graph, const struct batch *batch, hw_gid *source,
                        hw_gid *target)
{
    if (graph->scale <= 32) {
        label_lanes(graph, batch->row, source);
        label_lanes(graph, batch->column, target);
        return;
    }
    for (int i = 0; i < LANES; i++) {
        source[i] =
            (hw_gid)hw_graph500_label(graph, (uint64_t)(batch->high_row[i] | batch->row[i]));
        target[i] =
            (hw_gid)hw_graph500_label(graph, (uint64_t)(batch->high_column[i] | batch->column[i]));
    }
}

/* Makes the tuples whose start states the batch holds. weight may be NULL. */
static void make_batch(const struct hw_graph500 *graph, struct batch *batch, hw_gid *source,
                       hw_gid *target, union hw_weight *weight)
{
    memcpy(batch->z, batch->start, sizeof batch->z);
    memset(batch->row, 0, sizeof batch->row);
    memset(batch->column, 0, sizeof batch->column);
    memset(batch->rejected, 0, sizeof batch->rejected);
    for (int i = 0; i < LANES; i++)
        batch->diagonal[i] = 1;
    for (int level = 0; level < graph->scale; level++) {
        if (graph->scale > 32 && level == graph->scale - HIGH_LEVELS)
            keep_high_levels(batch);
        descend(batch, level);
    }
    label_batch(graph, batch, source, target);
    if (weight)
        weigh(batch, graph->scale, weight);
    for (int i = 0; i < LANES; i++) {
        if (batch->rejected[i]) {
            struct hw_mrg state;
            for (int k = 0; k < 5; k++)
                state.z[k] = batch->start[k][i];
            uint64_t ends[2];
            float made = hw_graph500_tuple(graph, state, &ends[0], &ends[1]);
            source[i] = (hw_gid)ends[0];
            target[i] = (hw_gid)ends[1];
            if (weight)
                weight[i].f32 = made;
        }
    }
}

void hw_graph500_init(struct hw_graph500 *graph, int scale, uint64_t seed1, uint64_t seed2)
{
    struct hw_mrg state = hw_mrg_seed(seed1, seed2);

    *graph = (struct hw_graph500){.scale = scale, .start = state};
    graph->skip[0] = hw_mrg_steps(64);
    for (int k = 1; k < HW_GRAPH500_INDEX_BITS; k++)
        graph->skip[k] = hw_mrg_square(&graph->skip[k - 1]);
    hw_mrg_skip(&state, 50, 7, 0);
    for (int i = 0; i < 2; i++) {
        uint64_t high = hw_mrg_next(&state);
        graph->scramble[i] = high * 0xFFFFFFFF + hw_mrg_next(&state);
    }
}

void hw_graph500_make(const struct hw_graph500 *graph, hw_count first, hw_count count,
                      hw_gid *source, hw_gid *target, union hw_weight *weight)
{
    struct batch batch;
    hw_count done = 0;

    if (count <= 0)
        return;
    start_lanes(graph, first, &batch);
    for (; count - done >= LANES; done += LANES) {
        make_batch(graph, &batch, source + done, target + done, weight ? weight + done : NULL);
        next_lanes(&graph->skip[LANE_BITS], batch.start);
    }
    if (done < count) {
        hw_gid last[2][LANES];
        union hw_weight last_weight[LANES];
        size_t rest = (size_t)(count - done);
        make_batch(graph, &batch, last[0], last[1], weight ? last_weight : NULL);
        memcpy(source + done, last[0], rest * sizeof *source);
        memcpy(target + done, last[1], rest * sizeof *target);
        if (weight)
            memcpy(weight + done, last_weight, rest * sizeof *weight);
    }
}
