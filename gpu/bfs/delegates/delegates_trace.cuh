/*
 * Method `delegates`: the trace record of a step: directions, sizes, times and traffic.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_TRACE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_TRACE_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

__device__ uint32_t since(count64 from, count64 to)
{
    return to > from ? static_cast<uint32_t>(min(to - from, 0xffffffffull)) : 0;
}

/* Counts what went to part q in a step. */
__device__ void count_sent(const kernel_params &plan, uint32_t q, hw_gpu_delegates_row &row)
{
    const control_t &c = *plan.control;
    const uint64_t entries = c.sent[q] - c.told[q];
    const uint64_t words =
        plan.carried ? plan.graph.mask_words
                     : plan.graph.summary / 4 + uint64_t{HW_GPU_DELEGATES_SECTOR} * c.sectors;
    const uint64_t mask = c.any_delegate ? 4 * words : 0;
    /* Of early masks each part counts what it brought, since more may be found meanwhile. */
    const uint64_t early = c.early ? plan.graph.summary + c.early_bytes / plan.masks : 0;
    const uint64_t bytes = entries * sizeof(count64) + mask + early;
    const uint32_t messages = (entries > 0) + (mask > 0) + (early > 0);

    if (q == plan.graph.part)
        return;
    row.bytes += bytes;
    row.messages += messages;
    if (q / plan.graph.devices != plan.graph.part / plan.graph.devices) {
        row.bytes_between += bytes;
        row.messages_between += messages;
    }
}

/* Keeps the row of the step that has ended. */
__device__ void keep_row(const kernel_params &plan, count64 now)
{
    control_t &c = *plan.control;
    const uint32_t at = min(c.rows, plan.row_capacity - 1);
    hw_gpu_delegates_row row = {};

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        row.ways |= (c.visit[k] ? c.backward[k] ? 2u : 1u : 0u) << 2 * k;
    row.ways |= c.small << 2 * HW_GPU_SUBGRAPHS;
    for (uint32_t q = 0; q < plan.graph.parts; q++)
        count_sent(plan, q, row);
    row.frontier = c.frontier;
    row.found = c.fresh_slots + c.fresh_owned;
    row.expansion = since(c.begun, max(c.met[0], c.met[1]));
    row.reduction = since(c.met[0], c.reduced);
    row.exchange = since(c.met[1], c.took);
    row.update = since(c.joined, now);
    row.edges = c.examined;
    plan.row[at] = row;
    c.rows = at + 1;
}

} // namespace
} // namespace hw_delegates

#endif
