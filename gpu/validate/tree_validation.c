#include "gpu/validate/tree_validation.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* Jumps after which a chain of 2^32 vertices would have ended. */
#define MAX_JUMPS 33

/* Arrays of counts by rank: what is sent and received in all, and in one round. */
enum transfer {
    SEND_OFFSET,
    SEND_BYTES,
    RECEIVE_BYTES,
    ROUND_SEND_BYTES,
    ROUND_RECEIVE_OFFSET,
    ROUND_RECEIVE_BYTES,
    MOVES
};

/* What is done with the bytes of rank q, at `at` in the heap, of tree `tree`. */
struct receiver {
    enum hw_status (*use)(struct hw_tree_validation *self, int tree, int q, hw_count at,
                          struct hw_error *err);
    int tree;
    hw_count offset, stride; /* where the bytes of the ranks of one round are received */
};

static bool has_several_ranks(const struct hw_tree_validation *self)
{
    return self->ctx->size > 1;
}

/* The first vertex that rank q checks. */
static hw_count begin_of(const struct hw_tree_validation *self, int q)
{
    const hw_count n = self->desc->vertices, ranks = self->ctx->size;

    return n / ranks * q + n % ranks * q / ranks;
}

/* Offset of the records of stored tree t, in this rank's heap. */
static hw_count record_offset(const struct hw_tree_validation *self, int t)
{
    return t * self->max_own * (hw_count)sizeof(struct hw_gpu_tree_record);
}

static bool is_weighted(const struct hw_tree_validation *self)
{
    return self->trees.value != HW_GPU_LEVELS;
}

/* Bytes of a level or distance on the host. */
static size_t value_bytes(const struct hw_tree_validation *self)
{
    return self->trees.value == HW_GPU_INTS ? sizeof(int64_t) : sizeof(int32_t);
}

static char *heap_of(const struct hw_tree_validation *self)
{
    return self->transport.heap[self->ctx->rank];
}

/* ---- opening ---- */

/* Bytes of the packed edge bits of the vertices that a rank checks. */
static hw_count packed_bytes(const struct hw_tree_validation *self)
{
    return (self->desc->vertices / self->ctx->size + 1) * (hw_count)sizeof(uint16_t);
}

/* Adds all arrays for `roots` trees at a time. Returns the bytes of the heap. */
static hw_count plan(struct hw_tree_validation *self, int roots)
{
    const hw_count alignment = 256, n = self->desc->vertices, ranks = self->ctx->size;
    const hw_count record = sizeof(struct hw_gpu_tree_record), records = n * roots;
    struct hw_gpu_arrays *arrays = &self->arrays;
    struct hw_gpu_trees *trees = &self->trees;

    trees->roots = roots;
    hw_gpu_add(arrays, &trees->record, records, sizeof *trees->record);
    hw_gpu_add(arrays, &trees->edge_found, records, sizeof *trees->edge_found);
    if (is_weighted(self))
        hw_gpu_add(arrays, &trees->edge_tight, records, sizeof *trees->edge_tight);
    hw_gpu_add(arrays, &trees->counts, HW_GPU_MAX_TREES, sizeof *trees->counts);
    hw_gpu_add(arrays, &self->changed, 1, sizeof *self->changed);
    if (self->uploads) {
        hw_gpu_add(arrays, &self->values, self->own, value_bytes(self));
        hw_gpu_add(arrays, &self->parent, self->own, sizeof *self->parent);
    }
    if (!has_several_ranks(self)) {
        hw_gpu_add(arrays, &self->chain, n, sizeof *self->chain);
        return 0;
    }
    hw_gpu_add(arrays, &self->id, ranks * self->max_own, sizeof *self->id);
    self->recv_offset = (record_offset(self, roots) + alignment - 1) / alignment * alignment;
    self->packed_offset = self->recv_offset +
                          (n * (hw_count)sizeof(uint16_t) + alignment - 1) / alignment * alignment;
    const hw_count packed_end = self->packed_offset + self->senders * packed_bytes(self);
    const hw_count record_end = self->recv_offset + self->senders * self->max_own * record;
    const hw_count jumps = n * (hw_count)sizeof *self->chain;
    const hw_count received = packed_end > record_end ? packed_end : record_end;
    return received > jumps ? received : jumps;
}

/* Makes fewer trees fit, or, if it is one already, receives from one rank at a time. Returns false
 * if nothing is left to save. */
static bool plan_less(struct hw_tree_validation *self, int *roots)
{
    const bool less = *roots > 1 || self->senders > 1;

    if (*roots > 1)
        *roots /= 2;
    else
        self->senders = 1;
    return less;
}

/* Allocates memory for as many trees as fit, `trees` at most. Collective; ranks agree. */
static enum hw_status allocate(struct hw_tree_validation *self, hw_count trees,
                               struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int roots = HW_GPU_MAX_TREES;
    hw_count heap = 0;

    while (roots > 1 && roots / 2 >= trees)
        roots /= 2;
    do {
        hw_gpu_release(&self->arrays);
        status = hw_agree(self->ctx->world, HW_OK, err); /* ranks may share a device */
        if (status != HW_OK)
            return status;
        heap = plan(self, roots);
        status = hw_agree(self->ctx->world, hw_gpu_allocate(&self->arrays, heap, "validation", err),
                          err);
    } while (status == HW_RESOURCES && plan_less(self, &roots));
    if (status != HW_OK || !has_several_ranks(self))
        return status;
    return hw_transport_heap(&self->transport, heap, err);
}

/* Copies the ids of this rank's vertices, in the order of their records, to its heap. */
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

/* Exchanges what the first arrays of `transfer` say, between all ranks or in a ring, self->senders
 * ranks at a time, and uses what each other rank has sent. Collective; ranks agree. */
static enum hw_status exchange_in_rounds(struct hw_tree_validation *self,
                                         const struct receiver *receiver, struct hw_error *err)
{
    const int ranks = self->ctx->size, me = self->ctx->rank;
    hw_count **transfer = self->transfer;
    enum hw_status status = HW_OK;

    for (int first = 1; first < ranks && status == HW_OK; first += self->senders) {
        const int end = first + self->senders < ranks ? first + self->senders : ranks;
        for (int q = 0; q < ranks; q++)
            transfer[ROUND_SEND_BYTES][q] = transfer[ROUND_RECEIVE_BYTES][q] =
                transfer[ROUND_RECEIVE_OFFSET][q] = 0;
        for (int step = first; step < end; step++) {
            const int to = (me + step) % ranks, from = (me + ranks - step) % ranks;
            transfer[ROUND_SEND_BYTES][to] = transfer[SEND_BYTES][to];
            transfer[ROUND_RECEIVE_BYTES][from] = transfer[RECEIVE_BYTES][from];
            transfer[ROUND_RECEIVE_OFFSET][from] =
                receiver->offset + (step - first) * receiver->stride;
        }
        status = hw_transport_exchange(&self->transport, transfer[SEND_OFFSET],
                                       transfer[ROUND_SEND_BYTES], transfer[ROUND_RECEIVE_OFFSET],
                                       transfer[ROUND_RECEIVE_BYTES], err);
        if (status != HW_OK)
            return status;
        for (int step = first; step < end && status == HW_OK; step++) {
            const int from = (me + ranks - step) % ranks;
            status = receiver->use(self, receiver->tree, from, transfer[ROUND_RECEIVE_OFFSET][from],
                                   err);
        }
        status = hw_agree(self->ctx->world, status, err);
    }
    return status;
}

/* Sends `size` bytes a vertex of each rank, from an offset on, to all others, and uses those of all
 * ranks, this one's too. Collective; ranks agree. */
static enum hw_status all_gather(struct hw_tree_validation *self, hw_count from, hw_count size,
                                 struct receiver receiver, struct hw_error *err)
{
    const int me = self->ctx->rank;

    receiver.offset = self->recv_offset;
    receiver.stride = self->max_own * size;
    for (int q = 0; q < self->ctx->size; q++) {
        self->transfer[SEND_OFFSET][q] = from;
        self->transfer[SEND_BYTES][q] = q != me ? self->own * size : 0;
        self->transfer[RECEIVE_BYTES][q] = q != me ? self->count[q] * size : 0;
    }
    enum hw_status status =
        hw_agree(self->ctx->world, receiver.use(self, receiver.tree, me, from, err), err);
    return status == HW_OK ? exchange_in_rounds(self, &receiver, err) : status;
}

/* Stores the ids of rank q's vertices. Local. */
static enum hw_status store_ids(struct hw_tree_validation *self, int tree, int q, hw_count at,
                                struct hw_error *err)
{
    (void)tree;
    return hw_gpu_copy(self->id + q * self->max_own, heap_of(self) + at,
                       (size_t)self->count[q] * sizeof *self->id, err);
}

/* All-gathers the ids of the vertices that each rank owns. Collective; ranks agree. */
static enum hw_status all_gather_ids(struct hw_tree_validation *self,
                                     const struct hw_part_vertices *own, struct hw_error *err)
{
    enum hw_status status = hw_agree(self->ctx->world, put_own(self, own, err), err);

    return status == HW_OK ? all_gather(self, 0, (hw_count)sizeof *self->id,
                                        (struct receiver){.use = store_ids}, err)
                           : status;
}

/* All-gathers the number of vertices that each rank owns. Collective; ranks agree. */
static enum hw_status count_own(struct hw_tree_validation *self, struct hw_error *err)
{
    const hw_count ranks = self->ctx->size;
    enum hw_status status = hw_alloc(&self->count, ranks, sizeof *self->count, "counts", err);

    for (int m = 0; m < MOVES && status == HW_OK; m++)
        status = hw_alloc(&self->transfer[m], ranks, sizeof *self->transfer[m], "counts", err);
    status = hw_agree(self->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&self->own, 1, HW_MPI_COUNT, self->count, 1, HW_MPI_COUNT,
                                      self->ctx->world),
                        "MPI_Allgather", err);
    for (int q = 0; q < ranks && status == HW_OK; q++)
        self->max_own = self->count[q] > self->max_own ? self->count[q] : self->max_own;
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
    self->senders = ctx->size - 1;
    if (request->senders > 0 && request->senders < self->senders)
        self->senders = request->senders;
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
    enum hw_status status = hw_device_edge_list_open_fraction(
        ctx, request->graph, is_weighted(self), &self->edge_list, err);
    if (status == HW_OK && has_several_ranks(self))
        status = count_own(self, err);
    if (status == HW_OK && has_several_ranks(self) && !request->over)
        status = hw_transport_open(ctx, HW_TRANSPORT_AUTO, HW_MPI_BUFFERS_AUTO, 0, &self->transport,
                                   err);
    else if (status == HW_OK && has_several_ranks(self))
        hw_transport_borrow(request->over, &self->transport);
    if (status == HW_OK)
        status = allocate(self, request->trees, err);
    if (status == HW_OK && has_several_ranks(self))
        status = all_gather_ids(self, request->own, err);
    return status;
}

void hw_tree_validation_close(struct hw_tree_validation *self)
{
    hw_gpu_release(&self->arrays);
    hw_device_edge_list_close(&self->edge_list);
    hw_transport_close(&self->transport);
    free(self->count);
    for (int m = 0; m < MOVES; m++)
        free(self->transfer[m]);
    *self = (struct hw_tree_validation){0};
}

/* ---- storing trees ---- */

/* Address and stride of the records of the next tree: on one rank in trees->record, on several in
 * the heap. */
static enum hw_status next_tree(struct hw_tree_validation *self, hw_gid root,
                                struct hw_gpu_tree_record **to, int *stride, struct hw_error *err)
{
    struct hw_gpu_trees *trees = &self->trees;
    enum hw_status status = HW_OK;
    const int tree = self->num_trees++;

    if (tree == 0)
        status = hw_cuda(hw_gpu_launch_clear_trees(trees), "the kernel that clears trees", err);
    trees->root[tree] = (uint32_t)root;
    *to = has_several_ranks(self)
              ? (struct hw_gpu_tree_record *)(void *)(heap_of(self) + record_offset(self, tree))
              : trees->record + tree;
    *stride = has_several_ranks(self) ? 1 : trees->roots;
    return status;
}

enum hw_status hw_tree_validation_store(struct hw_tree_validation *self, hw_gid root,
                                        const void *values, const uint32_t *parent,
                                        struct hw_error *err)
{
    struct hw_gpu_tree_record *to = NULL;
    int stride = 0;
    enum hw_status status = next_tree(self, root, &to, &stride, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_record_device(&self->trees, (uint64_t)self->own, values,
                                                     parent, to, stride),
                         "the kernel that stores trees", err);
    return status;
}

enum hw_status hw_tree_validation_upload(struct hw_tree_validation *self, hw_gid root,
                                         const void *values, const hw_gid *parent,
                                         struct hw_error *err)
{
    struct hw_gpu_tree_record *to = NULL;
    int stride = 0;
    enum hw_status status = next_tree(self, root, &to, &stride, err);

    if (status == HW_OK)
        status = hw_gpu_put(self->values, values, (size_t)self->own * value_bytes(self), err);
    if (status == HW_OK)
        status = hw_gpu_put(self->parent, parent, (size_t)self->own * sizeof *parent, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_record(&self->trees, (uint64_t)self->own, self->values,
                                              self->parent, to, stride),
                         "the kernel that stores trees", err);
    return status;
}

/* ---- validating ---- */

/* Copies rank q's records of a tree to trees->record. Local. */
static enum hw_status scatter_records(struct hw_tree_validation *self, int tree, int q, hw_count at,
                                      struct hw_error *err)
{
    return hw_cuda(hw_gpu_launch_scatter_records(
                       &self->trees, tree,
                       (const struct hw_gpu_tree_record *)(const void *)(heap_of(self) + at),
                       self->id + q * self->max_own, (uint64_t)self->count[q]),
                   "the kernel that records trees", err);
}

/* All-gathers all trees. Collective; ranks agree. */
static enum hw_status all_gather_trees(struct hw_tree_validation *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int t = 0; t < self->num_trees && status == HW_OK; t++)
        status =
            all_gather(self, record_offset(self, t), (hw_count)sizeof(struct hw_gpu_tree_record),
                       (struct receiver){.use = scatter_records, .tree = t}, err);
    return status;
}

/* Clears the counts and the edge bits. */
static enum hw_status clear(const struct hw_tree_validation *self, struct hw_error *err)
{
    struct hw_gpu_violation_counts none[HW_GPU_MAX_TREES] = {{.suspects = 0}};
    const struct hw_gpu_trees *trees = &self->trees;
    const size_t records = (size_t)trees->vertices * (size_t)trees->roots;

    for (int t = 0; t < HW_GPU_MAX_TREES; t++)
        for (int rule = 0; rule < HW_GPU_CHECK_RULES; rule++)
            none[t].example[rule] = UINT64_MAX;
    enum hw_status status = hw_gpu_put(trees->counts, none, sizeof none, err);
    if (status == HW_OK)
        status = hw_gpu_fill(trees->edge_found, 0, records, err);
    if (status == HW_OK && is_weighted(self))
        status = hw_gpu_fill(trees->edge_tight, 0, records, err);
    return status;
}

/* Checks this rank's ranges of vertices and tuples. Local. */
static enum hw_status check_own_range(const struct hw_tree_validation *self, struct hw_error *err)
{
    const struct hw_gpu_trees *trees = &self->trees;
    enum hw_status status = clear(self, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_check_vertices(trees), "the kernel that checks vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_check_tuples(trees, &self->edge_list.tuples),
                         "the kernel that checks edges", err);
    return status;
}

/* Adds the bits that rank q sent. Local. */
static enum hw_status merge_bits(struct hw_tree_validation *self, int tree, int q, hw_count at,
                                 struct hw_error *err)
{
    (void)tree;
    (void)q;
    return hw_cuda(hw_gpu_launch_merge_edge_bits(
                       &self->trees, (const uint16_t *)(const void *)(heap_of(self) + at)),
                   "the kernel that merges tree edges", err);
}

/* Sends each rank the bits of those tree edges of its vertices that this rank's tuples prove.
 * Collective; ranks agree. */
static enum hw_status exchange_edge_bits(struct hw_tree_validation *self, enum hw_status status,
                                         struct hw_error *err)
{
    const hw_count size = sizeof(uint16_t), ranks = self->ctx->size;
    const int me = self->ctx->rank;
    const struct receiver receiver = {
        .use = merge_bits, .offset = self->packed_offset, .stride = packed_bytes(self)};
    uint16_t *packed = (uint16_t *)(void *)(heap_of(self) + self->recv_offset);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_pack_edge_bits(&self->trees, packed),
                         "the kernel that gathers tree edges", err);
    status = hw_agree(self->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < ranks; q++) {
        const hw_count begin = begin_of(self, q), end = begin_of(self, q + 1);
        self->transfer[SEND_OFFSET][q] = self->recv_offset + begin * size;
        self->transfer[SEND_BYTES][q] = q != me ? (end - begin) * size : 0;
        self->transfer[RECEIVE_BYTES][q] =
            q != me ? (hw_count)(self->trees.end - self->trees.begin) * size : 0;
    }
    return exchange_in_rounds(self, &receiver, err);
}

/* Follows the parents of a tree by pointer jumping: all of them, or only along flat edges. *to: the
 * last ancestors, [vertices] on the device, of several ranks in place of the stored records, which
 * are all-gathered by now; *cycle: some parents form a cycle. Local: all ranks
 * have the whole tree. */
static enum hw_status jump_pointers(const struct hw_tree_validation *self, int tree, bool flat,
                                    uint32_t **to, bool *cycle, struct hw_error *err)
{
    uint32_t changed = 1;

    *to = has_several_ranks(self) ? (uint32_t *)(void *)heap_of(self) : self->chain;
    enum hw_status status = hw_cuda(hw_gpu_launch_jump_begin(&self->trees, tree, flat, *to),
                                    "the kernel that follows parents", err);
    for (int jump = 0; jump < MAX_JUMPS && changed && status == HW_OK; jump++) {
        status = hw_gpu_fill(self->changed, 0, sizeof *self->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_jump(self->trees.vertices, *to, self->changed),
                             "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, self->changed, sizeof changed, err);
    }
    *cycle = changed != 0;
    return status;
}

/* Follows the parents of a tree if its counts leave open whether all vertices descend from the
 * root. *followed: set if so; the same on all ranks. Local. */
static enum hw_status jump_if_suspect(const struct hw_tree_validation *self, int tree,
                                      const struct hw_gpu_violation_counts *counts, bool *followed,
                                      struct hw_error *err)
{
    bool suspect = counts->suspects > 0, cycle = false;
    uint32_t *to = NULL;
    enum hw_status status = HW_OK;

    if (!suspect && counts->flat > 0) { /* equal distances do not show that there is no cycle */
        status = jump_pointers(self, tree, true, &to, &cycle, err);
        suspect = cycle;
    }
    if (!suspect || status != HW_OK)
        return status;
    *followed = true;
    status = jump_pointers(self, tree, false, &to, &cycle, err);
    return status == HW_OK ? hw_cuda(hw_gpu_launch_jump_end(&self->trees, tree, to),
                                     "the kernel that follows parents", err)
                           : status;
}

/* Maps an example to a signed number in the same order, and back: MPICH 4.0 compares unsigned
 * numbers as signed ones. */
static uint64_t flip_sign_bit(uint64_t example)
{
    return example ^ (uint64_t)1 << 63;
}

/* Reduces the counts of all ranks. counts: [HW_GPU_MAX_TREES]. Collective. */
static enum hw_status reduce(const struct hw_tree_validation *self,
                             struct hw_gpu_violation_counts *counts, struct hw_error *err)
{
    enum { RULES = HW_GPU_CHECK_RULES, SUMS = RULES + 4, TREES = HW_GPU_MAX_TREES };
    const MPI_Comm world = self->ctx->world;
    int64_t sum[TREES][SUMS], least[TREES][RULES], most[TREES];

    for (int t = 0; t < TREES; t++) {
        memcpy(sum[t], &counts[t], sizeof sum[t]);
        for (int rule = 0; rule < RULES; rule++)
            least[t][rule] = (int64_t)flip_sign_bit(counts[t].example[rule]);
        most[t] = (int64_t)counts[t].levels;
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
        memcpy(&counts[t], sum[t], sizeof sum[t]);
        for (int rule = 0; rule < RULES; rule++)
            counts[t].example[rule] = flip_sign_bit((uint64_t)least[t][rule]);
        counts[t].levels = (uint64_t)most[t];
    }
    return status;
}

/* Copies the counts to the host and reduces them over all ranks. status: of this rank's work
 * before. counts: [HW_GPU_MAX_TREES]. Collective; ranks agree. */
static enum hw_status sum_counts(const struct hw_tree_validation *self, enum hw_status status,
                                 struct hw_gpu_violation_counts *counts, struct hw_error *err)
{
    if (status == HW_OK)
        status = hw_gpu_get(counts, self->trees.counts, HW_GPU_MAX_TREES * sizeof *counts, err);
    status = hw_agree(self->ctx->world, status, err);
    return status == HW_OK && has_several_ranks(self) ? reduce(self, counts, err) : status;
}

static void set_validation(const struct hw_gpu_violation_counts *counts,
                           struct hw_validation *validation)
{
    *validation = (struct hw_validation){.reached = (hw_count)counts->reached,
                                         .tuples = (hw_count)counts->tuples};
    for (int rule = 0; rule < HW_RULES; rule++)
        validation->example[rule][0] = validation->example[rule][1] = HW_GID_NONE;
    for (int rule = 0; rule < HW_GPU_CHECK_RULES; rule++) {
        if (counts->violations[rule] == 0)
            continue;
        validation->violations[rule] = (hw_count)counts->violations[rule];
        validation->example[rule][0] = (hw_gid)(counts->example[rule] >> 32);
        validation->example[rule][1] = (hw_gid)(uint32_t)counts->example[rule] - 1;
    }
}

/* All rules except those that chains of parents decide. counts: [HW_GPU_MAX_TREES]. Collective;
 * ranks agree. */
static enum hw_status check_local_rules(struct hw_tree_validation *self,
                                        struct hw_gpu_violation_counts *counts,
                                        struct hw_error *err)
{
    enum hw_status status = has_several_ranks(self) ? all_gather_trees(self, err) : HW_OK;

    if (status != HW_OK)
        return status;
    status = check_own_range(self, err);
    if (has_several_ranks(self))
        status = exchange_edge_bits(self, status, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_check_tree_edges(&self->trees),
                         "the kernel that checks tree edges", err);
    return sum_counts(self, status, counts, err);
}

enum hw_status hw_tree_validation_validate(struct hw_tree_validation *self,
                                           struct hw_validation *validation, hw_count *levels,
                                           struct hw_error *err)
{
    struct hw_gpu_violation_counts counts[HW_GPU_MAX_TREES];
    hw_count followed = 0;

    for (int t = self->num_trees; t < HW_GPU_MAX_TREES; t++)
        self->trees.root[t] = HW_GPU_NO_PARENT;
    enum hw_status status = check_local_rules(self, counts, err);
    if (status != HW_OK)
        return status;
    for (int t = 0; t < self->num_trees && status == HW_OK; t++) {
        bool here = false;
        status = jump_if_suspect(self, t, &counts[t], &here, err);
        followed += here;
    }
    status = hw_agree(self->ctx->world, status, err);
    if (status == HW_OK && followed > 0)
        status = sum_counts(self, status, counts, err);
    for (int t = 0; t < self->num_trees && status == HW_OK; t++) {
        set_validation(&counts[t], &validation[t]);
        if (levels)
            levels[t] = is_weighted(self) ? -1 : (hw_count)counts[t].levels;
    }
    self->num_trees = 0;
    return status;
}
