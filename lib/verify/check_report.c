/* Prints the result of validating a tree file, and writes the check file. */
#include "lib/verify/tree_check.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a rule of either kind. */
static const char *rule_name(int rule)
{
    switch (rule) {
    case HW_CHECK_EDGES:
        return "teps-edges";
    case HW_CHECK_REFERENCE:
        return "reference";
    case HW_CHECK_AGAINST:
        return "against";
    default:
        return hw_rule_name((enum hw_rule)rule);
    }
}

/* ---- messages ---- */

bool hw_check_passed(const struct hw_findings *findings)
{
    for (hw_count i = 0; i < findings->trees; i++)
        for (int rule = 0; rule < HW_CHECK_RULES; rule++)
            if (findings->tree[i].violations[rule] > 0)
                return false;
    return true;
}

static const char *ending(bool cycle)
{
    return cycle ? "a negative cycle" : "a tree";
}

/* The message about a rule of a finding. */
static void describe(const struct hw_check_options *options, const struct hw_findings *findings,
                     hw_count i, int rule, char *text, size_t size)
{
    const struct hw_finding *finding = &findings->tree[i];
    const hw_gid *example = finding->example[rule];
    hw_count count = finding->violations[rule];
    const char *s = count == 1 ? "" : "s", *value = findings->distances ? "distance" : "level";

    if (rule == HW_CHECK_EDGES)
        snprintf(text, size,
                 "teps-edges: /run/search counts %" PRI_COUNT " edges, the graph has %" PRI_COUNT
                 " in the component",
                 finding->edges, finding->tuples);
    else if (rule == HW_CHECK_AGAINST && example[0] >= 0 && example[1] == findings->root[i])
        snprintf(text, size, "against: in its place %s has root %" PRI_GID, options->against,
                 example[0]);
    else if (rule >= HW_RULES && example[0] == HW_GID_NONE)
        snprintf(text, size, "%s: ends with %s, and with %s in %s", rule_name(rule),
                 ending(finding->cycle), ending(!finding->cycle),
                 rule == HW_CHECK_AGAINST ? options->against : "the serial search");
    else if (rule == HW_CHECK_AGAINST)
        snprintf(text, size,
                 "against: %" PRI_COUNT " %s%s unlike those of %s, for example vertex %" PRI_GID,
                 count, value, s, options->against, example[0]);
    else if (rule == HW_CHECK_REFERENCE)
        snprintf(text, size,
                 "reference: %" PRI_COUNT
                 " %s%s unlike those of the serial search, for example vertex %" PRI_GID,
                 count, value, s, example[0]);
    else if (example[1] == HW_GID_NONE)
        snprintf(text, size,
                 "rule %d (%s): %" PRI_COUNT " violation%s, for example vertex %" PRI_GID, rule + 1,
                 rule_name(rule), count, s, example[0]);
    else
        snprintf(text, size,
                 "rule %d (%s): %" PRI_COUNT " violation%s, for example edge %" PRI_GID
                 " %" PRI_GID,
                 rule + 1, rule_name(rule), count, s, example[0], example[1]);
}

/* One line for a rule: the first tree that breaks it, and how many more do. */
static void report_rule(const struct hw_context *ctx, const struct hw_check_options *options,
                        const struct hw_findings *findings, int rule)
{
    hw_count first = -1, broken = 0;
    char text[512], more[64] = "";

    for (hw_count i = 0; i < findings->trees; i++)
        if (findings->tree[i].violations[rule] > 0) {
            first = first < 0 ? i : first;
            broken++;
        }
    if (broken == 0)
        return;
    describe(options, findings, first, rule, text, sizeof text);
    if (broken > 1)
        snprintf(more, sizeof more, "; and %" PRI_COUNT " other root%s", broken - 1,
                 broken == 2 ? "" : "s");
    hw_warn(ctx, "%s: root %" PRI_GID ": %s%s", options->tree, findings->root[first], text, more);
}

void hw_check_report(const struct hw_context *ctx, const struct hw_check_options *options,
                     const struct hw_findings *findings)
{
    hw_count cycles = 0, trees = 0;
    char ends[64] = "";
    int rules = 0;

    for (int rule = 0; rule < HW_CHECK_RULES; rule++) {
        report_rule(ctx, options, findings, rule);
        rules += findings->used[rule];
    }
    if (!hw_check_passed(findings))
        return;
    for (hw_count i = 0; i < findings->trees; i++)
        cycles += findings->tree[i].cycle;
    trees = findings->trees - cycles;
    if (cycles > 0)
        snprintf(ends, sizeof ends, ", %" PRI_COUNT " negative cycle%s", cycles,
                 cycles == 1 ? "" : "s");
    hw_note(ctx, "%s: %" PRI_COUNT " tree%s%s, %d rules, no violation%s%s%s", options->tree, trees,
            trees == 1 ? "" : "s", ends, rules,
            !options->against          ? ""
            : findings->parents_differ ? "; equivalent to " /* the same levels or distances */
                                       : "; identical to ",
            options->against ? options->against : "",
            options->against && findings->parents_differ ? " (other parents)" : "");
}

/* ---- the check file ---- */

/* "tree,tree-levels,...": the columns of /rules. */
static void rule_list(const struct hw_findings *findings, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int rule = 0; rule < HW_CHECK_RULES; rule++)
        if (findings->used[rule] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
                                     rule_name(rule));
}

static enum hw_status write_attributes(const struct hw_findings *findings, struct hw_store *store,
                                       struct hw_error *err)
{
    char rules[256];
    enum hw_status status =
        hw_store_set_i64(store, HW_AT_ROOT, "vertices", findings->vertices, err);

    rule_list(findings, rules, sizeof rules);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "roots", findings->trees, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "passed", hw_check_passed(findings), err);
    if (status == HW_OK)
        status =
            hw_store_set_string(store, HW_AT_ROOT, "graph_digest", findings->graph_digest, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_ROOT, "tree_digest", findings->tree_digest, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_PARAMETERS, "rules", rules, err);
    if (status == HW_OK && findings->against_digest[0])
        status = hw_store_set_string(store, HW_AT_PARAMETERS, "against_digest",
                                     findings->against_digest, err);
    return status;
}

/* Writes the row of a tree in /rules and /example. Local. */
static enum hw_status write_row(const struct hw_findings *findings, hw_count i,
                                struct hw_store *store, struct hw_error *err)
{
    hw_count count[HW_CHECK_RULES];
    hw_gid example[2 * HW_CHECK_RULES];
    int rules = 0;

    for (int rule = 0; rule < HW_CHECK_RULES; rule++) {
        if (!findings->used[rule])
            continue;
        count[rules] = findings->tree[i].violations[rule];
        example[2 * rules] = findings->tree[i].example[rule][0];
        example[2 * rules + 1] = findings->tree[i].example[rule][1];
        rules++;
    }
    enum hw_status status = hw_store_write(store, "/rules", i, 0, rules, count, err);
    return status == HW_OK ? hw_store_write(store, "/example", i, 0, 2 * rules, example, err)
                           : status;
}

/* Writes one count of each tree. Collective. */
static enum hw_status write_counts(const struct hw_context *ctx, const struct hw_findings *findings,
                                   bool reached, struct hw_store *store, struct hw_error *err)
{
    hw_count *count = NULL;
    enum hw_status status = hw_alloc(&count, findings->trees, sizeof *count, "counts", err);

    status = hw_agree(ctx->world, status, err);
    for (hw_count i = 0; i < findings->trees && status == HW_OK; i++)
        count[i] = reached ? findings->tree[i].reached : findings->tree[i].tuples;
    if (status == HW_OK)
        status = hw_store_write_all(store, reached ? "/reached" : "/tuples", HW_I64,
                                    findings->trees, count, err);
    free(count);
    return status;
}

enum hw_status hw_check_write(const struct hw_context *ctx, const struct hw_findings *findings,
                              struct hw_store *store, struct hw_error *err)
{
    hw_count rules = 0;

    for (int rule = 0; rule < HW_CHECK_RULES; rule++)
        rules += findings->used[rule];
    enum hw_status status = write_attributes(findings, store, err);
    if (status == HW_OK)
        status = hw_store_write_all(store, "/roots", HW_I64, findings->trees, findings->root, err);
    if (status == HW_OK)
        status = write_counts(ctx, findings, true, store, err);
    if (status == HW_OK)
        status = write_counts(ctx, findings, false, store, err);
    if (status == HW_OK)
        status = hw_store_define_rows(store, "/rules", HW_I64, findings->trees, rules, err);
    if (status == HW_OK)
        status = hw_store_define_rows(store, "/example", HW_I64, findings->trees, 2 * rules, err);
    if (status != HW_OK)
        return status;
    for (hw_count i = 0; i < findings->trees && status == HW_OK && ctx->rank == 0; i++)
        status = write_row(findings, i, store, err);
    return hw_agree(ctx->world, status, err);
}
