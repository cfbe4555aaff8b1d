#include "lib/run/results/search_results.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vertices of a cycle that a line names at most. */
#define NAMED_MOST 32

enum hw_status hw_search_results_open(struct hw_search_results *results, hw_count searches,
                                      struct hw_error *err)
{
    *results = (struct hw_search_results){.capacity = searches};

    HW_TRY(hw_alloc_zero(&results->outcome, searches, sizeof *results->outcome,
                         "results of searches", err));
    return hw_alloc_zero(&results->cycle, searches, sizeof *results->cycle, "results of searches",
                         err);
}

void hw_search_results_add(struct hw_search_results *results, struct hw_result *result)
{
    results->outcome[results->count] = result->outcome;
    results->cycle[results->count++] = result->cycle;
    result->cycle = (struct hw_cycle){0};
}

void hw_search_results_close(struct hw_search_results *results)
{
    for (hw_count i = 0; i < results->count; i++)
        hw_cycle_free(&results->cycle[i]);
    free(results->outcome);
    free(results->cycle);
    *results = (struct hw_search_results){0};
}

/* Cycles as they lie in the file. */
struct packed {
    hw_count *offset; /* [count+1] */
    hw_gid *vertex;   /* [offset[count]] */
    double *real;     /* [count] */
    int64_t *whole;   /* [count] */
};

static enum hw_status pack(const struct hw_search_results *results, struct packed *packed,
                           struct hw_error *err)
{
    hw_count count = results->count;
    enum hw_status status =
        hw_alloc_zero(&packed->offset, count + 1, sizeof *packed->offset, "cycles", err);

    for (hw_count i = 0; i < count && status == HW_OK; i++)
        packed->offset[i + 1] = packed->offset[i] + results->cycle[i].length;
    if (status == HW_OK)
        status =
            hw_alloc(&packed->vertex, packed->offset[count], sizeof *packed->vertex, "cycles", err);
    if (status == HW_OK)
        status = hw_alloc(&packed->real, count, sizeof *packed->real, "cycles", err);
    if (status == HW_OK)
        status = hw_alloc(&packed->whole, count, sizeof *packed->whole, "cycles", err);
    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        const struct hw_cycle *cycle = &results->cycle[i];
        if (cycle->length > 0)
            memcpy(packed->vertex + packed->offset[i], cycle->vertex,
                   (size_t)cycle->length * sizeof *cycle->vertex);
        packed->real[i] = cycle->real;
        packed->whole[i] = cycle->whole;
    }
    return status;
}

enum hw_status hw_search_results_write(const struct hw_search_results *results,
                                       enum hw_weights weights, struct hw_store *store,
                                       struct hw_error *err)
{
    struct packed packed = {0};
    hw_count count = results->count;
    bool whole = weights == HW_WEIGHTS_I32;
    enum hw_status status =
        hw_store_write_all(store, "/outcome", HW_I32, count, results->outcome, err);

    if (status == HW_OK)
        status = pack(results, &packed, err);
    if (status == HW_OK && packed.offset[count] > 0) {
        status = hw_store_write_all(store, "/cycle/offset", HW_I64, count + 1, packed.offset, err);
        if (status == HW_OK)
            status = hw_store_write_all(store, "/cycle/vertex", HW_I64, packed.offset[count],
                                        packed.vertex, err);
        if (status == HW_OK)
            status = hw_store_write_all(store, "/cycle/weight", whole ? HW_I64 : HW_F64, count,
                                        whole ? (void *)packed.whole : packed.real, err);
    }
    free(packed.offset);
    free(packed.vertex);
    free(packed.real);
    free(packed.whole);
    return status;
}

/* "3 7 9", cut off where it gets long. */
static void name_vertices(const struct hw_cycle *cycle, char *text, size_t size)
{
    size_t used = 0;

    for (hw_count i = 0; i < cycle->length && i < NAMED_MOST && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRI_GID, i ? " " : "",
                                 cycle->vertex[i]);
    if (cycle->length > NAMED_MOST && used < size)
        snprintf(text + used, size - used, " ... (%" PRI_COUNT " in all)", cycle->length);
}

void hw_search_results_note(const struct hw_context *ctx, const struct hw_search_results *results,
                            enum hw_weights weights, const struct hw_roots *roots)
{
    char vertices[NAMED_MOST * 24 + 48] = "", weight[48];
    hw_count cycles = 0, first = 0;

    for (hw_count i = results->count - 1; i >= 0; i--)
        if (results->outcome[i] == HW_OUTCOME_NEGATIVE_CYCLE) {
            cycles++;
            first = i;
        }
    if (cycles == 0)
        return;
    const struct hw_cycle *cycle = &results->cycle[first];
    if (weights == HW_WEIGHTS_I32)
        snprintf(weight, sizeof weight, "%" PRId64, cycle->whole);
    else
        snprintf(weight, sizeof weight, "%.17g", cycle->real);
    name_vertices(cycle, vertices, sizeof vertices);
    hw_note(ctx,
            "%" PRI_COUNT " of %" PRI_COUNT " searches reach a negative cycle; from root %" PRI_GID
            " one of weight %s: %s",
            cycles, results->count, roots->id[first], weight, vertices);
}
