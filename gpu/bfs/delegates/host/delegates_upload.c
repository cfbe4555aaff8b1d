/*
 * Method `delegates` on GPUs: upload of a part of the degree-separated layout, in the form of
 * gpu/bfs/delegates/delegates.h. Lists come from the host, or are on the device already; masks,
 * first sources and the packed ids of nn are derived from them on the device.
 */
#include "gpu/bfs/delegates/host/delegates_host.h"

#include "gpu/device/packed_queue.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/fast_divide.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Elements that are converted and copied at a time. */
#define CHUNK ((hw_count)16 << 20)

/* The highest bit of packed ids in nn, where it is free: no delegate is a source of the vertex. */
#define NN_ONLY_MARK (UINT32_C(1) << 31)

/* The matrices of a part, forward and backward; NULL where there is none. */
struct matrices {
    const struct hw_csr *forward[HW_GPU_SUBGRAPHS], *backward[HW_GPU_SUBGRAPHS];
};

static struct matrices matrices_of(const struct hw_part *part)
{
    const struct hw_delegate_part *own = &part->separate;
    struct matrices all = {.forward = {[HW_GPU_NN] = &own->nn,
                                       [HW_GPU_ND] = &own->nd,
                                       [HW_GPU_DN] = &own->dn,
                                       [HW_GPU_DD] = &own->dd}};

    all.backward[HW_GPU_ND] = part->directed ? &own->nd_in : &own->dn;
    all.backward[HW_GPU_DN] = part->directed ? &own->dn_in : &own->nd;
    all.backward[HW_GPU_DD] = part->directed ? &own->dd_in : &own->dd;
    return all;
}

/* Bytes of a matrix on the device. */
static hw_count matrix_bytes(const struct hw_csr *csr)
{
    const hw_count edges = csr->offset[csr->rows];

    return ((hw_count)csr->rows + 1) * (edges > (hw_count)UINT32_MAX ? 8 : 4) + 4 * edges;
}

hw_count hw_gpu_delegates_graph_bytes(const struct hw_part *part, hw_count *edges)
{
    const struct matrices all = matrices_of(part);
    hw_count bytes = 0;

    *edges = 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        bytes += matrix_bytes(all.forward[k]);
        *edges += all.forward[k]->offset[all.forward[k]->rows];
        if (part->directed && all.backward[k])
            bytes += matrix_bytes(all.backward[k]);
    }
    return bytes;
}

hw_count hw_gpu_delegates_fill_bytes(const struct hw_part *part)
{
    const hw_count slots = part->separate.slots, delegates = part->separate.delegates;

    return 4 * CHUNK + 8 * (slots > delegates ? slots : delegates) + 16 + part->vertices / 8;
}

/* Edges of nn. */
static hw_count nn_edges(const struct hw_part *part)
{
    return part->separate.nn.offset[part->separate.nn.rows];
}

hw_count hw_gpu_delegates_fill_device_bytes(const struct hw_part *part)
{
    return hw_device_csr(part) ? (part->separate.slots / 32 + 1) * (hw_count)part->spec.parts * 4
                               : 0;
}

/* ---- planning ---- */

/* Counts edges of nn by the owner of the destination, where the lists are on the device. */
static enum hw_status count_by_owner_on_device(const struct hw_part *part, hw_count *to,
                                               struct hw_error *err)
{
    const struct hw_device_csr *device_csr = hw_device_csr(part);
    const size_t bytes = (size_t)part->spec.parts * sizeof *to;
    void *counts = NULL;
    enum hw_status status = hw_cuda((int)cudaMalloc(&counts, bytes), "cudaMalloc", err);

    if (status == HW_OK)
        status = hw_gpu_fill(counts, 0, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_count_by_owner(
                             device_csr->column, (uint64_t)nn_edges(part),
                             (uint32_t)part->spec.nodes, (uint32_t)part->spec.devices, counts),
                         "the kernel that counts edges", err);
    if (status == HW_OK)
        status = hw_gpu_get(to, counts, bytes, err);
    cudaFree(counts);
    return status;
}

/* The same on the host. */
static void count_by_owner_on_host(const struct hw_part *part, hw_count *to)
{
    const struct hw_csr *nn = &part->separate.nn;
    const hw_count edges = nn_edges(part);

#pragma omp parallel
    {
        hw_count own[HW_GPU_DELEGATES_MAX_PARTS] = {0};
#pragma omp for
        for (hw_count e = 0; e < edges; e++)
            own[hw_owner(&part->spec, nn->target[e])]++;
#pragma omp critical
        for (int q = 0; q < part->spec.parts; q++)
            to[q] += own[q];
    }
}

/* Local. */
static enum hw_status count_by_owner(const struct hw_part *part, hw_count *to, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (hw_device_csr(part))
        status = count_by_owner_on_device(part, to, err);
    else
        count_by_owner_on_host(part, to);
    to[part->index] = 0;
    return status;
}

/* device_csr: the lists are on the device already. */
static void plan_matrix(struct hw_gpu_arrays *arrays, const struct hw_csr *csr, bool device_csr,
                        struct hw_gpu_matrix *matrix)
{
    const hw_count edges = csr->offset[csr->rows];

    matrix->offsets64 = edges > (hw_count)UINT32_MAX;
    hw_gpu_add(arrays, &matrix->offset, (hw_count)csr->rows + 1, matrix->offsets64 ? 8 : 4);
    if (!device_csr)
        hw_gpu_add(arrays, &matrix->index, edges, sizeof *matrix->index);
}

static void plan_arrays(const struct hw_part *part, struct hw_gpu_delegates_upload *upload,
                        struct hw_gpu_delegates_graph *graph, struct hw_gpu_arrays *arrays)
{
    const struct matrices all = matrices_of(part);
    const hw_count masks = graph->mask_words, slots = graph->slot_words;
    const bool device_csr = hw_device_csr(part) != NULL;

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        const bool from_slots = k == HW_GPU_NN || k == HW_GPU_ND;
        graph->edges[k] = (uint64_t)all.forward[k]->offset[all.forward[k]->rows];
        plan_matrix(arrays, all.forward[k], device_csr, &graph->forward[k]);
        hw_gpu_add(arrays, &graph->out[k], from_slots ? slots : masks, sizeof *graph->out[k]);
        if (part->directed && all.backward[k]) {
            plan_matrix(arrays, all.backward[k], device_csr, &graph->backward[k]);
            hw_gpu_add(arrays, &graph->in[k], k == HW_GPU_DN ? slots : masks, sizeof *graph->in[k]);
        }
    }
    hw_gpu_add(arrays, &graph->first_source[HW_GPU_DN], graph->slots, sizeof(uint32_t));
    hw_gpu_add(arrays, &graph->first_source[HW_GPU_DD], graph->delegates, sizeof(uint32_t));
    hw_gpu_add(arrays, &graph->nn_only, slots, sizeof *graph->nn_only);
    hw_gpu_add(arrays, &graph->own_slot, graph->delegates, sizeof *graph->own_slot);
    hw_gpu_add(arrays, &graph->owned_mask, masks, sizeof *graph->owned_mask);
    hw_gpu_add(arrays, &graph->delegate_id, graph->delegates, sizeof *graph->delegate_id);
    hw_gpu_add(arrays, &graph->slot_id, graph->slots, sizeof *graph->slot_id);
    hw_gpu_add(arrays, &graph->slot_by_id, graph->owned, sizeof *graph->slot_by_id);
    hw_gpu_add(arrays, &upload->counts, 1, sizeof *upload->counts);
}

static uint32_t words_of(hw_lid bits)
{
    return bits > 0 ? (bits - 1) / 32 + 1 : 1;
}

/* Fills the counts of the graph; refuses what 32 bits and the packed queue cannot hold. */
static enum hw_status count(const struct hw_part *part, struct hw_gpu_delegates_graph *graph,
                            struct hw_error *err)
{
    const struct hw_delegate_part *own = &part->separate;
    const uint64_t codes = (uint64_t)part->spec.parts * own->slots;

    if (part->spec.parts > HW_GPU_DELEGATES_MAX_PARTS)
        return hw_fail(err, HW_BAD_INPUT,
                       "method delegates supports up to %d parts on GPUs, not %d",
                       HW_GPU_DELEGATES_MAX_PARTS, part->spec.parts);
    if (codes >= HW_INVALID_VERTEX || part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method delegates has 32-bit vertex numbers on GPUs; the graph has "
                       "%" PRI_GID,
                       part->vertices);
    if (!hw_packed_fits(own->delegates, (uint64_t)own->dd.offset[own->dd.rows],
                        HW_GPU_DELEGATES_EDGE_BITS))
        return hw_fail(
            err, HW_RESOURCES,
            "method delegates supports up to 2^%d delegates on GPUs; part %d has %" PRI_LID
            "; use a larger --degree-threshold",
            64 - HW_GPU_DELEGATES_EDGE_BITS, part->index, own->delegates);
    *graph = (struct hw_gpu_delegates_graph){
        .parts = (uint32_t)part->spec.parts,
        .part = (uint32_t)part->index,
        .devices = (uint32_t)part->spec.devices,
        .slots = own->slots,
        .delegates = own->delegates,
        .slot_words = words_of(own->slots),
        .mask_words = words_of(own->delegates),
        .summary_bytes = (words_of(own->delegates) + 8 * HW_GPU_DELEGATES_SECTOR - 1) /
                         (8 * HW_GPU_DELEGATES_SECTOR) * 8,
        .slots_magic = hw_divisor(own->slots).magic,
        .marks_nn_only = codes <= NN_ONLY_MARK,
        .owned = part->own.count,
    };
    return HW_OK;
}

enum hw_status hw_gpu_delegates_plan_graph(const struct hw_context *ctx, const struct hw_part *part,
                                           struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_gpu_arrays *arrays, struct hw_error *err)
{
    *upload = (struct hw_gpu_delegates_upload){.part = part};
    enum hw_status status = hw_agree(ctx->world, count(part, graph, err), err);

    if (status != HW_OK)
        return status;
    const size_t parts = graph->parts;
    status = hw_agree(
        ctx->world,
        hw_alloc_zero(&upload->all, (hw_count)(parts * parts), sizeof *upload->all, "counts", err),
        err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, count_by_owner(part, upload->to, err), err);
    if (status != HW_OK)
        return status;
    status = hw_mpi(MPI_Allgather(upload->to, (int)parts, HW_MPI_COUNT, upload->all, (int)parts,
                                  HW_MPI_COUNT, ctx->world),
                    "MPI_Allgather", err);
    for (size_t q = 0; q < parts; q++)
        upload->from[q] = upload->all[q * parts + graph->part];
    for (uint32_t q = 0; q < graph->parts && status == HW_OK; q++)
        if (upload->to[q] > (hw_count)UINT32_MAX || upload->from[q] > (hw_count)UINT32_MAX)
            status = hw_fail(err, HW_RESOURCES,
                             "too many edges between normal vertices of parts %d and %u: give a "
                             "smaller --degree-threshold",
                             part->index, q);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        plan_arrays(part, upload, graph, arrays);
    return status;
}

/* ---- filling ---- */

static enum hw_status upload_offsets(const struct hw_csr *csr, const struct hw_gpu_matrix *matrix,
                                     struct hw_error *err)
{
    const hw_count count = (hw_count)csr->rows + 1;
    uint32_t *narrow = NULL;

    if (matrix->offsets64)
        return hw_gpu_put((void *)(uintptr_t)matrix->offset, csr->offset,
                          (size_t)count * sizeof *csr->offset, err);
    enum hw_status status = hw_alloc(&narrow, count, sizeof *narrow, "offsets", err);
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_count r = 0; r < count; r++)
            narrow[r] = (uint32_t)csr->offset[r];
        status = hw_gpu_put((void *)(uintptr_t)matrix->offset, narrow,
                            (size_t)count * sizeof *narrow, err);
    }
    free(narrow);
    return status;
}

/* Uploads offsets, and lists if they are on the host. */
static enum hw_status upload_matrix(const struct hw_csr *csr, const struct hw_gpu_matrix *matrix,
                                    struct hw_error *err)
{
    enum hw_status status = upload_offsets(csr, matrix, err);

    return status == HW_OK && csr->index
               ? hw_gpu_put((void *)(uintptr_t)matrix->index, csr->index,
                            (size_t)csr->offset[csr->rows] * sizeof *csr->index, err)
               : status;
}

/* Gathers every part's slots that have delegates as sources: [parts][slot_words], which the caller
 * frees. Collective; ranks agree. */
static enum hw_status gather_delegate_sources(const struct hw_context *ctx,
                                              const struct hw_part *part, uint32_t words,
                                              uint32_t **has_delegate_source, struct hw_error *err)
{
    const struct hw_csr *in = matrices_of(part).backward[HW_GPU_DN];
    enum hw_status status = hw_alloc_zero(has_delegate_source, (hw_count)words * part->spec.parts,
                                          sizeof **has_delegate_source, "masks", err);

    if (words > INT32_MAX)
        status = hw_fail(err, HW_RESOURCES, "part %d has too many vertices", part->index);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    uint32_t *own = *has_delegate_source + (size_t)words * (size_t)part->index;
#pragma omp parallel for
    for (uint32_t w = 0; w < words; w++)
        for (uint32_t b = 0; b < 32 && (hw_count)w * 32 + b < in->rows; b++) {
            hw_count r = (hw_count)w * 32 + b;
            own[w] |= (uint32_t)(in->offset[r + 1] > in->offset[r]) << b;
        }
    if (ctx->size == 1)
        return HW_OK;
    return hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, *has_delegate_source,
                                (int)words, MPI_UINT32_T, ctx->world),
                  "MPI_Allgather", err);
}

/* Sets pointers to lists that are on the device. They are stored one after another, in the order of
 * enum hw_matrix. */
static void use_device_lists(const struct hw_part *part, const struct matrices *all,
                             struct hw_gpu_delegates_graph *graph)
{
    const struct hw_device_csr *device_csr = hw_device_csr(part);
    const uint32_t *next = device_csr->column;

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        graph->forward[k].index = next;
        next += all->forward[k]->offset[all->forward[k]->rows];
    }
    for (int k = HW_GPU_ND; k < HW_GPU_SUBGRAPHS && part->directed; k++) {
        graph->backward[k].index = next;
        next += all->backward[k]->offset[all->backward[k]->rows];
    }
}

/* Replaces the destinations of nn, which are on the device, by packed ids. has_delegate_source: as
 * above. */
static enum hw_status pack_device_ids(const struct hw_part *part,
                                      const struct hw_gpu_delegates_graph *graph,
                                      const uint32_t *has_delegate_source, struct hw_error *err)
{
    struct hw_device_csr *device_csr = hw_device_csr(part);
    const size_t bytes = (size_t)graph->parts * graph->slot_words * sizeof *has_delegate_source;
    void *on_device = NULL;

    if (device_csr->coded)
        return HW_OK;
    enum hw_status status = hw_cuda((int)cudaMalloc(&on_device, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_gpu_put(on_device, has_delegate_source, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_pack_ids(graph, (uint32_t)part->spec.nodes, on_device,
                                                   device_csr->column, (uint64_t)nn_edges(part)),
                         "the kernel that encodes vertices", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "encoding vertices", err);
    device_csr->coded = status == HW_OK;
    cudaFree(on_device);
    return status;
}

/* Uploads the destinations of nn, which are on the host, as packed ids. has_delegate_source: as
 * above. */
static enum hw_status upload_packed_ids(const struct hw_part *part,
                                        const struct hw_gpu_delegates_graph *graph,
                                        const uint32_t *has_delegate_source, struct hw_error *err)
{
    const struct hw_csr *nn = &part->separate.nn;
    const hw_count edges = nn->offset[nn->rows];
    uint32_t *packed_id = NULL, *to = (uint32_t *)(uintptr_t)graph->forward[HW_GPU_NN].index;
    enum hw_status status = hw_alloc(&packed_id, edges < CHUNK ? edges : CHUNK, sizeof *packed_id,
                                     "edges of normal vertices", err);

    for (hw_count at = 0; at < edges && status == HW_OK; at += CHUNK) {
        const hw_count some = edges - at < CHUNK ? edges - at : CHUNK;
#pragma omp parallel for
        for (hw_count e = 0; e < some; e++) {
            const uint32_t q = (uint32_t)hw_owner(&part->spec, nn->target[at + e]);
            const uint32_t slot = hw_position(&part->spec, nn->target[at + e]);
            const bool nn_only =
                !(has_delegate_source[(size_t)q * graph->slot_words + slot / 32] >> slot % 32 & 1);
            packed_id[e] =
                q * graph->slots + slot + (graph->marks_nn_only && nn_only ? NN_ONLY_MARK : 0);
        }
        status = hw_gpu_put(to + at, packed_id, (size_t)some * sizeof *packed_id, err);
    }
    free(packed_id);
    return status;
}

/* Uploads the mask of delegates that this part owns. */
static enum hw_status upload_owned_mask(const struct hw_part *part,
                                        const struct hw_gpu_delegates_graph *graph,
                                        struct hw_error *err)
{
    const struct hw_delegate_part *own = &part->separate;
    uint32_t *mask = NULL;
    enum hw_status status = hw_alloc_zero(&mask, graph->mask_words, sizeof *mask, "a mask", err);

    if (status == HW_OK) {
#pragma omp parallel for
        for (uint32_t w = 0; w < graph->mask_words; w++)
            for (hw_lid g = 32 * w; g < own->delegates && g < 32 * ((hw_gid)w + 1); g++)
                mask[w] |= (uint32_t)(hw_owner(&part->spec, own->search_id[g]) == part->index)
                           << g % 32;
        status = hw_gpu_put((void *)(uintptr_t)graph->owned_mask, mask,
                            (size_t)graph->mask_words * sizeof *mask, err);
    }
    free(mask);
    return status;
}

/* Uploads ids of delegates and slots, and the slots of delegates. */
static enum hw_status upload_ids(const struct hw_part *part,
                                 const struct hw_gpu_delegates_graph *graph, struct hw_error *err)
{
    const struct hw_delegate_part *own = &part->separate;
    const hw_lid longest = own->slots > own->delegates ? own->slots : own->delegates;
    uint32_t *buffer = NULL;
    enum hw_status status = hw_alloc(&buffer, longest, sizeof *buffer, "ids", err);

    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid g = 0; g < own->delegates; g++)
            buffer[g] = hw_owner(&part->spec, own->search_id[g]) == part->index
                            ? hw_position(&part->spec, own->search_id[g])
                            : HW_INVALID_VERTEX;
        status = hw_gpu_put((void *)(uintptr_t)graph->own_slot, buffer,
                            (size_t)own->delegates * sizeof *buffer, err);
    }
    if (status == HW_OK)
        status = upload_owned_mask(part, graph, err);
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid g = 0; g < own->delegates; g++)
            buffer[g] = (uint32_t)own->graph_id[g];
        status = hw_gpu_put((void *)(uintptr_t)graph->delegate_id, buffer,
                            (size_t)own->delegates * sizeof *buffer, err);
    }
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid s = 0; s < own->slots; s++)
            buffer[s] = s < part->own.count ? (uint32_t)part->own.graph_id[s] : HW_INVALID_VERTEX;
        status = hw_gpu_put((void *)(uintptr_t)graph->slot_id, buffer,
                            (size_t)own->slots * sizeof *buffer, err);
    }
    if (status == HW_OK)
        status = hw_gpu_put((void *)(uintptr_t)graph->slot_by_id, part->own.by_graph_id,
                            (size_t)part->own.count * sizeof *part->own.by_graph_id, err);
    free(buffer);
    return status;
}

/* Derives a mask from lists, its first sources (where first is not NULL), and the number of bits
 * set. */
static enum hw_status derive(const struct hw_gpu_delegates_upload *upload,
                             const struct hw_gpu_matrix *lists, uint32_t rows, const uint32_t *mask,
                             const uint32_t *first, uint32_t *bits, struct hw_error *err)
{
    enum hw_status status = hw_gpu_fill(upload->counts, 0, sizeof *upload->counts, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_mask(lists, rows, (uint32_t *)(uintptr_t)mask,
                                               (uint32_t *)(uintptr_t)first, upload->counts),
                         "the kernel that makes masks", err);
    return status == HW_OK ? hw_gpu_get(bits, upload->counts, sizeof *bits, err) : status;
}

/* Derives masks and first sources of all subgraphs; the transposes of undirected graphs are
 * uploaded already. */
static enum hw_status derive_all(const struct hw_gpu_delegates_upload *upload,
                                 struct hw_gpu_delegates_graph *graph, struct hw_error *err)
{
    static const int transpose[] = {[HW_GPU_NN] = HW_GPU_NN,
                                    [HW_GPU_ND] = HW_GPU_DN,
                                    [HW_GPU_DN] = HW_GPU_ND,
                                    [HW_GPU_DD] = HW_GPU_DD};
    const bool directed = upload->part->directed;
    enum hw_status status = HW_OK;

    for (int k = 0; k < HW_GPU_SUBGRAPHS && status == HW_OK; k++)
        status = derive(upload, &graph->forward[k],
                        k == HW_GPU_NN || k == HW_GPU_ND ? graph->slots : graph->delegates,
                        graph->out[k], NULL, &graph->all_out[k], err);
    for (int k = HW_GPU_ND; k < HW_GPU_SUBGRAPHS && status == HW_OK; k++) {
        if (!directed) {
            graph->backward[k] = graph->forward[transpose[k]];
            graph->in[k] = graph->out[transpose[k]];
        }
        status =
            derive(upload, &graph->backward[k], k == HW_GPU_DN ? graph->slots : graph->delegates,
                   graph->in[k], graph->first_source[k], &graph->all_in[k], err);
    }
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_nn_only(&graph->forward[HW_GPU_NN], graph->slots,
                                                  (uint32_t *)(uintptr_t)graph->nn_only),
                         "the kernel that marks vertices", err);
    return status;
}

enum hw_status hw_gpu_delegates_fill_graph(const struct hw_context *ctx,
                                           const struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_error *err)
{
    const struct hw_part *part = upload->part;
    const struct matrices all = matrices_of(part);
    uint32_t *has_delegate_source = NULL;
    enum hw_status status =
        gather_delegate_sources(ctx, part, graph->slot_words, &has_delegate_source, err);

    if (status == HW_OK && hw_device_csr(part))
        use_device_lists(part, &all, graph);
    if (status == HW_OK) {
        for (int k = 0; k < HW_GPU_SUBGRAPHS && status == HW_OK; k++) {
            status = upload_matrix(all.forward[k], &graph->forward[k], err);
            if (status == HW_OK && part->directed && all.backward[k])
                status = upload_matrix(all.backward[k], &graph->backward[k], err);
        }
        if (status == HW_OK)
            status = hw_device_csr(part) ? pack_device_ids(part, graph, has_delegate_source, err)
                                         : upload_packed_ids(part, graph, has_delegate_source, err);
        if (status == HW_OK)
            status = upload_ids(part, graph, err);
        if (status == HW_OK)
            status = derive_all(upload, graph, err);
    }
    free(has_delegate_source);
    return hw_agree(ctx->world, status, err);
}
