#include "lib/verify/rules/parent_edge_hash.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Slots of a table of `parent edges` parent edges: at most half are used, and at least one is free,
 * which ends every probe. */
static hw_count slots_for(hw_count parent_edges)
{
    return (2 * parent_edges + HW_PARENT_EDGES_BUCKET - 1) / HW_PARENT_EDGES_BUCKET *
           HW_PARENT_EDGES_BUCKET;
}

hw_count hw_parent_edges_bytes(hw_count count, int roots)
{
    hw_count blocks = (count + HW_PARENT_EDGES_BLOCK - 1) / HW_PARENT_EDGES_BLOCK;
    const hw_count block = sizeof(struct hw_parent_edges_block),
                   slot = sizeof(struct hw_parent_edge_slot);

    return blocks * (block + HW_PARENT_EDGES_BUCKET * slot) + count * roots * 2 * slot;
}

enum hw_status hw_parent_edges_make(hw_count count, struct hw_parent_edges *parent_edges,
                                    struct hw_error *err)
{
    *parent_edges = (struct hw_parent_edges){
        .count = count, .blocks = (count + HW_PARENT_EDGES_BLOCK - 1) / HW_PARENT_EDGES_BLOCK};
    return hw_alloc_zero(&parent_edges->block, parent_edges->blocks, sizeof *parent_edges->block,
                         "tree edges", err);
}

void hw_parent_edges_free(struct hw_parent_edges *parent_edges)
{
    for (hw_count b = 0; parent_edges->block && b < parent_edges->blocks; b++)
        free(parent_edges->block[b].slot);
    free(parent_edges->block);
    *parent_edges = (struct hw_parent_edges){0};
}

void hw_parent_edge_add(struct hw_parent_edge *parent_edge, int *length, int *last, hw_gid parent,
                        uint64_t root)
{
    if (*length == 0 || parent_edge[*last].parent != parent) {
        int low = 0, high = *length;
        while (low < high) {
            int middle = (low + high) / 2;
            if (parent_edge[middle].parent < parent)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == *length || parent_edge[low].parent != parent) {
            memmove(&parent_edge[low + 1], &parent_edge[low],
                    sizeof *parent_edge * (size_t)(*length - low));
            parent_edge[low] = (struct hw_parent_edge){.parent = parent};
            ++*length;
        }
        *last = low;
    }
    parent_edge[*last].roots |= root;
}

/* Inserts a parent edge into the first free slot of its probe sequence. */
static void put(struct hw_parent_edges_block *block, uint64_t key, uint64_t roots)
{
    uint32_t at = hw_parent_edges_start(block, key);

    while (block->slot[at].key != HW_PARENT_EDGE_NONE)
        at = at + 1 < block->slots ? at + 1 : 0;
    block->slot[at] = (struct hw_parent_edge_slot){key, roots};
}

enum hw_status hw_parent_edges_keep(struct hw_parent_edges *parent_edges, hw_count block,
                                    const struct hw_parent_edge *parent_edge, const int *length,
                                    hw_count total, struct hw_error *err)
{
    struct hw_parent_edges_block *at = &parent_edges->block[block];
    hw_count left = parent_edges->count - block * HW_PARENT_EDGES_BLOCK;
    hw_count slots = slots_for(total);
    enum hw_status status = hw_alloc(&at->slot, slots, sizeof *at->slot, "tree edges", err);

    if (status != HW_OK)
        return status;
    at->slots = (uint32_t)slots;
    for (hw_count i = 0; i < slots; i++)
        at->slot[i] = (struct hw_parent_edge_slot){HW_PARENT_EDGE_NONE, 0};
    for (hw_count i = 0; i < HW_PARENT_EDGES_BLOCK && i < left; i++)
        for (int j = 0; j < length[i]; j++, parent_edge++)
            put(at, hw_parent_edges_key(i, parent_edge->parent), parent_edge->roots);
    return HW_OK;
}
