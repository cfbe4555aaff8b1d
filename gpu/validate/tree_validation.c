#include "gpu/validate/tree_validation.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* Jumps after which a chain of 2^32 vertices would have ended. */
#define MAX_JUMPS 33

/* Arrays of counts by rank: what is sent and received. */
enum transfer { SEND_OFFSET, SEND_BYTES, RECEIVE_OFFSET, RECEIVE_BYTES, MOVES };

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
    const hw_count packed_end = self->packed_offset + ranks * packed_bytes(self);
    const hw_count record_end = self->recv_offset + ranks * self->max_own * record;
    return packed_end > record_end ? packed_end : record_end;
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
    if (status != HW_OK || !has_several_ranks(self))
        return status;
    self->chain = NULL;
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

/* Sends `size` bytes a vertex of each rank, from an offset on, to all others. Collective; ranks
 * agree. */
static enum hw_status all_gather(struct hw_tree_validation *self, hw_count from, hw_count size,
                                 struct hw_error *err)
{
    for (int q = 0; q < self->ctx->size; q++) {
        const bool other = q != self->ctx->rank;
        self->transfer[SEND_OFFSET][q] = from;
        self->transfer[SEND_BYTES][q] = other ? self->own * size : 0;
        self->transfer[RECEIVE_OFFSET][q] = self->recv_offset + q * self->max_own * size;
        self->transfer[RECEIVE_BYTES][q] = other ? self->count[q] * size : 0;
    }
    return hw_transport_exchange(&self->transport, self->transfer[SEND_OFFSET],
                                 self->transfer[SEND_BYTES], self->transfer[RECEIVE_OFFSET],
                                 self->transfer[RECEIVE_BYTES], err);
}

/* All-gathers the ids of the vertices that each rank owns. Collective; ranks agree. */
static enum hw_status all_gather_ids(struct hw_tree_validation *self,
                                     const struct hw_part_vertices *own, struct hw_error *err)
{
    const size_t size = sizeof *self->id;
    enum hw_status status = hw_agree(self->ctx->world, put_own(self, own, err), err);

    if (status == HW_OK)
        status = all_gather(self, 0, (hw_count)size, err);
    for (int q = 0; q < self->ctx->size && status == HW_OK; q++) {
        const char *from = q == self->ctx->rank ? heap_of(self)
                                                : heap_of(self) + self->transfer[RECEIVE_OFFSET][q];
        status =
            hw_gpu_copy(self->id + q * self->max_own, from, (size_t)self->count[q] * size, err);
    }
    return hw_agree(self->ctx->world, status, err);
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

/* Copies all ranks' received records of tree t to trees->record. Local. */
static enum hw_status scatter_records(struct hw_tree_validation *self, int t, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int q = 0; q < self->ctx->size && status == HW_OK; q++) {
        const hw_count at =
            q == self->ctx->rank ? record_offset(self, t) : self->transfer[RECEIVE_OFFSET][q];
        status = hw_cuda(hw_gpu_launch_scatter_records(
                             &self->trees, t,
                             (const struct hw_gpu_tree_record *)(const void *)(heap_of(self) + at),
                             self->id + q * self->max_own, (uint64_t)self->count[q]),
                         "the kernel that records trees", err);
    }
    return status;
}

/* All-gathers all trees. Collective; ranks agree. */
static enum hw_status all_gather_trees(struct hw_tree_validation *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int t = 0; t < self->num_trees && status == HW_OK; t++) {
        status = all_gather(self, record_offset(self, t),
                            (hw_count)sizeof(struct hw_gpu_tree_record), err);
        if (status == HW_OK)
            status = hw_agree(self->ctx->world, scatter_records(self, t, err), err);
    }
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

/* Sends each rank the bits of those tree edges of its vertices that this rank's tuples prove.
 * Collective; ranks agree. */
static enum hw_status exchange_edge_bits(struct hw_tree_validation *self, enum hw_status status,
                                         struct hw_error *err)
{
    const hw_count size = sizeof(uint16_t), ranks = self->ctx->size;
    const int me = self->ctx->rank;
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
        self->transfer[RECEIVE_OFFSET][q] = self->packed_offset + q * packed_bytes(self);
        self->transfer[RECEIVE_BYTES][q] =
            q != me ? (hw_count)(self->trees.end - self->trees.begin) * size : 0;
    }
    status = hw_transport_exchange(&self->transport, self->transfer[SEND_OFFSET],
                                   self->transfer[SEND_BYTES], self->transfer[RECEIVE_OFFSET],
                                   self->transfer[RECEIVE_BYTES], err);
    for (int q = 0; q < ranks && status == HW_OK; q++)
        if (q != me)
            status =
                hw_cuda(hw_gpu_launch_merge_edge_bits(
                            &self->trees,
                            (const uint16_t *)(const void *)(heap_of(self) +
                                                             self->transfer[RECEIVE_OFFSET][q])),
                        "the kernel that merges tree edges", err);
    return status;
}

/* Follows the parents of a tree by pointer jumping: all of them, or only along flat edges. *to: the
 * last ancestors, [vertices] on the device; *cycle: some parents form a cycle. Local: all ranks
 * have the whole tree. */
static enum hw_status jump_pointers(const struct hw_tree_validation *self, int tree, bool flat,
                                    uint32_t **to, bool *cycle, struct hw_error *err)
{
    uint32_t changed = 1;

    *to = has_several_ranks(self) ? (uint32_t *)(void *)(heap_of(self) + self->recv_offset)
                                  : self->chain;
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
