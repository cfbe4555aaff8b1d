/* Redistribution of results from parts to slices, and the report's rows. */
#include "lib/engine/core/result.h"
#include "lib/engine/core/tree_slices.h"
#include "lib/run/component_size.h"
#include "lib/run/results/report.h"
#include "tests/fixtures/serial_method.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

/* A result with memory for the serial's part. */
static struct hw_result result_for(const struct hw_serial_method *serial)
{
    struct hw_result result = {0};
    struct hw_error err;

    if (hw_result_open(&serial->part, HW_BFS, &result, &err) != HW_OK)
        abort();
    return result;
}

/* Searches the serial from a root. Collective. */
static bool search(struct hw_serial_method *serial, hw_gid root, struct hw_result *result)
{
    struct hw_roots roots = {1, &root};
    struct hw_error err;
    int owner;
    hw_lid position;

    hw_result_poison(&serial->part, result);
    return hw_roots_locate(serial->ctx, &serial->part, &roots, &owner, &position, &err) == HW_OK &&
           serial->method.ops->search(serial, owner, position, result, &err) == HW_OK;
}

static void test_slices(struct tap *tap, struct hw_serial_method *serial, const char *name)
{
    const hw_gid root = 26;
    struct hw_result result = result_for(serial);
    struct hw_tree tree;
    struct hw_error err = {{0}};
    int32_t want[128], *level = NULL;
    hw_gid *parent = NULL;

    bool right = search(serial, root, &result) &&
                 hw_tree_open(serial->ctx, &serial->part, &tree, &err) == HW_OK;
    tap_ok(tap, right, "%s: the way is worked out", name);
    if (!right)
        return;
    level = calloc((size_t)tree.length + 1, sizeof *level);
    parent = calloc((size_t)tree.length + 1, sizeof *parent);
    right = level && parent &&
            hw_tree_slice(&tree, sizeof *level, result.level, level, &err) == HW_OK &&
            hw_tree_slice(&tree, sizeof *parent, result.parent, parent, &err) == HW_OK;
    hw_serial_method_levels(serial, root, want);
    for (hw_count i = 0; i < tree.length && right; i++)
        right =
            level[i] == want[tree.first + i] && (level[i] < 1 || want[parent[i]] == level[i] - 1);
    tap_ok(tap, right, "%s: levels and parents by graph id", name);
    free(level);
    free(parent);
    hw_tree_close(&tree);
    hw_result_close(&result);
}

/* Parts that own a vertex twice, or one that is not there, are refused. */
static void test_wrong_parts(struct tap *tap, struct hw_serial_method *serial)
{
    struct hw_tree tree;
    struct hw_error err = {{0}};
    struct hw_part_vertices *own = &serial->part.own;
    bool last = serial->ctx->rank == serial->ctx->size - 1 && own->count > 0;
    hw_gid *wrong = last ? &own->graph_id[own->by_graph_id[own->count - 1]] : NULL;
    hw_gid right = wrong ? *wrong : 0;

    if (wrong)
        *wrong = serial->part.vertices;
    tap_ok(tap, hw_tree_open(serial->ctx, &serial->part, &tree, &err) == HW_BAD_INPUT,
           "a vertex that the graph has not is refused");
    if (wrong)
        *wrong = right == own->graph_id[own->by_graph_id[0]] ? right : right - 1;
    if (wrong && own->count == 1)
        own->count = 0;
    tap_ok(tap, hw_tree_open(serial->ctx, &serial->part, &tree, &err) == HW_BAD_INPUT,
           "so is a vertex that nobody or two parts own");
    if (wrong)
        *wrong = right;
}

/* Artificial steps: each rank has its own numbers. */
static void add_steps(const struct hw_serial_method *serial, int count, struct hw_trace *steps)
{
    int rank = serial->ctx->rank;

    for (int s = 0; s < count; s++) {
        struct hw_trace_record *step = hw_trace_append(steps);
        if (!step)
            abort();
        step->direction = s % 2 ? HW_DIRECTION_BOTTOM_UP : HW_DIRECTION_TOP_DOWN;
        step->frontier = 1 + rank;
        step->edges_examined = 10 * s + rank;
        step->sent.bytes = 100;
        step->sent.internode.bytes = 7 + rank;
        step->seconds[HW_PHASE_EXPANSION] = 1 + s + rank;
    }
}

/* Whether the rows on rank 0 are what add_steps() adds up to. */
static bool rows_right(const struct hw_report *report, int searches, int count)
{
    const int64_t ranks = report->ctx->size;
    bool right = report->steps == (hw_count)searches * count;

    for (hw_count i = 0; i < report->steps && right && report->ctx->rank == 0; i++) {
        const struct hw_step_row *row = &report->step[i];
        int64_t s = i % count;
        double first = 1 + (double)s, last = first + (double)(ranks - 1);
        right = row->search == i / count && row->step == s &&
                strcmp(row->direction, s % 2 ? "bottom-up" : "top-down") == 0 &&
                row->sum[HW_STEP_FRONTIER] == ranks * (ranks + 1) / 2 &&
                row->sum[HW_STEP_EDGES] == 10 * s * ranks + ranks * (ranks - 1) / 2 &&
                row->sum[HW_STEP_BYTES] == 100 * ranks && row->max[0] == 10 * s + ranks - 1 &&
                row->max[1] == 100 && row->max[2] == 0 && row->max[3] == 7 + ranks - 1 &&
                row->phase[HW_PHASE_EXPANSION].min == first &&
                row->phase[HW_PHASE_EXPANSION].max == last &&
                row->phase[HW_PHASE_EXPANSION].mean == (first + last) / 2 &&
                row->phase[HW_PHASE_EXPANSION].slowest == ranks - 1 &&
                row->phase[HW_PHASE_UPDATE].max == 0;
    }
    return right;
}

/* Tuples with both ends (directed: the source) reached, by definition. */
static hw_count tuples_reached(const struct hw_serial_method *serial, const int32_t *level)
{
    hw_count tuples = 0;

    for (hw_count e = 0; e < serial->edges.count; e++)
        tuples += level[serial->edges.source[e]] >= 0;
    return tuples;
}

static void test_report(struct tap *tap, struct hw_serial_method *serial, const char *name)
{
    static const hw_gid roots[] = {26, 61, 96};
    struct hw_result result = result_for(serial);
    struct hw_report report;
    struct hw_error err = {{0}};
    int32_t level[128];
    bool right = hw_report_open(serial->ctx, &serial->part, HW_BFS, 3, &report, &err) == HW_OK;

    for (int i = 0; i < 3 && right; i++) {
        hw_count reached = 0;
        int32_t deepest = 0;
        right = search(serial, roots[i], &result);
        add_steps(serial, 700, &result.trace);
        right = right && hw_report_add(&report, roots[i], &result, true, &err) == HW_OK;
        hw_serial_method_levels(serial, roots[i], level);
        for (hw_gid v = 0; v < serial->desc.vertices; v++) {
            reached += level[v] >= 0;
            deepest = level[v] > deepest ? level[v] : deepest;
        }
        const struct hw_search_row *row = &report.search[i];
        right = right && row->reached == reached && row->levels == deepest + 1 &&
                row->edges == tuples_reached(serial, level) && row->teps == 2 * (double)row->edges;
    }
    tap_ok(tap, right, "%s: rows of searches", name);
    tap_ok(tap, rows_right(&report, 3, 700), "%s: rows of steps", name);
    search(serial, 26, &result);
    if (serial->part.own.count > 0)
        result.level[0] = INT32_MIN;
    tap_ok(tap, hw_report_add(&report, 26, &result, false, &err) == HW_INTERNAL,
           "%s: no more rows than were asked for", name);
    report.capacity++;
    report.count--;
    tap_ok(tap,
           hw_report_add(&report, 26, &result, false, &err) == HW_INTERNAL &&
               strstr(err.text, "unset"),
           "%s: a level left unset is noticed", name);
    search(serial, 26, &result);
    add_steps(serial, serial->ctx->rank == 0 ? 2 : 1, &result.trace);
    tap_ok(tap,
           hw_report_add(&report, 26, &result, true, &err) ==
               (serial->ctx->size == 1 ? HW_OK : HW_INTERNAL),
           "%s: ranks that saw different steps are noticed", name);
    hw_report_close(&report);
    hw_result_close(&result);
}

static void test_validation(struct tap *tap, struct hw_serial_method *serial)
{
    struct hw_result result = result_for(serial);
    struct hw_report report;
    struct hw_error err = {{0}};
    bool right = hw_report_open(serial->ctx, &serial->part, HW_BFS, 1, &report, &err) == HW_OK &&
                 search(serial, 26, &result) &&
                 hw_report_add(&report, 26, &result, false, &err) == HW_OK;
    struct hw_validation validation = {.reached = report.search[0].reached,
                                       .tuples = report.search[0].edges};

    tap_ok(tap,
           right && hw_report_add_validation(&report, 0, &validation, &err) == HW_OK &&
               hw_report_failures(&report) == 0 && report.search[0].checked == 1,
           "a validation without violations");
    validation.tuples++;
    tap_ok(tap, hw_report_add_validation(&report, 0, &validation, &err) == HW_INTERNAL,
           "validation that counts other tuples is noticed");
    validation.violations[HW_RULE_SPANS] = 3;
    validation.violations[HW_RULE_TREE] = 1;
    tap_ok(tap,
           hw_report_add_validation(&report, 0, &validation, &err) == HW_OK &&
               hw_report_failures(&report) == 1 && report.search[0].violations == 4,
           "a validation with violations");
    hw_report_close(&report);
    hw_result_close(&result);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 48);
    static const struct {
        enum hw_layout layout;
        enum hw_order order;
        bool directed;
        const char *name;
    } cases[] = {{HW_LAYOUT_1D, HW_ORDER_NONE, false, "1d"},
                 {HW_LAYOUT_1D, HW_ORDER_NONE, true, "1d directed"},
                 {HW_LAYOUT_2D, HW_ORDER_DEGREE, false, "2d by degree"},
                 {HW_LAYOUT_DEGREE_SEPARATED, HW_ORDER_HASH, true, "degree-separated"}};
    struct hw_serial_method serial;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hw_serial_method_open(ctx, cases[i].layout, cases[i].order, cases[i].directed, &serial);
        test_slices(tap, &serial, cases[i].name);
        test_report(tap, &serial, cases[i].name);
        test_validation(tap, &serial);
        test_wrong_parts(tap, &serial);
        hw_serial_method_close(&serial);
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_tree", tests);
}
