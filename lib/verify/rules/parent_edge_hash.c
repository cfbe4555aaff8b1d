#include "lib/verify/rules/parent_edge_hash.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Slots of a table of `links` links: at most half are taken, and at least one is
 * free, which ends every search. */
static hw_count slots_for(hw_count links)
{
    return (2 * links + HW_LINKS_BUCKET - 1) / HW_LINKS_BUCKET * HW_LINKS_BUCKET;
}

hw_count hw_parent_edges_bytes(hw_count count, int roots)
{
    hw_count blocks = (count + HW_LINKS_BLOCK - 1) / HW_LINKS_BLOCK;
    const hw_count block = sizeof(struct hw_parent_edges_block),
                   slot = sizeof(struct hw_parent_edge_slot);

    return blocks * (block + HW_LINKS_BUCKET * slot) + count * roots * 2 * slot;
}

enum hw_status hw_parent_edges_make(hw_count count, struct hw_parent_edges *links,
                                    struct hw_error *err)
{
    *links = (struct hw_parent_edges){.count = count,
                                      .blocks = (count + HW_LINKS_BLOCK - 1) / HW_LINKS_BLOCK};
    return hw_alloc_zero(&links->block, links->blocks, sizeof *links->block, "tree edges", err);
}

void hw_parent_edges_free(struct hw_parent_edges *links)
{
    for (hw_count b = 0; links->block && b < links->blocks; b++)
        free(links->block[b].slot);
    free(links->block);
    *links = (struct hw_parent_edges){0};
}

void hw_parent_edge_add(struct hw_parent_edge *link, int *length, int *last, hw_gid parent,
                        uint64_t root)
{
    if (*length == 0 || link[*last].parent != parent) {
        int low = 0, high = *length;
        while (low < high) {
            int middle = (low + high) / 2;
            if (link[middle].parent < parent)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == *length || link[low].parent != parent) {
            memmove(&link[low + 1], &link[low], sizeof *link * (size_t)(*length - low));
            link[low] = (struct hw_parent_edge){.parent = parent};
            ++*length;
        }
        *last = low;
    }
    link[*last].roots |= root;
}

/* Puts one link into the first free slot from where its search begins. */
static void put(struct hw_parent_edges_block *block, uint64_t key, uint64_t roots)
{
    uint32_t at = hw_parent_edges_start(block, key);

    while (block->slot[at].key != HW_LINK_NONE)
        at = at + 1 < block->slots ? at + 1 : 0;
    block->slot[at] = (struct hw_parent_edge_slot){key, roots};
}

enum hw_status hw_parent_edges_keep(struct hw_parent_edges *links, hw_count block,
                                    const struct hw_parent_edge *link, const int *length,
                                    hw_count total, struct hw_error *err)
{
    struct hw_parent_edges_block *at = &links->block[block];
    hw_count left = links->count - block * HW_LINKS_BLOCK;
    hw_count slots = slots_for(total);
    enum hw_status status = hw_alloc(&at->slot, slots, sizeof *at->slot, "tree edges", err);

    if (status != HW_OK)
        return status;
    at->slots = (uint32_t)slots;
    for (hw_count i = 0; i < slots; i++)
        at->slot[i] = (struct hw_parent_edge_slot){HW_LINK_NONE, 0};
    for (hw_count i = 0; i < HW_LINKS_BLOCK && i < left; i++)
        for (int j = 0; j < length[i]; j++, link++)
            put(at, hw_parent_edges_key(i, link->parent), link->roots);
    return HW_OK;
}
