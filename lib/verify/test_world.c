#include "verify/test_world.h"

#include <stdlib.h>
#include <string.h>

uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

hw_gid below(uint64_t *state, hw_gid bound)
{
    return (hw_gid)(next_random(state) % (uint64_t)bound);
}

void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- graphs ---- */

struct world empty_world(hw_gid vertices, hw_count edges, bool directed)
{
    struct world world = {.desc = {.vertices = vertices, .edges = edges, .directed = directed}};
    size_t bytes = sizeof(hw_gid) * (size_t)(edges + 1);

    world.edges = (struct hw_edges){.capacity = edges,
                                    .count = edges,
                                    .source = must(malloc(bytes)),
                                    .target = must(malloc(bytes))};
    return world;
}

void world_free(struct world *world)
{
    free(world->edges.source);
    free(world->edges.target);
    free(world->edges.weight);
}

struct world random_world(uint64_t seed, hw_gid vertices, hw_count edges, bool directed)
{
    struct world world = empty_world(vertices, edges, directed);
    hw_gid used = vertices * 4 / 5 > 0 ? vertices * 4 / 5 : 1;

    for (hw_count e = 0; e < edges; e++) {
        uint64_t kind = next_random(&seed) % 10;
        hw_gid u = below(&seed, used), v = below(&seed, used);
        if (kind == 0)
            v = u;
        if (kind == 1 && e > 0) {
            hw_count again = below(&seed, e);
            u = world.edges.target[again];
            v = world.edges.source[again];
        }
        world.edges.source[e] = u;
        world.edges.target[e] = v;
    }
    return world;
}

struct world path_world(hw_gid vertices, bool directed)
{
    struct world world = empty_world(vertices, vertices - 1, directed);

    for (hw_count e = 0; e < vertices - 1; e++) {
        world.edges.source[e] = e;
        world.edges.target[e] = e + 1;
    }
    return world;
}

void grow_levels(const struct world *world, hw_gid root, int32_t *level, hw_gid *parent)
{
    bool grew = true;

    for (hw_gid v = 0; v < world->desc.vertices; v++) {
        level[v] = -1;
        parent[v] = -1;
    }
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

/* ---- verdicts ---- */

void note(struct hw_verdict *verdict, enum hw_rule rule, hw_gid a, hw_gid b)
{
    hw_gid *example = verdict->example[rule];

    if (verdict->violations[rule]++ == 0 || a < example[0] || (a == example[0] && b < example[1])) {
        example[0] = a;
        example[1] = b;
    }
}

void chain_ends(const hw_gid *parent, hw_gid n, hw_gid root, hw_gid *end)
{
    enum { UNKNOWN = -2, WALKED = -3 };

    for (hw_gid v = 0; v < n; v++)
        end[v] = v == root || parent[v] < 0 || parent[v] >= n ? v : UNKNOWN;
    for (hw_gid v = 0; v < n; v++) {
        hw_gid last = v;
        for (; end[last] == UNKNOWN; last = parent[last])
            end[last] = WALKED;
        hw_gid found = end[last] == WALKED ? -1 : end[last];
        for (hw_gid u = v; end[u] == WALKED; u = parent[u])
            end[u] = found;
    }
}

bool same_verdict(const struct hw_verdict *a, const struct hw_verdict *b)
{
    return a->reached == b->reached && a->tuples == b->tuples &&
           memcmp(a->violations, b->violations, sizeof a->violations) == 0 &&
           memcmp(a->example, b->example, sizeof a->example) == 0;
}

bool passed(const struct hw_verdict *verdict)
{
    hw_count sum = 0;

    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        sum += verdict->violations[rule];
    return sum == 0;
}

void explain(const struct tap *tap, hw_count i, const struct hw_verdict *got,
             const struct hw_verdict *want)
{
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        tap_note(tap,
                 "tree %" PRI_COUNT " %s: got %" PRI_COUNT " (%" PRI_GID ", %" PRI_GID
                 "), expected %" PRI_COUNT " (%" PRI_GID ", %" PRI_GID ")",
                 i, hw_rule_name(rule), got->violations[rule], got->example[rule][0],
                 got->example[rule][1], want->violations[rule], want->example[rule][0],
                 want->example[rule][1]);
    tap_note(tap, "reached %" PRI_COUNT " of %" PRI_COUNT ", tuples %" PRI_COUNT " of %" PRI_COUNT,
             got->reached, want->reached, got->tuples, want->tuples);
}
