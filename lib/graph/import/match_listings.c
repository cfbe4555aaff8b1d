/*
 * Edges listed at both ends: whether the two listings agree. Sums of hashes show
 * that they do; only where they do not are edges compared, to name one.
 */
#include "lib/base/memory.h"
#include "lib/base/permutation.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/import_steps.h"

#include <stdlib.h>

/* A hash of an edge and its weight. */
static uint64_t hash_edge(hw_gid min, hw_gid larger, uint32_t weight)
{
    return hw_mix(hw_mix(hw_mix((uint64_t)min + 0x9e3779b97f4a7c15u) + (uint64_t)larger) + weight);
}

static uint32_t weight_bits(const struct hw_piece *piece, hw_count i)
{
    return piece->weight ? (uint32_t)piece->weight[i].i32 : 0;
}

/*
 * Sums the hashes of edges listed at their lesser end, less those at their larger
 * one, which is zero where both lists agree (but for one case in 2^64), and counts
 * loops.
 */
static uint64_t balance_piece(const struct hw_piece *piece, hw_count *loops)
{
    uint64_t sum = 0;

    for (hw_count i = 0; i < piece->count; i++) {
        const hw_gid s = hw_piece_id(piece, piece->source, i);
        const hw_gid t = hw_piece_id(piece, piece->target, i);
        if (s < t)
            sum += hash_edge(s, t, weight_bits(piece, i));
        else if (s > t)
            sum -= hash_edge(t, s, weight_bits(piece, i));
        else
            (*loops)++;
    }
    return sum;
}

/* ---- naming an edge ---- */

/* Listings as a rank compares them. */
struct listings {
    hw_count count;
    uint64_t *edge; /* [count] lesser id * 2^bits + larger */
    uint64_t *hash; /* [count] of the weight; negated where listed at the larger end */
};

/* All listings of this rank's pieces, one rank's after another. send: [ranks]. */
static void fill(const struct hw_pieces *pieces, int bits, int size, hw_count *send,
                 hw_count *start, struct listings *listings)
{
    for (int pass = 0; pass < 2; pass++) {
        for (hw_count k = 0; k < pieces->count; k++) {
            const struct hw_piece *piece = &pieces->piece[k];
            for (hw_count i = 0; i < piece->count; i++) {
                const uint64_t s = (uint64_t)hw_piece_id(piece, piece->source, i);
                const uint64_t t = (uint64_t)hw_piece_id(piece, piece->target, i);
                const uint64_t min = s < t ? s : t, larger = s < t ? t : s;
                const uint64_t hash = hw_mix(weight_bits(piece, i) + (uint64_t)1);
                const int to = (int)(min % (uint64_t)size);
                if (s == t)
                    continue;
                if (pass == 0) {
                    send[to]++;
                    continue;
                }
                listings->edge[start[to]] = min << bits | larger;
                listings->hash[start[to]++] = s < t ? hash : -hash;
            }
        }
        start[0] = 0;
        for (int r = 1; r < size && pass == 0; r++)
            start[r] = start[r - 1] + send[r - 1];
    }
}

/* The least edge whose listings do not cancel, INT64_MAX if all do. */
static enum hw_status find_unlike(struct listings *listings, int bits, hw_count *edge,
                                  struct hw_error *err)
{
    uint32_t *place = NULL;
    uint64_t sum = 0;

    *edge = INT64_MAX;
    if (listings->count > UINT32_MAX)
        return HW_OK;
    enum hw_status status = hw_alloc(&place, listings->count, sizeof *place, "listings", err);
    for (hw_count i = 0; i < listings->count && status == HW_OK; i++)
        place[i] = (uint32_t)i;
    if (status == HW_OK)
        status = hw_sort(listings->edge, place, listings->count, 2 * bits, err);
    for (hw_count i = 0; i < listings->count && status == HW_OK; i++) {
        sum += listings->hash[place[i]];
        const bool last = i + 1 == listings->count || listings->edge[i + 1] != listings->edge[i];
        if (last && sum != 0) {
            *edge = (hw_count)listings->edge[i];
            break;
        }
        if (last)
            sum = 0;
    }
    free(place);
    return status;
}

/* The exchange of listings. */
struct matching {
    struct listings mine, theirs;
    hw_count *send, *receive, *start; /* [ranks] */
};

static void free_matching(struct matching *matching)
{
    free(matching->send);
    free(matching->receive);
    free(matching->start);
    free(matching->mine.edge);
    free(matching->mine.hash);
    free(matching->theirs.edge);
    free(matching->theirs.hash);
}

/* Lists own tuples by the rank that compares them. Local. */
static enum hw_status sort_by_rank(struct matching *matching, const struct hw_pieces *pieces,
                                   int bits, int ranks, struct hw_error *err)
{
    struct listings *mine = &matching->mine;

    mine->count = hw_pieces_tuples(pieces);
    HW_TRY(hw_alloc_zero(&matching->send, ranks, sizeof *matching->send, "counts", err));
    HW_TRY(hw_alloc_zero(&matching->receive, ranks, sizeof *matching->receive, "counts", err));
    HW_TRY(hw_alloc_zero(&matching->start, ranks, sizeof *matching->start, "counts", err));
    HW_TRY(hw_alloc(&mine->edge, mine->count, sizeof *mine->edge, "listings", err));
    HW_TRY(hw_alloc(&mine->hash, mine->count, sizeof *mine->hash, "listings", err));
    fill(pieces, bits, ranks, matching->send, matching->start, mine);
    return HW_OK;
}

/* Gathers the listings of each edge on one rank and looks for a wrong one there. Collective. */
static enum hw_status match(struct matching *matching, const struct hw_context *ctx,
                            const struct hw_pieces *pieces, int bits, hw_count *edge,
                            struct hw_error *err)
{
    struct listings *mine = &matching->mine, *theirs = &matching->theirs;

    HW_TRY_ALL(ctx, sort_by_rank(matching, pieces, bits, ctx->size, err), err);
    HW_TRY(hw_alltoallv(ctx->world, sizeof *mine->edge, mine->edge, matching->send, &theirs->edge,
                        matching->receive, err));
    HW_TRY(hw_alltoallv(ctx->world, sizeof *mine->hash, mine->hash, matching->send, &theirs->hash,
                        matching->receive, err));
    for (int r = 0; r < ctx->size; r++)
        theirs->count += matching->receive[r];
    HW_TRY_ALL(ctx, find_unlike(theirs, bits, edge, err), err);
    return HW_OK;
}

/* The least edge of all ranks whose listings do not cancel, INT64_MAX if all do. Collective. */
static enum hw_status compare(const struct hw_context *ctx, const struct hw_pieces *pieces,
                              int bits, hw_count *edge, struct hw_error *err)
{
    struct matching matching = {0};
    enum hw_status status = match(&matching, ctx, pieces, bits, edge, err);

    free_matching(&matching);
    HW_TRY(status);
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, edge, 1, HW_MPI_COUNT, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err);
}

/* The error message for listings that do not agree. Collective. */
static enum hw_status refuse_unlike(const struct hw_import *import, const struct hw_pieces *pieces,
                                    struct hw_error *err)
{
    const hw_gid n = import->facts.vertices, first = import->facts.first_id;
    const int bits = hw_bits((uint64_t)n);
    hw_count edge = INT64_MAX;

    if (2 * bits < 64)
        HW_TRY(compare(&import->ctx, pieces, bits, &edge, err));
    if (edge == INT64_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: lists an edge at one end and not at the other, or with another weight",
                       import->input.path);
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: lists the edge of vertices %" PRI_GID " and %" PRI_GID
                   " at one end and not at the other, or with another weight",
                   import->input.path, first + (edge >> bits),
                   first + (edge & (((hw_count)1 << bits) - 1)));
}

enum hw_status hw_import_match(const struct hw_import *import, const struct hw_pieces *pieces,
                               struct hw_error *err)
{
    hw_count loops = 0;
    uint64_t sum = 0;

#pragma omp parallel for schedule(dynamic) reduction(+ : sum, loops)
    for (hw_count k = 0; k < pieces->count; k++)
        sum += balance_piece(&pieces->piece[k], &loops);
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, import->ctx.world),
                  "MPI_Allreduce", err));
    HW_TRY(hw_sum(import->ctx.world, &loops, err));
    if (loops > 0 && import->facts.relative)
        return hw_fail(err, HW_BAD_INPUT, "%s: has a vertex that is its own neighbour",
                       import->input.path);
    return sum == 0 ? HW_OK : refuse_unlike(import, pieces, err);
}
