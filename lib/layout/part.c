#include "lib/layout/part.h"

#include <stdlib.h>

int hw_owner(const struct hw_layout_spec *spec, hw_gid search_id)
{
    if (spec->layout != HW_LAYOUT_DEGREE_SEPARATED)
        return (int)(search_id % spec->parts);
    return (int)(search_id % spec->nodes) * spec->devices +
           (int)(search_id / spec->nodes % spec->devices);
}

hw_lid hw_position(const struct hw_layout_spec *spec, hw_gid search_id)
{
    return (hw_lid)(search_id / spec->parts);
}

/* The residue of a part's search ids modulo the number of parts. */
static int residue(const struct hw_layout_spec *spec, int part)
{
    if (spec->layout != HW_LAYOUT_DEGREE_SEPARATED)
        return part;
    return part % spec->devices * spec->nodes + part / spec->devices;
}

hw_gid hw_search_id(const struct hw_layout_spec *spec, hw_gid vertices, int part, hw_lid position)
{
    hw_gid search_id = (hw_gid)position * spec->parts + residue(spec, part);

    return search_id < vertices ? search_id : HW_GID_NONE;
}

hw_lid hw_owned(const struct hw_layout_spec *spec, hw_gid vertices, int part)
{
    return (hw_lid)(vertices / spec->parts + (residue(spec, part) < vertices % spec->parts));
}

hw_gid hw_part_graph_vertices(const struct hw_part *part)
{
    return part->ids ? hw_compact_ids_vertices(part->ids) : part->vertices;
}

hw_lid hw_part_find(const struct hw_part *part, hw_gid graph_id)
{
    const struct hw_part_vertices *own = &part->own;
    hw_lid low = 0, high = own->count;

    while (low < high) {
        hw_lid middle = low + (high - low) / 2;
        if (own->graph_id[own->by_graph_id[middle]] < graph_id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < own->count && own->graph_id[own->by_graph_id[low]] == graph_id)
        return own->by_graph_id[low];
    return HW_LID_NONE;
}

bool hw_part_keeps_ids(const struct hw_part *part)
{
    const struct hw_part_vertices *own = &part->own;
    bool same = part->spec.parts == 1 && part->spec.order == HW_ORDER_NONE;

    for (hw_lid t = 0; t < own->count && same; t++)
        same = own->graph_id[t] == (hw_gid)t && own->by_graph_id[t] == t;
    return same;
}

static void free_matrix(struct hw_csr *matrix)
{
    free(matrix->offset);
    free(matrix->index);
    free(matrix->target);
    free(matrix->weight);
}

void hw_part_free(struct hw_part *part)
{
    struct hw_delegate_part *separate = &part->separate;

    if (part->resident)
        part->resident->free(part->resident);
    free(part->own.graph_id);
    free(part->own.tuples);
    free(part->own.by_graph_id);
    free(part->own.loop);
    free(part->own.loop_weight);
    free_matrix(&part->grid.out);
    free_matrix(&part->grid.in);
    free(separate->search_id);
    free(separate->graph_id);
    free_matrix(&separate->nn);
    free_matrix(&separate->nd);
    free_matrix(&separate->dn);
    free_matrix(&separate->dd);
    free_matrix(&separate->nd_in);
    free_matrix(&separate->dn_in);
    free_matrix(&separate->dd_in);
    *part = (struct hw_part){0};
}
