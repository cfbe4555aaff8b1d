#include "lib/graph/generate/edge_weights.h"

enum hw_weights hw_weighting_type(enum hw_weighting weighting)
{
    if (weighting == HW_WEIGHTING_NONE)
        return HW_WEIGHTS_NONE;
    return weighting == HW_WEIGHTING_INTEGER || weighting == HW_WEIGHTING_LENGTH ? HW_WEIGHTS_I32
                                                                                 : HW_WEIGHTS_F32;
}

/* A block of random numbers serves four uniform weights, or two integer ones. */
static void make_uniform(const struct hw_weighter *weighter, hw_count first, hw_count count,
                         union hw_weight *weight)
{
    hw_count i = 0;

    while (i < count) {
        uint64_t index = (uint64_t)(first + i);
        struct hw_random random = hw_random(weighter->seed, HW_RANDOM_STREAM_WEIGHT, index / 4, 0);
        for (uint64_t w = index % 4; w < 4 && i < count; w++, i++)
            weight[i].f32 = hw_weight_unit(random.word[w]);
    }
}

static void make_integer(const struct hw_weighter *weighter, hw_count first, hw_count count,
                         union hw_weight *weight)
{
    hw_count i = 0;

    while (i < count) {
        uint64_t index = (uint64_t)(first + i);
        struct hw_random random = hw_random(weighter->seed, HW_RANDOM_STREAM_WEIGHT, index / 2, 0);
        for (int half = (int)(index % 2); half < 2 && i < count; half++, i++)
            weight[i].i32 =
                hw_weight_whole(hw_random_u64(&random, half), weighter->low, weighter->high);
    }
}

static void make_signed(const struct hw_weighter *weighter, hw_count first, hw_count count,
                        const hw_gid *source, const hw_gid *target, union hw_weight *weight)
{
    const uint64_t seed = weighter->seed;

    for (hw_count i = 0; i < count; i++) {
        uint32_t bits = hw_weight_word(seed, HW_RANDOM_STREAM_WEIGHT, (uint64_t)(first + i));
        weight[i].f32 = hw_weight_signed(seed, bits, source[i], target[i]);
    }
}

void hw_weights_make(const struct hw_weighter *weighter, hw_count first, hw_count count,
                     const hw_gid *source, const hw_gid *target, union hw_weight *weight)
{
    switch (weighter->weighting) {
    case HW_WEIGHTING_NONE:
    case HW_WEIGHTING_LENGTH:
        return;
    case HW_WEIGHTING_UNIFORM:
        make_uniform(weighter, first, count, weight);
        return;
    case HW_WEIGHTING_INTEGER:
        make_integer(weighter, first, count, weight);
        return;
    case HW_WEIGHTING_SIGNED:
        make_signed(weighter, first, count, source, target, weight);
        return;
    }
}
