/*
 * Method `scan2d` on a grid of GPUs: kernels for what follows a search. Predecessors from the parts
 * of the grid row (section 3.2 of "Parallel Distributed Breadth First Search on the Kepler
 * Architecture"), parents and levels by graph id, and canonical parents.
 */
#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

#include <cub/device/device_scan.cuh>

namespace hw_scan2d_grid
{
namespace
{

/* ---- predecessors ---- */

/* How many positions of a set come before word w, from the first word of its 1024 on. A
 * whole warp. */
__device__ __forceinline__ uint32_t before_word(const uint32_t *set, uint32_t w)
{
    const uint32_t at = w & 31;

    return hw_warp_sum(lane_of() < at ? __popc(set[w - at + lane_of()]) : 0);
}

/* The set bits of a word below this lane's. */
__device__ __forceinline__ uint32_t bits_below(uint32_t word)
{
    return __popc(word & ((1u << lane_of()) - 1));
}

/* The code of an own vertex's parent: where it is known, a local column of that part. A
 * whole warp, each lane the vertex of its bit in word w. */
__device__ __forceinline__ uint32_t parent_code(const kernel_params &plan, uint32_t w)
{
    const uint32_t words = words_of(plan), row = plan.column * plan.block + w * 32 + lane_of();
    const bool reached = plan.seen[plan.column * words + w] >> lane_of() & 1;
    const uint32_t *known = plan.pred + row;
    uint32_t column = plan.column;

    for (uint32_t m = 0; m < plan.columns; m++) {
        const uint32_t word = m != plan.column ? plan.from[m * words + w] : 0;
        const uint32_t *base = plan.answer_base + m * words / 32;
        uint32_t at = row;
        if (word == 0) /* for the whole warp */
            continue;
        if (plan.answer_base)
            at = base[w / 32] - base[0] + before_word(plan.from + m * words, w) + bits_below(word);
        if (word >> lane_of() & 1) {
            known = plan.known[m] + at;
            column = m;
        }
    }
    return reached ? column * plan.rows * plan.block + *known : HW_INVALID_VERTEX;
}

__global__ void resolve(const __grid_constant__ kernel_params plan)
{
    for (uint64_t i = hw_grid_thread(); i < plan.block; i += hw_grid_threads())
        plan.parent[i] = parent_code(plan, static_cast<uint32_t>(i / 32));
}

/* Sets of the parts of a row. */
struct sets {
    const uint32_t *of[HW_SCAN2D_GRID_LINE];
};

/* The positions in each 1024 of them; the last element is for their sum. */
__global__ void count_sets(const __grid_constant__ sets bits, uint32_t parts, uint32_t block,
                           uint32_t *count)
{
    const uint32_t each = block / 1024, all = parts * each;

    for (uint64_t i = hw_grid_thread() / 32; i < all; i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i) / each, at = static_cast<uint32_t>(i) % each;
        const uint32_t sum = hw_warp_sum(bits.of[m] ? __popc(bits.of[m][at * 32 + lane_of()]) : 0);
        if (lane_of() == 0)
            count[i] = sum;
    }
    if (hw_grid_thread() == 0)
        count[all] = 0;
}

/* What is known of the positions that are asked for, one after another. */
__global__ void answer_sets(const __grid_constant__ kernel_params plan,
                            const __grid_constant__ sets asked, const uint32_t *base,
                            const __grid_constant__ sets answer)
{
    const uint32_t words = words_of(plan);

    for (uint64_t i = hw_grid_thread() / 32; i < static_cast<uint64_t>(plan.columns) * words;
         i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i / words), w = static_cast<uint32_t>(i % words);
        const uint32_t word = asked.of[m] ? asked.of[m][w] : 0;
        if (word == 0)
            continue;
        const uint32_t at = base[m * words / 32 + w / 32] - base[m * words / 32] +
                            before_word(asked.of[m], w) + bits_below(word);
        if (word >> lane_of() & 1)
            const_cast<uint32_t *>(answer.of[m])[at] =
                plan.pred[m * plan.block + w * 32 + lane_of()];
    }
}

/* ---- results ---- */

__global__ void parents(const __grid_constant__ kernel_params plan, const uint32_t *position,
                        uint32_t count, const uint32_t *gid, uint32_t root, uint32_t root_id,
                        uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const uint32_t code = at < plan.block ? plan.parent[at] : HW_INVALID_VERTEX;
        const uint32_t id = code != HW_INVALID_VERTEX ? gid[code] : HW_INVALID_VERTEX;
        parent_id[k] = at == root ? root_id : id;
    }
}

__global__ void levels(const __grid_constant__ kernel_params plan, const uint32_t *position,
                       uint32_t count, uint32_t root, int32_t *level)
{
    const uint32_t *seen = plan.seen + plan.column * words_of(plan);

    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const bool reached = at < plan.block && (seen[at / 32] >> (at & 31) & 1);
        level[k] = at == root ? 0 : reached ? plan.level[at] : -1;
    }
}

/* ---- canonical parents ---- */

__global__ void canon_levels(const __grid_constant__ kernel_params plan,
                             const hw_scan2d_grid_canon canon)
{
    const uint32_t *seen = plan.seen + plan.column * words_of(plan);

    for (uint64_t t = hw_grid_thread(); t < plan.block; t += hw_grid_threads()) {
        const int32_t level = seen[t / 32] >> (t & 31) & 1 ? plan.level[t] : -1;
        canon.row_level[plan.column * plan.block + t] = level;
        canon.column_level[plan.row * plan.block + t] = level;
    }
    for (uint64_t v = hw_grid_thread(); v < static_cast<uint64_t>(plan.columns) * plan.block;
         v += hw_grid_threads())
        canon.best[v] = HW_INVALID_VERTEX;
}

/* A warp for each local column that was reached. */
template <typename Offset>
__global__ void canon_best(const __grid_constant__ kernel_params plan,
                           const hw_scan2d_grid_canon canon)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const int32_t level = canon.column_level[u];
        const uint32_t id = canon.gid[plan.column * columns + u];
        if (level < 0)
            continue;
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        Offset e = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u)) + lane_of();
        for (; e < end; e += 32) {
            const uint32_t row = plan.lists.rank[e];
            if (canon.row_level[row] == level + 1)
                atomicMin(&canon.best[row], id);
        }
    }
}

__global__ void canon_parents(const __grid_constant__ kernel_params plan,
                              const hw_scan2d_grid_canon canon, const uint32_t *position,
                              uint32_t count, uint32_t root, uint32_t root_id, uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        uint32_t least = HW_INVALID_VERTEX;
        for (uint32_t m = 0; m < plan.columns && at < plan.block; m++)
            least = min(least, m == plan.column ? canon.best[m * plan.block + at]
                                                : canon.came[m * plan.block + at]);
        parent_id[k] = at == root ? root_id : least;
    }
}

} // namespace

extern "C" {

int hw_scan2d_grid_launch_resolve(const hw_scan2d_grid_params *plan)
{
    resolve<<<hw_blocks(plan->block, threads), threads>>>(*plan);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_count(const uint32_t *const *bits, uint32_t parts, uint32_t block,
                                uint32_t *base, void *scratch, size_t *bytes)
{
    const uint64_t all = static_cast<uint64_t>(parts) * (block / 1024);
    sets of = {};

    for (uint32_t m = 0; m < parts && scratch; m++)
        of.of[m] = bits[m];
    if (scratch)
        count_sets<<<hw_blocks(all * 32, threads), threads>>>(of, parts, block, base);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess
               ? cub::DeviceScan::ExclusiveSum(scratch, *bytes, base, base, all + 1)
               : error;
}

int hw_scan2d_grid_launch_answer(const hw_scan2d_grid_params *plan, const uint32_t *const *asked,
                                 const uint32_t *base, uint32_t *const *answer)
{
    sets from = {}, to = {};

    for (uint32_t m = 0; m < plan->columns; m++) {
        from.of[m] = asked[m];
        to.of[m] = answer[m];
    }
    answer_sets<<<hw_blocks(static_cast<uint64_t>(plan->columns) * plan->block, threads),
                  threads>>>(*plan, from, base, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_parents(const hw_scan2d_grid_params *plan, const uint32_t *position,
                                  uint32_t count, const uint32_t *gid, uint32_t root,
                                  uint32_t root_id, uint32_t *parent_id)
{
    parents<<<hw_blocks(count, threads), threads>>>(*plan, position, count, gid, root, root_id,
                                                    parent_id);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_levels(const hw_scan2d_grid_params *plan, const uint32_t *position,
                                 uint32_t count, uint32_t root, int32_t *level)
{
    levels<<<hw_blocks(count, threads), threads>>>(*plan, position, count, root, level);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_levels(const hw_scan2d_grid_params *plan,
                                       const hw_scan2d_grid_canon *canon)
{
    canon_levels<<<hw_blocks(static_cast<uint64_t>(plan->columns) * plan->block, threads),
                   threads>>>(*plan, *canon);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_best(const hw_scan2d_grid_params *plan,
                                     const hw_scan2d_grid_canon *canon)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block * 32, threads);

    if (plan->wide)
        canon_best<uint64_t><<<blocks, threads>>>(*plan, *canon);
    else
        canon_best<uint32_t><<<blocks, threads>>>(*plan, *canon);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_parents(const hw_scan2d_grid_params *plan,
                                        const hw_scan2d_grid_canon *canon, const uint32_t *position,
                                        uint32_t count, uint32_t root, uint32_t root_id,
                                        uint32_t *parent_id)
{
    canon_parents<<<hw_blocks(count, threads), threads>>>(*plan, *canon, position, count, root,
                                                          root_id, parent_id);
    return cudaGetLastError();
}

} // extern "C"
} // namespace hw_scan2d_grid
