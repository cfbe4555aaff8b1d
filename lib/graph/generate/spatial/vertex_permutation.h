/*
 * A keyed permutation of the vertices of a graph, so that ids do not depend on places: the hash of
 * labels on the next power of two, walked along its cycle until it falls below the number of
 * vertices (Black and Rogaway, CT-RSA 2002). Less than two steps on average.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_SPATIAL_VERTEX_PERMUTATION_H
#define HOPWAVE_GRAPH_GENERATE_SPATIAL_VERTEX_PERMUTATION_H

#include "lib/graph/generate/rmat.h"

struct hw_vertex_permutation {
    bool identity; /* vertices keep their ids */
    uint64_t vertices;
    struct hw_label_hash hash;
};

/* The permutation that a seed has; scramble: false for the identity. vertices: 1 to 2^40. Local. */
static inline struct hw_vertex_permutation hw_vertex_permutation(uint64_t seed, hw_gid vertices,
                                                                 bool scramble)
{
    struct hw_vertex_permutation permutation = {!scramble, (uint64_t)vertices, {0, 0, {0}}};
    int bits = 0;

    while (permutation.vertices > (uint64_t)1 << bits)
        bits++;
    permutation.hash = hw_label_hash(seed, bits);
    return permutation;
}

/* The id of a vertex. Local. */
static inline HW_KERNEL_CALLABLE uint64_t
hw_permuted(const struct hw_vertex_permutation *permutation, uint64_t vertex)
{
    if (permutation->identity)
        return vertex;
    do
        vertex = hw_label(&permutation->hash, vertex);
    while (vertex >= permutation->vertices);
    return vertex;
}

#endif
