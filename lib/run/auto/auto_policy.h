/*
 * The policy of --method auto: what it takes for granted of a class of graphs, and why. All its
 * thresholds are constants of this file's source, each with its measurement.
 *
 * The method comes from the method table (hw_method_choose()): the first that applies is the
 * fastest that was measured on every class of graphs, `bench/classes` lists them. Kernel,
 * bucket width and direction are chosen by the method's engine from the graph that it was given,
 * and named in hw_engine_ops.kernel and hw_result.delta. What no method can choose, the number of
 * GPUs, is left to the user with a hint.
 */
#ifndef HOPWAVE_RUN_AUTO_AUTO_POLICY_H
#define HOPWAVE_RUN_AUTO_AUTO_POLICY_H

#include "lib/engine/core/algorithm.h"
#include "lib/run/auto/graph_traits.h"

enum hw_graph_class {
    HW_GRAPH_WITHOUT_EDGES,
    HW_GRAPH_MESH,   /* short lists of like lengths, as in roads and meshes: many small levels */
    HW_GRAPH_RANDOM, /* degrees vary as those of random graphs, or less: few levels, no hubs */
    HW_GRAPH_SKEWED  /* hubs, as in R-MAT and social graphs: few levels */
};

/* What is to be done with the graph. */
struct hw_auto_request {
    enum hw_algorithm algorithm;
    enum hw_device device;
    int parts;
    const char *method;    /* that was chosen */
    bool negative_weights; /* there are some, which decided the method */
};

/* What to say about it. */
struct hw_auto_verdict {
    enum hw_graph_class class;
    char reason[320]; /* why this method, without a period */
    char advice[320]; /* what the user could do better, likewise; "": nothing */
};

/* The class of a graph. Local. */
enum hw_graph_class hw_graph_classify(const struct hw_graph_traits *traits);

/* A word for a class: "hubs". Local; static memory. */
const char *hw_graph_class_name(enum hw_graph_class class);

/* Judges a choice. Local. */
void hw_auto_judge(const struct hw_graph_traits *traits, const struct hw_auto_request *request,
                   struct hw_auto_verdict *verdict);

#endif
