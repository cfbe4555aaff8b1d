/*
 * The method table: each search method behind one interface, CPU and GPU alike.
 *
 * The caller (hopwave-traverse) loads or builds the parts, draws the roots,
 * creates an engine, calls search() for each root, and stores or validates the
 * results. One rank has one part.
 */
#ifndef HOPWAVE_ENGINE_CORE_METHOD_H
#define HOPWAVE_ENGINE_CORE_METHOD_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/algorithm.h"
#include "lib/engine/core/engine_options.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/core/result.h"
#include "lib/engine/core/tree_cache.h"
#include "lib/layout/part.h"

struct hw_method;
struct hw_tree_batch;
struct hw_validation;

/* The operations of an engine: what all methods of one backend have in common. All functions are
 * collective over ctx->world unless they say otherwise. */
struct hw_engine_ops {
    enum hw_device device;

    /* Whether this machine can run them, asked before any work; NULL: always. Returns
     * HW_RESOURCES with the reason where not. Local. */
    enum hw_status (*ready)(struct hw_error *err);

    /* Creates an engine of a method for this part, which it borrows until destroy(). Untimed
     * (kernel 1). */
    enum hw_status (*create)(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err);

    /*
     * Searches from the vertex at `position` of part `owner`. The clock runs
     * from a barrier before the root is visited until the parents (SSSP: and the
     * distances) are in memory; no state is reused from search to search.
     */
    enum hw_status (*search)(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err);

    /* Validate trees in place of hw_verify_bfs() and hw_verify_sssp() (lib/verify/verify.h), with
     * the same results. NULL: those functions are called. */
    enum hw_status (*verify_bfs)(const struct hw_context *ctx, struct hw_graph *graph,
                                 const struct hw_tree_batch *trees,
                                 struct hw_validation *validation, struct hw_error *err);
    enum hw_status (*verify_sssp)(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_tree_batch *trees,
                                  struct hw_validation *validation, struct hw_error *err);

    const struct hw_tree_cache *tree_cache; /* NULL: none */

    /* Accepts NULL. */
    void (*destroy)(void *engine);

    /* The transport in use: "mpi", "peer" or "nccl". NULL: mpi. Local. */
    const char *(*transport)(const void *engine);

    /* What transport mpi passes to MPI for data in device memory: "host" or "device". The
     * function or its result is NULL where no device memory is sent. Local. */
    const char *(*mpi_buffers)(const void *engine);

    /* Who puts into the memory of other nodes, where the transport puts: "kernels" or "host". The
     * function or its result is NULL where nobody does. Local. */
    const char *(*puts)(const void *engine);

    /* Which of its kernels the engine chose for the graph, by name. The function or its result is
     * NULL where there is one only. Local. */
    const char *(*kernel)(const void *engine);
};

/* The engine behind a descriptor. */
struct hw_method {
    const struct hw_method_descriptor *descriptor; /* name, layouts, options, ... */
    const struct hw_engine_ops *ops;
    bool builds_any;      /* build() replaces hw_parts_build() for several parts as well */
    bool builds_directed; /* build() of several parts takes directed graphs, too */
    bool lists_on_device; /* build() leaves no lists on the host, whatever the layout */

    /* Bytes of host memory that the engine allocates in addition to the part. The part may be a
     * description (spec, counts and shapes, but no arrays): then an upper bound. Local. */
    hw_count (*bytes)(const struct hw_part *part, const struct hw_engine_options *options);

    /* Upper bound of the device memory, in bytes, of building the layout and searching, for a part
     * that is only described, over transport peer, and where parallel edges are few. More device
     * memory makes building faster. graph: NULL if the part comes from a file. NULL: unknown.
     * Local. */
    hw_count (*device_bytes)(const struct hw_part *part, const struct hw_graph_desc *graph,
                             const struct hw_engine_options *options);

    /* Partitions a graph, one part a rank, in place of hw_parts_build(). The part's matrices may
     * have offsets alone and part->resident the lists, which ops->create() then takes. NULL:
     * use hw_parts_build(). Collective. */
    enum hw_status (*build)(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err);

    /* Whether these options need a part that hw_parts_build() made, so that build() is not used.
     * NULL: never. Local. */
    bool (*builds_on_host)(const struct hw_engine_options *options);

    /* The same with all lists on the host, for users other than the engine. Required of methods
     * whose build() leaves lists on the device. */
    enum hw_status (*build_on_host)(const struct hw_context *ctx, struct hw_graph *graph,
                                    const struct hw_layout_spec *spec, struct hw_part *part,
                                    struct hw_error *err);

    const void *impl; /* the method's data that only `ops` reads; may be NULL */
};

/* The methods of this build, NULL-ended: those of lib/engine, then those of
 * gpu/. Local. */
const struct hw_method *const *hw_methods(void);

/* The descriptors of all methods, in that order, whether or not this build has their engines;
 * NULL-ended. Local. */
const struct hw_method_descriptor *const *hw_method_descriptors(void);

/* The options of all methods, each once, NULL-ended. Local. */
const struct hw_option *const *hw_method_options(void);

/* Whether a method has an option. Local. */
bool hw_method_has(const struct hw_method_descriptor *method, const struct hw_option *option);

/* Returns HW_USAGE, with the nearest name, if no method has that name; "auto" is one. Local. */
enum hw_status hw_method_check_name(const char *name, struct hw_error *err);

/*
 * The method that name ("auto" too) selects for this part. Returns HW_BAD_INPUT, with the names of
 * those that apply, if it does not; HW_RESOURCES if this build lacks its engine. Local; the same on
 * all ranks.
 */
enum hw_status hw_method_choose(const char *name, enum hw_device device,
                                enum hw_algorithm algorithm, const struct hw_part *part,
                                const struct hw_method **method, struct hw_error *err);

/* The first method for shortest paths with negative weights; failures as above. Local. */
enum hw_status hw_method_choose_negative(enum hw_device device, const struct hw_part *part,
                                         const struct hw_method **method, struct hw_error *err);

/* Sets the options that --as-published stands for: those of the method's table that were not given
 * and that apply. Returns HW_BAD_INPUT, with the names of the methods that have a table, for a
 * method without one. Local. */
enum hw_status hw_method_publish(const struct hw_method_descriptor *method,
                                 struct hw_option_values *values, struct hw_error *err);

/*
 * Refuses options that this method does not have, or that contradict each other: HW_USAGE for
 * contradictions, and for options of shortest paths without --algorithm sssp, whatever the method;
 * HW_BAD_INPUT, with the names of the methods that have it, for an option of others. method: NULL
 * before it is known. Local.
 */
enum hw_status hw_method_check_options(const struct hw_method_descriptor *method,
                                       const struct hw_engine_options *options,
                                       struct hw_error *err);

#endif
