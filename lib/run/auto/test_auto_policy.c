/* Units of the policy of --method auto, on made-up graphs. */
#include "lib/run/auto/auto_policy.h"
#include "tests/tap/tap.h"

#include <string.h>

/* Traits as measured on graphs of these classes. */
static struct hw_graph_traits rmat(hw_count vertices, bool directed)
{
    return (struct hw_graph_traits){directed, vertices, 40, 2e5, 4000};
}

static struct hw_graph_traits random_graph(hw_count vertices, double degree)
{
    return (struct hw_graph_traits){false, vertices, degree, degree * 4, 0.95};
}

static struct hw_graph_traits roads(hw_count vertices)
{
    return (struct hw_graph_traits){false, vertices, 2.76, 8, 0.35};
}

static void test_classes(struct tap *tap)
{
    const struct {
        struct hw_graph_traits traits;
        enum hw_graph_class want;
        const char *name;
    } cases[] = {
        {{0}, HW_GRAPH_WITHOUT_EDGES, "nothing"},
        {roads(1 << 20), HW_GRAPH_MESH, "roads"},
        {{false, 1 << 20, 4, 4, 0.001}, HW_GRAPH_MESH, "a grid"},
        {{false, 1 << 20, 26, 26, 0.05}, HW_GRAPH_RANDOM, "long lists of like lengths"},
        {random_graph(1 << 20, 2.3), HW_GRAPH_RANDOM, "G(n,m), edge factor 1"},
        {random_graph(1 << 20, 32), HW_GRAPH_RANDOM, "G(n,m), edge factor 16"},
        {rmat(1 << 20, false), HW_GRAPH_SKEWED, "R-MAT"},
        {{false, 1 << 20, 2, 5e5, 3000}, HW_GRAPH_SKEWED, "a star of short lists"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_ok(tap, hw_graph_classify(&cases[i].traits) == cases[i].want, "class of %s",
               cases[i].name);
}

/* Whether one GPU is recommended in place of so many. */
static bool advises(struct hw_graph_traits traits, enum hw_algorithm algorithm, int parts)
{
    const struct hw_auto_request request = {algorithm, HW_GPU, parts, "delta", false};
    struct hw_auto_verdict verdict;

    hw_auto_judge(&traits, &request, &verdict);
    return strstr(verdict.advice, "one GPU") != NULL;
}

static void test_advice(struct tap *tap)
{
    const hw_count small = 1 << 20, large = 1 << 26;

    tap_ok(tap, advises(rmat(small, false), HW_BFS, 2), "BFS of a small graph: one GPU");
    tap_ok(tap, !advises(rmat(small, false), HW_BFS, 1), "there is one only: no advice");
    tap_ok(tap, !advises(rmat(large, false), HW_BFS, 2), "BFS of a large graph: two");
    tap_ok(tap, !advises(rmat(9000000, true), HW_BFS, 2), "BFS, directed, scale 24: two");
    tap_ok(tap, advises(rmat(2000000, true), HW_SSSP, 2), "shortest paths, directed, 22: one");
    tap_ok(tap, !advises(rmat(7400000, true), HW_SSSP, 2), "shortest paths, directed, 24: two");
    tap_ok(tap, !advises(rmat(9000000, false), HW_SSSP, 2), "shortest paths, scale 24: two");
    tap_ok(tap, advises(rmat(2400000, false), HW_SSSP, 2), "shortest paths, scale 22: one");
    tap_ok(tap, advises(random_graph(4100000, 32), HW_SSSP, 2), "G(n,m) 22: one");
    tap_ok(tap, !advises(random_graph(4100000, 4), HW_SSSP, 2), "short lists at 22: two");
    tap_ok(tap, advises(random_graph(4100000, 4), HW_BFS, 2), "their BFS: one");
    tap_ok(tap, !advises(random_graph(16000000, 32), HW_BFS, 2), "G(n,m) 24: two");
    tap_ok(tap, advises(roads(1070376), HW_BFS, 2), "roads: one");
    tap_ok(tap, advises(roads(1070376), HW_SSSP, 4), "shortest paths on roads: one of four");
    tap_ok(tap, !advises((struct hw_graph_traits){0}, HW_BFS, 2), "no edges: no advice");
}

static void test_reasons(struct tap *tap)
{
    const struct hw_graph_traits traits = roads(264346);
    struct hw_auto_request request = {HW_SSSP, HW_CPU, 2, "delta", false};
    struct hw_auto_verdict verdict;

    hw_auto_judge(&traits, &request, &verdict);
    tap_ok(tap, !verdict.advice[0], "CPUs: no advice about GPUs");
    tap_ok(
        tap,
        strcmp(
            verdict.reason,
            "undirected, 264346 vertices with 2.76 neighbors, about 8 at most (short lists of like "
            "lengths, as in roads and meshes: many small levels); delta is the fastest "
            "measured for device and layout") == 0,
        "a reason: %s", verdict.reason);
    request.negative_weights = true;
    request.method = "bellman-ford";
    hw_auto_judge(&traits, &request, &verdict);
    tap_ok(tap, strstr(verdict.reason, "bellman-ford accepts the negative weights") != NULL,
           "negative weights decide");
    request.device = HW_GPU;
    request.parts = 4;
    hw_auto_judge(&traits, &request, &verdict);
    tap_ok(tap,
           strcmp(verdict.advice, "one GPU is likely to be faster than 4: a mesh with fewer than "
                                  "16777216 vertices") == 0,
           "an advice: %s", verdict.advice);
}

/* Traits of a path of four vertices, and one without edges. */
static void test_traits(struct tap *tap)
{
    hw_count tuples[] = {2, 4, 4, 2, 0}; /* each edge twice */
    struct hw_context ctx = {.world = MPI_COMM_SELF, .size = 1};
    struct hw_part part = {
        .vertices = 5, .edges = 6, .tuples = 6, .own = {.count = 5, .tuples = tuples}};
    struct hw_graph_traits traits;
    struct hw_error err;

    tap_ok(tap, hw_graph_traits(&ctx, &part, &traits, &err) == HW_OK, "traits of a path");
    tap_ok(tap,
           traits.vertices == 4 && traits.mean_degree == 1.5 && traits.max_degree == 2 &&
               traits.dispersion > 0.166 && traits.dispersion < 0.167,
           "%d vertices, mean %g, most %g, dispersion %g", (int)traits.vertices, traits.mean_degree,
           traits.max_degree, traits.dispersion);
    part.own.count = 0;
    tap_ok(tap, hw_graph_traits(&ctx, &part, &traits, &err) == HW_OK && traits.vertices == 0,
           "traits of nothing");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    (void)ctx;
    tap_plan(tap, 30);
    test_classes(tap);
    test_advice(tap);
    test_reasons(tap);
    test_traits(tap);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_auto_policy", tests);
}
