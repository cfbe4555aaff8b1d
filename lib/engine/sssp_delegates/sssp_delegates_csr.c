/*
 * Vertices and edges of one part as the shortest-path methods of the
 * degree-separated layout see them: see sssp_delegates.h.
 */
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_csr(struct hw_csr *csr)
{
    free(csr->offset);
    free(csr->index);
    free(csr->weight);
    *csr = (struct hw_csr){0};
}

/* Room for a matrix whose offset[r+1] counts the entries of row r; sums them up. */
static enum hw_status open_csr(struct hw_csr *csr, struct hw_error *err)
{
    static const char what[] = "edges";

    for (hw_lid r = 0; r < csr->rows; r++)
        csr->offset[r + 1] += csr->offset[r];
    hw_count edges = csr->offset[csr->rows];

    HW_TRY(hw_alloc(&csr->index, edges, sizeof *csr->index, what, err));
    return hw_alloc(&csr->weight, edges, sizeof *csr->weight, what, err);
}

/* ---- ghosts ---- */

/* Where a normal vertex lives: its part above, its slot below. */
static uint64_t place_of(const struct hw_sssp_delegates *e, hw_gid search_id)
{
    const struct hw_layout_spec *spec = &e->part->spec;

    return (uint64_t)hw_owner(spec, search_id) << 32 | hw_position(spec, search_id);
}

/* Lists the places of the ends of nn that are elsewhere, each once and sorted. */
static enum hw_status list_ghosts(const struct hw_sssp_delegates *e, uint64_t **places,
                                  hw_count *count, struct hw_error *err)
{
    const struct hw_csr *nn = &e->part->separate.nn;
    uint64_t me = (uint64_t)e->part->index;
    hw_count edges = nn->offset[nn->rows], found = 0, kept = 0;

    HW_TRY(hw_alloc(places, edges, sizeof **places, "neighbours", err));
    for (hw_count k = 0; k < edges; k++) {
        uint64_t place = place_of(e, nn->target[k]);
        if (place >> 32 != me)
            (*places)[found++] = place;
    }
    HW_TRY(hw_sort(*places, NULL, found, 32 + hw_bits((uint64_t)e->ctx.size), err));
    for (hw_count i = 0; i < found; i++)
        if (i == 0 || (*places)[i] != (*places)[kept - 1])
            (*places)[kept++] = (*places)[i];
    *count = kept;
    return HW_OK;
}

/* The ghost at a place. */
static hw_lid ghost_at(const struct hw_sssp_delegates *e, const uint64_t *places, uint64_t place)
{
    hw_lid low = e->halo.ghost_first[place >> 32], high = e->halo.ghost_first[(place >> 32) + 1];

    while (high - low > 1) {
        hw_lid middle = low + (high - low) / 2;
        if (places[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Counts ghosts by part, and sends the counts to the owners, whose mirrors they are. Collective. */
static enum hw_status count_halo(struct hw_sssp_delegates *e, const uint64_t *places,
                                 hw_count count, struct hw_error *err)
{
    struct hw_halo_map *halo = &e->halo;
    hw_count mirrors = 0, ghosts = 0;
    enum hw_status status = HW_OK;

    for (hw_count i = 0; i < count; i++)
        halo->ghost_count[places[i] >> 32]++;
    HW_TRY(hw_mpi(MPI_Alltoall(halo->ghost_count, 1, HW_MPI_COUNT, halo->mirror_count, 1,
                               HW_MPI_COUNT, e->ctx.world),
                  "MPI_Alltoall", err));
    for (int r = 0; r < e->ctx.size; r++) {
        ghosts += halo->ghost_count[r];
        mirrors += halo->mirror_count[r];
        halo->ghost_first[r + 1] = (hw_lid)ghosts;
        halo->mirror_first[r + 1] = (hw_lid)mirrors;
    }
    e->vertices.ghosts = (hw_lid)ghosts;
    halo->mirrors = (hw_lid)mirrors;
    if (ghosts + mirrors + e->vertices.locals >= HW_LID_NONE)
        status = hw_fail(err, HW_RESOURCES,
                         "part %d meets more than 2^32 vertices; use more parts or a lower "
                         "--degree-threshold",
                         e->part->index);
    return status;
}

/* Sends the owners of ghosts which they are. Collective. */
static enum hw_status exchange_halo(struct hw_sssp_delegates *e, const uint64_t *places,
                                    struct hw_error *err)
{
    struct hw_halo_map *halo = &e->halo;
    hw_lid ghosts = e->vertices.ghosts;
    hw_lid *slot = NULL;
    enum hw_status status =
        hw_agree(e->ctx.world, hw_alloc(&slot, ghosts, sizeof *slot, "neighbours", err), err);
    for (hw_lid i = 0; i < ghosts && status == HW_OK; i++)
        slot[i] = (hw_lid)places[i];
    if (status == HW_OK)
        status = hw_halo_map_gather(halo, e->ctx.world, sizeof *slot, slot, halo->mirror, err);
    for (hw_lid i = 0; i < halo->mirrors && status == HW_OK; i++)
        halo->mirror[i] += e->vertices.delegates;
    free(slot);
    return status;
}

/* ---- edges ---- */

/* Adds what a row of the part's matrices holds to the rows of `out` and `cross`:
 * counts it if they have no index yet. */
static void add_row(const struct hw_sssp_delegates *e, const uint64_t *places,
                    const struct hw_csr *from, hw_lid row, hw_lid shift, hw_lid u,
                    struct hw_csr *out, struct hw_csr *cross)
{
    uint64_t me = (uint64_t)e->part->index;

    for (hw_count k = from->offset[row]; k < from->offset[row + 1]; k++) {
        uint64_t place = from->target ? place_of(e, from->target[k]) : me << 32 | from->index[k];
        bool here = place >> 32 == me;
        struct hw_csr *to = here ? out : cross;
        hw_count *at = &to->offset[u + 1];
        if (to->index) {
            to->index[*at] =
                here ? (hw_lid)place + shift : e->vertices.locals + ghost_at(e, places, place);
            to->weight[*at] = from->weight[k];
        }
        ++*at;
    }
}

static void add_rows(const struct hw_sssp_delegates *e, const uint64_t *places, struct hw_csr *out,
                     struct hw_csr *cross)
{
    const struct hw_delegate_part *x = &e->part->separate;
    hw_lid d = e->vertices.delegates;

#pragma omp parallel for schedule(dynamic, 256)
    for (hw_lid u = 0; u < e->vertices.locals; u++) {
        bool normal = u >= d;
        add_row(e, places, normal ? &x->nd : &x->dd, normal ? u - d : u, 0, u, out, cross);
        add_row(e, places, normal ? &x->nn : &x->dn, normal ? u - d : u, d, u, out, cross);
    }
}

/* Turns counts into places where rows begin, one row further on, so that filling
 * moves them where they belong. */
static void shift_offsets(struct hw_csr *csr)
{
    memmove(csr->offset + 1, csr->offset, csr->rows * sizeof *csr->offset);
    csr->offset[0] = 0;
}

/* Merges the four matrices into edges inside the part and edges that leave it. */
static enum hw_status merge(const struct hw_sssp_delegates *e, const uint64_t *places,
                            struct hw_csr *out, struct hw_csr *cross, struct hw_error *err)
{
    hw_count rows = (hw_count)e->vertices.locals + 1;

    HW_TRY(hw_alloc_zero(&out->offset, rows, sizeof *out->offset, "edges", err));
    out->rows = cross->rows = e->vertices.locals;
    HW_TRY(hw_alloc_zero(&cross->offset, rows, sizeof *cross->offset, "edges", err));
    add_rows(e, places, out, cross);
    HW_TRY(open_csr(out, err));
    HW_TRY(open_csr(cross, err));
    shift_offsets(out);
    shift_offsets(cross);
    add_rows(e, places, out, cross);
    return HW_OK;
}

/* ---- vertices that matter less ---- */

/* Counts the edges into each local and ghost, up to two. */
static void count_edges_into(const struct hw_csr *csr, uint8_t *into)
{
    for (hw_count k = 0; k < csr->offset[csr->rows]; k++)
        into[csr->index[k]] = (uint8_t)(into[csr->index[k]] + (into[csr->index[k]] < 2));
}

/*
 * Finds the vertices that lead nowhere, all of whose edges this part holds: of no
 * edge out, or, where the graph is undirected, of one edge alone. Their distances
 * are worked out when all others are final.
 */
static enum hw_status find_last(struct hw_sssp_delegates *e, const struct hw_csr *out,
                                const struct hw_csr *cross, const uint8_t *into,
                                struct hw_error *err)
{
    const struct hw_halo_map *halo = &e->halo;
    hw_count most = e->part->directed ? 0 : 1;
    uint64_t *mirrors = NULL;
    hw_count words = hw_bits_words(e->vertices.locals);
    enum hw_status status = hw_alloc_zero(&mirrors, words, sizeof *mirrors, "vertices", err);

    for (hw_lid k = 0; k < halo->mirrors && status == HW_OK; k++)
        hw_bitmap_set(mirrors, halo->mirror[k]);
    for (hw_lid v = e->vertices.delegates; v < e->vertices.locals && status == HW_OK; v++) {
        hw_count leave =
            out->offset[v + 1] - out->offset[v] + cross->offset[v + 1] - cross->offset[v];
        if (leave > most || into[v] == 0 || hw_bitmap_test(mirrors, v))
            continue;
        hw_bitmap_set(e->vertices.last, v);
        e->vertices.last_count++;
    }
    free(mirrors);
    if (status == HW_OK)
        status = hw_sssp_delegates_alloc(e, HW_ARRAYS_OF_LAST, err);
    if (status == HW_OK)
        hw_bits_list(e->vertices.last, (hw_lid)words, e->vertices.last_list);
    return status;
}

/* Finds the normal vertices that just one edge of the graph leads to. Collective. */
static enum hw_status find_single(struct hw_sssp_delegates *e, uint8_t *into, struct hw_error *err)
{
    const struct hw_halo_map *halo = &e->halo;
    hw_lid mirrors = halo->mirrors;
    uint8_t *elsewhere = NULL;
    enum hw_status status =
        hw_agree(e->ctx.world, hw_alloc(&elsewhere, mirrors, sizeof *elsewhere, "edges", err), err);
    if (status == HW_OK)
        status =
            hw_halo_map_gather(halo, e->ctx.world, 1, into + e->vertices.locals, elsewhere, err);
    for (hw_lid k = 0; k < mirrors && status == HW_OK; k++) {
        uint8_t *sum = &into[halo->mirror[k]];
        *sum = (uint8_t)(*sum + elsewhere[k] < 2 ? *sum + elsewhere[k] : 2);
    }
    for (hw_lid v = e->vertices.delegates; v < e->vertices.locals && status == HW_OK; v++)
        if (into[v] == 1)
            hw_bitmap_set(e->vertices.single, v);
    free(elsewhere);
    return status;
}

/* Both, where edge classes are wanted. Collective. */
static enum hw_status find_classes(struct hw_sssp_delegates *e, const struct hw_csr *out,
                                   const struct hw_csr *cross, struct hw_error *err)
{
    hw_count all = (hw_count)e->vertices.locals + e->vertices.ghosts;
    uint8_t *into = NULL;
    enum hw_status status = hw_alloc_zero(&into, all, sizeof *into, "edges", err);

    if (status == HW_OK && e->derived.classes) {
        count_edges_into(out, into);
        count_edges_into(cross, into);
        status = find_last(e, out, cross, into, err);
    }
    status = hw_agree(e->ctx.world, status, err);
    if (status == HW_OK && e->derived.classes && !e->derived.buckets)
        status = find_single(e, into, err);
    free(into);
    return status;
}

/* ---- lists ---- */

/* The edges inside the part by their target: those of all locals, or of the last
 * ones alone, if nothing else is ever pulled. */
static enum hw_status transpose(const struct hw_sssp_delegates *e, const struct hw_csr *out,
                                struct hw_csr *in, struct hw_error *err)
{
    hw_count edges = out->offset[out->rows];

    HW_TRY(hw_alloc_zero(&in->offset, (hw_count)e->vertices.locals + 1, sizeof *in->offset, "edges",
                         err));
    in->rows = e->vertices.locals;
    for (hw_count k = 0; k < edges; k++)
        in->offset[out->index[k] + 1] +=
            e->derived.buckets || hw_bitmap_test(e->vertices.last, out->index[k]);
    HW_TRY(open_csr(in, err));
    shift_offsets(in);
    for (hw_lid u = 0; u < out->rows; u++)
        for (hw_count k = out->offset[u]; k < out->offset[u + 1]; k++) {
            hw_lid v = out->index[k];
            if (!e->derived.buckets && !hw_bitmap_test(e->vertices.last, v))
                continue;
            hw_count at = in->offset[v + 1]++;
            in->index[at] = u;
            in->weight[at] = out->weight[k];
        }
    return HW_OK;
}

/* Sorts the lists of a matrix by weight. */
static enum hw_status open_edges(const struct hw_sssp_delegates *e, const struct hw_csr *csr,
                                 const uint64_t *leave_out, struct hw_sssp_delegates_edges *edges,
                                 struct hw_error *err)
{
    const struct hw_sorted_csr *lists = &edges->lists;
    struct hw_edge none = {.weight.i32 = INT32_MAX};

    HW_TRY(hw_sorted_csr_build(csr, e->part->weights, leave_out, leave_out, &edges->lists, err));
    if (e->part->weights == HW_WEIGHTS_F32)
        none.weight.f32 = INFINITY;
    for (hw_lid v = 0; v < e->vertices.locals; v++) {
        hw_count at = lists->offset[v], length = lists->offset[v + 1] - at;
        edges->row[v] = (struct hw_sssp_delegates_row){
            .first = length > 0 ? lists->edge[at] : none, .at = at, .length = (hw_lid)length};
    }
    return HW_OK;
}

/* The edges by their sources, and those inside the part by their targets. */
static enum hw_status open_all_edges(struct hw_sssp_delegates *e, const struct hw_csr *out,
                                     const struct hw_csr *cross, struct hw_error *err)
{
    struct hw_csr in = {0};
    enum hw_status status = open_edges(e, out, e->vertices.last, &e->lists.out, err);

    if (status == HW_OK)
        status = open_edges(e, cross, NULL, &e->lists.cross, err);
    for (hw_lid v = 0; v < e->vertices.locals && status == HW_OK; v++)
        if (e->lists.cross.row[v].length > 0)
            hw_bitmap_set(e->lists.crossing, v);
    if (status == HW_OK && e->part->directed)
        status = transpose(e, out, &in, err);
    if (status == HW_OK && e->part->directed)
        status = open_edges(e, &in, NULL, &e->lists.in, err);
    e->lists.into = e->part->directed ? &e->lists.in : &e->lists.out;
    free_csr(&in);
    return status;
}

/* Lists the vertices that a pull may improve. */
static void list_pullable(struct hw_sssp_delegates *e)
{
    const hw_count *offset = e->lists.into->lists.offset;

    for (hw_lid v = 0; v < e->vertices.locals; v++)
        if (offset[v + 1] > offset[v] && !hw_bitmap_test(e->vertices.last, v))
            e->vertices.pullable[e->vertices.pullables++] =
                (struct hw_edge){.index = v, .weight = e->lists.into->row[v].first.weight};
}

enum hw_status hw_sssp_delegates_lists_open(struct hw_sssp_delegates *e, struct hw_error *err)
{
    struct hw_csr out = {0}, cross = {0};
    uint64_t *places = NULL;
    hw_count ghosts = 0;
    enum hw_status status = hw_agree(e->ctx.world, list_ghosts(e, &places, &ghosts, err), err);
    if (status == HW_OK)
        status = hw_agree(e->ctx.world, count_halo(e, places, ghosts, err), err);
    if (status != HW_OK)
        goto done;
    status = hw_agree(e->ctx.world, hw_sssp_delegates_alloc(e, HW_ARRAYS_OF_GHOSTS, err), err);
    if (status == HW_OK)
        status = exchange_halo(e, places, err);
    if (status != HW_OK)
        goto done;
    status = hw_agree(e->ctx.world, merge(e, places, &out, &cross, err), err);
    if (status == HW_OK)
        status = find_classes(e, &out, &cross, err);
    if (status != HW_OK)
        goto done;
    status = open_all_edges(e, &out, &cross, err);
    if (status == HW_OK && e->derived.buckets)
        list_pullable(e);
    status = hw_agree(e->ctx.world, status, err);
done:
    free(places);
    free_csr(&out);
    free_csr(&cross);
    return status;
}
