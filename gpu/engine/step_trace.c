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

enum hw_status hw_gpu_append_trace(const struct hw_gpu_trace_record *record, hw_count count,
                                   struct hw_gpu_clock clock, struct hw_trace *steps,
                                   struct hw_error *err)
{
    static const struct {
        const char *name;
        enum hw_direction direction;
    } routines[HW_ROUTINES] = {
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
    };
    struct hw_gpu_trace_record *stored = NULL;
    enum hw_status status = hw_alloc(&stored, count, sizeof *stored, "the steps", err);

    if (status == HW_OK && count > 0)
        status = hw_gpu_get(stored, record, (size_t)count * sizeof *stored, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        struct hw_trace_record *step = hw_trace_append(steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        uint32_t routine = stored[r].routine < HW_ROUTINES ? stored[r].routine : 0;
        step->direction = routines[routine].direction;
        snprintf(step->routine, sizeof step->routine, "%s", routines[routine].name);
        step->frontier = stored[r].frontier;
        step->discovered = stored[r].found;
        step->edges_examined = (hw_count)stored[r].edges;
        step->seconds[HW_PHASE_EXPANSION] = (double)(stored[r].clock - clock.begun) * clock.seconds;
        clock.begun = stored[r].clock;
    }
    free(stored);
    return status;
}

enum hw_status hw_gpu_append_step(struct hw_trace *steps, const char *routine, double seconds,
                                  struct hw_error *err)
{
    struct hw_trace_record *step = hw_trace_append(steps);

    if (!step)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    snprintf(step->routine, sizeof step->routine, "%s", routine);
    step->seconds[HW_PHASE_UPDATE] = seconds;
    return HW_OK;
}
