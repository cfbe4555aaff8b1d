#include "layout/test_oracle.h"

#include "base/permute.h"

#include <stdlib.h>
#include <string.h>

/* A directed edge with its weight as a sortable number beside it. */
struct arc {
    hw_gid from, to;
    double order;
    union hw_weight weight;
};

/* An edge as it lies in some matrix of some part. */
struct entry {
    int part;
    struct hw_csr *matrix; /* of the part being made */
    int64_t row, column;
    union hw_weight weight;
};

/* Everything known of the graph, by graph id. */
struct world {
    const struct hw_graph_desc *desc;
    const struct hw_layout_spec *spec;
    struct arc *arc;
    hw_count arcs;
    hw_count *out_degree, *degree, *tuples;
    hw_gid *search, *graph; /* graph id to search id, and back */
    hw_gid *delegate;       /* graph id to delegate, or -1 */
    hw_gid delegates;
};

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        abort();
    return memory;
}

static int by_ends_and_weight(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static struct arc arc_of(const struct hw_graph_desc *desc, const struct hw_edges *edges, hw_count e,
                         bool turned)
{
    struct arc arc = {.from = turned ? edges->target[e] : edges->source[e],
                      .to = turned ? edges->source[e] : edges->target[e]};

    if (edges->weight)
        arc.weight = edges->weight[e];
    if (edges->weight && desc->weights == HW_WEIGHTS_F32)
        arc.order = (double)arc.weight.f32;
    if (edges->weight && desc->weights == HW_WEIGHTS_I32)
        arc.order = arc.weight.i32;
    return arc;
}

/* Both directions or one, without loops, the lightest of parallel ones. */
static void make_arcs(struct world *world, const struct hw_edges *edges)
{
    hw_count all = 0, kept = 0;

    world->arc = need(2 * (size_t)edges->count, sizeof *world->arc);
    for (hw_count e = 0; e < edges->count; e++) {
        world->tuples[edges->source[e]]++;
        if (!world->desc->directed)
            world->tuples[edges->target[e]]++;
        if (edges->source[e] == edges->target[e])
            continue;
        world->arc[all++] = arc_of(world->desc, edges, e, false);
        if (!world->desc->directed)
            world->arc[all++] = arc_of(world->desc, edges, e, true);
    }
    qsort(world->arc, (size_t)all, sizeof *world->arc, by_ends_and_weight);
    for (hw_count a = 0; a < all; a++)
        if (kept == 0 || world->arc[a].from != world->arc[kept - 1].from ||
            world->arc[a].to != world->arc[kept - 1].to)
            world->arc[kept++] = world->arc[a];
    world->arcs = kept;
    for (hw_count a = 0; a < kept; a++) {
        world->out_degree[world->arc[a].from]++;
        world->degree[world->arc[a].from]++;
        if (world->desc->directed)
            world->degree[world->arc[a].to]++;
    }
}

/* Search ids by insertion: a vertex goes before the first that ranks lower. */
static void make_search_ids(struct world *world)
{
    hw_gid n = world->desc->vertices;
    struct hw_permutation hash = hw_permutation((uint64_t)n, HW_ORDER_HASH_SEED);

    for (hw_gid v = 0; v < n; v++) {
        hw_gid s = v;
        if (world->spec->order == HW_ORDER_HASH)
            s = (hw_gid)hw_permute(&hash, (uint64_t)v);
        if (world->spec->order == HW_ORDER_DEGREE) {
            s = 0;
            for (hw_gid u = 0; u < n; u++)
                s += world->degree[u] > world->degree[v] ||
                     (world->degree[u] == world->degree[v] && u < v);
        }
        world->search[v] = s;
        world->graph[s] = v;
    }
    for (hw_gid s = 0; s < n; s++) {
        hw_gid v = world->graph[s];
        bool is = world->spec->layout == HW_LAYOUT_DEGREE_SEPARATED &&
                  world->out_degree[v] > world->spec->threshold;
        world->delegate[v] = is ? world->delegates++ : -1;
    }
}

/* The block layout: where u -> v lies when u is the column. */
static struct entry place_in_grid(const struct world *world, struct hw_part *part, hw_gid u,
                                  hw_gid v, struct hw_csr *matrix)
{
    int rows = world->spec->rows, parts = world->spec->parts;
    int bu = (int)(u % parts), bv = (int)(v % parts);
    int i = bv % rows, j = bu / rows;

    return (struct entry){.part = j * rows + i,
                          .matrix = matrix,
                          .row = (int64_t)(bu - j * rows) * part->grid.block + u / parts,
                          .column = (int64_t)(bv / rows) * part->grid.block + v / parts};
}

/* The edge distributor: which part has u -> v. */
static int distribute(const struct world *world, hw_gid u, hw_gid v)
{
    hw_gid at = u;

    if (world->delegate[u] >= 0) {
        at = v;
        if (world->delegate[v] >= 0) {
            if (world->degree[u] < world->degree[v] ||
                (world->degree[u] == world->degree[v] && world->search[u] < world->search[v]))
                at = u;
        }
    }
    hw_gid s = world->search[at];
    return (int)(s % world->spec->nodes) * world->spec->devices +
           (int)(s / world->spec->nodes % world->spec->devices);
}

/* Puts u -> v into the matrix of its kind, or into that kind's transpose. */
static bool place_separated(const struct world *world, struct hw_part *part, hw_gid u, hw_gid v,
                            bool transpose, struct entry *entry)
{
    struct hw_delegate_part *x = &part->separate;
    struct hw_csr *forward[2][2] = {{&x->nn, &x->nd}, {&x->dn, &x->dd}};
    struct hw_csr *backward[2][2] = {{NULL, &x->nd_in}, {&x->dn_in, &x->dd_in}};
    bool du = world->delegate[u] >= 0, dv = world->delegate[v] >= 0;
    int64_t row = du ? world->delegate[u] : world->search[u] / world->spec->parts;
    int64_t column = dv ? world->delegate[v] : world->search[v] / world->spec->parts;

    if (!du && !dv)
        column = world->search[v];
    *entry = (struct entry){.part = distribute(world, u, v),
                            .matrix = transpose ? backward[du][dv] : forward[du][dv],
                            .row = transpose ? column : row,
                            .column = transpose ? row : column};
    return entry->matrix != NULL;
}

static int by_row(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->matrix != y->matrix)
        return x->matrix < y->matrix ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* Fills a matrix of `rows` lists from the sorted entries that name it. */
static void fill(struct hw_csr *matrix, int64_t rows, bool wide, bool weights,
                 const struct entry *entry, hw_count entries)
{
    hw_count at = 0;

    matrix->rows = (hw_lid)rows;
    matrix->offset = need((size_t)rows + 1, sizeof *matrix->offset);
    for (hw_count e = 0; e < entries; e++)
        if (entry[e].matrix == matrix)
            matrix->offset[entry[e].row + 1]++;
    for (int64_t r = 0; r < rows; r++)
        matrix->offset[r + 1] += matrix->offset[r];
    size_t all = (size_t)matrix->offset[rows];
    if (wide)
        matrix->target = need(all, sizeof *matrix->target);
    else
        matrix->index = need(all, sizeof *matrix->index);
    if (weights)
        matrix->weight = need(all, sizeof *matrix->weight);
    for (hw_count e = 0; e < entries; e++) {
        if (entry[e].matrix != matrix)
            continue;
        if (wide)
            matrix->target[at] = entry[e].column;
        else
            matrix->index[at] = (hw_lid)entry[e].column;
        if (weights)
            matrix->weight[at] = entry[e].weight;
        at++;
    }
}

static void make_matrices(const struct world *world, struct hw_part *part)
{
    struct entry *entry = need(2 * (size_t)world->arcs, sizeof *entry);
    struct hw_delegate_part *x = &part->separate;
    bool directed = part->directed, weights = part->weights != HW_WEIGHTS_NONE;
    hw_count entries = 0;

    for (hw_count a = 0; a < world->arcs; a++) {
        hw_gid u = world->arc[a].from, v = world->arc[a].to;
        for (int turned = 0; turned <= (int)directed; turned++) {
            struct entry at;
            if (world->spec->layout == HW_LAYOUT_DEGREE_SEPARATED) {
                if (!place_separated(world, part, u, v, turned, &at))
                    continue;
            } else {
                at = place_in_grid(world, part, world->search[turned ? v : u],
                                   world->search[turned ? u : v],
                                   turned ? &part->grid.in : &part->grid.out);
            }
            at.weight = world->arc[a].weight;
            if (at.part == part->index)
                entry[entries++] = at;
        }
    }
    qsort(entry, (size_t)entries, sizeof *entry, by_row);
    if (world->spec->layout != HW_LAYOUT_DEGREE_SEPARATED) {
        int64_t rows = (int64_t)world->spec->rows * part->grid.block;
        fill(&part->grid.out, rows, false, weights, entry, entries);
        if (directed)
            fill(&part->grid.in, rows, false, weights, entry, entries);
    } else {
        fill(&x->nn, x->slots, true, weights, entry, entries);
        fill(&x->nd, x->slots, false, weights, entry, entries);
        fill(&x->dn, x->delegates, false, weights, entry, entries);
        fill(&x->dd, x->delegates, false, weights, entry, entries);
        if (directed) {
            fill(&x->nd_in, x->delegates, false, weights, entry, entries);
            fill(&x->dn_in, x->slots, false, weights, entry, entries);
            fill(&x->dd_in, x->delegates, false, weights, entry, entries);
        }
    }
    free(entry);
}

static void make_vertices(const struct world *world, struct hw_part *part)
{
    struct hw_part_vertices *own = &part->own;
    hw_gid n = part->vertices;
    hw_lid next = 0;

    own->graph_id = need((size_t)n, sizeof *own->graph_id);
    own->tuples = need((size_t)n, sizeof *own->tuples);
    own->by_graph_id = need((size_t)n, sizeof *own->by_graph_id);
    for (hw_gid s = 0; s < n; s++) {
        if (hw_owner(&part->spec, s) != part->index)
            continue;
        own->graph_id[own->count] = world->graph[s];
        own->tuples[own->count++] = world->tuples[world->graph[s]];
    }
    for (hw_gid v = 0; v < n; v++)
        if (hw_owner(&part->spec, world->search[v]) == part->index)
            own->by_graph_id[next++] = (hw_lid)(world->search[v] / part->spec.parts);
}

/* The lightest self-loop of each own vertex that has a negative one. */
static void make_loops(const struct hw_graph_desc *desc, const struct hw_edges *edges,
                       struct hw_part *part)
{
    struct hw_part_vertices *own = &part->own;

    own->loop = need(own->count, sizeof *own->loop);
    own->loop_weight = need(own->count, sizeof *own->loop_weight);
    for (hw_lid p = 0; p < own->count && part->weights != HW_WEIGHTS_NONE; p++) {
        struct arc least = {.order = 0};
        for (hw_count e = 0; e < edges->count; e++) {
            struct arc arc = arc_of(desc, edges, e, false);
            if (arc.from == own->graph_id[p] && arc.to == arc.from && arc.order < least.order)
                least = arc;
        }
        if (least.order < 0) {
            own->loop[own->loops] = p;
            own->loop_weight[own->loops++] = least.weight;
        }
    }
}

static void make_delegates(const struct world *world, struct hw_delegate_part *separate)
{
    separate->delegates = (hw_lid)world->delegates;
    separate->search_id = need((size_t)world->delegates, sizeof *separate->search_id);
    separate->graph_id = need((size_t)world->delegates, sizeof *separate->graph_id);
    for (hw_gid v = 0; v < world->desc->vertices; v++)
        if (world->delegate[v] >= 0) {
            separate->search_id[world->delegate[v]] = world->search[v];
            separate->graph_id[world->delegate[v]] = v;
        }
}

void hw_oracle_part(const struct hw_graph_desc *desc, const struct hw_edges *edges,
                    const struct hw_layout_spec *spec, int index, struct hw_part *part)
{
    size_t n = (size_t)desc->vertices;
    struct world world = {.desc = desc, .spec = spec};
    hw_lid block = (hw_lid)((desc->vertices + spec->parts - 1) / spec->parts);

    world.out_degree = need(n, sizeof *world.out_degree);
    world.degree = need(n, sizeof *world.degree);
    world.tuples = need(n, sizeof *world.tuples);
    world.search = need(n, sizeof *world.search);
    world.graph = need(n, sizeof *world.graph);
    world.delegate = need(n, sizeof *world.delegate);
    make_arcs(&world, edges);
    make_search_ids(&world);
    *part = (struct hw_part){.spec = *spec,
                             .index = index,
                             .vertices = desc->vertices,
                             .edges = world.arcs,
                             .tuples = desc->edges,
                             .directed = desc->directed,
                             .weights = spec->weights ? desc->weights : HW_WEIGHTS_NONE};
    part->spec.weights = part->weights != HW_WEIGHTS_NONE;
    memcpy(part->graph_digest, desc->digest, sizeof part->graph_digest);
    make_vertices(&world, part);
    make_loops(desc, edges, part);
    if (spec->layout == HW_LAYOUT_DEGREE_SEPARATED) {
        part->separate.slots = block;
        make_delegates(&world, &part->separate);
    } else {
        part->grid.row = index % spec->rows;
        part->grid.column = index / spec->rows;
        part->grid.block = block;
    }
    make_matrices(&world, part);
    free(world.arc);
    free(world.out_degree);
    free(world.degree);
    free(world.tuples);
    free(world.search);
    free(world.graph);
    free(world.delegate);
}
