#include "lib/graph/compact_numbering.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BITS = 14, /* of ids, in a block */
    WORDS = (1 << BLOCK_BITS) / 64,
    GROUP = 8, /* words that one sum stands for */
    GROUPS = WORDS / GROUP,
    TOGETHER = 512,       /* blocks in one reduction */
    PARALLEL_FROM = 4096, /* ids worth several threads */
};

/* The ids [n 2^BLOCK_BITS, (n+1) 2^BLOCK_BITS), some of which are in the set. */
struct block {
    uint64_t word[WORDS];
    hw_gid before;                 /* vertices in blocks before this one */
    uint16_t group_before[GROUPS]; /* and in groups of this block before each */
};

struct hw_compact_ids {
    hw_gid vertices, count;
    hw_count blocks;      /* of the graph's ids */
    struct block **block; /* [blocks] NULL: no vertex */
    hw_count used;        /* blocks that are not NULL */
    hw_count *list;       /* [used] which they are, rising; once numbered */
};

hw_count hw_compact_ids_bytes(hw_gid vertices, hw_count tuples)
{
    const hw_count blocks = (vertices >> BLOCK_BITS) + 1;
    const hw_count used = tuples < blocks / 2 ? 2 * tuples : blocks;

    return blocks * (hw_count)sizeof(struct block *) +
           used * (hw_count)(sizeof(struct block) + sizeof(hw_count)) +
           TOGETHER * (hw_count)sizeof(uint64_t[WORDS]);
}

enum hw_status hw_compact_ids_open(hw_gid vertices, struct hw_compact_ids **ids,
                                   struct hw_error *err)
{
    struct hw_compact_ids *opened = NULL;

    *ids = NULL;
    HW_TRY(hw_alloc_zero(&opened, 1, sizeof *opened, "compact ids", err));
    opened->vertices = vertices;
    opened->blocks = (vertices >> BLOCK_BITS) + 1;
    enum hw_status status =
        hw_alloc_zero(&opened->block, opened->blocks, sizeof *opened->block, "compact ids", err);
    if (status == HW_OK)
        *ids = opened;
    else
        hw_compact_ids_free(opened);
    return status;
}

/* Allocates a block, unless it is there. Threads may call it at once. */
static enum hw_status make_block(struct hw_compact_ids *ids, hw_count b, struct hw_error *err)
{
    enum hw_status status = HW_OK;

#pragma omp critical(hw_compact_ids_make_block)
    {
        struct block *made = ids->block[b];
        if (!made) {
            status = hw_alloc_zero(&made, 1, sizeof *made, "compact ids", err);
            __atomic_store_n(&ids->block[b], made, __ATOMIC_RELEASE);
        }
    }
    return status;
}

enum hw_status hw_compact_ids_add(struct hw_compact_ids *ids, hw_count count, const hw_gid *id,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;

#pragma omp parallel for if (count >= PARALLEL_FROM)
    for (hw_count i = 0; i < count; i++) {
        const hw_count b = id[i] >> BLOCK_BITS;
        const uint64_t bit = (uint64_t)1 << (id[i] & 63);
        struct block *block = __atomic_load_n(&ids->block[b], __ATOMIC_ACQUIRE);
        if (!block) {
            struct hw_error mine = {{0}};
            const enum hw_status made = make_block(ids, b, &mine);
            if (made != HW_OK) {
#pragma omp critical(hw_compact_ids_failed)
                {
                    status = made;
                    if (err)
                        *err = mine;
                }
                continue;
            }
            block = ids->block[b];
        }
        uint64_t *word = &block->word[(id[i] >> 6) & (WORDS - 1)];
        if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
            __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
    return status;
}

/* ---- one set of all ranks' ---- */

/* Makes a block wherever another rank has one, and lists them. Collective. */
static enum hw_status unite_blocks(const struct hw_context *ctx, struct hw_compact_ids *ids,
                                   struct hw_error *err)
{
    const hw_count words = (ids->blocks + 63) / 64;
    uint64_t *any = NULL;

    HW_TRY_ALL(ctx, hw_alloc_zero(&any, words, sizeof *any, "compact ids", err), err);
    for (hw_count b = 0; b < ids->blocks; b++)
        any[b / 64] |= (uint64_t)(ids->block[b] != NULL) << (b % 64);
    enum hw_status status = HW_OK;
    for (hw_count at = 0; at < words && status == HW_OK; at += TOGETHER * WORDS) {
        const hw_count left = words - at;
        const int some = (int)(left < TOGETHER * WORDS ? left : TOGETHER * WORDS);
        status =
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, any + at, some, MPI_UINT64_T, MPI_BOR, ctx->world),
                   "MPI_Allreduce", err);
    }
    for (hw_count w = 0; w < words; w++)
        ids->used += __builtin_popcountll(any[w]);
    if (status == HW_OK)
        status = hw_alloc(&ids->list, ids->used, sizeof *ids->list, "compact ids", err);
    for (hw_count b = 0, k = 0; b < ids->blocks && status == HW_OK; b++)
        if (any[b / 64] >> (b % 64) & 1) {
            ids->list[k++] = b;
            status = make_block(ids, b, err);
        }
    free(any);
    return hw_agree(ctx->world, status, err);
}

/* Unites the bits of all blocks, which are the same ones on all ranks. Collective. */
static enum hw_status unite_bits(const struct hw_context *ctx, struct hw_compact_ids *ids,
                                 struct hw_error *err)
{
    const size_t bytes = sizeof ids->block[0]->word;
    uint64_t *words = NULL;
    enum hw_status status = hw_agree(
        ctx->world, hw_alloc(&words, (hw_count)TOGETHER * WORDS, sizeof *words, "bits", err), err);

    for (hw_count at = 0; at < ids->used && status == HW_OK; at += TOGETHER) {
        const hw_count left = ids->used - at, some = left < TOGETHER ? left : TOGETHER;
        for (hw_count k = 0; k < some; k++)
            memcpy(words + k * WORDS, ids->block[ids->list[at + k]]->word, bytes);
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, words, (int)some * WORDS, MPI_UINT64_T, MPI_BOR,
                                      ctx->world),
                        "MPI_Allreduce", err);
        for (hw_count k = 0; k < some; k++)
            memcpy(ids->block[ids->list[at + k]]->word, words + k * WORDS, bytes);
    }
    free(words);
    return status;
}

enum hw_status hw_compact_ids_number(const struct hw_context *ctx, struct hw_compact_ids *ids,
                                     struct hw_error *err)
{
    HW_TRY(unite_blocks(ctx, ids, err));
    if (ctx->size > 1)
        HW_TRY(unite_bits(ctx, ids, err));
    for (hw_count k = 0; k < ids->used; k++) {
        struct block *block = ids->block[ids->list[k]];
        int before = 0;
        block->before = ids->count;
        for (int w = 0; w < WORDS; w++) {
            if (w % GROUP == 0)
                block->group_before[w / GROUP] = (uint16_t)before;
            before += __builtin_popcountll(block->word[w]);
        }
        ids->count += before;
    }
    return HW_OK;
}

/* ---- look-ups ---- */

hw_gid hw_compact_ids_vertices(const struct hw_compact_ids *ids)
{
    return ids->vertices;
}

hw_gid hw_compact_ids_count(const struct hw_compact_ids *ids)
{
    return ids->count;
}

hw_gid hw_compact_id(const struct hw_compact_ids *ids, hw_gid graph_id)
{
    if (graph_id < 0 || graph_id >= ids->vertices)
        return HW_GID_NONE;
    const struct block *block = ids->block[graph_id >> BLOCK_BITS];
    const int word = (int)(graph_id >> 6) & (WORDS - 1), bit = (int)(graph_id & 63);

    if (!block || !(block->word[word] >> bit & 1))
        return HW_GID_NONE;
    hw_gid id = block->before + block->group_before[word / GROUP];
    for (int w = word / GROUP * GROUP; w < word; w++)
        id += __builtin_popcountll(block->word[w]);
    return id + __builtin_popcountll(block->word[word] & (((uint64_t)1 << bit) - 1));
}

/* The position of the k-th bit that is set, from 0. */
static int select_bit(uint64_t word, int k)
{
    for (; k > 0; k--)
        word &= word - 1;
    return __builtin_ctzll(word);
}

hw_gid hw_compact_ids_original(const struct hw_compact_ids *ids, hw_gid compact_id)
{
    hw_count low = 0, high = ids->used - 1;

    if (compact_id < 0 || compact_id >= ids->count)
        return HW_GID_NONE;
    while (low < high) {
        const hw_count middle = low + (high - low + 1) / 2;
        if (ids->block[ids->list[middle]]->before <= compact_id)
            low = middle;
        else
            high = middle - 1;
    }
    const struct block *block = ids->block[ids->list[low]];
    int left = (int)(compact_id - block->before), group = 0;
    for (int step = GROUPS / 2; step > 0; step /= 2)
        if (block->group_before[group + step] <= left)
            group += step;
    left -= block->group_before[group];
    int word = group * GROUP;
    for (; left >= __builtin_popcountll(block->word[word]); word++)
        left -= __builtin_popcountll(block->word[word]);
    return (ids->list[low] << BLOCK_BITS) + 64 * word + select_bit(block->word[word], left);
}

void hw_compact_ids_apply(const struct hw_compact_ids *ids, hw_count count, hw_gid *id)
{
    if (!ids)
        return;
#pragma omp parallel for if (count >= PARALLEL_FROM)
    for (hw_count i = 0; i < count; i++) {
        if (id[i] == HW_GID_NONE)
            continue;
        const hw_gid compact = hw_compact_id(ids, id[i]);
        id[i] = compact == HW_GID_NONE ? ids->count : compact;
    }
}

void hw_compact_ids_restore(const struct hw_compact_ids *ids, hw_count count, hw_gid *id)
{
    if (!ids)
        return;
#pragma omp parallel for if (count >= PARALLEL_FROM)
    for (hw_count i = 0; i < count; i++)
        if (id[i] != HW_GID_NONE)
            id[i] = hw_compact_ids_original(ids, id[i]);
}

void hw_compact_ids_free(struct hw_compact_ids *ids)
{
    if (!ids)
        return;
    for (hw_count b = 0; b < ids->blocks && ids->block; b++)
        free(ids->block[b]);
    free(ids->block);
    free(ids->list);
    free(ids);
}
