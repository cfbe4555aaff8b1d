#include "gpu/engine/step_trace.h"

#include "gpu/device/device.h"
#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

struct hw_gpu_clock hw_gpu_clock_of(uint64_t begun, uint64_t ended, uint64_t nanoseconds)
{
    const uint64_t ticks = ended > begun ? ended - begun : 1;

    return (struct hw_gpu_clock){.begun = begun,
                                 .seconds = (double)nanoseconds * 1e-9 / (double)ticks};
}

double hw_gpu_clock_advance(struct hw_gpu_clock *clock, uint64_t tick)
{
    const double seconds = (double)(tick - clock->begun) * clock->seconds;

    clock->begun = tick;
    return seconds;
}

uint32_t hw_gpu_trace_capacity(hw_count vertices)
{
    return (uint32_t)(vertices + 2 < HW_GPU_TRACE_CAPACITY ? vertices + 2 : HW_GPU_TRACE_CAPACITY);
}

uint32_t hw_gpu_trace_stored(uint32_t appended, uint32_t capacity)
{
    return appended < capacity ? appended : capacity;
}

void hw_gpu_set_routine(struct hw_trace_record *step, const struct hw_gpu_routine_name *names,
                        uint32_t count, uint32_t routine)
{
    const struct hw_gpu_routine_name *name = &names[routine < count ? routine : 0];

    step->direction = name->direction;
    snprintf(step->routine, sizeof step->routine, "%s", name->name);
}

enum hw_status hw_gpu_append_records(const struct hw_gpu_records *records, struct hw_trace *steps,
                                     struct hw_error *err)
{
    const size_t bytes = (size_t)records->count * records->size;
    void *copied = NULL;
    enum hw_status status = HW_OK;

    if (!records->on_host)
        status = hw_alloc(&copied, records->count, records->size, "the steps", err);
    if (status == HW_OK && !records->on_host && records->count > 0)
        status = hw_gpu_get(copied, records->record, bytes, err);
    for (hw_count r = records->first; r < records->count && status == HW_OK; r++) {
        struct hw_trace_record *step = hw_trace_append(steps);
        if (step)
            records->fill(step, records->on_host ? records->record : copied, r, records->context);
        else
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    }
    free(copied);
    return status;
}

/* Records of methods that share struct hw_gpu_trace_record. context: struct hw_gpu_clock. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    static const struct hw_gpu_routine_name routines[HW_ROUTINES] = {
        [HW_ROUTINE_BLOCK] = {"push block", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PUSH_ONLY] = {"push only", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PULL] = {"pull", HW_DIRECTION_BOTTOM_UP},
        [HW_ROUTINE_PULL_BLOCK] = {"pull block", HW_DIRECTION_BOTTOM_UP},
        [HW_ROUTINE_LEAVES] = {"leaves", HW_DIRECTION_AUTO},
        [HW_ROUTINE_MERGE_SEPARATE] = {"separate", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_MERGE_GATHER] = {"gather", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_MERGE_EXPAND] = {"expand", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_DIRECT] = {"direct", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_SCAN2D] = {"scan2d", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_SCATTER_COMPACT] = {"scatter-compact", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_CTA_WARP_SCAN] = {"cta-warp-scan", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PHASES_SEPARATE] = {"separate, 6 kernels", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PHASES_GATHER] = {"gather, 5 kernels", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PHASES_EXPAND] = {"expand, 5 kernels", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PHASES_DIRECT] = {"direct, 2 kernels", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PHASES_CTA] = {"cta-warp-scan, 3 kernels", HW_DIRECTION_TOP_DOWN},
    };
    const struct hw_gpu_trace_record *record = (const struct hw_gpu_trace_record *)records + r;

    hw_gpu_set_routine(step, routines, HW_ROUTINES, record->routine);
    step->frontier = record->frontier;
    step->discovered = record->found;
    step->edges_examined = (hw_count)record->edges;
    step->seconds[HW_PHASE_EXPANSION] = hw_gpu_clock_advance(context, record->clock);
}

enum hw_status hw_gpu_append_trace(const struct hw_gpu_trace_record *record, hw_count count,
                                   struct hw_gpu_clock clock, struct hw_trace *steps,
                                   struct hw_error *err)
{
    const struct hw_gpu_records records = {.record = record,
                                           .count = count,
                                           .size = sizeof *record,
                                           .fill = fill_step,
                                           .context = &clock};

    return hw_gpu_append_records(&records, steps, err);
}

enum hw_status hw_gpu_append_named(struct hw_trace *steps, const char *routine,
                                   struct hw_trace_record **step, struct hw_error *err)
{
    *step = hw_trace_append(steps);
    if (!*step)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    snprintf((*step)->routine, sizeof(*step)->routine, "%s", routine);
    return HW_OK;
}

enum hw_status hw_gpu_append_step(struct hw_trace *steps, const char *routine, double seconds,
                                  struct hw_error *err)
{
    struct hw_trace_record *step = NULL;

    HW_TRY(hw_gpu_append_named(steps, routine, &step, err));
    step->seconds[HW_PHASE_UPDATE] = seconds;
    return HW_OK;
}
