/*
 * Validation on the device: on right trees and on trees broken in every way it gives the
 * verdicts that hw_verify_bfs() gives, which its own test compares with an oracle.
 */
#include "comm/context.h"
#include "device.h"
#include "tap.h"
#include "verify.h"
#include "verify/test_world.h"

#include <stdio.h>
#include <stdlib.h>

/* Breadth-first trees from random roots, by sweeps over the tuples. */
static void grow_tree(const struct world *world, hw_gid root, int32_t *level, hw_gid *parent)
{
    bool grew = true;

    for (hw_gid v = 0; v < world->desc.vertices; v++)
        level[v] = -1, parent[v] = -1;
    level[root] = 0;
    parent[root] = root;
    for (int32_t depth = 0; grew; depth++) {
        grew = false;
        for (hw_count e = 0; e < world->desc.edges; e++)
            for (int back = 0; back <= !world->desc.directed; back++) {
                hw_gid u = back ? world->edges.target[e] : world->edges.source[e];
                hw_gid v = back ? world->edges.source[e] : world->edges.target[e];
                if (level[u] != depth || level[v] != -1)
                    continue;
                level[v] = depth + 1;
                parent[v] = u;
                grew = true;
            }
    }
}

/* Breaks a tree in a few places, in one of several ways each. */
static void break_tree(uint64_t *seed, hw_gid n, int32_t *level, hw_gid *parent)
{
    for (hw_gid places = 1 + below(seed, 4); places > 0; places--) {
        hw_gid v = below(seed, n), u = below(seed, n);
        switch (next_random(seed) % 8) {
        case 0:
            parent[v] = u;
            break;
        case 1:
            parent[v] = v;
            break;
        case 2:
            parent[v] = -1;
            break;
        case 3:
            parent[v] = below(seed, 2) ? n + u : -2 - u;
            break;
        case 4:
            level[v] = (int32_t)below(seed, 5) - 2;
            break;
        case 5:
            level[v] = below(seed, 2) ? INT32_MAX : INT32_MIN;
            break;
        case 6: /* a cycle */
            parent[v] = u;
            parent[u] = v;
            break;
        default:
            level[v] = -1;
            parent[v] = -1;
        }
    }
}

/* Both verdicts on k trees. */
static bool same_verdicts(const struct tap *tap, const struct hw_context *ctx,
                          const struct world *world, hw_count k, const hw_gid *root,
                          const int32_t *level, const hw_gid *parent)
{
    struct hw_verdict *got = must(calloc((size_t)k, sizeof *got));
    struct hw_verdict *want = must(calloc((size_t)k, sizeof *want));
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;
    bool same = hw_graph_from_edges(ctx, &world->desc, &world->edges, &graph, &err) == HW_OK &&
                hw_verify_bfs(ctx, graph, k, root, level, parent, want, &err) == HW_OK &&
                hw_gpu_verify_bfs(ctx, graph, k, root, level, parent, got, &err) == HW_OK;

    if (!same)
        tap_note(tap, "%s", err.text);
    for (hw_count i = 0; i < k && same; i++)
        if (!same_verdict(&got[i], &want[i])) {
            explain(tap, i, &got[i], &want[i]);
            same = false;
        }
    hw_graph_close(graph);
    free(got);
    free(want);
    return same;
}

/* One random graph and k trees, of which two thirds are broken. */
static void test_world(struct tap *tap, const struct hw_context *ctx, uint64_t seed, hw_gid n,
                       hw_count k, bool directed)
{
    struct world world = random_world(next_random(&seed), n, below(&seed, 4 * n), directed);
    hw_gid *root = must(malloc(sizeof *root * (size_t)k));
    int32_t *level = must(malloc(sizeof *level * (size_t)(k * n)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * n)));

    for (hw_count i = 0; i < k; i++) {
        root[i] = below(&seed, n);
        grow_tree(&world, root[i], level + i * n, parent + i * n);
        if (i % 3)
            break_tree(&seed, n, level + i * n, parent + i * n);
    }
    tap_ok(tap, same_verdicts(tap, ctx, &world, k, root, level, parent),
           "%d trees of %d vertices, some broken%s", (int)k, (int)n, directed ? ", directed" : "");
    free(root);
    free(level);
    free(parent);
    world_free(&world);
}

/* A tree that is noise: most rules, at most vertices. */
static void test_noise(struct tap *tap, const struct hw_context *ctx)
{
    enum { N = 20000 };
    struct world world = random_world(5, N, 60000, false);
    int32_t *level = must(malloc(sizeof *level * N));
    hw_gid *parent = must(malloc(sizeof *parent * N)), root = 7;
    uint64_t seed = 9;

    for (hw_gid v = 0; v < N; v++) {
        parent[v] = below(&seed, N);
        level[v] = (int32_t)below(&seed, 9) - 1;
    }
    tap_ok(tap, same_verdicts(tap, ctx, &world, 1, &root, level, parent), "a tree that is noise");
    free(level);
    free(parent);
    world_free(&world);
}

int main(int argc, char **argv)
{
    static const hw_gid sizes[] = {1, 2, 33, 300, 1000, 4097};
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};

    if (hw_context_open(&ctx, &argc, &argv, "test_check", &err) != HW_OK)
        return 99;
    ctx.quiet = true;
    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(&ctx, &err) != HW_OK) {
        tap_skip(&tap, "there is no GPU here");
    } else {
        for (int i = 0; i < 30; i++)
            test_world(&tap, &ctx, (uint64_t)i + 1, sizes[i % 6], 1 + i % 7 * 4, i % 2);
        test_noise(&tap, &ctx);
    }
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
