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
#include "lib/graph/generate/spatial/geometric.h"
#include "lib/graph/generate/spatial/lattice.h"
#include "lib/graph/generate/spatial/road.h"
#include "lib/graph/generate/spatial/small_world.h"
#include "lib/graph/generate/spatial/vertex_permutation.h"

/* Kernels make the tuples of the models before HW_MODELS_IN_KERNELS, hosts those of all. */
enum hw_model {
    HW_MODEL_RMAT,
    HW_MODEL_ERDOS_RENYI,
    HW_MODEL_GRAPH500,
    HW_MODELS_IN_KERNELS,
    HW_MODEL_GRID = HW_MODELS_IN_KERNELS,
    HW_MODEL_TORUS,
    HW_MODEL_CHAIN,
    HW_MODEL_STAR,
    HW_MODEL_SMALL_WORLD,
    HW_MODEL_GEOMETRIC,
    HW_MODEL_ROAD,
    HW_MODELS
};

struct hw_generator {
    enum hw_model model;
    struct hw_weighter weighter;
    struct hw_vertex_permutation permutation; /* of models that kernels do not make */
    union {
        struct hw_rmat rmat;
        struct hw_pairs pairs;
        struct hw_graph500 graph500;
        struct hw_lattice lattice; /* grid, torus, chain */
        struct hw_small_world small_world;
        struct hw_geometric geometric;
        struct hw_road road;
    };
};

#endif
