#include "verify/test_trees.h"

#include "comm/context.h"

#include <stdlib.h>
#include <string.h>

/* ---- weights ---- */

const char *weighting_name(enum weighting weighting)
{
    static const char *const name[] = {"eighths",        "zeros and ones", "vanishing weights",
                                       "reals",          "signed floats",  "small integers",
                                       "large integers", "signed integers"};

    return name[weighting];
}

bool is_signed(enum weighting weighting)
{
    return weighting == SIGNED || weighting == SIGNED_I32;
}

bool is_whole(const struct world *world)
{
    return world->desc.weights == HW_WEIGHTS_I32;
}

number weight_of(const struct world *world, hw_count e)
{
    return is_whole(world) ? (number)world->edges.weight[e].i32
                           : (number)world->edges.weight[e].f32;
}

void put_weight(struct world *world, hw_count e, double weight)
{
    if (is_whole(world))
        world->edges.weight[e].i32 = (int32_t)weight;
    else
        world->edges.weight[e].f32 = (float)weight;
}

static int potential(hw_gid v)
{
    return (int)(v * 7919 % 13);
}

static double draw_weight(const struct world *world, enum weighting weighting, hw_count e,
                          uint64_t *seed)
{
    static const float vanishing[] = {1, 0x1p-30f, 0, 0x1p-60f};
    uint64_t random = next_random(seed);

    switch (weighting) {
    case EIGHTHS:
        return (double)(random % 8 + 1) / 8;
    case BITS:
        return (double)(random % 2);
    case VANISHING:
        return (double)vanishing[random % 4];
    case REALS:
        return (double)(float)((double)(random >> 40) * 0x1p-24 * 3.3);
    case SMALL:
        return (double)(random % 10);
    case LARGE:
        return (double)(random % INT32_MAX);
    default:
        return (double)(random % 8) + potential(world->edges.source[e]) -
               potential(world->edges.target[e]);
    }
}

void add_weights(struct world *world, enum weighting weighting, uint64_t seed)
{
    hw_count m = world->desc.edges;

    world->desc.weights = weighting >= SMALL ? HW_WEIGHTS_I32 : HW_WEIGHTS_F32;
    world->edges.weight = must(calloc((size_t)m + 1, sizeof *world->edges.weight));
    for (hw_count e = 0; e < m; e++)
        put_weight(world, e, draw_weight(world, weighting, e, &seed));
}

struct world cycle_world(bool whole, bool directed)
{
    static const struct {
        hw_gid u, v;
        int weight;
    } tuple[] = {{1, 2, -1}, {2, 3, 5}, {2, 3, -1}, {2, 3, 4},  {3, 1, -1},
                 {4, 4, -2}, {5, 6, 1}, {6, 5, 0},  {7, 8, -1}, {0, 9, 1}};
    const hw_count count = sizeof tuple / sizeof *tuple;
    struct world world = empty_world(40000, count, directed);

    add_weights(&world, whole ? SMALL : EIGHTHS, 1);
    for (hw_count e = 0; e < count; e++) {
        world.edges.source[e] = tuple[e].u;
        world.edges.target[e] = tuple[e].v;
        put_weight(&world, e, tuple[e].weight);
    }
    return world;
}

/* ---- trees ---- */

struct trees trees_alloc(const struct kind *kind, hw_count k, hw_gid vertices)
{
    size_t cells = (size_t)(k * vertices + 1);

    return (struct trees){.kind = kind,
                          .k = k,
                          .root = must(malloc(sizeof(hw_gid) * (size_t)(k + 1))),
                          .value = must(malloc(sizeof(number) * cells)),
                          .parent = must(malloc(sizeof(hw_gid) * cells)),
                          .cycle = must(calloc((size_t)k + 1, sizeof(struct hw_cycle)))};
}

void trees_free(struct trees *trees)
{
    for (hw_count i = 0; i < trees->k; i++)
        hw_cycle_free(&trees->cycle[i]);
    free(trees->root);
    free(trees->value);
    free(trees->parent);
    free(trees->cycle);
}

void grow_from(const struct world *world, struct trees *trees, hw_count i, hw_gid root)
{
    hw_gid n = world->desc.vertices;

    trees->root[i] = root;
    trees->kind->grow(world, root, trees->value + i * n, trees->parent + i * n);
}

struct trees grow_trees(const struct kind *kind, const struct world *world, hw_count k,
                        uint64_t seed)
{
    hw_gid n = world->desc.vertices;
    struct trees trees = trees_alloc(kind, k, n);

    for (hw_count i = 0; i < k; i++)
        grow_from(world, &trees, i, below(&seed, n));
    return trees;
}

enum hw_status verify(const struct hw_context *ctx, const struct world *world,
                      const struct trees *trees, struct hw_verdict *verdict, struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    hw_gid first, n = world->desc.vertices;
    hw_count length, k = trees->k;

    hw_store_share(n, ctx->rank, ctx->size, &first, &length);
    number *value = must(malloc(sizeof *value * (size_t)(k * length + 1)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * length + 1)));
    for (hw_count i = 0; i < k; i++) {
        memcpy(value + i * length, trees->value + i * n + first, sizeof *value * (size_t)length);
        memcpy(parent + i * length, trees->parent + i * n + first, sizeof *parent * (size_t)length);
    }
    enum hw_status status = hw_graph_from_edges(ctx, &world->desc, &world->edges, &graph, err);
    if (status == HW_OK)
        status = trees->kind->validate(ctx, graph, trees, length, value, parent, verdict, err);
    hw_graph_close(graph);
    free(value);
    free(parent);
    return status;
}

void check_all(struct tap *tap, const struct hw_context *ctx, const struct world *world,
               const struct trees *trees, bool right, const char *name)
{
    struct hw_error err = {{0}};
    struct hw_verdict *verdict = must(calloc((size_t)trees->k + 1, sizeof *verdict));
    bool agree = verify(ctx, world, trees, verdict, &err) == HW_OK;

    if (!agree)
        tap_note(tap, "%s", err.text);
    for (hw_count i = 0; i < trees->k && agree; i++) {
        struct hw_verdict want = trees->kind->oracle(world, trees, i);
        agree = same_verdict(&verdict[i], &want) && (!right || passed(&verdict[i]));
        if (!agree)
            explain(tap, i, &verdict[i], &want);
    }
    tap_ok(tap, agree, "%s", name);
    free(verdict);
}

/* ---- broken trees ---- */

struct defects no_defects(const struct kind *kind, const struct world *world, hw_gid root)
{
    hw_gid n = world->desc.vertices;
    struct defects defects = {.world = world, .trees = trees_alloc(kind, DEFECTS, n)};
    struct trees *trees = &defects.trees;

    grow_from(world, trees, 0, root);
    for (int i = 1; i < DEFECTS; i++) {
        trees->root[i] = root;
        memcpy(trees->value + i * n, trees->value, sizeof(number) * (size_t)n);
        memcpy(trees->parent + i * n, trees->parent, sizeof(hw_gid) * (size_t)n);
    }
    return defects;
}

void set(struct defects *defects, hw_gid v, number value, hw_gid parent)
{
    hw_gid at = defects->count * defects->world->desc.vertices + v;

    defects->trees.value[at] = value;
    defects->trees.parent[at] = parent;
}

void expect(struct defects *defects, const char *name, enum hw_rule rule, hw_gid a, hw_gid b,
            int broken)
{
    defects->defect[defects->count++] = (struct defect){name, rule, {a, b}, broken};
}

/* Whether a verdict names the defect, its example and no other rule. */
static bool names(const struct hw_verdict *verdict, const struct defect *defect)
{
    const hw_gid *example = verdict->example[defect->rule];

    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        if ((verdict->violations[rule] > 0) != (defect->broken >> rule & 1))
            return false;
    return example[0] == defect->example[0] && example[1] == defect->example[1];
}

void check_defects(struct tap *tap, const struct hw_context *ctx, struct defects *defects)
{
    struct hw_error err = {{0}};
    struct trees *trees = &defects->trees;
    struct hw_verdict *verdict = must(calloc(DEFECTS, sizeof *verdict));

    trees->k = defects->count + 1;
    bool ran = verify(ctx, defects->world, trees, verdict, &err) == HW_OK;
    for (int i = 0; i < defects->count; i++) {
        const struct defect *defect = &defects->defect[i];
        struct hw_verdict want = trees->kind->oracle(defects->world, trees, i);
        bool right = ran && same_verdict(&verdict[i], &want) && names(&verdict[i], defect);
        if (!tap_ok(tap, right, "%s: rule %s", defect->name, hw_rule_name(defect->rule)))
            explain(tap, i, &verdict[i], &want);
    }
    tap_ok(tap, ran && passed(&verdict[defects->count]), "the right tree beside them passes");
    trees_free(trees);
    free(verdict);
}
