#include "lib/engine/core/trace.h"

#include <stdlib.h>
#include <string.h>

struct hw_trace_record *hw_trace_append(struct hw_trace *trace)
{
    if (trace->count == trace->capacity) {
        hw_count capacity = trace->capacity ? 2 * trace->capacity : 64;
        struct hw_trace_record *grown = realloc(trace->record, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        trace->record = grown;
        trace->capacity = capacity;
    }
    struct hw_trace_record *record = &trace->record[trace->count++];
    memset(record, 0, sizeof *record);
    return record;
}

void hw_trace_clear(struct hw_trace *trace)
{
    trace->count = 0;
}

void hw_trace_free(struct hw_trace *trace)
{
    free(trace->record);
    *trace = (struct hw_trace){0};
}
