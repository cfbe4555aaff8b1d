/* The trace of delta-stepping in one kernel (gpu/sssp/delta/delta_search.h). */
#include "gpu/sssp/delta/delta_trace.h"

#include "gpu/comm/nvshmem/internode_puts_host.h"
#include "gpu/device/device.h"
#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Of fill_step(). */
struct fill_context {
    uint32_t ranks; /* with addresses */
    bool bellman_ford;
    struct hw_internode_puts_traffic *put; /* [records] into other nodes, or NULL */
};

/* Converts one trace record. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    static const struct hw_gpu_routine_name names[HW_DELTA_ROUTINES] = {
        [HW_DELTA_ROUTINE_BEGIN] = {"begin", HW_DIRECTION_AUTO},
        [HW_DELTA_ROUTINE_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_ROUTINE_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_ROUTINE_LIGHT_PUSH] = {"short.push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_ROUTINE_HEAVY_PUSH] = {"long.push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_ROUTINE_BROADCAST] = {"broadcast", HW_DIRECTION_AUTO},
        [HW_DELTA_ROUTINE_HEAVY_PULL] = {"long.pull", HW_DIRECTION_BOTTOM_UP},
        [HW_DELTA_ROUTINE_NEXT_BUCKET] = {"next bucket", HW_DIRECTION_AUTO},
        [HW_DELTA_ROUTINE_PARENTS] = {"parents", HW_DIRECTION_AUTO},
    };
    const struct fill_context *fill = context;
    const struct hw_delta_trace_record *record = (const struct hw_delta_trace_record *)records + r;

    hw_gpu_set_routine(step, names, HW_DELTA_ROUTINES, record->routine);
    if (record->routine == HW_DELTA_ROUTINE_PUSH && fill->bellman_ford)
        snprintf(step->routine, sizeof step->routine, "relax");
    step->bucket = (hw_count)record->bucket;
    step->frontier = (hw_count)record->frontier;
    step->discovered = (hw_count)record->found;
    step->pulled = (hw_count)record->pulled;
    step->edges_examined = (hw_count)(record->pushed + record->pulled);
    step->sent.bytes = (hw_count)record->sent;
    step->sent.messages = record->sent > 0 ? (hw_count)fill->ranks - 1 : 0;
    if (fill->put) {
        step->sent.internode.bytes = (hw_count)fill->put[r].bytes;
        step->sent.internode.messages = (hw_count)fill->put[r].messages;
        step->sent.messages += (hw_count)fill->put[r].messages;
    }
    step->seconds[HW_PHASE_EXPANSION] =
        1e-9 * (double)(record->nanoseconds - record[-1].nanoseconds);
}

/* What each of `count` records put into other nodes, for the caller to free. Local. */
static enum hw_status read_puts(const struct hw_internode_puts *puts, hw_count count,
                                struct hw_internode_puts_traffic **put, struct hw_error *err)
{
    HW_TRY(hw_alloc(put, count + 1, sizeof **put, "the steps", err));
    const enum hw_status status = hw_internode_puts_read_traffic(puts, count, *put, err);
    if (status == HW_OK)
        return HW_OK;
    free(*put);
    *put = NULL;
    return status;
}

enum hw_status hw_delta_append_trace(const struct hw_delta_params *params,
                                     const struct hw_internode_puts *puts, bool bellman_ford,
                                     struct hw_trace *steps, struct hw_error *err)
{
    struct fill_context context = {.ranks = puts ? puts->per_node : params->partition.ranks,
                                   .bellman_ford = bellman_ford};
    uint32_t count = 0;

    HW_TRY(hw_gpu_get(&count, &params->control->trace_records, sizeof count, err));
    if (puts)
        HW_TRY(read_puts(puts, hw_gpu_trace_stored(count, params->config.trace_capacity),
                         &context.put, err));
    const struct hw_gpu_records records = {
        .record = params->trace,
        .count = hw_gpu_trace_stored(count, params->config.trace_capacity),
        .first = 1, /* the first record has the time when the search began */
        .size = sizeof *params->trace,
        .fill = fill_step,
        .context = &context};
    const enum hw_status status = hw_gpu_append_records(&records, steps, err);
    free(context.put);
    return status;
}
