#include "verify.h"

#include "base/memory.h"
#include "check.h"
#include "engine.h"
#include "held.h"
#include "verify/batch.h"

#include <stdlib.h>

/* Jumps after which a chain of 2^32 vertices would have ended. */
#define JUMPS_MOST 33

/* A validation under way. */
struct hw_gpu_checking {
    const struct hw_graph_desc *desc;
    struct hw_gpu_held held;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_trees trees;
    int32_t *level;    /* [vertices] of one tree, as it came; on the device like those below */
    int64_t *parent;   /* [vertices] */
    uint32_t *changed; /* [1] */
    int kept;          /* trees in their places, between keep() and judge() */
};

/* uploads: trees will come from the host. */
static enum hw_status open_checking(struct hw_gpu_checking *self, bool uploads,
                                    const struct hw_context *ctx, struct hw_graph *graph,
                                    struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &self->arrays;
    struct hw_gpu_trees *trees = &self->trees;
    hw_count n = self->desc->vertices, places = n * HW_GPU_CHECK_ROOTS;
    enum hw_status status = hw_gpu_tuples_open(ctx, graph, false, &self->held, err);

    trees->vertices = (uint32_t)n;
    trees->directed = self->desc->directed;
    hw_gpu_add(arrays, &trees->place, places, sizeof *trees->place);
    hw_gpu_add(arrays, &trees->joined, places, sizeof *trees->joined);
    hw_gpu_add(arrays, &trees->tally, HW_GPU_CHECK_ROOTS, sizeof *trees->tally);
    if (uploads) {
        hw_gpu_add(arrays, &self->level, n, sizeof *self->level);
        hw_gpu_add(arrays, &self->parent, n, sizeof *self->parent);
    }
    hw_gpu_add(arrays, &self->changed, 1, sizeof *self->changed);
    return status == HW_OK ? hw_gpu_allocate(arrays, 0, "validation", err) : status;
}

static void close_checking(struct hw_gpu_checking *self)
{
    hw_gpu_release(&self->arrays);
    hw_gpu_tuples_close(&self->held);
}

/* Puts the trees of a batch in their places, and empty ones in those left. */
static enum hw_status place(struct hw_gpu_checking *self, hw_count count, const hw_gid *root,
                            const int32_t *level, const hw_gid *parent, struct hw_error *err)
{
    hw_count n = self->desc->vertices;
    enum hw_status status = HW_OK;

    for (int t = 0; t < HW_GPU_CHECK_ROOTS && status == HW_OK; t++) {
        bool there = t < count;
        self->trees.root[t] = there ? (uint32_t)root[t] : HW_GPU_NO_PARENT;
        if (there)
            status = hw_gpu_put(self->level, level + t * n, (size_t)n * sizeof *level, err);
        if (there && status == HW_OK)
            status = hw_gpu_put(self->parent, parent + t * n, (size_t)n * sizeof *parent, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_place_tree(&self->trees, t, there ? self->level : NULL,
                                                      there ? self->parent : NULL),
                             "the kernel that places trees", err);
    }
    return status;
}

/* Empties the tallies. */
static enum hw_status clear(const struct hw_gpu_checking *self, struct hw_error *err)
{
    struct hw_gpu_tally none[HW_GPU_CHECK_ROOTS] = {{.suspects = 0}};

    for (int t = 0; t < HW_GPU_CHECK_ROOTS; t++)
        for (int rule = 0; rule < HW_GPU_CHECK_RULES; rule++)
            none[t].example[rule] = UINT64_MAX;
    return hw_gpu_put(self->trees.tally, none, sizeof none, err);
}

/* Follows the parents of a tree: what no longer matters for other rules holds them. */
static enum hw_status follow(const struct hw_gpu_checking *self, int tree, struct hw_error *err)
{
    uint32_t changed = 1, *to = (uint32_t *)(void *)self->trees.joined;
    enum hw_status status = hw_cuda(hw_gpu_launch_follow_begin(&self->trees, tree, to),
                                    "the kernel that follows parents", err);

    for (int jump = 0; jump < JUMPS_MOST && changed && status == HW_OK; jump++) {
        status = hw_gpu_fill(self->changed, 0, sizeof *self->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_follow_jump(self->trees.vertices, to, self->changed),
                             "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, self->changed, sizeof changed, err);
    }
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_follow_end(&self->trees, tree, to),
                         "the kernel that follows parents", err);
    return status;
}

static void give_verdict(const struct hw_gpu_tally *tally, struct hw_verdict *verdict)
{
    *verdict =
        (struct hw_verdict){.reached = (hw_count)tally->reached, .tuples = (hw_count)tally->tuples};
    for (int rule = 0; rule < HW_RULES; rule++)
        verdict->example[rule][0] = verdict->example[rule][1] = HW_GID_NONE;
    for (int rule = 0; rule < HW_GPU_CHECK_RULES; rule++) {
        if (tally->violations[rule] == 0)
            continue;
        verdict->violations[rule] = (hw_count)tally->violations[rule];
        verdict->example[rule][0] = (hw_gid)(tally->example[rule] >> 32);
        verdict->example[rule][1] = (hw_gid)(uint32_t)tally->example[rule] - 1;
    }
}

/* Checks the trees that are in their places. tally: [HW_GPU_CHECK_ROOTS]. */
static enum hw_status check(const struct hw_gpu_checking *self, hw_count count,
                            struct hw_gpu_tally *tally, struct hw_error *err)
{
    const size_t bytes = HW_GPU_CHECK_ROOTS * sizeof *tally;
    const struct hw_gpu_trees *trees = &self->trees;
    enum hw_status status = clear(self, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_check_vertices(trees), "the kernel that checks vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_check_tuples(trees, &self->held.tuples),
                         "the kernel that checks edges", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_check_joined(trees), "the kernel that checks tree edges", err);
    if (status == HW_OK)
        status = hw_gpu_get(tally, trees->tally, bytes, err);
    for (int t = 0; t < count && status == HW_OK; t++)
        if (tally[t].suspects > 0)
            status = follow(self, t, err);
    if (status == HW_OK)
        status = hw_gpu_get(tally, trees->tally, bytes, err);
    return status;
}

enum hw_status hw_gpu_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph, hw_count k,
                                 const hw_gid *root, const int32_t *level, const hw_gid *parent,
                                 struct hw_verdict *verdict, struct hw_error *err)
{
    struct hw_gpu_checking self = {.desc = hw_graph_desc(graph)};
    struct hw_gpu_tally tally[HW_GPU_CHECK_ROOTS];
    hw_count n = self.desc->vertices;
    enum hw_status status = hw_verify_roots(k, root, n, err);

    if (status != HW_OK || k == 0)
        return status;
    if (ctx->size > 1 || n >= (hw_gid)HW_GPU_BAD_PARENT)
        return hw_verify_bfs(ctx, graph, k, root, level, parent, verdict, err);
    status = open_checking(&self, true, ctx, graph, err);
    if (status == HW_RESOURCES) {
        close_checking(&self);
        hw_note(ctx, "validating on the CPU: %s", err ? err->text : "the device is too small");
        return hw_verify_bfs(ctx, graph, k, root, level, parent, verdict, err);
    }
    for (hw_count at = 0; at < k && status == HW_OK; at += HW_GPU_CHECK_ROOTS) {
        hw_count count = k - at < HW_GPU_CHECK_ROOTS ? k - at : HW_GPU_CHECK_ROOTS;
        status = place(&self, count, root + at, level + at * n, parent + at * n, err);
        if (status == HW_OK)
            status = check(&self, count, tally, err);
        for (int t = 0; t < count && status == HW_OK; t++)
            give_verdict(&tally[t], &verdict[at + t]);
    }
    close_checking(&self);
    return status;
}

/* ---- trees that stay on the device ---- */

static enum hw_status open_keeper(void *given, struct hw_graph *graph, struct hw_error *err)
{
    struct hw_gpu_engine *engine = given;
    struct hw_gpu_checking *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "validation", err);

    if (status != HW_OK)
        return status;
    self->desc = hw_graph_desc(graph);
    status = open_checking(self, false, engine->ctx, graph, err);
    if (status == HW_OK)
        engine->checking = self;
    else
        hw_gpu_keeper_close(self);
    return status;
}

static enum hw_status keep(void *given, hw_gid root, struct hw_error *err)
{
    const struct hw_gpu_engine *engine = given;
    struct hw_gpu_checking *self = engine->checking;
    int tree = self->kept++;

    self->trees.root[tree] = (uint32_t)root;
    return hw_cuda(hw_gpu_launch_place_found(&self->trees, tree, engine->output.level,
                                             engine->output.parent_id),
                   "the kernel that places trees", err);
}

static enum hw_status judge(void *given, struct hw_verdict *verdict, hw_count *levels,
                            struct hw_error *err)
{
    const struct hw_gpu_engine *engine = given;
    struct hw_gpu_checking *self = engine->checking;
    struct hw_gpu_tally tally[HW_GPU_CHECK_ROOTS];
    enum hw_status status = HW_OK;

    for (int t = self->kept; t < HW_GPU_CHECK_ROOTS && status == HW_OK; t++) {
        self->trees.root[t] = HW_GPU_NO_PARENT;
        status = hw_cuda(hw_gpu_launch_place_tree(&self->trees, t, NULL, NULL),
                         "the kernel that places trees", err);
    }
    if (status == HW_OK)
        status = check(self, self->kept, tally, err);
    for (int t = 0; t < self->kept && status == HW_OK; t++) {
        give_verdict(&tally[t], &verdict[t]);
        levels[t] = (hw_count)tally[t].levels;
    }
    self->kept = 0;
    return status;
}

void hw_gpu_keeper_close(struct hw_gpu_checking *checking)
{
    if (!checking)
        return;
    close_checking(checking);
    free(checking);
}

const struct hw_keeper hw_gpu_keeper = {
    .most = HW_GPU_CHECK_ROOTS, .open = open_keeper, .keep = keep, .judge = judge};
