/*
 * Validation of shortest paths: trees as tree_rules.c checks them, and negative cycles
 * against the input tuples.
 *
 * The steps of all cycles make one sorted table, the same on all ranks. One pass over the tuples
 * determines the lightest of each step, then the weights of every cycle are summed exactly. Few
 * tuples are steps: a small Bloom filter rejects most others.
 */
#include "lib/base/exact_sum.h"
#include "lib/base/memory.h"
#include "lib/verify/rules/root_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tuples that a rank reads at a time for the steps of cycles. */
#define CHUNK (16 * (hw_count)HW_STORE_BLOCK)

/* Values of one reduction at most. */
#define PIECE ((hw_count)1 << 20)

/* Bits of the filter, which is a power of two. */
#define FILTER_BITS 20

/* A step of a cycle, of undirected graphs from the lesser end. */
struct step {
    hw_gid from, to;
};

/* The steps of all cycles. */
struct steps {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    hw_count count;
    struct step *step; /* [count] sorted, each once */
    double *min;       /* [count] weight of the lightest tuple; INFINITY if there is none */
    uint64_t *filter;  /* bits of the steps' first ends, hashed */
};

static void steps_free(struct steps *steps)
{
    free(steps->step);
    free(steps->min);
    free(steps->filter);
}

static struct step make_step(const struct steps *steps, hw_gid from, hw_gid to)
{
    if (!steps->desc->directed && from > to)
        return (struct step){to, from};
    return (struct step){from, to};
}

static struct step cycle_step(const struct steps *steps, const struct hw_cycle *cycle, hw_count i)
{
    return make_step(steps, cycle->vertex[i], cycle->vertex[(i + 1) % cycle->length]);
}

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static uint64_t filter_bit(hw_gid from)
{
    return (uint64_t)from * 0x9e3779b97f4a7c15U >> (64 - FILTER_BITS);
}

/* Makes the table of the cycles' steps. Local, the same on all ranks. */
static enum hw_status make_steps(struct steps *steps, hw_count k, const struct hw_cycle *cycle,
                                 struct hw_error *err)
{
    hw_count all = 0, count = 0;

    for (hw_count i = 0; i < k; i++)
        all += cycle[i].length;
    enum hw_status status = hw_alloc(&steps->step, all, sizeof *steps->step, "cycles", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&steps->filter, (hw_count)1 << (FILTER_BITS - 6),
                               sizeof *steps->filter, "cycles", err);
    if (status != HW_OK)
        return status;
    for (hw_count i = 0; i < k; i++)
        for (hw_count j = 0; j < cycle[i].length; j++)
            steps->step[count++] = cycle_step(steps, &cycle[i], j);
    qsort(steps->step, (size_t)all, sizeof *steps->step, compare_steps);
    for (hw_count i = 0; i < all; i++) {
        if (i > 0 && compare_steps(&steps->step[i], &steps->step[steps->count - 1]) == 0)
            continue;
        uint64_t bit = filter_bit(steps->step[i].from);
        steps->filter[bit / 64] |= (uint64_t)1 << bit % 64;
        steps->step[steps->count++] = steps->step[i];
    }
    status = hw_alloc(&steps->min, steps->count, sizeof *steps->min, "cycles", err);
    for (hw_count i = 0; i < steps->count && status == HW_OK; i++)
        steps->min[i] = INFINITY;
    return status;
}

/* The place of a step in the table; -1 if it is none. */
static hw_count find_step(const struct steps *steps, struct step step)
{
    const struct step *found =
        bsearch(&step, steps->step, (size_t)steps->count, sizeof step, compare_steps);

    return found ? found - steps->step : -1;
}

/* Records the weights of the tuples of a block that are steps. */
static void take_tuples(struct steps *steps, const struct hw_edges *edges)
{
    bool whole = steps->desc->weights == HW_WEIGHTS_I32;

#pragma omp parallel for schedule(static) num_threads(steps->ctx->threads)
    for (hw_count i = 0; i < edges->count; i++) {
        struct step step = make_step(steps, edges->source[i], edges->target[i]);
        uint64_t bit = filter_bit(step.from);
        if (!(steps->filter[bit / 64] >> bit % 64 & 1))
            continue;
        hw_count at = find_step(steps, step);
        double weight = whole ? (double)edges->weight[i].i32 : (double)edges->weight[i].f32;
        if (at < 0)
            continue;
#pragma omp critical(hw_verify_steps)
        if (weight < steps->min[at])
            steps->min[at] = weight;
    }
}

/* Finds the lightest tuple of each step. Collective. */
static enum hw_status weigh_steps(struct steps *steps, struct hw_graph *graph, struct hw_error *err)
{
    const struct hw_context *ctx = steps->ctx;
    struct hw_edges edges = {0};
    hw_count first, count;
    enum hw_status status = hw_edges_alloc(&edges, CHUNK, true, err);

    hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    for (hw_count at = 0; at < count && status == HW_OK; at += CHUNK) {
        status =
            hw_graph_read(graph, first + at, count - at < CHUNK ? count - at : CHUNK, &edges, err);
        if (status == HW_OK)
            take_tuples(steps, &edges);
    }
    hw_edges_free(&edges);
    status = hw_agree(ctx->world, status, err);
    for (hw_count at = 0; at < steps->count && status == HW_OK; at += PIECE) {
        hw_count here = steps->count - at < PIECE ? steps->count - at : PIECE;
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, steps->min + at, (int)here, MPI_DOUBLE, MPI_MIN,
                                      ctx->world),
                        "MPI_Allreduce", err);
    }
    return status;
}

/* Counts a violation of rule `cycle` by a step, or by vertex a alone. */
static void note(struct hw_validation *validation, hw_gid a, hw_gid b)
{
    hw_gid *example = validation->example[HW_RULE_CYCLE];

    if (validation->violations[HW_RULE_CYCLE]++ == 0 || a < example[0] ||
        (a == example[0] && b < example[1])) {
        example[0] = a;
        example[1] = b;
    }
}

/* Sums a cycle, all of whose steps are tuples: whether its weight is negative, and as stated. */
static bool weighs_so(const struct steps *steps, const struct hw_cycle *cycle)
{
    __extension__ typedef __int128 wide;
    struct hw_exact real = {{0}};
    wide whole = 0;

    for (hw_count i = 0; i < cycle->length; i++) {
        double weight = steps->min[find_step(steps, cycle_step(steps, cycle, i))];
        if (steps->desc->weights == HW_WEIGHTS_F32)
            hw_exact_add(&real, (float)weight);
        else
            whole += (int64_t)weight;
    }
    if (steps->desc->weights == HW_WEIGHTS_F32)
        return hw_exact_sign(&real) < 0 && hw_exact_double(&real) == cycle->real;
    return whole < 0 && whole == cycle->whole;
}

/* Rule `cycle` for one search. Local, the same on all ranks. */
static void check_cycle(const struct steps *steps, const struct hw_cycle *cycle,
                        struct hw_validation *validation)
{
    bool closed = true;

    for (hw_count i = 0; i < cycle->length; i++)
        if (!(steps->min[find_step(steps, cycle_step(steps, cycle, i))] < INFINITY)) {
            note(validation, cycle->vertex[i], cycle->vertex[(i + 1) % cycle->length]);
            closed = false;
        }
    if (closed && !weighs_so(steps, cycle))
        note(validation, cycle->vertex[0], HW_GID_NONE);
}

/* Whether element i of a tree marks its vertex as reached. */
static bool is_reached(enum hw_value value, const void *distance, const hw_gid *parent, hw_count i)
{
    if (parent[i] != HW_GID_NONE)
        return true;
    if (value == HW_VALUE_F32)
        return !(((const float *)distance)[i] == INFINITY);
    return ((const int64_t *)distance)[i] != -1;
}

/* Counts the vertices that a search with a cycle marks as reached, in validation->reached; each is
 * a violation. Collective. */
static enum hw_status check_unreached(const struct hw_context *ctx, hw_gid vertices,
                                      enum hw_value value, const void *distance,
                                      const hw_gid *parent, struct hw_validation *validation,
                                      struct hw_error *err)
{
    hw_count first, length, reached = 0;
    hw_gid min = INT64_MAX;

    hw_store_share(vertices, ctx->rank, ctx->size, &first, &length);
    for (hw_count i = length - 1; i >= 0; i--)
        if (is_reached(value, distance, parent, i)) {
            min = first + i;
            reached++;
        }
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &reached, 1, HW_MPI_COUNT, MPI_SUM, ctx->world),
               "MPI_Allreduce", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &min, 1, HW_MPI_GID, MPI_MIN, ctx->world),
                        "MPI_Allreduce", err);
    if (status != HW_OK || reached == 0)
        return status;
    validation->reached = reached;
    note(validation, min, HW_GID_NONE);
    validation->violations[HW_RULE_CYCLE] += reached - 1;
    return status;
}

/* Resets the result of a search. */
static void clear_validation(struct hw_validation *validation)
{
    *validation = (struct hw_validation){.reached = 0};
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        validation->example[rule][0] = validation->example[rule][1] = HW_GID_NONE;
}

/* Checks the searches that ended with a cycle. Collective. */
static enum hw_status check_cycles(const struct hw_context *ctx, struct hw_graph *graph,
                                   const struct hw_tree_batch *trees,
                                   struct hw_validation *validation, struct hw_error *err)
{
    struct steps steps = {.ctx = ctx, .desc = hw_graph_desc(graph)};
    enum hw_value value = steps.desc->weights == HW_WEIGHTS_F32 ? HW_VALUE_F32 : HW_VALUE_I64;
    hw_count first, length;
    enum hw_status status =
        hw_agree(ctx->world, make_steps(&steps, trees->k, trees->cycle, err), err);

    hw_store_share(steps.desc->vertices, ctx->rank, ctx->size, &first, &length);
    if (status == HW_OK)
        status = weigh_steps(&steps, graph, err);
    for (hw_count i = 0; i < trees->k && status == HW_OK; i++) {
        if (trees->cycle[i].length == 0)
            continue;
        clear_validation(&validation[i]);
        check_cycle(&steps, &trees->cycle[i], &validation[i]);
        status = check_unreached(ctx, steps.desc->vertices, value,
                                 (const char *)trees->value +
                                     (size_t)(i * length) * hw_value_size(value),
                                 trees->parent + i * length, &validation[i], err);
    }
    steps_free(&steps);
    return status;
}

enum hw_status hw_verify_sssp(const struct hw_context *ctx, struct hw_graph *graph,
                              const struct hw_tree_batch *trees, struct hw_validation *validation,
                              struct hw_error *err)
{
    enum hw_weights weights = hw_graph_desc(graph)->weights;
    hw_count cycles = 0;

    if (weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT, "the graph has no weights, so it has no shortest paths");
    enum hw_status status =
        hw_verify_roots(trees->k, trees->root, hw_graph_desc(graph)->vertices, err);
    for (hw_count i = 0; i < trees->k && trees->cycle; i++)
        cycles += trees->cycle[i].length > 0;
    /* Searches with a cycle share the pass of the others, which costs the same for one tree and for
     * many. */
    if (status == HW_OK && cycles < trees->k)
        status = hw_verify_trees(ctx, graph, trees,
                                 weights == HW_WEIGHTS_F32 ? HW_VALUE_F32 : HW_VALUE_I64,
                                 validation, err);
    if (status == HW_OK && cycles > 0)
        status = check_cycles(ctx, graph, trees, validation, err);
    if (status == HW_OK && cycles > 0 && cycles == trees->k)
        status = hw_graph_verify(graph, true, err);
    return status;
}
