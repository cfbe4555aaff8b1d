#include "lib/graph/generate/spatial/geometric.h"

#include <math.h>

enum {
    MIN_POINTS = 16, /* in a cell, where there are as many */
    MAX_POINTS = 512,
    POINTS_OF_DEGREE = 4,                     /* in a cell for each neighbour expected */
    FORWARD = 14,                             /* a cell and its later neighbours */
    MAX_NEAR = FORWARD * MAX_POINTS,          /* points in these */
    RADIUS_BITS = 20,                         /* of the radius, in parts of a cell */
    LENGTH_BITS = HW_GEOMETRIC_UNIT_BITS - 10 /* units of place in one of length */
};

/* ---- the radius ---- */

/* The probability that two independent uniform points in a rectangle or box lie within a radius
 * that is no larger than its sides. */
static double within(int dimensions, const double side[HW_DIMENSIONS], double r)
{
    const double pi = 3.14159265358979323846;
    const double a = side[0], b = side[1], c = side[2];

    if (dimensions == 2)
        return (pi * a * b * pow(r, 2) - 4.0 / 3 * (a + b) * pow(r, 3) + pow(r, 4) / 2) /
               pow(a * b, 2);
    return (4.0 / 3 * pi * a * b * c * pow(r, 3) - pi / 2 * (a * b + b * c + c * a) * pow(r, 4) +
            8.0 / 15 * (a + b + c) * pow(r, 5) - pow(r, 6) / 6) /
           pow(a * b * c, 2);
}

/* The expected degree: of all points as if each were uniform in the whole area, less the pair of a
 * point with itself, which is one in its own cell. */
static double expected_degree(const struct hw_geometric *geometric, double r)
{
    const double unit[HW_DIMENSIONS] = {1, 1, 1};
    double side[HW_DIMENSIONS], points = (double)geometric->points;

    for (int d = 0; d < HW_DIMENSIONS; d++) {
        side[d] = (double)geometric->cells[d];
        points *= side[d];
    }
    return points * within(geometric->dimensions, side, r) - within(geometric->dimensions, unit, r);
}

/* The least radius of RADIUS_BITS that has the degree. Bisection to so few bits gives the same
 * radius whichever way a machine rounds. */
static uint64_t find_radius(const struct hw_geometric *geometric, double degree)
{
    uint64_t below = 0, above = (uint64_t)1 << RADIUS_BITS;

    while (below < above) {
        const uint64_t middle = (below + above) / 2;
        if (expected_degree(geometric, ldexp((double)middle, -RADIUS_BITS)) < degree)
            below = middle + 1;
        else
            above = middle;
    }
    return above;
}

bool hw_geometric_init(struct hw_geometric *geometric, int scale, int dimensions, double degree,
                       uint64_t seed)
{
    uint64_t points = MIN_POINTS, total = 1;
    int bits = scale;

    while (points < MAX_POINTS && (double)points < POINTS_OF_DEGREE * degree)
        points *= 2;
    while (points > (uint64_t)1 << scale)
        points /= 2;
    *geometric = (struct hw_geometric){.dimensions = dimensions, .seed = seed, .points = points};
    for (; points > 1; points /= 2)
        bits--;
    for (int d = 0; d < HW_DIMENSIONS; d++) {
        const int left = dimensions - d, own = d < dimensions ? (bits + left - 1) / left : 0;
        geometric->cells[d] = (uint64_t)1 << own;
        total *= geometric->cells[d];
        bits -= own;
    }
    geometric->group_cells = geometric->points < HW_GEOMETRIC_GROUP_POINTS
                                 ? (hw_count)(HW_GEOMETRIC_GROUP_POINTS / geometric->points)
                                 : 1;
    geometric->groups = ((hw_count)total + geometric->group_cells - 1) / geometric->group_cells;
    const uint64_t radius = find_radius(geometric, degree);
    geometric->reach = radius * radius << 2 * (HW_GEOMETRIC_UNIT_BITS - RADIUS_BITS);
    return expected_degree(geometric, ldexp((double)radius, -RADIUS_BITS)) >= degree;
}

/* ---- cells ---- */

/* The points of a cell and of its later neighbours, by rising number; places are in units, relative
 * to the cell. */
struct near {
    int count;
    hw_gid id[MAX_NEAR];
    int32_t at[HW_DIMENSIONS][MAX_NEAR];
};

/* Adds the points of the cell that lies `step` cells away. */
static void add_cell(const struct hw_geometric *geometric, uint64_t cell,
                     const int step[HW_DIMENSIONS], struct near *near)
{
    const uint64_t first = cell * geometric->points;
    const int32_t side = 1 << HW_GEOMETRIC_UNIT_BITS;

    for (uint64_t i = 0; i < geometric->points; i++) {
        struct hw_random random = hw_random(geometric->seed, HW_RANDOM_STREAM_POINT, first + i, 0);
        near->id[near->count] = (hw_gid)(first + i);
        for (int d = 0; d < HW_DIMENSIONS; d++)
            near->at[d][near->count] =
                d < geometric->dimensions
                    ? step[d] * side + (int32_t)(random.word[d] >> (32 - HW_GEOMETRIC_UNIT_BITS))
                    : 0;
        near->count++;
    }
}

/* Gathers the points of a cell and of its later neighbours. */
static void gather(const struct hw_geometric *geometric, uint64_t cell, struct near *near)
{
    const uint64_t *cells = geometric->cells;
    const uint64_t place[HW_DIMENSIONS] = {cell % cells[0], cell / cells[0] % cells[1],
                                           cell / cells[0] / cells[1]};
    int step[HW_DIMENSIONS];

    near->count = 0;
    for (step[2] = 0; step[2] <= 1; step[2]++)
        for (step[1] = -1; step[1] <= 1; step[1]++)
            for (step[0] = -1; step[0] <= 1; step[0]++) {
                const int order = step[0] + 3 * step[1] + 9 * step[2];
                bool inside = order >= 0;
                for (int d = 0; d < HW_DIMENSIONS; d++)
                    inside = inside && place[d] + (uint64_t)step[d] < cells[d];
                if (inside)
                    add_cell(geometric,
                             cell + (uint64_t)step[0] +
                                 cells[0] * ((uint64_t)step[1] + cells[1] * (uint64_t)step[2]),
                             step, near);
            }
}

/* The square of the distance of two points. */
static uint64_t distance_square(const struct near *near, int p, int q)
{
    uint64_t sum = 0;

    for (int d = 0; d < HW_DIMENSIONS; d++) {
        const int64_t difference = near->at[d][q] - near->at[d][p];
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

/* The later points within reach of point p, into link: [near->count]. Returns how many. */
static int find_links(const struct hw_geometric *geometric, const struct near *near, int p,
                      int *link)
{
    int links = 0;

    for (int q = p + 1; q < near->count; q++) {
        link[links] = q;
        links += distance_square(near, p, q) <= geometric->reach;
    }
    return links;
}

/* ---- tuples ---- */

/* The cells of a group. */
static void cells_of(const struct hw_geometric *geometric, hw_count group, uint64_t *first,
                     uint64_t *end)
{
    const uint64_t cells = geometric->cells[0] * geometric->cells[1] * geometric->cells[2];

    *first = (uint64_t)(group * geometric->group_cells);
    *end = *first + (uint64_t)geometric->group_cells;
    *end = *end < cells ? *end : cells;
}

hw_count hw_geometric_count_group(const struct hw_geometric *geometric, hw_count group)
{
    struct near near;
    int link[MAX_NEAR];
    uint64_t cell, end;
    hw_count count = 0;

    for (cells_of(geometric, group, &cell, &end); cell < end; cell++) {
        gather(geometric, cell, &near);
        for (int p = 0; p < (int)geometric->points; p++)
            count += find_links(geometric, &near, p, link);
    }
    return count;
}

/* Where made tuples go: those after the first `skip`, up to `count`. */
struct output {
    hw_count skip, count, done;
    hw_gid *source, *target;
    union hw_weight *length;
};

static void put_links(const struct near *near, int p, const int *link, int links,
                      struct output *out)
{
    for (int i = 0; i < links && out->done < out->count; i++) {
        if (out->skip > 0) {
            out->skip--;
            continue;
        }
        out->source[out->done] = near->id[p];
        out->target[out->done] = near->id[link[i]];
        if (out->length) {
            const double distance = sqrt((double)distance_square(near, p, link[i]));
            out->length[out->done].i32 = 1 + ((int32_t)distance >> LENGTH_BITS);
        }
        out->done++;
    }
}

static void make_group(const struct hw_geometric *geometric, hw_count group, struct output *out)
{
    struct near near;
    int link[MAX_NEAR];
    uint64_t cell, end;

    for (cells_of(geometric, group, &cell, &end); cell < end; cell++) {
        gather(geometric, cell, &near);
        for (int p = 0; p < (int)geometric->points && out->done < out->count; p++)
            put_links(&near, p, link, find_links(geometric, &near, p, link), out);
    }
}

/* The group that has a tuple. */
static hw_count group_of(const struct hw_geometric *geometric, hw_count tuple)
{
    hw_count low = 0, high = geometric->groups;

    while (high - low > 1) {
        const hw_count middle = low + (high - low) / 2;
        if (geometric->first_edge[middle] <= tuple)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void hw_geometric_make(const struct hw_geometric *geometric, hw_count first, hw_count count,
                       hw_gid *source, hw_gid *target, union hw_weight *length)
{
    struct output out = {.count = count, .source = source, .target = target, .length = length};

    if (count <= 0)
        return;
    hw_count group = group_of(geometric, first);
    out.skip = first - geometric->first_edge[group];
    for (; group < geometric->groups && out.done < count; group++)
        make_group(geometric, group, &out);
}
