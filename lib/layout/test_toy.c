#include "layout/test_toy.h"

#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

struct toy make_toy(hw_gid n, hw_count m, bool directed, enum hw_weights weights)
{
    struct toy toy = {.desc = {.vertices = n, .edges = m, .directed = directed, .weights = weights},
                      .edges = {.capacity = m, .count = m}};
    uint64_t state = (uint64_t)(n * 1000 + m);

    strcpy(toy.desc.digest, "xxh3-128:00112233445566778899aabbccddeeff");
    toy.edges.source = calloc((size_t)m + 1, sizeof *toy.edges.source);
    toy.edges.target = calloc((size_t)m + 1, sizeof *toy.edges.target);
    toy.edges.weight = calloc((size_t)m + 1, sizeof *toy.edges.weight);
    for (hw_count e = 0; e < m; e++) {
        /* The upper fifth of the ids stays isolated where there are that many. */
        uint64_t used = (uint64_t)(n - n / 5);
        toy.edges.source[e] = (hw_gid)(draw(&state) % 4 ? draw(&state) % used : used / 2);
        toy.edges.target[e] = (hw_gid)(draw(&state) % used);
        if (e > 2 && draw(&state) % 8 == 0) {
            bool turn = draw(&state) % 2;
            hw_count copy = (hw_count)(draw(&state) % (uint64_t)e);
            toy.edges.source[e] = turn ? toy.edges.target[copy] : toy.edges.source[copy];
            toy.edges.target[e] = turn ? toy.edges.source[copy] : toy.edges.target[copy];
        }
        if (weights == HW_WEIGHTS_F32)
            toy.edges.weight[e].f32 = (float)draw(&state) / 1e6f - 1000.0f;
        if (weights == HW_WEIGHTS_I32)
            toy.edges.weight[e].i32 = (int32_t)(draw(&state) % 200) - 100;
    }
    return toy;
}

void free_toy(struct toy *toy)
{
    free(toy->edges.source);
    free(toy->edges.target);
    free(toy->edges.weight);
}

static bool same_bytes(const void *a, const void *b, size_t count, size_t size)
{
    return count == 0 || (a && b && memcmp(a, b, count * size) == 0);
}

static bool same_matrix(const struct hw_csr *a, const struct hw_csr *b)
{
    if (!a->offset || !b->offset)
        return !a->offset && !b->offset;
    if (a->rows != b->rows || !same_bytes(a->offset, b->offset, (size_t)a->rows + 1, 8))
        return false;
    size_t count = (size_t)a->offset[a->rows];
    bool same = true;
    if (count > 0) {
        same = !a->index == !b->index && !a->target == !b->target && !a->weight == !b->weight;
        if (same && a->index)
            same = same_bytes(a->index, b->index, count, sizeof *a->index);
        if (same && a->target)
            same = same_bytes(a->target, b->target, count, sizeof *a->target);
        if (same && a->weight)
            same = same_bytes(a->weight, b->weight, count, sizeof *a->weight);
    }
    return same;
}

bool same_part(const struct hw_part *a, const struct hw_part *b)
{
    const struct hw_delegate_part *x = &a->separate, *y = &b->separate;
    size_t own = a->own.count, d = x->delegates;

    return a->index == b->index && a->vertices == b->vertices && a->edges == b->edges &&
           a->tuples == b->tuples && a->directed == b->directed && a->weights == b->weights &&
           a->spec.threshold == b->spec.threshold && a->spec.weights == b->spec.weights &&
           strcmp(a->graph_digest, b->graph_digest) == 0 && a->own.count == b->own.count &&
           same_bytes(a->own.graph_id, b->own.graph_id, own, 8) &&
           same_bytes(a->own.tuples, b->own.tuples, own, 8) &&
           same_bytes(a->own.by_graph_id, b->own.by_graph_id, own, 4) &&
           a->own.loops == b->own.loops && same_bytes(a->own.loop, b->own.loop, a->own.loops, 4) &&
           same_bytes(a->own.loop_weight, b->own.loop_weight, a->own.loops, 4) &&
           a->grid.row == b->grid.row && a->grid.column == b->grid.column &&
           a->grid.block == b->grid.block && same_matrix(&a->grid.out, &b->grid.out) &&
           same_matrix(&a->grid.in, &b->grid.in) && x->slots == y->slots &&
           x->delegates == y->delegates && same_bytes(x->search_id, y->search_id, d, 8) &&
           same_bytes(x->graph_id, y->graph_id, d, 8) && same_matrix(&x->nn, &y->nn) &&
           same_matrix(&x->nd, &y->nd) && same_matrix(&x->dn, &y->dn) &&
           same_matrix(&x->dd, &y->dd) && same_matrix(&x->nd_in, &y->nd_in) &&
           same_matrix(&x->dn_in, &y->dn_in) && same_matrix(&x->dd_in, &y->dd_in);
}
