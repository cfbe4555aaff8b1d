/* Units of lib/layout that need no ranks: the numberings and the threshold. */
#include "lib/base/permutation.h"
#include "lib/layout/part.h"
#include "lib/layout/threshold.h"
#include "tests/tap/tap.h"

#include <stdlib.h>

/* Whether owner, position and search id undo each other and the owned counts
 * are those of the owners. */
static bool numbering_holds(const struct hw_layout_spec *spec, hw_gid vertices)
{
    hw_lid *owned = calloc((size_t)spec->parts, sizeof *owned);
    hw_lid block = (hw_lid)((vertices + spec->parts - 1) / spec->parts);
    bool holds = owned != NULL;

    for (hw_gid s = 0; s < vertices && holds; s++) {
        int part = hw_owner(spec, s);
        hw_lid position = hw_position(spec, s);
        holds = part >= 0 && part < spec->parts && position < block &&
                hw_search_id(spec, vertices, part, position) == s;
        owned[part]++;
    }
    for (int p = 0; p < spec->parts && holds; p++) {
        holds = owned[p] == hw_owned(spec, vertices, p);
        for (hw_lid t = owned[p]; t < block && holds; t++)
            holds = hw_search_id(spec, vertices, p, t) == HW_GID_NONE;
    }
    free(owned);
    return holds;
}

static void test_numbering(struct tap *tap)
{
    static const hw_gid counts[] = {1, 2, 5, 12, 97, 1024};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int a = 1; a <= 4; a++)
            for (int b = 1; b <= 4; b++) {
                struct hw_layout_spec grid = {
                    .layout = HW_LAYOUT_2D, .parts = a * b, .rows = a, .columns = b};
                struct hw_layout_spec separate = {
                    .layout = HW_LAYOUT_DEGREE_SEPARATED, .parts = a * b, .nodes = a, .devices = b};
                tap_ok(tap,
                       numbering_holds(&grid, counts[c]) && numbering_holds(&separate, counts[c]),
                       "%" PRI_GID " vertices over %dx%d: ids and places undo each other",
                       counts[c], a, b);
            }
    struct hw_layout_spec large = {
        .layout = HW_LAYOUT_DEGREE_SEPARATED, .parts = 4096, .nodes = 1024, .devices = 4};
    hw_gid last = ((hw_gid)1 << 40) - 1;
    tap_ok(tap,
           hw_search_id(&large, last + 1, hw_owner(&large, last), hw_position(&large, last)) ==
                   last &&
               hw_search_id(&large, last, hw_owner(&large, last), hw_position(&large, last)) ==
                   HW_GID_NONE,
           "the last of 2^40 ids");
    tap_ok(tap, hw_owner(&large, 1024 + 5) == 5 * 4 + 1, "the rule of nodes and devices");
}

static void test_find(struct tap *tap)
{
    hw_gid graph_id[] = {40, 7, 19};
    hw_lid by_graph_id[] = {1, 2, 0};
    struct hw_part part = {.own = {.count = 3, .graph_id = graph_id, .by_graph_id = by_graph_id}};

    tap_ok(tap,
           hw_part_find(&part, 7) == 1 && hw_part_find(&part, 19) == 2 &&
               hw_part_find(&part, 40) == 0,
           "own vertices are found");
    tap_ok(tap,
           hw_part_find(&part, 8) == HW_LID_NONE && hw_part_find(&part, 41) == HW_LID_NONE &&
               hw_part_find(&part, -1) == HW_LID_NONE,
           "others are not");
    part.own.count = 0;
    tap_ok(tap, hw_part_find(&part, 7) == HW_LID_NONE, "an empty part has none");
}

static void test_permutation(struct tap *tap)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 17, 64, 1000, 65537};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct hw_permutation permutation = hw_permutation(counts[c], 7);
        bool *seen = calloc(counts[c], sizeof *seen);
        bool holds = seen != NULL;
        for (uint64_t i = 0; i < counts[c] && holds; i++) {
            uint64_t to = hw_permute(&permutation, i);
            holds = to < counts[c] && !seen[to];
            seen[to] = true;
        }
        tap_ok(tap, holds, "a bijection of %d ids", (int)counts[c]);
        free(seen);
    }
    struct hw_permutation large = hw_permutation(((uint64_t)1 << 40) - 3, 7);
    tap_ok(tap, hw_permute(&large, (uint64_t)1 << 39) < large.count, "and of 2^40 - 3");
}

static void test_threshold(struct tap *tap)
{
    struct hw_degrees *degrees = calloc(1, sizeof *degrees);

    tap_ok(tap, hw_threshold_choose(degrees, 0, 1) == 0, "no vertices need no threshold");
    degrees->vertices[0] = 10;
    tap_ok(tap, hw_threshold_choose(degrees, 10, 4) == 0, "nor do vertices without edges");
    /* 1000 vertices of degree 2, 100 of degree 20, 10 of degree 400. */
    *degrees = (struct hw_degrees){.edges = 8000};
    degrees->vertices[2] = 1000;
    degrees->vertices[20] = 100;
    degrees->vertices[400] = 10;
    tap_ok(tap, hw_threshold_choose(degrees, 1110, 4) == 7,
           "from the mean on, nn edges within a tenth");
    tap_ok(tap, hw_threshold_choose(degrees, 1110, 300) == 20,
           "unless the delegates would be too many for so many parts");
    degrees->vertices[20] = 50;
    degrees->vertices[30] = 50;
    degrees->vertices[400] = 40;
    degrees->edges = 20500;
    tap_ok(tap, hw_threshold_choose(degrees, 1140, 4) == 17, "few parts: many delegates");
    tap_ok(tap, hw_threshold_choose(degrees, 1140, 40) == 30, "more parts: fewer");
    free(degrees);
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 117);
    test_numbering(&tap);
    test_find(&tap);
    test_permutation(&tap);
    test_threshold(&tap);
    return tap_done(&tap);
}
