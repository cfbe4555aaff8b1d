/*
 * Methods `delta` and `bellman-ford` on several GPUs: their entries in the method table. Searches
 * run in rounds of relaxations and exchanges (gpu/sssp/distributed), or in one kernel where that is
 * possible (gpu/sssp/delta/delta_search.h).
 */
#include "gpu/sssp/delta/peer/peer_delta_host.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"

static const struct hw_distributed_sssp_method delta = {.base = HW_DISTRIBUTED_SSSP_BASE,
                                                        .single_kernel = &hw_peer_delta_ops};

static const struct hw_distributed_sssp_method bellman_ford = {
    .base = HW_DISTRIBUTED_SSSP_BASE, .bellman_ford = true, .single_kernel = &hw_peer_delta_ops};

static hw_count device_bytes(const struct hw_part *part, const struct hw_graph_desc *graph,
                             const struct hw_engine_options *options)
{
    (void)graph;
    (void)options;
    return hw_distributed_sssp_device_bytes(part) + hw_distributed_sssp_in_list_bytes(part) +
           hw_peer_delta_device_bytes(part);
}

const struct hw_method hw_method_delta_parts = {.descriptor = &hw_descriptor_delta_parts,
                                                .ops = &hw_gpu_engine_ops,
                                                .bytes = hw_distributed_sssp_bytes,
                                                .device_bytes = device_bytes,
                                                .build = hw_distributed_sssp_build,
                                                .build_on_host = hw_gpu_build,
                                                .lists_on_device = true,
                                                .builds_any = true,
                                                .impl = &delta.base};

const struct hw_method hw_method_delta_separate = {.descriptor = &hw_descriptor_delta_separate,
                                                   .ops = &hw_gpu_engine_ops,
                                                   .bytes = hw_distributed_sssp_bytes,
                                                   .device_bytes = device_bytes,
                                                   .build = hw_distributed_sssp_build,
                                                   .build_on_host = hw_gpu_build,
                                                   .lists_on_device = true,
                                                   .builds_any = true,
                                                   .impl = &delta.base};

const struct hw_method hw_method_bellman_ford_parts = {
    .descriptor = &hw_descriptor_bellman_ford_parts,
    .ops = &hw_gpu_engine_ops,
    .bytes = hw_distributed_sssp_bellman_ford_bytes,
    .device_bytes = device_bytes,
    .build = hw_distributed_sssp_build,
    .build_on_host = hw_gpu_build,
    .lists_on_device = true,
    .builds_any = true,
    .impl = &bellman_ford.base};

const struct hw_method hw_method_bellman_ford_separate = {
    .descriptor = &hw_descriptor_bellman_ford_separate,
    .ops = &hw_gpu_engine_ops,
    .bytes = hw_distributed_sssp_bellman_ford_bytes,
    .device_bytes = device_bytes,
    .build = hw_distributed_sssp_build,
    .build_on_host = hw_gpu_build,
    .lists_on_device = true,
    .builds_any = true,
    .impl = &bellman_ford.base};
