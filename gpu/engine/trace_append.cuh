/*
 * Traces on the device: arrays of records, one for each step of a search, that one thread of the
 * grid appends, whatever the record of the method (gpu/engine/trace_record.h has the one of most;
 * methods with further columns have their own). An array that is full loses no counts: later steps
 * share its last record.
 */
#ifndef HOPWAVE_GPU_ENGINE_TRACE_APPEND_CUH
#define HOPWAVE_GPU_ENGINE_TRACE_APPEND_CUH

#include "gpu/device/ptx.cuh"
#include "gpu/engine/trace_record.h"

namespace
{

/* The record of step `at` of a search, counted from 0. trace: [capacity > 0]. */
template <class Record>
__device__ __forceinline__ Record *trace_slot(Record *trace, uint32_t capacity, uint32_t at)
{
    return trace + min(at, capacity - 1);
}

/* The same, for a record to which the counts of the step are then added. first: its contents
 * before, unless it is the shared one, which keeps those of earlier steps. */
template <class Record>
__device__ __forceinline__ Record *trace_open(Record *trace, uint32_t capacity, uint32_t at,
                                              const Record &first)
{
    Record *record = trace_slot(trace, capacity, at);

    if (at < capacity)
        *record = first;
    return record;
}

/* Appends step `at`, which discovered `found` vertices and examined so many edges. One thread. */
__device__ __forceinline__ void trace_step(hw_gpu_trace_record *trace, uint32_t capacity,
                                           uint32_t at, uint32_t routine, uint32_t frontier,
                                           uint32_t found, unsigned long long edges)
{
    hw_gpu_trace_record *record =
        trace_open(trace, capacity, at, hw_gpu_trace_record{routine, frontier, 0, 0, 0});

    record->found += found;
    record->edges += edges;
    record->clock = static_cast<uint64_t>(clock64());
}

} // namespace

#endif
