/*
 * Determines where the parents of each vertex lead, by pointer jumping.
 *
 * First each vertex gets a pointer to the vertex where its path of parents leaves the slice, or
 * ends, by one walk over the slice that visits each vertex twice. Then each round replaces each
 * pointer by the pointer of its target, so that path lengths halve: after log2(n) rounds a vertex
 * that has reached neither the root nor a dead end is in a cycle, or leads into one. Vertices that
 * have arrived take no further part. Runs only for trees whose levels or distances do not already
 * prove that they are acyclic, all such trees of a batch together; for those whose distances stay
 * equal along some tree edges and never fall, over these edges alone.
 */
#include "lib/verify/rules/root_batch.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/exchange/owner_query.h"

#include <stdlib.h>

/* Ends of a path of parents. */
#define AT_ROOT ((hw_gid)-1)
#define AT_DEAD_END ((hw_gid)-2)
#define IN_CYCLE ((hw_gid)-3)

/* Marks of a walk: not visited, and on the current path. */
#define UNSEEN ((hw_gid)-4)
#define WALKING ((hw_gid)-5)

/* A vertex of one of the trees. */
struct place {
    hw_gid vertex;
    hw_count tree;
};

/* The pointers of some trees, on one slice. */
struct chains {
    const struct hw_root_batch *batch;
    int trees;
    const int *root; /* [trees] places in the batch */
    bool flat_only;  /* rising tree edges end a path: no cycle contains them */
    hw_gid *to;      /* [trees][count] each vertex's pointer */
    hw_count at;     /* position where the next chunk begins */
    hw_count asking; /* requests of the chunk */
    struct place *ask;
    hw_count *asker; /* [chunk] index in `to` for the reply */
    hw_gid *answer;  /* [chunk] */
};

hw_count hw_root_batch_pointer_jump_bytes(hw_count vertices, int roots, hw_count chunk)
{
    const hw_count word = sizeof(hw_gid), place = sizeof(struct place);

    return vertices * roots * word + chunk * (place + 2 * word) +
           hw_owner_query_bytes(sizeof(struct place), sizeof(hw_gid), chunk);
}

static void chains_free(struct chains *chains)
{
    free(chains->to);
    free(chains->ask);
    free(chains->asker);
    free(chains->answer);
}

static enum hw_status chains_alloc(struct chains *chains, struct hw_error *err)
{
    const struct hw_root_batch *batch = chains->batch;
    HW_TRY(hw_alloc(&chains->to, chains->trees * batch->count, sizeof *chains->to, "chains", err));
    HW_TRY(hw_alloc(&chains->ask, batch->chunk, sizeof *chains->ask, "questions", err));
    HW_TRY(hw_alloc(&chains->asker, batch->chunk, sizeof *chains->asker, "questions", err));
    return hw_alloc(&chains->answer, batch->chunk, sizeof *chains->answer, "answers", err);
}

/* ---- inside the slice ---- */

/* The next vertex on the path from local vertex i in a tree, or its end. */
static hw_gid next_of(const struct chains *chains, int tree, hw_count i)
{
    const struct hw_root_batch *batch = chains->batch;
    int root = chains->root[tree];
    hw_gid parent = batch->parent[root * batch->count + i];

    if (batch->first + i == batch->root[root])
        return AT_ROOT;
    if (chains->flat_only && !(batch->flat[i] >> root & 1))
        return AT_ROOT;
    return parent >= 0 && parent < batch->desc->vertices ? parent : AT_DEAD_END;
}

/* Walks from local vertex i until the path leaves the slice, ends, or meets itself or an earlier
 * walk; then sets the pointers of all vertices on the way. */
static void walk(const struct chains *chains, int tree, hw_gid *to, hw_count i)
{
    const struct hw_root_batch *batch = chains->batch;
    hw_gid found = batch->first + i;

    for (;;) {
        hw_count at = found - batch->first;
        if (found < 0 || at < 0 || at >= batch->count)
            break;
        if (to[at] != UNSEEN) {
            found = to[at] == WALKING ? IN_CYCLE : to[at];
            break;
        }
        to[at] = WALKING;
        found = next_of(chains, tree, at);
    }
    while (i >= 0 && i < batch->count && to[i] == WALKING) {
        hw_gid next = next_of(chains, tree, i);
        to[i] = found;
        if (next < 0)
            break;
        i = next - batch->first;
    }
}

/* Sets every pointer of every tree to where its path leaves the slice. */
static void begin_chains(struct chains *chains)
{
    const struct hw_root_batch *batch = chains->batch;

#pragma omp parallel for schedule(dynamic, 1) num_threads(batch->ctx->threads)
    for (int t = 0; t < chains->trees; t++) {
        hw_gid *to = chains->to + t * batch->count;
        for (hw_count i = 0; i < batch->count; i++)
            to[i] = UNSEEN;
        for (hw_count i = 0; i < batch->count; i++)
            if (to[i] == UNSEEN)
                walk(chains, t, to, i);
    }
}

/* ---- between slices ---- */

/* Collects the next vertices that have not arrived: at most a chunk. */
static void gather_questions(struct chains *chains)
{
    const struct hw_root_batch *batch = chains->batch;
    hw_count end = chains->trees * batch->count;

    chains->asking = 0;
    for (; chains->at < end && chains->asking < batch->chunk; chains->at++) {
        if (chains->to[chains->at] < 0)
            continue;
        chains->ask[chains->asking] =
            (struct place){chains->to[chains->at], chains->at / batch->count};
        chains->asker[chains->asking++] = chains->at;
    }
}

/* Looks up the pointers of the requested vertices. */
static void reply(void *self, const void *question, hw_count count, void *answer)
{
    const struct chains *chains = self;
    const struct place *asked = question;
    hw_gid *to = answer;

    for (hw_count i = 0; i < count; i++)
        to[i] =
            chains
                ->to[asked[i].tree * chains->batch->count + asked[i].vertex - chains->batch->first];
}

/* Every vertex that has not arrived jumps once. *moving: their number on the rank with most.
 * Collective. */
static enum hw_status jump_all(struct chains *chains, hw_count *moving, struct hw_error *err)
{
    const struct hw_root_batch *batch = chains->batch;
    const struct hw_owner_query query = {.ctx = batch->ctx,
                                         .owners = batch->slices,
                                         .request_size = sizeof *chains->ask,
                                         .reply_size = sizeof *chains->answer,
                                         .chunk = batch->chunk,
                                         .respond = reply,
                                         .self = chains};
    enum hw_status status = HW_OK;
    hw_count left = 1;

    *moving = 0;
    chains->at = 0;
    while (left > 0 && status == HW_OK) {
        gather_questions(chains);
        *moving += chains->asking;
        status = hw_owner_query(&query, status, chains->asking, chains->ask, chains->answer, err);
        for (hw_count i = 0; i < chains->asking && status == HW_OK; i++)
            chains->to[chains->asker[i]] = chains->answer[i];
        left = chains->trees * batch->count - chains->at;
        if (status == HW_OK)
            status = hw_largest(batch->ctx->world, &left, err);
    }
    return status == HW_OK ? hw_largest(batch->ctx->world, moving, err) : status;
}

/* Jumps until all pointers of some trees of the batch are final. Collective. */
static enum hw_status follow(struct chains *chains, struct hw_error *err)
{
    const struct hw_root_batch *batch = chains->batch;
    hw_count moving = batch->ctx->size > 1;
    enum hw_status status = hw_agree(batch->ctx->world, chains_alloc(chains, err), err);

    if (status == HW_OK)
        begin_chains(chains);
    /* A path without a cycle has less than 2^rounds steps. */
    for (hw_count steps = 1; status == HW_OK && moving > 0 && steps <= batch->desc->vertices;
         steps *= 2)
        status = jump_all(chains, &moving, err);
    return status;
}

/* ---- violations ---- */

/* Counts the vertices of a tree whose parents do not lead to the root. */
static void report_chains(const struct chains *chains, int tree,
                          struct hw_violation_counts *violations)
{
    const struct hw_root_batch *batch = chains->batch;
    int root = chains->root[tree];
    const hw_gid *parent = batch->parent + root * batch->count;
    const hw_gid *to = chains->to + tree * batch->count;

    for (hw_count i = 0; i < batch->count; i++) {
        bool has_parent = parent[i] >= 0 && parent[i] < batch->desc->vertices;
        if (to[i] >= 0 || to[i] == IN_CYCLE)
            hw_violation_counts_add(violations, HW_RULE_TREE, root, batch->first + i, HW_GID_NONE);
        else if (to[i] == AT_DEAD_END && has_parent)
            hw_violation_counts_add(violations, HW_RULE_SPANS, root, batch->first + i, HW_GID_NONE);
    }
}

enum hw_status hw_root_batch_pointer_jump(const struct hw_root_batch *batch, int roots,
                                          const int *root, struct hw_violation_counts *violations,
                                          struct hw_error *err)
{
    struct chains chains = {.batch = batch, .trees = roots, .root = root};
    enum hw_status status = follow(&chains, err);

    for (int t = 0; t < roots && status == HW_OK; t++)
        report_chains(&chains, t, violations);
    chains_free(&chains);
    return status;
}

enum hw_status hw_root_batch_flat_cycles(const struct hw_root_batch *batch, int roots,
                                         const int *root, hw_count *cyclic, struct hw_error *err)
{
    struct chains chains = {.batch = batch, .trees = roots, .root = root, .flat_only = true};
    enum hw_status status = follow(&chains, err);

    for (int t = 0; t < roots && status == HW_OK; t++) {
        const hw_gid *to = chains.to + t * batch->count;
        cyclic[t] = 0;
        for (hw_count i = 0; i < batch->count; i++)
            cyclic[t] += to[i] >= 0 || to[i] == IN_CYCLE;
    }
    chains_free(&chains);
    if (status == HW_OK)
        status = hw_mpi(
            MPI_Allreduce(MPI_IN_PLACE, cyclic, roots, HW_MPI_COUNT, MPI_SUM, batch->ctx->world),
            "MPI_Allreduce", err);
    return status;
}
