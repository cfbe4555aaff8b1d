#include "verify/links.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

hw_count hw_links_bytes(hw_count count, int roots)
{
    hw_count blocks = (count + HW_LINKS_BLOCK - 1) / HW_LINKS_BLOCK;

    return blocks * (hw_count)sizeof(struct hw_links_block) +
           count * roots * (hw_count)sizeof(struct hw_link);
}

enum hw_status hw_links_make(hw_count count, struct hw_links *links, struct hw_error *err)
{
    *links =
        (struct hw_links){.count = count, .blocks = (count + HW_LINKS_BLOCK - 1) / HW_LINKS_BLOCK};
    return hw_alloc_zero(&links->block, links->blocks, sizeof *links->block, "tree edges", err);
}

void hw_links_free(struct hw_links *links)
{
    for (hw_count b = 0; links->block && b < links->blocks; b++)
        free(links->block[b].link);
    free(links->block);
    *links = (struct hw_links){0};
}

/* The first of `length` sorted links whose parent is not below `parent`. */
static inline uint32_t first_not_below(const struct hw_link *link, uint32_t length, hw_gid parent)
{
    uint32_t at = 0;

    while (length > 0) {
        uint32_t half = length / 2;
        bool below = link[at + half].parent < parent;
        at += below ? half + 1 : 0;
        length = below ? length - half - 1 : half;
    }
    return at;
}

void hw_link_add(struct hw_link *link, int *length, int *last, hw_gid parent, uint64_t root)
{
    if (*length == 0 || link[*last].parent != parent) {
        uint32_t at = first_not_below(link, (uint32_t)*length, parent);
        *last = (int)at;
        if ((int)at == *length || link[at].parent != parent) {
            memmove(&link[at + 1], &link[at], sizeof *link * (size_t)(*length - (int)at));
            link[at] = (struct hw_link){.parent = parent};
            ++*length;
        }
    }
    link[*last].roots |= root;
}

enum hw_status hw_links_keep(struct hw_links *links, hw_count block, const struct hw_link *link,
                             struct hw_error *err)
{
    struct hw_links_block *at = &links->block[block];
    hw_count left = links->count - block * HW_LINKS_BLOCK;
    uint32_t length = at->start[left < HW_LINKS_BLOCK ? left : HW_LINKS_BLOCK];
    enum hw_status status = hw_alloc(&at->link, length, sizeof *link, "tree edges", err);

    if (status == HW_OK && length > 0)
        memcpy(at->link, link, sizeof *link * length);
    return status;
}

uint64_t hw_links_claim(struct hw_links *links, hw_count i, hw_gid parent)
{
    struct hw_links_block *block = &links->block[i / HW_LINKS_BLOCK];
    uint32_t start = block->start[i % HW_LINKS_BLOCK];
    uint32_t length = block->start[i % HW_LINKS_BLOCK + 1] - start;
    uint32_t at = first_not_below(block->link + start, length, parent);

    if (at == length || block->link[start + at].parent != parent)
        return 0;
    uint64_t *roots = &block->link[start + at].roots;
    if (__atomic_load_n(roots, __ATOMIC_RELAXED) == 0)
        return 0;
    return __atomic_exchange_n(roots, 0, __ATOMIC_RELAXED);
}

void hw_links_prefetch(const struct hw_links *links, hw_count i, int stage)
{
    const struct hw_links_block *block = &links->block[i / HW_LINKS_BLOCK];

    if (stage == 0) {
        __builtin_prefetch(&block->start[i % HW_LINKS_BLOCK]);
        __builtin_prefetch(&block->link);
        return;
    }
    uint32_t start = block->start[i % HW_LINKS_BLOCK];
    uint32_t length = block->start[i % HW_LINKS_BLOCK + 1] - start;
    if (length > 0)
        __builtin_prefetch(&block->link[start + length / 2]);
}
