/* The memory of methods `delta` and `bellman-ford` on grids, and what they
 * compute once for a part. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/delta_heuristic.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Mean lengths of lists below which all edges are pushed at once: so few are
 * read together anyway. */
#define SHORT_LISTS 8
/* Degrees are even where the longest list is no more than so many mean ones: of G(n,m) with mean
 * degree 32 and 4 million vertices the longest is twice the mean, of R-MAT graphs thousands. */
#define EVEN 4.0

static const char *name_of(bool bellman_ford)
{
    return bellman_ford ? "method bellman-ford" : "method delta";
}

/* What only several grid rows or columns need. */
static void add_exchanges(struct hw_arrays *arrays, struct hw_sssp_2d *paths)
{
    hw_count block = paths->layout.block, rows = paths->layout.rows * block,
             columns = paths->layout.columns * block;
    bool many_rows = paths->layout.rows > 1, many_columns = paths->layout.columns > 1;
    bool parts = many_rows || many_columns;

    hw_arrays_add(arrays, &paths->search.sources, many_rows ? rows : 0,
                  hw_best_size(paths->derived.kind));
    hw_arrays_add(arrays, &paths->scratch.expanded, many_rows ? rows * paths->derived.times : 0,
                  sizeof *paths->scratch.expanded);
    if (!hw_sssp_2d_shares(paths))
        hw_arrays_add(arrays, &paths->scratch.pending, many_columns ? hw_bits_words(columns) : 0,
                      sizeof *paths->scratch.pending);
    hw_arrays_add(arrays, &paths->layout.row.list, many_columns ? columns : 0, sizeof(hw_lid));
    hw_arrays_add(arrays, &paths->layout.column.list, many_rows ? rows : 0, sizeof(hw_lid));
    hw_arrays_add(arrays, &paths->layout.row.count, paths->layout.columns, sizeof(hw_lid));
    hw_arrays_add(arrays, &paths->layout.column.count, paths->layout.rows, sizeof(hw_lid));
    hw_arrays_add(arrays, &paths->tables.gids, parts ? columns + (many_rows ? rows : 0) : 0,
                  sizeof *paths->tables.gids);
    hw_arrays_add(arrays, &paths->parents.fetched, parts ? block : 0,
                  sizeof *paths->parents.fetched);
    hw_rowcol_arrays(&paths->layout.row.line, arrays);
    hw_rowcol_arrays(&paths->layout.column.line, arrays);
}

static struct hw_arrays list_arrays(struct hw_sssp_2d *paths)
{
    struct hw_arrays arrays = {.count = 0};
    hw_count block = paths->layout.block, columns = paths->layout.columns * block;
    int line =
        paths->layout.rows > paths->layout.columns ? paths->layout.rows : paths->layout.columns;
    bool hops = paths->options.canonical_parents || paths->derived.may_cycle;
    hw_count checked = paths->derived.bellman_ford ? paths->part->own.count : 0;

    hw_arrays_add(&arrays, &paths->tables.leaf, paths->layout.words, sizeof *paths->tables.leaf);
    hw_arrays_add(&arrays, &paths->tables.inner, paths->layout.words, sizeof *paths->tables.inner);
    hw_arrays_add(&arrays, &paths->search.open, paths->layout.words, sizeof *paths->search.open);
    hw_arrays_add(&arrays, &paths->tables.own_leaf, hw_bits_words(block),
                  sizeof *paths->tables.own_leaf);
    hw_arrays_add(&arrays, &paths->tables.degree, block, sizeof *paths->tables.degree);
    if (!hw_sssp_2d_shares(paths))
        hw_arrays_add(&arrays, &paths->search.target, columns, hw_best_size(paths->derived.kind));
    hw_arrays_add(&arrays, &paths->search.mark, block, sizeof *paths->search.mark);
    for (int q = 0; q < HW_QUEUES; q++) {
        hw_count count = q == HW_QUEUE_NEAR ? paths->derived.times * block : block;
        struct hw_sssp_2d_queue *queue = &paths->search.queue[q];
        hw_arrays_add(&arrays, &queue->list, count, sizeof *queue->list);
        hw_arrays_add(&arrays, &queue->spare, q == HW_QUEUE_SETTLED ? 0 : count,
                      sizeof *queue->spare);
    }
    hw_arrays_add(&arrays, &paths->scratch.discoveries,
                  (hw_count)paths->threads * (HW_QUEUES + line),
                  sizeof *paths->scratch.discoveries);
    hw_arrays_add(&arrays, &paths->parents.min, hops ? columns : 0, sizeof *paths->parents.min);
    hw_arrays_add(&arrays, &paths->parents.hopped, hops ? hw_bits_words(columns) : 0,
                  sizeof *paths->parents.hopped);
    hw_arrays_add(&arrays, &paths->parents.parent_gid, checked, sizeof *paths->parents.parent_gid);
    hw_arrays_add(&arrays, &paths->parents.parent_weight, checked,
                  sizeof *paths->parents.parent_weight);
    hw_arrays_add(&arrays, &paths->parents.fetched_weight, paths->derived.bellman_ford ? block : 0,
                  sizeof *paths->parents.fetched_weight);
    add_exchanges(&arrays, paths);
    return arrays;
}

/* All that follows from the part and the options alone; of the kind the widest
 * that there may be. */
static enum hw_status shape(struct hw_sssp_2d *paths, const struct hw_part *part,
                            const struct hw_engine_options *options, bool bellman_ford,
                            struct hw_error *err)
{
    const struct hw_sssp_config config = hw_sssp_config(options);
    const struct hw_layout_spec *spec = &part->spec;
    const hw_count block = part->grid.block;
    const hw_count rows = spec->columns * block, columns = spec->rows * block;

    *paths = (struct hw_sssp_2d){
        .part = part,
        .options = *options,
        .config = config,
        .threads = 1,
        .derived = {.bellman_ford = bellman_ford,
                    .classes = bellman_ford && config.edge_classes,
                    .kind = hw_distance_kind(part->weights, HUGE_VAL),
                    .may_cycle = bellman_ford && part->weights == HW_WEIGHTS_F32,
                    .times = config.duplicates ? 2 : 1},
        .layout = {.rows = spec->rows,
                   .columns = spec->columns,
                   .i = part->grid.row,
                   .j = part->grid.column,
                   .block = part->grid.block,
                   .own_row = (hw_lid)(part->grid.column * block),
                   .own_column = (hw_lid)(part->grid.row * block),
                   .words = hw_bits_words(columns)},
        .tables.index_mask = UINT32_MAX,
        .search.touched = part->grid.block,
    };
    if (block > 0)
        paths->layout.by_block = hw_divisor((uint64_t)block);
    paths->layout.row.line.comm = paths->layout.column.line.comm = MPI_COMM_NULL;
    paths->layout.row.line.size = paths->layout.columns;
    paths->layout.column.line.size = paths->layout.rows;
    paths->layout.row.line.exchange = paths->layout.column.line.exchange = HW_EXCHANGE_LIST;
    paths->layout.row.line.capacity = paths->layout.column.line.capacity =
        3 * paths->derived.times * hw_rowcol_capacity(part->grid.block, HW_EXCHANGE_LIST);
    paths->tables.column_code = spec->rows == 1 ? paths->layout.own_row : (hw_lid)rows;
    /* The last codes stand for the ranks that know a parent, and for none. */
    hw_count codes = rows + (spec->rows > 1 ? columns : 0) + spec->rows + spec->columns + 1;
    if (codes > (hw_count)UINT32_MAX ||
        (spec->parts > 1 && paths->layout.row.line.capacity > INT_MAX))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s numbers what a part knows with 32 bits, and %" PRI_COUNT
                       " vertices in each of %d x %d parts are too many; use more parts",
                       name_of(bellman_ford), block, spec->rows, spec->columns);
    return HW_OK;
}

/* Edges of a matrix of a part, or, while that has no arrays, about its share. */
static hw_count edges_of(const struct hw_part *part, const struct hw_csr *matrix)
{
    if (matrix->offset)
        return matrix->offset[matrix->rows];
    return part->edges / part->spec.parts + part->edges / part->spec.parts / 8;
}

hw_count hw_sssp_2d_bytes(const struct hw_part *part, const struct hw_engine_options *options,
                          bool bellman_ford)
{
    struct hw_sssp_2d paths;
    hw_count columns, bytes = sizeof paths;

    if (shape(&paths, part, options, bellman_ford, NULL) != HW_OK)
        return 0;
    columns = (hw_count)paths.layout.rows * paths.layout.block;
    struct hw_arrays arrays = list_arrays(&paths);
    bytes +=
        hw_arrays_bytes(&arrays) + hw_sorted_csr_bytes(columns, edges_of(part, &part->grid.out));
    if (part->directed)
        bytes += hw_sorted_csr_bytes(columns, edges_of(part, &part->grid.in));
    /* Room for classes of vertices while the lists are made. */
    bytes += (hw_count)(sizeof(hw_lid) + 1) * columns +
             (hw_count)sizeof(hw_lid) * paths.layout.block +
             2 * (hw_count)paths.layout.columns * paths.layout.block;
    if (part->spec.parts > 1) /* requests for parents and their answers, at the end */
        bytes += 2 * (hw_count)(sizeof(hw_lid) + sizeof(hw_gid)) * paths.layout.block;
    bytes += hw_sssp_2d_async_bytes(&paths);
    if (bellman_ford)
        bytes += hw_tree_bytes(part->vertices, part->spec.parts) +
                 hw_negative_bytes(part->vertices, part->spec.parts);
    return bytes;
}

void hw_sssp_2d_destroy(void *engine)
{
    struct hw_sssp_2d *paths = engine;

    if (!paths)
        return;
    struct hw_arrays arrays = list_arrays(paths);
    hw_arrays_free(&arrays);
    hw_work_pool_destroy(paths->pool);
    hw_sorted_csr_free(&paths->tables.out_lists);
    hw_sorted_csr_free(&paths->tables.in_lists);
    hw_tree_close(&paths->parents.tree);
    hw_node_window_close(&paths->shared.window);
    hw_rowcol_close(&paths->layout.row.line);
    hw_rowcol_close(&paths->layout.column.line);
    free(paths);
}

/* The exponent of the least bit set in a float; INT_MAX for zero. */
static int least_bit(float value)
{
    int exponent;
    int32_t mantissa = (int32_t)ldexpf(frexpf(value, &exponent), 24);

    return mantissa == 0 ? INT_MAX : exponent - 24 + __builtin_ctz((unsigned)mantissa);
}

/* The exponent of the least bit set in any float weight. Collective. */
static enum hw_status find_grain(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_csr *out = &paths->part->grid.out;
    int exponent = INT_MAX;

#pragma omp parallel for reduction(min : exponent) if (out->offset[out->rows] > 1 << 16)
    for (hw_count e = 0; e < out->offset[out->rows]; e++) {
        int bit = least_bit(out->weight[e].f32);
        exponent = bit < exponent ? bit : exponent;
    }
    hw_count max = -(hw_count)exponent;
    enum hw_status status = hw_largest(paths->ctx->world, &max, err);
    paths->derived.weight_exponent = (int)-max;
    return status;
}

/* Refuses weights that the method does not take; learns what the others allow. */
static enum hw_status look_at_weights(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_part *part = paths->part;
    struct hw_weight_stats *stats = &paths->derived.weight_stats;
    hw_count loops = part->own.loops;

    HW_TRY(hw_weight_stats_for(paths->ctx, part,
                               paths->derived.bellman_ford ? "bellman-ford" : "delta",
                               paths->derived.bellman_ford, stats, err));
    HW_TRY(hw_sum(paths->ctx->world, &loops, err));
    paths->derived.kind = hw_weight_stats_kind(stats, part);
    paths->derived.may_overflow = hw_weight_stats_may_overflow(stats, part);
    paths->derived.may_cycle = part->weights == HW_WEIGHTS_F32 && stats->negative > 0;
    paths->derived.sweep_first = stats->negative > 0 && (!part->directed || loops > 0);
    return paths->derived.may_cycle ? find_grain(paths, err) : HW_OK;
}

/*
 * Adds up, for each own vertex, the lengths of its lists over the grid column.
 * room: [rows block]. length: [block]. Collective.
 */
static enum hw_status add_lengths(struct hw_sssp_2d *paths, const struct hw_csr *lists,
                                  hw_lid *buffer, hw_lid *length, struct hw_error *err)
{
    hw_count max = (hw_count)UINT32_MAX / paths->layout.rows; /* their sum must not wrap */

    for (hw_lid c = 0; c < lists->rows; c++) {
        hw_count edges = lists->offset[c + 1] - lists->offset[c];
        buffer[c] = (hw_lid)(edges < max ? edges : max);
    }
    if (paths->layout.rows == 1)
        memcpy(length, buffer, (size_t)paths->layout.block * sizeof *length);
    for (int r = 0; r < paths->layout.rows && paths->layout.rows > 1; r++)
        HW_TRY(hw_mpi(MPI_Reduce(buffer + (size_t)r * paths->layout.block, length,
                                 (int)paths->layout.block, HW_MPI_LID, MPI_SUM, r,
                                 paths->layout.column.line.comm),
                      "MPI_Reduce", err));
    return HW_OK;
}

/* What is known of each vertex, for rows and columns alike. */
enum { LEAF = 1, SINGLE = 2 };

/* The room that classifying vertices takes. */
struct classes {
    hw_lid *buffer;  /* [rows block] */
    hw_lid *in;      /* [block] edges that enter own positions */
    uint8_t *row;    /* [columns block] */
    uint8_t *column; /* [rows block] */
    uint64_t *leaf;  /* [columns block] bits */
};

static void free_classes(struct classes *classes)
{
    free(classes->buffer);
    free(classes->in);
    free(classes->row);
    free(classes->column);
    free(classes->leaf);
}

static enum hw_status alloc_buffers(struct hw_sssp_2d *paths, struct classes *classes,
                                    struct hw_error *err)
{
    hw_count block = paths->layout.block, rows = paths->layout.rows * block,
             columns = paths->layout.columns * block;
    static const char what[] = "classes of vertices";

    HW_TRY(hw_alloc(&classes->buffer, rows, sizeof *classes->buffer, what, err));
    HW_TRY(hw_alloc(&classes->in, block, sizeof *classes->in, what, err));
    HW_TRY(hw_alloc_zero(&classes->row, columns, 1, what, err));
    HW_TRY(hw_alloc_zero(&classes->column, rows, 1, what, err));
    return hw_alloc_zero(&classes->leaf, hw_bits_words(columns), sizeof *classes->leaf, what, err);
}

/* Classes of own positions, into both lines. A leaf leads nowhere else: it has
 * one edge, or, of a directed graph, none that leaves. */
static void classify(struct hw_sssp_2d *paths, struct classes *classes)
{
    const struct hw_part *part = paths->part;
    bool leaves = paths->derived.classes || !paths->derived.bellman_ford;

    for (hw_lid t = 0; t < paths->layout.block; t++) {
        hw_lid out = paths->tables.degree[t], in = part->directed ? classes->in[t] : out;
        uint8_t class = 0;
        if (leaves && in > 0 && out == (part->directed ? 0 : 1))
            class |= LEAF;
        if (paths->derived.classes && in == 1)
            class |= SINGLE;
        classes->row[(size_t)paths->layout.own_row + t] = class;
        classes->column[(size_t)paths->layout.own_column + t] = class;
    }
    /* Whether these are reached decides over a cycle, before any leaf is looked at. */
    for (hw_lid l = 0; l < part->own.loops; l++) {
        classes->row[(size_t)paths->layout.own_row + part->own.loop[l]] &= (uint8_t)~LEAF;
        classes->column[(size_t)paths->layout.own_column + part->own.loop[l]] &= (uint8_t)~LEAF;
    }
}

/* The bitmaps of columns and rows by their classes; counts what there is. */
static void mark_classes(struct hw_sssp_2d *paths, const struct classes *classes)
{
    const struct hw_part *part = paths->part;
    const struct hw_csr *in = part->directed ? &part->grid.in : &part->grid.out;
    size_t columns = (size_t)paths->layout.rows * paths->layout.block,
           rows = (size_t)paths->layout.columns * paths->layout.block;

    for (size_t c = 0; c < columns; c++)
        if (in->offset[c] < in->offset[c + 1])
            hw_bitmap_set(classes->column[c] & LEAF ? paths->tables.leaf : paths->tables.inner, c);
    for (size_t r = 0; r < rows; r++)
        if (classes->row[r] & LEAF)
            hw_bitmap_set(classes->leaf, r);
    for (hw_lid t = 0; t < paths->layout.block; t++)
        if (classes->row[(size_t)paths->layout.own_row + t] & LEAF) {
            hw_bitmap_set(paths->tables.own_leaf, t);
            paths->tables.leaves++;
        }
}

/* Says in the lists which ends are of in-degree 1. */
static void mark_single(struct hw_sssp_2d *paths, struct hw_sorted_csr *lists,
                        const struct classes *classes)
{
    const hw_lid bit = ~(UINT32_MAX >> 1);

    if (!paths->derived.classes ||
        (hw_count)paths->layout.columns * paths->layout.block >= (hw_count)bit)
        return;
    paths->tables.index_mask = ~bit;
#pragma omp parallel for if (lists->offset[lists->rows] > 1 << 16)
    for (hw_count e = 0; e < lists->offset[lists->rows]; e++)
        if (classes->row[lists->edge[e].index] & SINGLE)
            lists->edge[e].index |= bit;
}

static enum hw_status make_lists(struct hw_sssp_2d *paths, const struct classes *classes,
                                 struct hw_error *err)
{
    const struct hw_part *part = paths->part;

    HW_TRY(hw_sorted_csr_build(&part->grid.out, part->weights, classes->leaf, paths->tables.leaf,
                               &paths->tables.out_lists, err));
    paths->tables.push = paths->tables.pull = &paths->tables.out_lists;
    if (part->directed) {
        HW_TRY(hw_sorted_csr_build(&part->grid.in, part->weights, NULL, NULL,
                                   &paths->tables.in_lists, err));
        paths->tables.pull = &paths->tables.in_lists;
    }
    return HW_OK;
}

/* Sums over all parts, and what they say of the graph. in: [block] edges that enter own
 * positions, or NULL if as many leave. */
static enum hw_status measure(struct hw_sssp_2d *paths, const hw_lid *in, struct hw_error *err)
{
    hw_count linked = 0, longest = 0;

    paths->tables.edges = paths->tables.push->offset[paths->tables.push->rows];
    for (hw_lid t = 0; t < paths->layout.block; t++) {
        bool has_edges = paths->tables.degree[t] > 0 || (in && in[t] > 0);
        linked += has_edges;
        longest = paths->tables.degree[t] > longest ? paths->tables.degree[t] : longest;
        if (has_edges)
            paths->layout.active = t + 1;
    }
    enum hw_status status = hw_sum(paths->ctx->world, &paths->tables.edges, err);
    if (status == HW_OK)
        status = hw_sum(paths->ctx->world, &paths->tables.leaves, err);
    if (status == HW_OK)
        status = hw_sum(paths->ctx->world, &linked, err);
    if (status == HW_OK)
        status = hw_largest(paths->ctx->world, &longest, err);
    paths->tables.mean_degree =
        linked > 0 ? (double)paths->derived.weight_stats.edges / (double)linked : 1;
    paths->derived.even_degrees = (double)longest <= EVEN * paths->tables.mean_degree;
    paths->derived.whole_lists = paths->tables.mean_degree < SHORT_LISTS;
    paths->derived.width = paths->config.delta > 0 ? paths->config.delta
                                                   : hw_bucket_width(&paths->derived.weight_stats,
                                                                     paths->tables.mean_degree);
    return status;
}

/* All of make_constants() but the clean-up. Collective. */
static enum hw_status make_tables(struct hw_sssp_2d *paths, struct classes *classes,
                                  struct hw_error *err)
{
    const struct hw_part *part = paths->part;
    const hw_lid block = paths->layout.block;

    HW_TRY_ALL(paths->ctx, alloc_buffers(paths, classes, err), err);
    HW_TRY(add_lengths(paths, &part->grid.out, classes->buffer, paths->tables.degree, err));
    if (part->directed)
        HW_TRY(add_lengths(paths, &part->grid.in, classes->buffer, classes->in, err));
    classify(paths, classes);
    HW_TRY(hw_rowcol_allgather(&paths->layout.row.line, classes->row, block, MPI_UINT8_T, err));
    HW_TRY(
        hw_rowcol_allgather(&paths->layout.column.line, classes->column, block, MPI_UINT8_T, err));
    mark_classes(paths, classes);
    HW_TRY_ALL(paths->ctx, make_lists(paths, classes, err), err);
    mark_single(paths, &paths->tables.out_lists, classes);
    return measure(paths, part->directed ? classes->in : NULL, err);
}

/* Degrees, classes of vertices, lists. Collective. */
static enum hw_status make_constants(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct classes classes = {0};
    enum hw_status status = make_tables(paths, &classes, err);

    free_classes(&classes);
    return status;
}

/* Graph ids by code. */
static enum hw_status make_gids(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_part_vertices *own = &paths->part->own;
    hw_gid *column = paths->tables.gids + paths->tables.column_code;

    if (!paths->tables.gids) {
        paths->tables.gid = own->graph_id;
        paths->tables.codes_are_ids = hw_part_keeps_ids(paths->part);
        return HW_OK;
    }
    paths->tables.gid = paths->tables.gids;
    for (hw_lid t = 0; t < paths->layout.block; t++) {
        hw_gid gid = t < own->count ? own->graph_id[t] : HW_GID_NONE;
        paths->tables.gids[(size_t)paths->layout.own_row + t] = gid;
        if (paths->layout.rows > 1)
            column[(size_t)paths->layout.own_column + t] = gid;
    }
    HW_TRY(hw_rowcol_allgather(&paths->layout.row.line, paths->tables.gids, paths->layout.block,
                               HW_MPI_GID, err));
    if (paths->layout.rows > 1)
        HW_TRY(hw_rowcol_allgather(&paths->layout.column.line, column, paths->layout.block,
                                   HW_MPI_GID, err));
    return HW_OK;
}

/* Opens the lines, once all ranks have their memory. */
static enum hw_status open_lines(struct hw_sssp_2d *paths, struct hw_error *err)
{
    HW_TRY(hw_rowcol_split(&paths->layout.row.line, paths->ctx, paths->layout.i, paths->layout.j,
                           paths->layout.columns, err));
    HW_TRY(hw_rowcol_split(&paths->layout.column.line, paths->ctx, paths->layout.j, paths->layout.i,
                           paths->layout.rows, err));
    HW_TRY(hw_rowcol_open(&paths->layout.row.line, paths->ctx, paths->layout.block, err));
    return hw_rowcol_open(&paths->layout.column.line, paths->ctx, paths->layout.block, err);
}

static enum hw_status allocate(struct hw_sssp_2d *paths, struct hw_error *err)
{
    HW_TRY(hw_sssp_2d_share(paths, err));
    struct hw_arrays arrays = list_arrays(paths);
    enum hw_status status = hw_arrays_alloc(&arrays, name_of(paths->derived.bellman_ford), err);

    int line =
        paths->layout.rows > paths->layout.columns ? paths->layout.rows : paths->layout.columns;
    for (int f = 0; f < paths->threads * (HW_QUEUES + line) && status == HW_OK; f++)
        paths->scratch.discoveries[f].min = INT64_MAX;
    paths->search.source = paths->layout.rows > 1
                               ? paths->search.sources
                               : (char *)paths->search.target +
                                     paths->layout.own_row * hw_best_size(paths->derived.kind);
    return hw_agree(paths->ctx->world, status, err);
}

/* Allocates the arrays and computes what is constant. Collective. */
static enum hw_status open_search(struct hw_sssp_2d *paths, struct hw_error *err)
{
    HW_TRY(look_at_weights(paths, err));
    HW_TRY(allocate(paths, err));
    HW_TRY(open_lines(paths, err));
    HW_TRY(make_gids(paths, err));
    HW_TRY(make_constants(paths, err));
    if (paths->derived.bellman_ford && paths->derived.weight_stats.negative > 0)
        HW_TRY(hw_tree_open(paths->ctx, paths->part, &paths->parents.tree, err));
    return hw_sssp_2d_async_create(paths, err);
}

enum hw_status hw_sssp_2d_create(const struct hw_method *method, const struct hw_context *ctx,
                                 const struct hw_part *part,
                                 const struct hw_engine_options *options, void **engine,
                                 struct hw_error *err)
{
    const bool bellman_ford = method == &hw_method_bellman_ford;
    struct hw_sssp_2d *paths = NULL;

    *engine = NULL;
    enum hw_status status = hw_alloc_zero(&paths, 1, sizeof *paths, name_of(bellman_ford), err);
    if (status == HW_OK)
        status = shape(paths, part, options, bellman_ford, err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        free(paths);
        return status;
    }
    paths->ctx = ctx;
    paths->threads = ctx->threads;
    status = open_search(paths, err);
    if (status != HW_OK) {
        hw_sssp_2d_destroy(paths);
        return status;
    }
    *engine = paths;
    return HW_OK;
}
