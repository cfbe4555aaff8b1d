/* Units of the choice of directions: what is expected of degrees, and what follows from it. */
#include "gpu/bfs/direction_optimizing/direction_policy.h"
#include "tests/tap/tap.h"

#define VERTICES (1u << 24)
#define DEGREE 32u

/* The policy of one GPU for a graph with `hubs` vertices of degree 4096 and else DEGREE. */
static struct hw_bfs_policy make_policy(uint32_t hubs)
{
    struct hw_bfs_degree_classes classes = {.count = {0}};
    struct hw_bfs_policy policy = {
        .parts = 1,
        .block_vertices = 4096,
        .block_edges = 3072,
        .core = VERTICES,
        .edges = (uint64_t)hubs * 4096 + (uint64_t)(VERTICES - hubs) * DEGREE,
        .broadcast_edges = 1u << 17,
        .bits_fraction = 1,
        .pull_weight = 1,
        .costs = {.push_edge = 25, .only_edge = 25, .pull_first = 5, .pull = 5e6f}};

    for (uint32_t v = 0; v < VERTICES; v++)
        hw_bfs_count_degree(&classes, v < hubs ? 4096 : DEGREE);
    hw_bfs_tabulate(&classes, true, &policy);
    return policy;
}

/* A search that has pushed nothing but reached a frontier of the mean degree. */
static struct hw_bfs_state make_state(uint64_t frontier, uint64_t edges, uint64_t refs)
{
    return (struct hw_bfs_state){.depth = 3,
                                 .initial = true,
                                 .frontier = frontier,
                                 .edges = edges,
                                 .first_neighbor_refs = refs,
                                 .reached = frontier};
}

static bool is_near(double value, double expected)
{
    return value > 0.98 * expected && value < 1.02 * expected;
}

static void test_degrees(struct tap *tap, const struct hw_bfs_policy *even,
                         const struct hw_bfs_policy *skewed)
{
    tap_ok(tap, is_near(even->hub_share, 1.0 / HW_BFS_HUB_FRACTION),
           "without hubs, 1/64 of the vertices has 1/64 of the edges");
    tap_ok(tap, is_near(skewed->hub_share, 128.0 / (128 + 63)), "hubs have their share");
    tap_ok(tap, even->probes[0] > 0.99f && even->probes[0] < 1.01f,
           "one test is enough where all edges begin in the frontier");
    tap_ok(tap, is_near(even->probes[8], 16 * (1 - pow(15.0 / 16, DEGREE - 1))),
           "a sixteenth of the edges: a geometric sum");
    tap_ok(tap, is_near(even->probes[HW_BFS_FRACTIONS - 1], DEGREE - 1),
           "the whole list where almost none do");
    tap_ok(tap, even->costs.pull_probe > 1.8f * skewed->costs.pull_probe,
           "tests cost more where few edges are at cached vertices");
}

static void test_random(struct tap *tap, const struct hw_bfs_policy *policy)
{
    const uint64_t sixteenth = VERTICES / 16;
    struct hw_bfs_state state = make_state(sixteenth, sixteenth * DEGREE, sixteenth);

    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_PUSH_ONLY,
           "a sixteenth of a random graph is pushed, and what it discovers is not queued");
    state = make_state(VERTICES / 512, VERTICES / 512 * DEGREE, VERTICES / 512);
    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_PUSH,
           "less is pushed, and what it discovers is queued");
    state.frontier = 64;
    state.edges = 64 * DEGREE;
    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_PUSH_BLOCK, "few are for one block");
    state = make_state(VERTICES / 8 * 7, 0, 0);
    tap_ok(tap, hw_bfs_after_push_only(policy, &state) == HW_BFS_PULL, "most of it is pulled");
    state = make_state(sixteenth, 0, 0);
    tap_ok(tap, hw_bfs_after_push_only(policy, &state) == HW_BFS_QUEUE,
           "a sixteenth that is not queued will be");
    state.frontier = 0;
    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_LEAVES, "nothing ends the search");
}

static void test_skewed(struct tap *tap, const struct hw_bfs_policy *policy)
{
    const uint64_t hubs = VERTICES / 64;
    struct hw_bfs_state state = make_state(hubs, hubs * 4096, VERTICES / 10 * 9);

    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_PULL, "hubs are pulled from");
    state = make_state(1000, 1000 * 4096, 0);
    tap_ok(tap, hw_bfs_after_queue(policy, &state) == HW_BFS_PUSH_ONLY,
           "the first of them are pushed, and what they find is not queued");
    state = make_state(hubs + 1000, 0, 0);
    tap_ok(tap, hw_bfs_after_push_only(policy, &state) == HW_BFS_PULL,
           "many vertices that nobody counted are taken to include the hubs");
}

static void test_options(struct tap *tap, struct hw_bfs_policy policy)
{
    struct hw_bfs_state state = make_state(VERTICES / 16, VERTICES / 16 * DEGREE, 0);

    policy.pull_weight = 1e-3f;
    tap_ok(tap, hw_bfs_after_queue(&policy, &state) == HW_BFS_PULL, "a small weight pulls sooner");
    policy.pull_weight = 1e6f;
    state = make_state(VERTICES / 8 * 7, (uint64_t)VERTICES / 8 * 7 * DEGREE, 0);
    tap_ok(tap, hw_bfs_after_queue(&policy, &state) == HW_BFS_PUSH, "a large one never");
    policy.pull_weight = 1;
    policy.direction = HW_BFS_TOP_DOWN;
    tap_ok(tap, hw_bfs_after_queue(&policy, &state) == HW_BFS_PUSH, "top-down is pushed");
    policy.direction = HW_BFS_BOTTOM_UP;
    state = make_state(2, 2 * DEGREE, 0);
    tap_ok(tap, hw_bfs_after_queue(&policy, &state) == HW_BFS_PULL, "bottom-up is pulled");
    state.depth = 0;
    tap_ok(tap, hw_bfs_after_queue(&policy, &state) == HW_BFS_PUSH_BLOCK,
           "but for the first level");
}

static void test_return(struct tap *tap, struct hw_bfs_policy policy)
{
    struct hw_bfs_state state = make_state(100, 0, 0);

    state.initial = false;
    tap_ok(tap, hw_bfs_after_pull(&policy, &state, VERTICES / 2) == HW_BFS_QUEUE,
           "one GPU returns to top-down after a level that discovered few");
    policy.parts = 2;
    policy.small_levels = 3;
    int levels = 1;
    state.small_levels = 0;
    while (hw_bfs_after_pull(&policy, &state, VERTICES / 64) == HW_BFS_PULL && levels < 100)
        levels++;
    tap_ok(tap, levels == 4, "several do after four of them");
    state.frontier = VERTICES / 2;
    tap_ok(tap, hw_bfs_after_pull(&policy, &state, VERTICES / 4) == HW_BFS_PULL,
           "nobody does after one that discovered many");
    tap_ok(tap, hw_bfs_after_pull(&policy, &state, 0) == HW_BFS_LEAVES,
           "the search ends where nothing is left");
}

int main(void)
{
    struct tap tap = {0};
    const struct hw_bfs_policy even = make_policy(0), skewed = make_policy(VERTICES / 64);

    tap_plan(&tap, 24);
    test_degrees(&tap, &even, &skewed);
    test_random(&tap, &even);
    test_skewed(&tap, &skewed);
    test_options(&tap, even);
    test_return(&tap, even);
    return tap_done(&tap);
}
