#include "lib/graph/generate/spatial/road.h"

#include <math.h>

enum { GROUP = 3 /* junctions of which one has both roads */ };

void hw_road_init(struct hw_road *road, const hw_gid size[2], uint64_t seed)
{
    *road = (struct hw_road){.seed = seed, .size = {(uint64_t)size[0], (uint64_t)size[1]}};
}

/* Groups in a row of junctions; the first column has no western neighbours. */
static uint64_t groups_of(const struct hw_road *road)
{
    return (road->size[0] - 1) / GROUP;
}

hw_count hw_road_edges(const struct hw_road *road)
{
    return (hw_count)(road->size[0] * road->size[1] - 1 + groups_of(road) * (road->size[1] - 1));
}

/* Whether a junction's road of the tree leads west. */
static bool leads_west(const struct hw_road *road, uint64_t junction)
{
    if (junction < road->size[0])
        return true;
    if (junction % road->size[0] == 0)
        return false;
    return hw_random(road->seed, HW_RANDOM_STREAM_ROAD, junction, 0).word[0] & 1;
}

static void make_one(const struct hw_road *road, uint64_t index, hw_gid *source, hw_gid *target)
{
    const uint64_t width = road->size[0], tree = width * road->size[1] - 1;
    uint64_t junction = index + 1;
    const bool extra = index >= tree;

    if (extra) {
        const uint64_t group = index - tree, row = 1 + group / groups_of(road);
        struct hw_random random = hw_random(road->seed, HW_RANDOM_STREAM_ROAD, group, 1);
        junction = row * width + 1 + GROUP * (group % groups_of(road)) +
                   hw_random_below(hw_random_u64(&random, 0), GROUP);
    }
    *source = (hw_gid)junction;
    *target = (hw_gid)(junction - (leads_west(road, junction) != extra ? 1 : width));
}

/* Where a junction lies. */
static void locate(const struct hw_road *road, uint64_t junction, double at[2])
{
    struct hw_random random = hw_random(road->seed, HW_RANDOM_STREAM_POINT, junction, 0);

    for (int d = 0; d < 2; d++) {
        const uint64_t place = d == 0 ? junction % road->size[0] : junction / road->size[0];
        const uint64_t shift = hw_random_below(hw_random_u64(&random, d), 2 * HW_ROAD_SHIFT + 1);
        at[d] = (double)(place * HW_ROAD_SPACING + shift);
    }
}

/* All values are whole numbers below 2^53, and square roots are rounded correctly: every machine
 * gets the same length. */
static int32_t length_of(const struct hw_road *road, hw_gid source, hw_gid target)
{
    double from[2], to[2];

    locate(road, (uint64_t)source, from);
    locate(road, (uint64_t)target, to);
    const double east = to[0] - from[0], south = to[1] - from[1];
    return (int32_t)floor(sqrt(east * east + south * south));
}

void hw_road_make(const struct hw_road *road, hw_count first, hw_count count, hw_gid *source,
                  hw_gid *target, union hw_weight *length)
{
    for (hw_count i = 0; i < count; i++) {
        make_one(road, (uint64_t)(first + i), source + i, target + i);
        if (length)
            length[i].i32 = length_of(road, source[i], target[i]);
    }
}
