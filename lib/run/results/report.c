#include "lib/run/results/report.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/core/result.h"
#include "lib/run/results/statistics.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are reduced at a time. */
#define PIECE 512

static const char *const phase_names[HW_PHASES] = {
    [HW_PHASE_EXPAND_EXCHANGE] = "expand_exchange",
    [HW_PHASE_EXPANSION] = "expansion",
    [HW_PHASE_FOLD_EXCHANGE] = "fold_exchange",
    [HW_PHASE_UPDATE] = "update",
    [HW_PHASE_LOCAL_EXCHANGE] = "local_exchange",
    [HW_PHASE_NORMAL_EXCHANGE] = "normal_exchange",
    [HW_PHASE_DELEGATE_REDUCTION] = "delegate_reduction",
    [HW_PHASE_REDUCTIONS] = "reductions",
};
static const char *const count_names[HW_STEP_SUMS] = {[HW_STEP_FRONTIER] = "frontier",
                                                      [HW_STEP_DISCOVERED] = "discovered",
                                                      [HW_STEP_DISCOVERED_NEXT] = "discovered_next",
                                                      [HW_STEP_PULLED] = "pulled",
                                                      [HW_STEP_SETTLED] = "settled",
                                                      [HW_STEP_EDGES] = "edges_examined",
                                                      [HW_STEP_BYTES] = "bytes_sent",
                                                      [HW_STEP_MESSAGES] = "messages_sent",
                                                      [HW_STEP_INTERNODE_BYTES] = "internode_bytes",
                                                      [HW_STEP_INTERNODE_MESSAGES] =
                                                          "internode_messages"};
static const char *const direction_names[][3] = {
    [HW_BFS] = {[HW_DIRECTION_AUTO] = "none",
                [HW_DIRECTION_TOP_DOWN] = "top-down",
                [HW_DIRECTION_BOTTOM_UP] = "bottom-up"},
    [HW_SSSP] = {[HW_DIRECTION_AUTO] = "none",
                 [HW_DIRECTION_TOP_DOWN] = "push",
                 [HW_DIRECTION_BOTTOM_UP] = "pull"}};

enum hw_status hw_report_open(const struct hw_context *ctx, const struct hw_part *part,
                              enum hw_algorithm algorithm, hw_count searches,
                              struct hw_report *report, struct hw_error *err)
{
    *report =
        (struct hw_report){.ctx = ctx, .part = part, .algorithm = algorithm, .capacity = searches};
    enum hw_status status =
        hw_alloc_zero(&report->search, searches, sizeof *report->search, "search rows", err);

    return hw_agree(ctx->world, status, err);
}

void hw_report_close(struct hw_report *report)
{
    free(report->degrees);
    free(report->search);
    free(report->step);
    *report = (struct hw_report){0};
}

/* ---- adding a search ---- */

/* Tuple ends by rising graph id, for trees that come to the host. Local. */
static enum hw_status find_ends(struct hw_report *report, struct hw_error *err)
{
    const struct hw_part_vertices *own = &report->part->own;
    enum hw_status status =
        hw_alloc(&report->degrees, own->count, sizeof *report->degrees, "tuple ends", err);

#pragma omp parallel for if (status == HW_OK && own->count > 1 << 16)
    for (hw_lid i = 0; i < (status == HW_OK ? own->count : 0); i++)
        report->degrees[i] = own->tuples[own->by_graph_id[i]];
    return status;
}

/* Counts what a tree reaches of the vertices that this rank owns. */
static struct hw_reached_counts count_reached(const struct hw_report *report,
                                              const struct hw_result *result)
{
    const struct hw_part *part = report->part;
    const hw_lid count = part->own.count;
    hw_count reached = 0, degrees = 0, max_level = -1, illegal = 0;

    if (!result->parent)
        return result->reached;
#pragma omp parallel for reduction(+ : reached, degrees, illegal) reduction(max : max_level)                \
    if (count > 1 << 16)
    for (hw_lid i = 0; i < count; i++) {
        illegal += !hw_result_legal(part, result, i);
        if (result->parent[i] == -1)
            continue;
        reached++;
        degrees += report->degrees[i];
        if (result->level)
            max_level = result->level[i] > max_level ? result->level[i] : max_level;
    }
    return (struct hw_reached_counts){reached, degrees, max_level, illegal > 0};
}

/* Fills the row of one search but for its validation. Collective. */
static enum hw_status fill_search(const struct hw_report *report, hw_gid root,
                                  const struct hw_result *result, struct hw_search_row *row,
                                  struct hw_error *err)
{
    MPI_Comm world = report->ctx->world;
    struct hw_reached_counts counts = count_reached(report, result);
    enum hw_status status = HW_OK;

    if (counts.illegal)
        status = hw_fail(err, HW_INTERNAL,
                         "the search from %" PRI_GID
                         " left a level, distance or parent unset on rank %d",
                         root, report->ctx->rank);
    status = hw_agree(world, status, err);
    if (status == HW_OK)
        status = hw_sum(world, &counts.reached, err);
    if (status == HW_OK)
        status = hw_sum(world, &counts.degrees, err);
    if (status == HW_OK)
        status = hw_largest(world, &counts.max_level, err);
    *row = (struct hw_search_row){
        .root = root,
        .seconds = result->seconds,
        .seconds_search_order = result->seconds_search_order,
        .edges = report->part->directed ? counts.degrees : counts.degrees / 2,
        .reached = counts.reached,
        .levels = report->algorithm == HW_BFS ? counts.max_level + 1 : -1,
        .outcome = result->outcome,
        .steps = result->trace.count,
        .scans = -1,
    };
    row->teps = row->seconds > 0 ? (double)row->edges / row->seconds : 0;
    return status;
}

/* One piece of the steps of a search while it is reduced. */
struct piece {
    int64_t sum[PIECE][HW_STEP_SUMS], max[PIECE][HW_STEP_MAXIMA];
    double seconds[PIECE][HW_PHASES], min[PIECE][HW_PHASES], total[PIECE][HW_PHASES];
    struct {
        double seconds;
        int rank;
    } slowest[PIECE][HW_PHASES];
};

static void fill_piece(const struct hw_trace_record *step, int count, int rank, struct piece *piece)
{
    for (int s = 0; s < count; s++, step++) {
        const int64_t counts[HW_STEP_SUMS] = {
            [HW_STEP_FRONTIER] = step->frontier,
            [HW_STEP_DISCOVERED] = step->discovered,
            [HW_STEP_DISCOVERED_NEXT] = step->discovered_next,
            [HW_STEP_PULLED] = step->pulled,
            [HW_STEP_SETTLED] = step->settled,
            [HW_STEP_EDGES] = step->edges_examined,
            [HW_STEP_BYTES] = step->sent.bytes,
            [HW_STEP_MESSAGES] = step->sent.messages,
            [HW_STEP_INTERNODE_BYTES] = step->sent.internode.bytes,
            [HW_STEP_INTERNODE_MESSAGES] = step->sent.internode.messages};
        memcpy(piece->sum[s], counts, sizeof counts);
        memcpy(piece->max[s], counts + HW_STEP_FIRST_MAX, sizeof piece->max[s]);
        for (int p = 0; p < HW_PHASES; p++) {
            piece->seconds[s][p] = step->seconds[p];
            piece->slowest[s][p].seconds = step->seconds[p];
            piece->slowest[s][p].rank = rank;
        }
    }
}

/* Reduces in place on rank 0. Collective. */
static enum hw_status reduce(const struct hw_context *ctx, void *values, int count,
                             MPI_Datatype type, MPI_Op op, struct hw_error *err)
{
    return hw_mpi(MPI_Reduce(ctx->rank == 0 ? MPI_IN_PLACE : values, ctx->rank == 0 ? values : NULL,
                             count, type, op, 0, ctx->world),
                  "MPI_Reduce", err);
}

static enum hw_status reduce_piece(const struct hw_context *ctx, int count, struct piece *piece,
                                   struct hw_error *err)
{
    int phases = count * HW_PHASES;
    enum hw_status status =
        reduce(ctx, piece->sum, count * HW_STEP_SUMS, MPI_INT64_T, MPI_SUM, err);

    memcpy(piece->min, piece->seconds, sizeof piece->min);
    memcpy(piece->total, piece->seconds, sizeof piece->total);
    if (status == HW_OK)
        status = reduce(ctx, piece->max, count * HW_STEP_MAXIMA, MPI_INT64_T, MPI_MAX, err);
    if (status == HW_OK)
        status = reduce(ctx, piece->min, phases, MPI_DOUBLE, MPI_MIN, err);
    if (status == HW_OK)
        status = reduce(ctx, piece->total, phases, MPI_DOUBLE, MPI_SUM, err);
    if (status == HW_OK)
        status = reduce(ctx, piece->slowest, phases, MPI_DOUBLE_INT, MPI_MAXLOC, err);
    return status;
}

/* Turns reduced steps into rows, on rank 0. */
static void fill_rows(const struct hw_report *report, const struct hw_trace_record *step,
                      hw_count first, int count, const struct piece *piece, struct hw_step_row *row)
{
    for (int s = 0; s < count; s++, row++) {
        *row = (struct hw_step_row){.search = report->count, .step = first + s};
        snprintf(row->direction, sizeof row->direction, "%s",
                 direction_names[report->algorithm][step[s].direction]);
        row->bucket = step[s].bucket;
        memcpy(row->routine, step[s].routine, sizeof row->routine);
        memcpy(row->sum, piece->sum[s], sizeof row->sum);
        memcpy(row->max, piece->max[s], sizeof row->max);
        for (int p = 0; p < HW_PHASES; p++) {
            row->phase[p].min = piece->min[s][p];
            row->phase[p].mean = piece->total[s][p] / report->ctx->size;
            row->phase[p].max = piece->slowest[s][p].seconds;
            row->phase[p].slowest = piece->slowest[s][p].rank;
        }
    }
}

/* Makes room for more step rows on rank 0. */
static enum hw_status grow_steps(struct hw_report *report, hw_count more, struct hw_error *err)
{
    hw_count wanted = report->steps + more;

    if (wanted <= report->steps_capacity)
        return HW_OK;
    wanted = wanted < 2 * report->steps_capacity ? 2 * report->steps_capacity : wanted;
    void *grown = realloc(report->step, (size_t)wanted * sizeof *report->step);
    if (!grown)
        return hw_fail(err, HW_RESOURCES, "step rows: no memory for %" PRI_COUNT " rows", wanted);
    report->step = grown;
    report->steps_capacity = wanted;
    return HW_OK;
}

/* The edges that all ranks examined in all steps. Collective. */
static enum hw_status add_scans(const struct hw_context *ctx, const struct hw_trace *steps,
                                hw_count *scans, struct hw_error *err)
{
    *scans = 0;
    for (hw_count s = 0; s < steps->count; s++)
        *scans += steps->record[s].edges_examined;
    return hw_sum(ctx->world, scans, err);
}

/* Whether all ranks saw the same number of steps. Collective. */
static enum hw_status same_steps(const struct hw_context *ctx, hw_count count, struct hw_error *err)
{
    hw_count max = count, min = -count;
    enum hw_status status = hw_largest(ctx->world, &max, err);

    if (status == HW_OK)
        status = hw_largest(ctx->world, &min, err);
    if (status == HW_OK && max != -min)
        status = hw_fail(err, HW_INTERNAL, "ranks saw from %" PRI_COUNT " to %" PRI_COUNT " steps",
                         -min, max);
    return status;
}

static enum hw_status add_steps(struct hw_report *report, const struct hw_trace *steps,
                                struct hw_error *err)
{
    const struct hw_context *ctx = report->ctx;
    struct piece *piece = NULL;
    enum hw_status status = same_steps(ctx, steps->count, err);

    if (status != HW_OK)
        return status;
    /* steps is counted on all ranks, so that all leave the same searches out. */
    if (report->steps + steps->count > HW_REPORT_MAX_STEPS) {
        report->steps_left_out++;
        return HW_OK;
    }
    status = hw_alloc_zero(&piece, 1, sizeof *piece, "steps", err);
    if (status == HW_OK && ctx->rank == 0)
        status = grow_steps(report, steps->count, err);
    status = hw_agree(ctx->world, status, err);
    for (hw_count first = 0; first < steps->count && status == HW_OK; first += PIECE) {
        int count = (int)(steps->count - first < PIECE ? steps->count - first : PIECE);
        fill_piece(steps->record + first, count, ctx->rank, piece);
        status = reduce_piece(ctx, count, piece, err);
        if (status == HW_OK && ctx->rank == 0)
            fill_rows(report, steps->record + first, first, count, piece,
                      report->step + report->steps + first);
    }
    report->steps += steps->count;
    free(piece);
    return status;
}

enum hw_status hw_report_add(struct hw_report *report, hw_gid root, const struct hw_result *result,
                             bool steps, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (report->count >= report->capacity)
        return hw_fail(err, HW_INTERNAL, "more searches than the report has room for");
    if (result->parent && !report->degrees)
        status = find_ends(report, err);
    status = hw_agree(report->ctx->world, status, err);
    if (status == HW_OK)
        status = fill_search(report, root, result, &report->search[report->count], err);
    if (status == HW_OK && steps)
        status = add_scans(report->ctx, &result->trace, &report->search[report->count].scans, err);
    if (status == HW_OK && steps)
        status = add_steps(report, &result->trace, err);
    report->count += status == HW_OK;
    return hw_agree(report->ctx->world, status, err);
}

enum hw_status hw_report_restore(struct hw_report *report, const struct hw_search_row *row,
                                 hw_count steps, hw_count steps_left_out, const void *step,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (report->ctx->rank == 0 && steps > 0) {
        status = grow_steps(report, steps, err);
        if (status == HW_OK)
            memcpy(report->step + report->steps, step, (size_t)steps * sizeof *report->step);
    }
    report->steps += steps;
    report->steps_left_out = steps_left_out;
    report->search[report->count++] = *row;
    return hw_agree(report->ctx->world, status, err);
}

enum hw_status hw_report_add_validation(struct hw_report *report, hw_count i,
                                        const struct hw_validation *validation,
                                        struct hw_error *err)
{
    struct hw_search_row *row = &report->search[i];

    row->checked = 1;
    row->violations = 0;
    for (int r = 0; r < HW_RULES; r++) {
        row->rule[r] = validation->violations[r];
        row->violations += validation->violations[r];
    }
    if (row->violations == 0 &&
        (row->reached != validation->reached || row->edges != validation->tuples))
        return hw_fail(
            err, HW_INTERNAL,
            "root %" PRI_GID ": the search counts %" PRI_COUNT " vertices and %" PRI_COUNT
            " tuples, validation %" PRI_COUNT " and %" PRI_COUNT,
            row->root, row->reached, row->edges, validation->reached, validation->tuples);
    return HW_OK;
}

void hw_report_count(struct hw_report *report, hw_count i, const struct hw_validation *validation,
                     hw_count levels)
{
    struct hw_search_row *row = &report->search[i];

    row->reached = validation->reached;
    row->edges = validation->tuples;
    row->levels = levels;
    row->teps = row->seconds > 0 ? (double)row->edges / row->seconds : 0;
}

hw_count hw_report_failures(const struct hw_report *report)
{
    hw_count failures = 0;

    for (hw_count i = 0; i < report->count; i++)
        failures += report->search[i].violations > 0;
    return failures;
}

/* ---- statistics ---- */

/* The columns of the search rows that statistics are over; each [count]. */
struct series {
    double *seconds, *search_order, *scratch;
    hw_count *edges;
};

static void free_series(struct series *series)
{
    free(series->seconds);
    free(series->search_order);
    free(series->scratch);
    free(series->edges);
}

static enum hw_status fill_series(const struct hw_report *report, struct series *series,
                                  struct hw_error *err)
{
    hw_count n = report->count;
    enum hw_status status = hw_alloc(&series->seconds, n, sizeof(double), "statistics", err);

    if (status == HW_OK)
        status = hw_alloc(&series->search_order, n, sizeof(double), "statistics", err);
    if (status == HW_OK)
        status = hw_alloc(&series->scratch, n, sizeof(double), "statistics", err);
    if (status == HW_OK)
        status = hw_alloc(&series->edges, n, sizeof(hw_count), "statistics", err);
    for (hw_count i = 0; i < n && status == HW_OK; i++) {
        series->seconds[i] = report->search[i].seconds;
        series->search_order[i] = report->search[i].seconds_search_order;
        series->edges[i] = report->search[i].edges;
    }
    return status;
}

double hw_report_teps(const struct hw_report *report)
{
    struct series series = {0};
    struct hw_rates rates = {0};

    if (fill_series(report, &series, NULL) == HW_OK)
        rates = hw_rate(series.seconds, series.edges, report->count, series.scratch);
    free_series(&series);
    return rates.harmonic_mean;
}

/* Where statistics go: "bfs_NAME" and "sssp_NAME". */
struct target {
    struct hw_store *store;
    const char *prefix;
};

/* Sets one attribute of /run. Collective. */
static enum hw_status set(const struct target *target, const char *name, const char *suffix,
                          double value, struct hw_error *err)
{
    char full[64];

    snprintf(full, sizeof full, "%s_%s%s", target->prefix, name, suffix);
    return hw_store_set_f64(target->store, HW_AT_RUN, full, value, err);
}

static enum hw_status set_summary(const struct target *target, const char *suffix,
                                  const struct hw_summary *s, struct hw_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"min", s->min},         {"firstquartile", s->first_quartile},
                  {"median", s->median},   {"thirdquartile", s->third_quartile},
                  {"max", s->max},         {"mean", s->mean},
                  {"stddev", s->deviation}};
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == HW_OK; i++)
        status = set(target, fields[i].name, suffix, fields[i].value, err);
    return status;
}

static enum hw_status set_rates(const struct target *target, const struct hw_rates *r,
                                struct hw_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"min", r->min},
                  {"firstquartile", r->first_quartile},
                  {"median", r->median},
                  {"thirdquartile", r->third_quartile},
                  {"max", r->max},
                  {"harmonic_mean", r->harmonic_mean},
                  {"harmonic_stddev", r->harmonic_deviation},
                  {"geometric_mean", r->geometric_mean},
                  {"arithmetic_mean", r->arithmetic_mean}};
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == HW_OK; i++)
        status = set(target, fields[i].name, "_TEPS", fields[i].value, err);
    return status;
}

/* The statistics over the searches. Collective. */
static enum hw_status write_statistics(const struct hw_report *report, struct hw_store *store,
                                       struct hw_error *err)
{
    const struct target target = {store, report->algorithm == HW_BFS ? "bfs" : "sssp"};
    hw_count n = report->count;
    struct series series = {0};
    struct hw_summary times, edges;
    struct hw_rates rates, search_order;
    enum hw_status status = hw_agree(report->ctx->world, fill_series(report, &series, err), err);

    if (status != HW_OK)
        goto done;
    rates = hw_rate(series.seconds, series.edges, n, series.scratch);
    search_order = hw_rate(series.search_order, series.edges, n, series.scratch);
    for (hw_count i = 0; i < n; i++)
        series.scratch[i] = (double)series.edges[i];
    edges = hw_summarize(series.scratch, n);
    times = hw_summarize(series.seconds, n);
    status = set_summary(&target, "_time", &times, err);
    if (status == HW_OK)
        status = set_summary(&target, "_nedge", &edges, err);
    if (status == HW_OK)
        status = set_rates(&target, &rates, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "teps_searches", rates.searches, err);
    if (status == HW_OK)
        status =
            set(&target, "search_order_harmonic_mean_TEPS", "", search_order.harmonic_mean, err);
done:
    free_series(&series);
    return status;
}

/* ---- tables ---- */

static enum hw_status write_searches(const struct hw_report *report, struct hw_store *store,
                                     struct hw_error *err)
{
    struct hw_column columns[12 + HW_RULES] = {
        {"root", HW_I64, offsetof(struct hw_search_row, root), 1},
        {"seconds", HW_F64, offsetof(struct hw_search_row, seconds), 1},
        {"seconds_search_order", HW_F64, offsetof(struct hw_search_row, seconds_search_order), 1},
        {"edges", HW_I64, offsetof(struct hw_search_row, edges), 1},
        {"teps", HW_F64, offsetof(struct hw_search_row, teps), 1},
        {"reached", HW_I64, offsetof(struct hw_search_row, reached), 1},
        {"levels", HW_I64, offsetof(struct hw_search_row, levels), 1},
        {"outcome", HW_I32, offsetof(struct hw_search_row, outcome), 1},
        {"steps", HW_I64, offsetof(struct hw_search_row, steps), 1},
        {"scans", HW_I64, offsetof(struct hw_search_row, scans), 1},
        {"checked", HW_I32, offsetof(struct hw_search_row, checked), 1},
        {"violations", HW_I64, offsetof(struct hw_search_row, violations), 1},
    };
    char names[HW_RULES][40];

    for (int r = 0; r < HW_RULES; r++) {
        snprintf(names[r], sizeof names[r], "violations_%s", hw_rule_name((enum hw_rule)r));
        for (char *dash; (dash = strchr(names[r], '-')) != NULL;)
            *dash = '_';
        columns[12 + r] = (struct hw_column){
            names[r], HW_I64, offsetof(struct hw_search_row, rule) + (size_t)r * sizeof(hw_count),
            1};
    }
    return hw_store_write_table(store, "/run/search", columns, 12 + HW_RULES,
                                sizeof *report->search, report->count, report->search, err);
}

/* Adds the four columns of one phase. */
static int add_phase(int p, char (*names)[48], struct hw_column *columns)
{
    static const char *const kinds[] = {"min", "mean", "max", "slowest"};
    const size_t offsets[] = {
        offsetof(struct hw_step_row, phase[0].min), offsetof(struct hw_step_row, phase[0].mean),
        offsetof(struct hw_step_row, phase[0].max), offsetof(struct hw_step_row, phase[0].slowest)};
    size_t stride = sizeof((struct hw_step_row *)NULL)->phase[0];

    for (int k = 0; k < 4; k++) {
        snprintf(names[k], sizeof names[k], "%s_%s", phase_names[p], kinds[k]);
        columns[k] = (struct hw_column){names[k], k < 3 ? HW_F64 : HW_I32,
                                        offsets[k] + (size_t)p * stride, 1};
    }
    return 4;
}

static enum hw_status write_steps(const struct hw_report *report, struct hw_store *store,
                                  struct hw_error *err)
{
    struct hw_column columns[5 + HW_STEP_SUMS + HW_STEP_MAXIMA + 4 * HW_PHASES] = {
        {"search", HW_I64, offsetof(struct hw_step_row, search), 1},
        {"step", HW_I64, offsetof(struct hw_step_row, step), 1},
        {"direction", HW_U8, offsetof(struct hw_step_row, direction), 12},
        {"routine", HW_U8, offsetof(struct hw_step_row, routine), 32},
        {"bucket", HW_I64, offsetof(struct hw_step_row, bucket), 1},
    };
    char max_names[HW_STEP_MAXIMA][48], phases[4 * HW_PHASES][48];
    int n = 5;

    for (int c = 0; c < HW_STEP_SUMS; c++)
        columns[n++] =
            (struct hw_column){count_names[c], HW_I64,
                               offsetof(struct hw_step_row, sum) + (size_t)c * sizeof(int64_t), 1};
    for (int c = 0; c < HW_STEP_MAXIMA; c++) {
        snprintf(max_names[c], sizeof max_names[c], "%s_max", count_names[HW_STEP_FIRST_MAX + c]);
        columns[n++] =
            (struct hw_column){max_names[c], HW_I64,
                               offsetof(struct hw_step_row, max) + (size_t)c * sizeof(int64_t), 1};
    }
    for (int p = 0; p < HW_PHASES; p++)
        n += add_phase(p, phases + (size_t)p * 4, columns + n);
    return hw_store_write_table(store, "/run/steps", columns, n, sizeof *report->step,
                                report->steps, report->step, err);
}

/* ---- writing ---- */

/* Edges examined for each stored edge, mean over the searches; -1 if not recorded. */
static double scans_per_edge(const struct hw_report *report)
{
    double scans = 0;

    for (hw_count i = 0; i < report->count; i++) {
        if (report->search[i].scans < 0)
            return -1;
        scans += (double)report->search[i].scans;
    }
    if (report->count == 0 || report->part->edges == 0)
        return -1;
    return scans / (double)report->count / (double)report->part->edges;
}

/* The Graph500 fields that say what was run. Collective. */
static enum hw_status write_run(const struct hw_report *report, struct hw_store *store,
                                double construction, struct hw_error *err)
{
    const struct hw_part *part = report->part;
    double vertices = (double)hw_part_graph_vertices(part);
    hw_count checked = 0;
    enum hw_status status =
        hw_store_set_i64(store, HW_AT_RUN, "SCALE", (int64_t)lround(log2(vertices)), err);

    for (hw_count i = 0; i < report->count; i++)
        checked += report->search[i].checked;
    if (status == HW_OK)
        status =
            hw_store_set_f64(store, HW_AT_RUN, "edgefactor", (double)part->tuples / vertices, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "NBFS", report->count, err);
    if (status == HW_OK)
        status = hw_store_set_f64(store, HW_AT_RUN, "construction_time", construction, err);
    if (status == HW_OK && scans_per_edge(report) >= 0)
        status = hw_store_set_f64(store, HW_AT_RUN, "scans_per_edge", scans_per_edge(report), err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "teps_rule",
                                     part->directed ? HW_TEPS_RULE_DIRECTED : HW_TEPS_RULE, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "checked", checked, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "failed", hw_report_failures(report), err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "steps_left_out", report->steps_left_out, err);
    return status;
}

enum hw_status hw_report_write(const struct hw_report *report, struct hw_store *store,
                               double construction, struct hw_error *err)
{
    HW_TRY(write_run(report, store, construction, err));
    HW_TRY(write_statistics(report, store, err));
    HW_TRY(write_searches(report, store, err));
    return write_steps(report, store, err);
}
