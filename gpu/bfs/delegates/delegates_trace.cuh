/*
 * Method `delegates`: the trace record of a step: directions, sizes, times and traffic.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_TRACE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_TRACE_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"
#include "gpu/engine/trace_append.cuh"

namespace hw_delegates
{
namespace
{

__device__ uint32_t elapsed_since(count64 from, count64 to)
{
    return to > from ? static_cast<uint32_t>(min(to - from, 0xffffffffull)) : 0;
}

/* Counts what was sent to part q in the step. */
__device__ void trace_traffic(const kernel_params &params, uint32_t q,
                              hw_gpu_delegates_trace_record &record)
{
    const control_t &c = *params.control;
    const uint64_t updates = c.found.sent[q] - c.found.sent_before[q];
    const uint64_t words = params.config.host_staged
                               ? params.graph.mask_words
                               : params.graph.summary_bytes / 4 +
                                     uint64_t{HW_GPU_DELEGATES_SECTOR} * c.next.dirty_sectors;
    const uint64_t mask = c.found.max_delegates ? 4 * words : 0;
    /* Of early masks each part counts what it fetched: the senders may have discovered more since.
     */
    const uint64_t early =
        c.early_found ? params.graph.summary_bytes + c.early_bytes / params.peers.masks : 0;
    const uint64_t bytes = updates * sizeof(count64) + mask + early;
    const uint32_t messages = (updates > 0) + (mask > 0) + (early > 0);

    if (q == params.graph.part)
        return;
    record.bytes += bytes;
    record.messages += messages;
    if (q / params.graph.devices != params.graph.part / params.graph.devices) {
        record.internode_bytes += bytes;
        record.internode_messages += messages;
    }
}

/* Writes the trace record of the step that has ended. One thread. */
__device__ void trace_append(const kernel_params &params, count64 now)
{
    control_t &c = *params.control;
    hw_gpu_delegates_trace_record record = {};

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        record.directions |= (c.decision.visit[k] ? c.decision.backward[k] ? 2u : 1u : 0u) << 2 * k;
    record.directions |= c.small_step << 2 * HW_GPU_SUBGRAPHS;
    for (uint32_t q = 0; q < params.graph.parts; q++)
        trace_traffic(params, q, record);
    record.frontier = c.frontier.vertices;
    record.discovered = c.next.new_slots + c.next.new_owned;
    record.expansion =
        elapsed_since(c.clock.step_begin, max(c.clock.visits_end[0], c.clock.visits_end[1]));
    record.reduction = elapsed_since(c.clock.visits_end[0], c.clock.reduction_end);
    record.exchange = elapsed_since(c.clock.visits_end[1], c.clock.receive_end);
    record.update = elapsed_since(c.clock.previsit_begin, now);
    record.edges = c.found.edges_examined;
    *trace_slot(params.trace.record, params.trace.capacity, c.trace_records) = record;
    c.trace_records = min(c.trace_records + 1, params.trace.capacity);
}

} // namespace
} // namespace hw_delegates

#endif
