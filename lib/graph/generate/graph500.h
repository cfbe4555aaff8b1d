/*
 * The Graph500 graph, bit for bit as the reference generator (version 3.0)
 * makes it, edges and weights, at any place of the list.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_GRAPH500_H
#define HOPWAVE_GRAPH_GENERATE_GRAPH500_H

#include "lib/graph/generate/graph500_mrg.h"

/* Bits of a tuple's index that can be skipped to. */
#define HW_GRAPH500_INDEX_BITS 50

/* How draws choose among the quarters. */
enum {
    HW_GRAPH500_DENOMINATOR = 10000, /* of their probabilities */
    HW_GRAPH500_BELOW_B = 1900,      /* draws below this take the upper right quarter, */
    HW_GRAPH500_BELOW_C = 3800,      /* below this the lower left, */
    HW_GRAPH500_BELOW_A = 9500,      /* below this the upper left, others the lower right */
    HW_GRAPH500_REJECTED = 3647      /* draws below 2^31-1 mod 10000 are drawn again */
};

/* A generator; plain values, nothing to free. */
struct hw_graph500 {
    int scale;
    struct hw_mrg start;                               /* the state of tuple 0 */
    struct hw_mrg_matrix skip[HW_GRAPH500_INDEX_BITS]; /* of 2^k tuples */
    uint64_t scramble[2];                              /* val0 and val1 of the reference */
};

/* Fills in a generator. scale: 1 to 40. Local. */
void hw_graph500_init(struct hw_graph500 *graph, int scale, uint64_t seed1, uint64_t seed2);

/* The bits the other way round. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_reverse32(uint32_t x)
{
    x = x >> 16 | x << 16;
    x = (x >> 8 & 0x00FF00FF) | (x & 0x00FF00FF) << 8;
    x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    return (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
}

static inline HW_KERNEL_CALLABLE uint64_t hw_reverse64(uint64_t x)
{
    return (uint64_t)hw_reverse32((uint32_t)x) << 32 | hw_reverse32((uint32_t)(x >> 32));
}

/* The label of an id. Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_graph500_label(const struct hw_graph500 *graph,
                                                            uint64_t id)
{
    const int shift = 64 - graph->scale;
    uint64_t v = id + graph->scramble[0] + graph->scramble[1];

    v *= graph->scramble[0] | UINT64_C(0x4519840211493211);
    v = hw_reverse64(v) >> shift;
    v *= graph->scramble[1] | UINT64_C(0x3050852102C843A5);
    return hw_reverse64(v) >> shift;
}

/* The weight that a draw gives: rounded to float, scaled in double, rounded. Local. */
static inline HW_KERNEL_CALLABLE float hw_graph500_weight(uint32_t draw)
{
    return (float)((double)(float)draw * 4.65661287524579692e-10);
}

/* The state at which tuple `index` starts. Local. */
static inline HW_KERNEL_CALLABLE struct hw_mrg hw_graph500_state(const struct hw_graph500 *graph,
                                                                 uint64_t index)
{
    struct hw_mrg state = graph->start;

    for (int k = 0; k < HW_GRAPH500_INDEX_BITS; k++)
        if (index >> k & 1)
            state = hw_mrg_apply(&graph->skip[k], &state);
    return state;
}

/* Makes the tuple that starts at a state, one draw at a time; returns its weight.
 * hw_graph500_make() makes the same ones faster on CPUs. Local. */
static inline HW_KERNEL_CALLABLE float hw_graph500_tuple(const struct hw_graph500 *graph,
                                                         struct hw_mrg state, uint64_t *source,
                                                         uint64_t *target)
{
    uint64_t row = 0, column = 0;

    for (int level = 0; level < graph->scale; level++) {
        uint32_t draw = hw_mrg_next(&state);
        while (draw < HW_GRAPH500_REJECTED)
            draw = hw_mrg_next(&state);
        uint32_t square = draw % HW_GRAPH500_DENOMINATOR;
        uint32_t down = (square >= HW_GRAPH500_BELOW_B && square < HW_GRAPH500_BELOW_C) ||
                        square >= HW_GRAPH500_BELOW_A;
        uint32_t right = square < HW_GRAPH500_BELOW_B || square >= HW_GRAPH500_BELOW_A;
        if (row == column && down > right) {
            down = 0;
            right = 1;
        }
        row = row << 1 | down;
        column = column << 1 | right;
    }
    *source = hw_graph500_label(graph, row);
    *target = hw_graph500_label(graph, column);
    return hw_graph500_weight(hw_mrg_next(&state));
}

/*
 * Makes tuples [first, first+count) into source and target, and their weights
 * unless weight is NULL; one thread. Local.
 */
void hw_graph500_make(const struct hw_graph500 *graph, hw_count first, hw_count count,
                      hw_gid *source, hw_gid *target, union hw_weight *weight);

#endif
