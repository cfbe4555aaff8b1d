#include "lib/graph/generate/spatial/small_world.h"

#include <math.h>

void hw_small_world_init(struct hw_small_world *world, hw_gid vertices, double probability,
                         uint64_t seed)
{
    *world = (struct hw_small_world){.seed = seed,
                                     .vertices = (uint64_t)vertices,
                                     .threshold = (uint64_t)ceil(ldexp(probability, 53))};
}

void hw_small_world_make(const struct hw_small_world *world, hw_count first, hw_count count,
                         hw_gid *source, hw_gid *target)
{
    const uint64_t n = world->vertices;

    for (hw_count i = 0; i < count; i++) {
        const uint64_t index = (uint64_t)(first + i), vertex = index % n;
        struct hw_random random = hw_random(world->seed, HW_RANDOM_STREAM_REWIRE, index, 0);
        uint64_t step = 1 + index / n;
        if (hw_random_u64(&random, 0) >> 11 < world->threshold)
            step = 1 + hw_random_below(hw_random_u64(&random, 1), n - 1);
        source[i] = (hw_gid)vertex;
        target[i] = (hw_gid)((vertex + step) % n);
    }
}
