#include "gpu/validate/tree_validation.h"

#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* Jumps after which a chain of 2^32 vertices would have ended. */
#define JUMPS_MOST 33

/* Arrays of counts by rank: what is sent and received. */
enum move { SEND_OFFSET, SEND_BYTES, RECEIVE_OFFSET, RECEIVE_BYTES, MOVES };

static bool is_several(const struct hw_tree_validation *self)
{
    return self->ctx->size > 1;
}

/* The first vertex that rank q judges. */
static hw_count begin_of(const struct hw_tree_validation *self, int q)
{
    const hw_count n = self->desc->vertices, ranks = self->ctx->size;

    return n / ranks * q + n % ranks * q / ranks;
}

/* The records of kept tree t, in this rank's heap. */
static hw_count kept_at(const struct hw_tree_validation *self, int t)
{
    return t * self->most * (hw_count)sizeof(struct hw_gpu_place);
}

static bool is_weighted(const struct hw_tree_validation *self)
{
    return self->trees.value != HW_GPU_LEVELS;
}

/* Bytes of a level or distance on the host. */
static size_t value_bytes(const struct hw_tree_validation *self)
{
    return self->trees.value == HW_GPU_WHOLES ? sizeof(int64_t) : sizeof(int32_t);
}

static char *heap_of(const struct hw_tree_validation *self)
{
    return self->transport.heap[self->ctx->rank];
}

/* ---- opening ---- */

/* Bytes of a word for each of the vertices that a rank judges. */
static hw_count packed_bytes(const struct hw_tree_validation *self)
{
    return (self->desc->vertices / self->ctx->size + 1) * (hw_count)sizeof(uint16_t);
}

/* Lists all arrays for so many trees at a time. Returns the bytes of the heap. */
static hw_count plan(struct hw_tree_validation *self, int roots)
{
    const hw_count grain = 256, n = self->desc->vertices, ranks = self->ctx->size;
    const hw_count record = sizeof(struct hw_gpu_place), places = n * roots;
    struct hw_gpu_arrays *arrays = &self->arrays;
    struct hw_gpu_trees *trees = &self->trees;

    trees->roots = roots;
    hw_gpu_add(arrays, &trees->place, places, sizeof *trees->place);
    hw_gpu_add(arrays, &trees->joined, places, sizeof *trees->joined);
    if (is_weighted(self))
        hw_gpu_add(arrays, &trees->fitted, places, sizeof *trees->fitted);
    hw_gpu_add(arrays, &trees->tally, HW_GPU_CHECK_ROOTS, sizeof *trees->tally);
    hw_gpu_add(arrays, &self->changed, 1, sizeof *self->changed);
    if (self->uploads) {
        hw_gpu_add(arrays, &self->values, self->own, value_bytes(self));
        hw_gpu_add(arrays, &self->parent, self->own, sizeof *self->parent);
    }
    if (!is_several(self)) {
        hw_gpu_add(arrays, &self->chain, n, sizeof *self->chain);
        return 0;
    }
    hw_gpu_add(arrays, &self->id, ranks * self->most, sizeof *self->id);
    self->came = (kept_at(self, roots) + grain - 1) / grain * grain;
    self->packed_came = self->came + (n * (hw_count)sizeof(uint16_t) + grain - 1) / grain * grain;
    const hw_count packed = self->packed_came + ranks * packed_bytes(self);
    const hw_count records = self->came + ranks * self->most * record;
    return packed > records ? packed : records;
}

/* Takes the memory, for fewer trees where there is not enough for more. Collective; ranks
 * agree. */
static enum hw_status allocate(struct hw_tree_validation *self, hw_count trees,
                               struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int roots = HW_GPU_CHECK_ROOTS;
    hw_count heap = 0;

    while (roots > 1 && roots / 2 >= trees)
        roots /= 2;
    for (;; roots /= 2) {
        heap = plan(self, roots);
        status = hw_agree(self->ctx->world, hw_gpu_allocate(&self->arrays, heap, "validation", err),
                          err);
        if (status != HW_RESOURCES || roots == 1)
            break;
        hw_gpu_release(&self->arrays);
        status = hw_agree(self->ctx->world, HW_OK, err); /* ranks may share a device */
        if (status != HW_OK)
            return status;
    }
    if (status != HW_OK || !is_several(self))
        return status;
    self->chain = NULL;
    return hw_transport_heap(&self->transport, heap, err);
}

/* This rank's vertices, in the order in which their records come, into its heap. */
static enum hw_status put_own(const struct hw_tree_validation *self,
                              const struct hw_part_vertices *own, struct hw_error *err)
{
    hw_count first = 0, count = 0;
    uint32_t *id = NULL;
    enum hw_status status = hw_alloc(&id, self->own, sizeof *id, "ids", err);

    if (status != HW_OK)
        return status;
    hw_store_share(self->desc->vertices, self->ctx->rank, self->ctx->size, &first, &count);
#pragma omp parallel for
    for (hw_count i = 0; i < self->own; i++)
        id[i] = (uint32_t)(own ? own->graph_id[own->by_graph_id[i]] : first + i);
    status = hw_gpu_put(heap_of(self), id, (size_t)self->own * sizeof *id, err);
    free(id);
    return status;
}

/* Moves `size` bytes a vertex of each rank, from an offset on, to all others. Collective; ranks
 * agree. */
static enum hw_status spread(struct hw_tree_validation *self, hw_count from, hw_count size,
                             struct hw_error *err)
{
    for (int q = 0; q < self->ctx->size; q++) {
        const bool other = q != self->ctx->rank;
        self->move[SEND_OFFSET][q] = from;
        self->move[SEND_BYTES][q] = other ? self->own * size : 0;
        self->move[RECEIVE_OFFSET][q] = self->came + q * self->most * size;
        self->move[RECEIVE_BYTES][q] = other ? self->count[q] * size : 0;
    }
    return hw_transport_exchange(&self->transport, self->move[SEND_OFFSET], self->move[SEND_BYTES],
                                 self->move[RECEIVE_OFFSET], self->move[RECEIVE_BYTES], err);
}

/* Tells all ranks which vertices each brings. Collective; ranks agree. */
static enum hw_status spread_ids(struct hw_tree_validation *self,
                                 const struct hw_part_vertices *own, struct hw_error *err)
{
    const size_t size = sizeof *self->id;
    enum hw_status status = hw_agree(self->ctx->world, put_own(self, own, err), err);

    if (status == HW_OK)
        status = spread(self, 0, (hw_count)size, err);
    for (int q = 0; q < self->ctx->size && status == HW_OK; q++) {
        const char *from =
            q == self->ctx->rank ? heap_of(self) : heap_of(self) + self->move[RECEIVE_OFFSET][q];
        status = hw_gpu_copy(self->id + q * self->most, from, (size_t)self->count[q] * size, err);
    }
    return hw_agree(self->ctx->world, status, err);
}

/* How many vertices each rank brings. Collective; ranks agree. */
static enum hw_status count_own(struct hw_tree_validation *self, struct hw_error *err)
{
    const hw_count ranks = self->ctx->size;
    enum hw_status status = hw_alloc(&self->count, ranks, sizeof *self->count, "counts", err);

    for (int m = 0; m < MOVES && status == HW_OK; m++)
        status = hw_alloc(&self->move[m], ranks, sizeof *self->move[m], "counts", err);
    status = hw_agree(self->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&self->own, 1, HW_MPI_COUNT, self->count, 1, HW_MPI_COUNT,
                                      self->ctx->world),
                        "MPI_Allgather", err);
    for (int q = 0; q < ranks && status == HW_OK; q++)
        self->most = self->count[q] > self->most ? self->count[q] : self->most;
    return status;
}

enum hw_status hw_tree_validation_open(const struct hw_context *ctx,
                                       const struct hw_tree_validation_request *request,
                                       struct hw_tree_validation *self, struct hw_error *err)
{
    hw_count first;

    self->ctx = ctx;
    self->desc = hw_graph_desc(request->graph);
    self->uploads = request->uploads;
    if (self->desc->vertices >= (hw_gid)HW_GPU_BAD_PARENT)
        return hw_fail(err, HW_RESOURCES, "there are too many vertices for the devices");
    hw_store_share(self->desc->vertices, ctx->rank, ctx->size, &first, &self->own);
    if (request->own)
        self->own = request->own->count;
    self->trees = (struct hw_gpu_trees){.vertices = (uint32_t)self->desc->vertices,
                                        .begin = (uint32_t)begin_of(self, ctx->rank),
                                        .end = (uint32_t)begin_of(self, ctx->rank + 1),
                                        .directed = self->desc->directed,
                                        .value = (int)request->value};
    enum hw_status status =
        hw_device_edge_list_open_fraction(ctx, request->graph, is_weighted(self), &self->held, err);
    if (status == HW_OK && is_several(self))
        status = count_own(self, err);
    if (status == HW_OK && is_several(self) && !request->over)
        status = hw_transport_open(ctx, HW_TRANSPORT_AUTO, HW_MPI_BUFFERS_AUTO, 0, &self->transport,
                                   err);
    else if (status == HW_OK && is_several(self))
        hw_transport_borrow(request->over, &self->transport);
    if (status == HW_OK)
        status = allocate(self, request->trees, err);
    if (status == HW_OK && is_several(self))
        status = spread_ids(self, request->own, err);
    return status;
}

void hw_tree_validation_close(struct hw_tree_validation *self)
{
    hw_gpu_release(&self->arrays);
    hw_device_edge_list_close(&self->held);
    hw_transport_close(&self->transport);
    free(self->count);
    for (int m = 0; m < MOVES; m++)
        free(self->move[m]);
    *self = (struct hw_tree_validation){0};
}

/* ---- taking in ---- */

/* Where the records of the next tree go, and how far one is from the next: on one rank to their
 * places. */
static enum hw_status next_tree(struct hw_tree_validation *self, hw_gid root,
                                struct hw_gpu_place **to, int *stride, struct hw_error *err)
{
    struct hw_gpu_trees *trees = &self->trees;
    enum hw_status status = HW_OK;
    const int tree = self->kept++;

    if (tree == 0)
        status = hw_cuda(hw_gpu_launch_empty(trees), "the kernel that makes room for trees", err);
    trees->root[tree] = (uint32_t)root;
    *to = is_several(self) ? (struct hw_gpu_place *)(void *)(heap_of(self) + kept_at(self, tree))
                           : trees->place + tree;
    *stride = is_several(self) ? 1 : trees->roots;
    return status;
}

enum hw_status hw_tree_validation_keep(struct hw_tree_validation *self, hw_gid root,
                                       const void *values, const uint32_t *parent,
                                       struct hw_error *err)
{
    struct hw_gpu_place *to = NULL;
    int stride = 0;
    enum hw_status status = next_tree(self, root, &to, &stride, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_record_found(&self->trees, (uint64_t)self->own, values,
                                                    parent, to, stride),
                         "the kernel that keeps trees", err);
    return status;
}

enum hw_status hw_tree_validation_upload(struct hw_tree_validation *self, hw_gid root,
                                         const void *values, const hw_gid *parent,
                                         struct hw_error *err)
{
    struct hw_gpu_place *to = NULL;
    int stride = 0;
    enum hw_status status = next_tree(self, root, &to, &stride, err);

    if (status == HW_OK)
        status = hw_gpu_put(self->values, values, (size_t)self->own * value_bytes(self), err);
    if (status == HW_OK)
        status = hw_gpu_put(self->parent, parent, (size_t)self->own * sizeof *parent, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_record(&self->trees, (uint64_t)self->own, self->values,
                                              self->parent, to, stride),
                         "the kernel that keeps trees", err);
    return status;
}

/* ---- judging ---- */

/* Puts all ranks' records of tree t, which have come, into their places. Local. */
static enum hw_status place(struct hw_tree_validation *self, int t, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int q = 0; q < self->ctx->size && status == HW_OK; q++) {
        const hw_count at = q == self->ctx->rank ? kept_at(self, t) : self->move[RECEIVE_OFFSET][q];
        status = hw_cuda(
            hw_gpu_launch_place(&self->trees, t,
                                (const struct hw_gpu_place *)(const void *)(heap_of(self) + at),
                                self->id + q * self->most, (uint64_t)self->count[q]),
            "the kernel that places trees", err);
    }
    return status;
}

/* Brings all trees to all ranks. Collective; ranks agree. */
static enum hw_status gather(struct hw_tree_validation *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int t = 0; t < self->kept && status == HW_OK; t++) {
        status = spread(self, kept_at(self, t), (hw_count)sizeof(struct hw_gpu_place), err);
        if (status == HW_OK)
            status = hw_agree(self->ctx->world, place(self, t, err), err);
    }
    return status;
}

/* Empties the tallies, and forgets which tree edges are joined. */
static enum hw_status clear(const struct hw_tree_validation *self, struct hw_error *err)
{
    struct hw_gpu_tally none[HW_GPU_CHECK_ROOTS] = {{.suspects = 0}};
    const struct hw_gpu_trees *trees = &self->trees;
    const size_t places = (size_t)trees->vertices * (size_t)trees->roots;

    for (int t = 0; t < HW_GPU_CHECK_ROOTS; t++)
        for (int rule = 0; rule < HW_GPU_CHECK_RULES; rule++)
            none[t].example[rule] = UINT64_MAX;
    enum hw_status status = hw_gpu_put(trees->tally, none, sizeof none, err);
    if (status == HW_OK)
        status = hw_gpu_fill(trees->joined, 0, places, err);
    if (status == HW_OK && is_weighted(self))
        status = hw_gpu_fill(trees->fitted, 0, places, err);
    return status;
}

/* The share of this rank. Local. */
static enum hw_status check_share(const struct hw_tree_validation *self, struct hw_error *err)
{
    const struct hw_gpu_trees *trees = &self->trees;
    enum hw_status status = clear(self, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_check_vertices(trees), "the kernel that checks vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_check_tuples(trees, &self->held.tuples),
                         "the kernel that checks edges", err);
    return status;
}

/* Tells each rank which tree edges of its vertices the tuples of all ranks join. Collective;
 * ranks agree. */
static enum hw_status join(struct hw_tree_validation *self, enum hw_status status,
                           struct hw_error *err)
{
    const hw_count size = sizeof(uint16_t), ranks = self->ctx->size;
    const int me = self->ctx->rank;
    uint16_t *packed = (uint16_t *)(void *)(heap_of(self) + self->came);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_pack_joined(&self->trees, packed),
                         "the kernel that gathers tree edges", err);
    status = hw_agree(self->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < ranks; q++) {
        const hw_count begin = begin_of(self, q), end = begin_of(self, q + 1);
        self->move[SEND_OFFSET][q] = self->came + begin * size;
        self->move[SEND_BYTES][q] = q != me ? (end - begin) * size : 0;
        self->move[RECEIVE_OFFSET][q] = self->packed_came + q * packed_bytes(self);
        self->move[RECEIVE_BYTES][q] =
            q != me ? (hw_count)(self->trees.end - self->trees.begin) * size : 0;
    }
    status =
        hw_transport_exchange(&self->transport, self->move[SEND_OFFSET], self->move[SEND_BYTES],
                              self->move[RECEIVE_OFFSET], self->move[RECEIVE_BYTES], err);
    for (int q = 0; q < ranks && status == HW_OK; q++)
        if (q != me)
            status = hw_cuda(
                hw_gpu_launch_join(&self->trees,
                                   (const uint16_t *)(const void *)(heap_of(self) +
                                                                    self->move[RECEIVE_OFFSET][q])),
                "the kernel that joins tree edges", err);
    return status;
}

/* Follows the parents of a tree as far as they lead: all of them, or along flat edges alone. *to:
 * where that is, [vertices] on the device; *cycle: some lead round in circles. Local: all ranks
 * have all of it. */
static enum hw_status follow(const struct hw_tree_validation *self, int tree, bool flat,
                             uint32_t **to, bool *cycle, struct hw_error *err)
{
    uint32_t changed = 1;

    *to = is_several(self) ? (uint32_t *)(void *)(heap_of(self) + self->came) : self->chain;
    enum hw_status status = hw_cuda(hw_gpu_launch_follow_begin(&self->trees, tree, flat, *to),
                                    "the kernel that follows parents", err);
    for (int jump = 0; jump < JUMPS_MOST && changed && status == HW_OK; jump++) {
        status = hw_gpu_fill(self->changed, 0, sizeof *self->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_follow_jump(self->trees.vertices, *to, self->changed),
                             "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, self->changed, sizeof changed, err);
    }
    *cycle = changed != 0;
    return status;
}

/* Follows the parents of a tree where something may keep a vertex from the root. *followed: set if
 * so; the same on all ranks. Local. */
static enum hw_status follow_suspect(const struct hw_tree_validation *self, int tree,
                                     const struct hw_gpu_tally *tally, bool *followed,
                                     struct hw_error *err)
{
    bool suspect = tally->suspects > 0, cycle = false;
    uint32_t *to = NULL;
    enum hw_status status = HW_OK;

    if (!suspect && tally->flat > 0) { /* equal distances do not show that there is no cycle */
        status = follow(self, tree, true, &to, &cycle, err);
        suspect = cycle;
    }
    if (!suspect || status != HW_OK)
        return status;
    *followed = true;
    status = follow(self, tree, false, &to, &cycle, err);
    return status == HW_OK ? hw_cuda(hw_gpu_launch_follow_end(&self->trees, tree, to),
                                     "the kernel that follows parents", err)
                           : status;
}

/* An example as a signed number in the same order, and back: MPICH 4.0 compares numbers without a
 * sign as though they had one. */
static uint64_t turn(uint64_t example)
{
    return example ^ (uint64_t)1 << 63;
}

/* Adds up the tallies of all ranks. tally: [HW_GPU_CHECK_ROOTS]. Collective. */
static enum hw_status reduce(const struct hw_tree_validation *self, struct hw_gpu_tally *tally,
                             struct hw_error *err)
{
    enum { RULES = HW_GPU_CHECK_RULES, SUMS = RULES + 4, TREES = HW_GPU_CHECK_ROOTS };
    const MPI_Comm world = self->ctx->world;
    int64_t sum[TREES][SUMS], least[TREES][RULES], most[TREES];

    for (int t = 0; t < TREES; t++) {
        memcpy(sum[t], &tally[t], sizeof sum[t]);
        for (int rule = 0; rule < RULES; rule++)
            least[t][rule] = (int64_t)turn(tally[t].example[rule]);
        most[t] = (int64_t)tally[t].levels;
    }
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, sum, TREES * SUMS, MPI_INT64_T, MPI_SUM, world),
               "MPI_Allreduce", err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, least, TREES * RULES, MPI_INT64_T, MPI_MIN, world),
                   "MPI_Allreduce", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, most, TREES, MPI_INT64_T, MPI_MAX, world),
                        "MPI_Allreduce", err);
    for (int t = 0; t < TREES; t++) {
        memcpy(&tally[t], sum[t], sizeof sum[t]);
        for (int rule = 0; rule < RULES; rule++)
            tally[t].example[rule] = turn((uint64_t)least[t][rule]);
        tally[t].levels = (uint64_t)most[t];
    }
    return status;
}

/* Brings the tallies to the host, those of all ranks. status: what this rank came to. tally:
 * [HW_GPU_CHECK_ROOTS]. Collective; ranks agree. */
static enum hw_status add_up(const struct hw_tree_validation *self, enum hw_status status,
                             struct hw_gpu_tally *tally, struct hw_error *err)
{
    if (status == HW_OK)
        status = hw_gpu_get(tally, self->trees.tally, HW_GPU_CHECK_ROOTS * sizeof *tally, err);
    status = hw_agree(self->ctx->world, status, err);
    return status == HW_OK && is_several(self) ? reduce(self, tally, err) : status;
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

/* All rules but what parents far away decide. tally: [HW_GPU_CHECK_ROOTS]. Collective; ranks
 * agree. */
static enum hw_status check_near(struct hw_tree_validation *self, struct hw_gpu_tally *tally,
                                 struct hw_error *err)
{
    enum hw_status status = is_several(self) ? gather(self, err) : HW_OK;

    if (status != HW_OK)
        return status;
    status = check_share(self, err);
    if (is_several(self))
        status = join(self, status, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_check_joined(&self->trees),
                         "the kernel that checks tree edges", err);
    return add_up(self, status, tally, err);
}

enum hw_status hw_tree_validation_validate(struct hw_tree_validation *self,
                                           struct hw_verdict *verdict, hw_count *levels,
                                           struct hw_error *err)
{
    struct hw_gpu_tally tally[HW_GPU_CHECK_ROOTS];
    hw_count followed = 0;

    for (int t = self->kept; t < HW_GPU_CHECK_ROOTS; t++)
        self->trees.root[t] = HW_GPU_NO_PARENT;
    enum hw_status status = check_near(self, tally, err);
    if (status != HW_OK)
        return status;
    for (int t = 0; t < self->kept && status == HW_OK; t++) {
        bool here = false;
        status = follow_suspect(self, t, &tally[t], &here, err);
        followed += here;
    }
    status = hw_agree(self->ctx->world, status, err);
    if (status == HW_OK && followed > 0)
        status = add_up(self, status, tally, err);
    for (int t = 0; t < self->kept && status == HW_OK; t++) {
        give_verdict(&tally[t], &verdict[t]);
        if (levels)
            levels[t] = is_weighted(self) ? -1 : (hw_count)tally[t].levels;
    }
    self->kept = 0;
    return status;
}
