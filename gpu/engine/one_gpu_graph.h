/*
 * The graph of the methods on one GPU: vertices by falling degree, lists with or without weights,
 * copied from the part on the host or taken from the device where the layout was built.
 * engine->graph, and what is left of engine->output once the algorithm's arrays are listed
 * (gpu/engine/one_gpu_bfs_results.c, gpu/sssp/common), is filled here. All functions are local.
 */
#ifndef HOPWAVE_GPU_ENGINE_ONE_GPU_GRAPH_H
#define HOPWAVE_GPU_ENGINE_ONE_GPU_GRAPH_H

#include "gpu/engine/gpu_engine.h"

/* Breadth-first search on one GPU: struct hw_gpu_search.results. */
extern const struct hw_gpu_results hw_one_gpu_bfs_results;

/* Host memory in addition to the part, of which a description is enough: hw_method.bytes of methods
 * without more of their own. */
hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options);

/* Returns HW_BAD_INPUT for options and parts that no method on one GPU supports. */
enum hw_status hw_one_gpu_check(struct hw_gpu_engine *engine, struct hw_error *err);

/* Sets engine->order and the counts of engine->graph, and lists the arrays of the graph and of the
 * output that all algorithms have. weighted: the algorithm lists neighbors with weights itself, in
 * place of graph.out.neighbor and graph.in.neighbor. */
enum hw_status hw_one_gpu_graph_plan(struct hw_gpu_engine *engine, bool weighted,
                                     struct hw_error *err);

/* Fills the arrays of the graph. */
enum hw_status hw_one_gpu_graph_upload(struct hw_gpu_engine *engine, bool weighted,
                                       struct hw_error *err);

/* Reads lists of twice the cache size: evicts dirty poison and whatever the search would hit.
 * lists: [graph.edges] words at least. */
enum hw_status hw_one_gpu_flush_caches(const struct hw_gpu_engine *engine, const void *lists,
                                       struct hw_error *err);

/* Sets engine->root.vertex to the device's number of the root: hw_gpu_results.set_root. */
enum hw_status hw_one_gpu_set_root(struct hw_gpu_engine *engine, struct hw_error *err);

#endif
