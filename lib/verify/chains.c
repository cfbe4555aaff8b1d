/*
 * Where a tree's parents lead: pointer jumping.
 *
 * Every vertex points at its parent, and each round replaces what it points at
 * by what that points at, so that chains halve: after log2(n) rounds whoever has
 * reached neither the root nor a dead end goes round in a cycle, or leads into
 * one. Vertices that have arrived take no further part; on correct parts of a
 * breadth-first tree that is a matter of three or four rounds. Only run for trees
 * whose levels do not already show that all is well, all such of a batch
 * together.
 */
#include "verify/batch.h"

#include "base/memory.h"
#include "comm/exchange.h"

#include <stdlib.h>

/* Where a chain ends. */
#define AT_ROOT ((hw_gid)-1)
#define AT_DEAD_END ((hw_gid)-2)

/* A vertex of one of the trees. */
struct place {
    hw_gid vertex;
    hw_count tree;
};

/* The chains of some trees, on one slice. */
struct chains {
    const struct hw_batch *batch;
    int trees;
    const int *root; /* [trees] places in the batch */
    hw_gid *to;      /* [trees][count] how far each vertex has come */
    hw_count at;     /* where in it to go on gathering */
    hw_count asking; /* questions gathered */
    struct place *ask;
    hw_count *asker; /* [chunk] where in `to` the answer goes */
};

hw_count hw_batch_chain_bytes(hw_count vertices, int roots, hw_count chunk)
{
    /* Questions and who asks; again in the order they are sent in, with room for
     * the answers; twice as many received, and answered. */
    const hw_count word = sizeof(hw_gid), place = sizeof(struct place), owner = sizeof(int);

    return vertices * roots * word + chunk * (2 * (place + word) + owner + word) +
           2 * chunk * (place + word);
}

static void chains_free(struct chains *chains)
{
    free(chains->to);
    free(chains->ask);
    free(chains->asker);
}

static enum hw_status chains_alloc(struct chains *chains, struct hw_error *err)
{
    const struct hw_batch *batch = chains->batch;
    enum hw_status status =
        hw_alloc(&chains->to, chains->trees * batch->count, sizeof *chains->to, "chains", err);

    if (status == HW_OK)
        status = hw_alloc(&chains->ask, batch->chunk, sizeof *chains->ask, "questions", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->asker, batch->chunk, sizeof *chains->asker, "questions", err);
    return status;
}

/* Points every vertex of a tree at its parent. */
static void begin_chains(struct chains *chains, int tree)
{
    const struct hw_batch *batch = chains->batch;
    const hw_gid *parent = batch->parent + chains->root[tree] * batch->count;
    hw_gid root = batch->root[chains->root[tree]], *to = chains->to + tree * batch->count;

    for (hw_count i = 0; i < batch->count; i++) {
        bool vertex = parent[i] >= 0 && parent[i] < batch->desc->vertices;
        to[i] = vertex ? parent[i] : AT_DEAD_END;
        if (batch->first + i == root)
            to[i] = AT_ROOT;
    }
}

/* Gathers the next vertices that are still under way: at most a chunk. */
static void gather_questions(struct chains *chains)
{
    const struct hw_batch *batch = chains->batch;
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

/* Puts a round's questions, and who asks them, into the order they are sent in. */
static void order_questions(const struct chains *chains, const struct hw_round *round,
                            struct place *question, hw_count *asker)
{
    const struct hw_batch *batch = chains->batch;

    for (int t = 0; t < batch->ctx->threads; t++) {
        hw_count begin, end, *place = round->place + (hw_count)t * batch->ctx->size;
        hw_thread_share(round->length, t, batch->ctx->threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            hw_count at = place[round->owner[i]]++;
            question[at] = chains->ask[round->at + i];
            asker[at] = chains->asker[round->at + i];
        }
    }
}

/* What a round sends and receives. */
struct letters {
    struct place *question, *asked; /* [sending], [receiving] */
    hw_gid *answer, *answered;      /* [receiving], [sending] */
    hw_count *asker;                /* [sending] */
};

static void letters_free(struct letters *letters)
{
    free(letters->question);
    free(letters->asked);
    free(letters->answer);
    free(letters->answered);
    free(letters->asker);
}

static enum hw_status letters_alloc(const struct hw_round *round, struct letters *letters,
                                    struct hw_error *err)
{
    enum hw_status status =
        hw_alloc(&letters->question, round->sending, sizeof *letters->question, "chains", err);

    if (status == HW_OK)
        status = hw_alloc(&letters->asked, round->receiving, sizeof *letters->asked, "chains", err);
    if (status == HW_OK)
        status =
            hw_alloc(&letters->answer, round->receiving, sizeof *letters->answer, "chains", err);
    if (status == HW_OK)
        status =
            hw_alloc(&letters->answered, round->sending, sizeof *letters->answered, "chains", err);
    if (status == HW_OK)
        status = hw_alloc(&letters->asker, round->sending, sizeof *letters->asker, "chains", err);
    return status;
}

/* Asks a round's questions and moves those who asked. Collective. */
static enum hw_status jump_round(struct chains *chains, struct hw_round *round,
                                 struct hw_error *err)
{
    const struct hw_batch *batch = chains->batch;
    MPI_Comm world = batch->ctx->world;
    struct letters letters = {0};
    enum hw_status status = hw_agree(world, letters_alloc(round, &letters, err), err);

    if (status == HW_OK) {
        order_questions(chains, round, letters.question, letters.asker);
        status = hw_exchange_into(world, sizeof *letters.asked, letters.question, round->send,
                                  letters.asked, round->receive, err);
    }
    for (hw_count i = 0; i < round->receiving && status == HW_OK; i++) {
        const struct place *asked = &letters.asked[i];
        letters.answer[i] = chains->to[asked->tree * batch->count + asked->vertex - batch->first];
    }
    if (status == HW_OK)
        status = hw_exchange_into(world, sizeof *letters.answer, letters.answer, round->receive,
                                  letters.answered, round->send, err);
    for (hw_count i = 0; i < round->sending && status == HW_OK; i++)
        chains->to[letters.asker[i]] = letters.answered[i];
    letters_free(&letters);
    return status;
}

/* Every vertex under way jumps once. *moving: how many there were on the rank
 * that had most. Collective. */
static enum hw_status jump_all(struct chains *chains, hw_count *moving, struct hw_error *err)
{
    const struct hw_batch *batch = chains->batch;
    enum hw_status status = HW_OK;
    hw_count left = 1;

    *moving = 0;
    chains->at = 0;
    while (left > 0 && status == HW_OK) {
        struct hw_round round = {.step = batch->chunk};
        gather_questions(chains);
        *moving += chains->asking;
        const struct hw_items items = {.count = chains->asking,
                                       .id = &chains->ask->vertex,
                                       .stride = sizeof *chains->ask / sizeof(hw_gid),
                                       .limit = 2 * batch->chunk};
        do {
            status = hw_round_next(batch->ctx, batch->slices, status, &items, &round, err);
            if (status == HW_OK)
                status = jump_round(chains, &round, err);
        } while (status == HW_OK && round.more);
        hw_round_end(&round);
        left = chains->trees * batch->count - chains->at;
        if (status == HW_OK)
            status = hw_largest(batch->ctx->world, &left, err);
    }
    return status == HW_OK ? hw_largest(batch->ctx->world, moving, err) : status;
}

/* Counts the vertices of a tree whose parents do not lead to the root. */
static void report_chains(const struct chains *chains, int tree, struct hw_tally *tally)
{
    const struct hw_batch *batch = chains->batch;
    int root = chains->root[tree];
    const hw_gid *parent = batch->parent + root * batch->count;
    const hw_gid *to = chains->to + tree * batch->count;

    for (hw_count i = 0; i < batch->count; i++) {
        bool has_parent = parent[i] >= 0 && parent[i] < batch->desc->vertices;
        if (to[i] >= 0)
            hw_tally_add(tally, HW_RULE_TREE, root, batch->first + i, HW_GID_NONE);
        else if (to[i] == AT_DEAD_END && has_parent)
            hw_tally_add(tally, HW_RULE_SPANS, root, batch->first + i, HW_GID_NONE);
    }
}

enum hw_status hw_batch_chains(const struct hw_batch *batch, int roots, const int *root,
                               struct hw_tally *tally, struct hw_error *err)
{
    struct chains chains = {.batch = batch, .trees = roots, .root = root};
    hw_count moving = 1;
    enum hw_status status = hw_agree(batch->ctx->world, chains_alloc(&chains, err), err);

    for (int t = 0; t < roots && status == HW_OK; t++)
        begin_chains(&chains, t);
    /* 2^rounds steps are more than any chain without a cycle has. */
    for (hw_count steps = 1; status == HW_OK && moving > 0 && steps <= batch->desc->vertices;
         steps *= 2)
        status = jump_all(&chains, &moving, err);
    for (int t = 0; t < roots && status == HW_OK; t++)
        report_chains(&chains, t, tally);
    chains_free(&chains);
    return status;
}
