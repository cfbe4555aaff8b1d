#include "lib/base/bitmap.h"

hw_lid hw_bits_list(const uint64_t *bitmap, hw_lid words, hw_lid *list)
{
    hw_lid count = 0;

    for (hw_lid w = 0; w < words; w++)
        for (uint64_t left = bitmap[w]; left;)
            list[count++] = w * 64 + hw_bits_take(&left);
    return count;
}

hw_lid hw_bits_count(const uint64_t *bitmap, hw_lid words)
{
    hw_lid count = 0;

    /* In shifts and adds: without -march the builtin is a call, and these the
     * compiler turns into vectors. */
    for (hw_lid w = 0; w < words; w++) {
        uint64_t x = bitmap[w];
        x -= x >> 1 & UINT64_C(0x5555555555555555);
        x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
        x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
        x += x >> 8;
        x += x >> 16;
        x += x >> 32;
        count += (hw_lid)(x & 0x7f);
    }
    return count;
}

/*
 * The look-up is most of what bottom-up steps and the output do, so it exists
 * three times. 32-bit words let a gather take the 32-bit ids as they are; on
 * the little-endian processors that have gathers they are the same bits.
 */
static uint64_t look_up_plain(const hw_lid *ids, const uint64_t *bitmap)
{
    uint64_t result = 0;

    for (int k = 63; k >= 0; k--)
        result = 2 * result + (bitmap[ids[k] / 64] >> ids[k] % 64 & 1);
    return result;
}

static hw_count find_plain(const hw_lid *ids, hw_count from, hw_count to, hw_count readable,
                           const uint64_t *bitmap)
{
    (void)readable;
    while (from < to && !hw_bitmap_test(bitmap, ids[from]))
        from++;
    return from;
}

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

typedef uint32_t __attribute__((may_alias)) half_word;

/* The compiler turns this loop into gathers. */
__attribute__((target("avx2"))) static uint32_t look_up_32(const hw_lid *ids,
                                                           const half_word *bitmap)
{
    uint32_t result = 0;

    for (uint32_t k = 0; k < 32; k++)
        result |= (bitmap[ids[k] / 32] >> ids[k] % 32 & 1) << k;
    return result;
}

__attribute__((target("avx2"))) static uint64_t look_up_avx2(const hw_lid *ids,
                                                             const uint64_t *bitmap)
{
    const half_word *halves = (const half_word *)bitmap;

    return look_up_32(ids, halves) | (uint64_t)look_up_32(ids + 32, halves) << 32;
}

__attribute__((target("avx512f"))) static uint64_t look_up_avx512(const hw_lid *ids,
                                                                  const uint64_t *bitmap)
{
    const __m512i one = _mm512_set1_epi32(1), low = _mm512_set1_epi32(31);
    uint64_t result = 0;

    for (int k = 0; k < 64; k += 16) {
        __m512i id = _mm512_loadu_si512(ids + k);
        __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(id, 5), bitmap, 4);
        __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(id, low));
        result |= (uint64_t)_mm512_test_epi32_mask(word, bit) << k;
    }
    return result;
}

/* Eight ids at once: whether the first of them is set, no branch predictor knows. */
__attribute__((target("avx2"))) static hw_count
find_avx2(const hw_lid *ids, hw_count from, hw_count to, hw_count readable, const uint64_t *bitmap)
{
    const __m256i low = _mm256_set1_epi32(31);

    for (; from < to && from + 8 <= readable; from += 8) {
        __m256i id = _mm256_loadu_si256((const __m256i *)(const void *)(ids + from));
        __m256i word =
            _mm256_i32gather_epi32((const int *)(const void *)bitmap, _mm256_srli_epi32(id, 5), 4);
        __m256i bit = _mm256_sllv_epi32(word, _mm256_sub_epi32(low, _mm256_and_si256(id, low)));
        uint32_t set = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(bit));
        if (set) {
            hw_count at = from + __builtin_ctz(set);
            return at < to ? at : to;
        }
    }
    return from < to ? find_plain(ids, from, to, readable, bitmap) : to;
}

hw_bits_find *hw_bits_finder(int i)
{
    const bool wide = __builtin_cpu_supports("avx2");

    if (i == 0 && wide)
        return find_avx2;
    return i == (wide ? 1 : 0) ? find_plain : NULL;
}

hw_bits_look_up *hw_bits_looker(int i)
{
    hw_bits_look_up *found[4] = {NULL};
    int count = 0;

    if (__builtin_cpu_supports("avx512f"))
        found[count++] = look_up_avx512;
    if (__builtin_cpu_supports("avx2"))
        found[count++] = look_up_avx2;
    found[count++] = look_up_plain;
    return i < count ? found[i] : NULL;
}
#else
hw_bits_find *hw_bits_finder(int i)
{
    return i == 0 ? find_plain : NULL;
}

hw_bits_look_up *hw_bits_looker(int i)
{
    return i == 0 ? look_up_plain : NULL;
}
#endif
