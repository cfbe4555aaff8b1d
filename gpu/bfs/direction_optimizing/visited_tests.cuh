/*
 * Method `fused`: tests of the visited bitmap that one GPU and several have in common. Four
 * in-neighbors at a time bottom-up; vertices of degree 1, whose parent is their only neighbor if
 * that was reached. Peers: as in gpu/bfs/direction_optimizing/top_down.cuh.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_VISITED_TESTS_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_VISITED_TESTS_CUH

#include "gpu/bfs/direction_optimizing/top_down.cuh"
#include "gpu/device/cached_bitmap.cuh"

namespace hw_bfs
{
namespace
{

__device__ __forceinline__ uint4 no_neighbors()
{
    return make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
}

/* The first visited one of four in-neighbors, or HW_INVALID_VERTEX. more: the list may continue. */
template <class Bitmap>
__device__ __forceinline__ uint32_t probe_four(const Bitmap &map, const uint4 &source, bool &more,
                                               uint32_t &probes)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);

    more = source.w < map.core;
    probes += (source.x < map.core) + (source.y < map.core) + (source.z < map.core) + more;
    if (has_bit(x, source.x))
        return source.x;
    if (has_bit(y, source.y))
        return source.y;
    if (has_bit(z, source.z))
        return source.z;
    return has_bit(w, source.w) ? source.w : HW_INVALID_VERTEX;
}

/* ---- vertices of degree 1 ---- */

/* The parent of a vertex of degree 1 with the only neighbor `source`. word: of the bitmap, with the
 * bit of source. */
__device__ __forceinline__ uint32_t leaf_parent(uint32_t word, uint32_t vertex, uint32_t source,
                                                uint32_t root)
{
    const bool reached = source == root || has_bit(word, source);

    return vertex == root                           ? root
           : reached && source != HW_INVALID_VERTEX ? source
                                                    : HW_INVALID_VERTEX;
}

/* The same for four consecutive vertices. */
__device__ __forceinline__ uint4 leaf_parents(const cached_bitmap &map, uint32_t vertex,
                                              const uint4 &source, uint32_t root)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);

    return make_uint4(
        leaf_parent(x, vertex, source.x, root), leaf_parent(y, vertex + 1, source.y, root),
        leaf_parent(z, vertex + 2, source.z, root), leaf_parent(w, vertex + 3, source.w, root));
}

/* The word of parent_is_first_neighbor with the bits of eight lanes' vertices, four each.
 * Warp-collective. */
__device__ __forceinline__ uint32_t leaf_bits(const uint4 &parent, uint32_t vertex, uint32_t root)
{
    uint32_t bits = (parent.x != HW_INVALID_VERTEX && vertex != root) |
                    (parent.y != HW_INVALID_VERTEX && vertex + 1 != root) << 1 |
                    (parent.z != HW_INVALID_VERTEX && vertex + 2 != root) << 2 |
                    (parent.w != HW_INVALID_VERTEX && vertex + 3 != root) << 3;

    bits <<= 4 * (threadIdx.x & 7);
    for (int half = 1; half < 8; half *= 2)
        bits |= __shfl_xor_sync(HW_WARP, bits, half);
    return bits;
}

/* When no level was pulled: unvisited vertices get no parent, and no vertex has its parent marked
 * as its first in-neighbor. All threads of the grid. */
template <class Peers, class Params>
__device__ void clear_unvisited_parents(const Params &params, const uint32_t *visited,
                                        uint32_t *parent_is_first_neighbor)
{
    const uint32_t lane = threadIdx.x & 31, words = Peers::own_words(params);

    for (uint64_t w = hw_grid_thread() / 32; w < words; w += hw_grid_threads() / 32) {
        const uint32_t own = static_cast<uint32_t>(w);
        const uint32_t word = __ldcg(visited + Peers::word_index(params, own));
        if (!has_bit(word, lane))
            Peers::parents(params)[own * 32 + lane] = HW_INVALID_VERTEX;
        if (lane == 0)
            parent_is_first_neighbor[own] = 0;
    }
}

} // namespace
} // namespace hw_bfs

#endif
