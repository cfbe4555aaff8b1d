/*
 * The generator of a spec, as plain values, the same on CPUs and GPUs. Programs
 * go through generator_spec.h; kernels read a copy on their device.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_GENERATOR_H
#define HOPWAVE_GRAPH_GENERATE_GENERATOR_H

#include "lib/graph/generate/edge_weights.h"
#include "lib/graph/generate/erdos_renyi.h"
#include "lib/graph/generate/graph500.h"
#include "lib/graph/generate/rmat.h"

enum hw_model { HW_MODEL_RMAT, HW_MODEL_ERDOS_RENYI, HW_MODEL_GRAPH500, HW_MODELS };

struct hw_generator {
    enum hw_model model;
    struct hw_weighter weighter;
    union {
        struct hw_rmat rmat;
        struct hw_pairs pairs;
        struct hw_graph500 graph500;
    };
};

#endif
