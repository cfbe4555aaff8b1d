/*
 * Tests of a summarized bitmap agree with its bits, for every size of groups, on emulated devices.
 */
#include "gpu/device/summarized_bitmap.cuh"

extern "C" {
#include "tests/tap/tap.h"
}

namespace
{

constexpr int threads = 64, blocks = 3;
constexpr uint32_t words = 133, core = 32 * words - 5, cached = 256;

__global__ void summarize(const uint32_t *bits, uint32_t shift, uint32_t *summary)
{
    summarize_bitmap(bits, words, shift, summary);
}

/* Counts vertices whose test is wrong, and those beyond the cached ones that the summary decides.
 */
__global__ void compare(const uint32_t *bits, const uint32_t *ones, uint32_t shift,
                        const uint32_t *summary, uint32_t *count)
{
    const summarized_bitmap map = {{bits, bits, cached, core}, summary, shift};
    const summarized_bitmap alone = {{ones, bits, cached, core}, summary, shift};

    for (uint64_t i = hw_grid_thread(); i < core + 40; i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const bool is_set = v < core && has_bit(bits[v / 32], v);
        if (has_bit(bitmap_word(map, v), v) != is_set)
            atomicAdd(count, 1u);
        const uint32_t group = v >> shift << shift;
        const uint32_t own = ~0u >> (32 - (1 << shift));
        if (v >= cached && v < core && !(bits[v / 32] >> (group & 31) & own)) {
            atomicAdd(count + 1, 1u);
            if (bitmap_word(alone, v) != 0) /* the bitmap was read */
                atomicAdd(count, 1u);
        }
    }
}

uint32_t *array(size_t elements)
{
    void *memory = nullptr;

    return cudaMalloc(&memory, elements * sizeof(uint32_t)) == cudaSuccess
               ? static_cast<uint32_t *>(memory)
               : nullptr;
}

/* Sets one bit in about `each`. */
void fill(uint32_t *bits, uint32_t each)
{
    uint32_t state = 1;

    for (uint32_t w = 0; w < words; w++)
        bits[w] = 0;
    for (uint32_t v = 0; v < core; v++) {
        state = state * 1664525 + 1013904223;
        if (state >> 8 < (1u << 24) / each)
            bits[v / 32] |= 1u << (v & 31);
    }
}

} // namespace

int main()
{
    struct tap tap = {};
    uint32_t *bits = array(words), *ones = array(words),
             *summary = array(summary_words(words, min_summary_shift)), *count = array(2);

    for (uint32_t w = 0; w < words; w++)
        ones[w] = ~0u;

    tap_plan(&tap, 13);
    tap_ok(&tap, summary_words(words, 5) == 8 && summary_words(words, 2) == 40,
           "words of a summary, in vectors of four");
    for (uint32_t shift = min_summary_shift; shift <= max_summary_shift; shift++)
        for (uint32_t each = 2; each <= 200; each *= 10) {
            fill(bits, each);
            count[0] = count[1] = 0;
            summarize<<<blocks, threads>>>(bits, shift, summary);
            compare<<<blocks, threads>>>(bits, ones, shift, summary, count);
            /* Where half of all bits are set, groups of 16 and more have one. */
            tap_ok(&tap, count[0] == 0 && (count[1] > 0 || (each == 2 && shift >= 4)),
                   "groups of %d, one bit in %d", 1 << shift, static_cast<int>(each));
        }
    cudaFree(bits);
    cudaFree(ones);
    cudaFree(summary);
    cudaFree(count);
    return tap_done(&tap);
}
