/* Units of lib/engine/bits: each against one bit at a time. */
#include "lib/base/bitmap.h"
#include "tests/tap/tap.h"

#include <string.h>

#define BITS 1000

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Fills a bitmap of BITS bits and a word more. */
static void fill(uint64_t *bitmap, uint64_t *state)
{
    memset(bitmap, 0, (BITS / 64 + 2) * sizeof *bitmap);
    for (size_t k = 0; k < BITS; k++)
        if (next_random(state) % 3 == 0)
            hw_bitmap_set(bitmap, k);
}

static void test_words(struct tap *tap)
{
    uint64_t bitmap[BITS / 64 + 2], other[BITS / 64 + 2], state = 88172645463325252u;
    bool at = true, or_at = true;

    fill(bitmap, &state);
    for (size_t k = 0; k + 64 <= BITS; k++) {
        uint64_t word = next_random(&state), read = hw_bits_at(bitmap, k);
        memcpy(other, bitmap, sizeof other);
        hw_bits_or_at(other, k, word);
        for (size_t b = 0; b < BITS; b++) {
            bool within = b >= k && b < k + 64;
            if (within && (read >> (b - k) & 1) != hw_bitmap_test(bitmap, b))
                at = false;
            if (hw_bitmap_test(other, b) !=
                (hw_bitmap_test(bitmap, b) || (within && (word >> (b - k) & 1))))
                or_at = false;
        }
    }
    tap_ok(tap, at, "words are read from any bit on");
    tap_ok(tap, or_at, "words are set from any bit on");
    tap_ok(tap, hw_bits_words(0) == 0 && hw_bits_words(64) == 1 && hw_bits_words(65) == 2,
           "words that hold so many bits");
}

static void test_lists(struct tap *tap)
{
    uint64_t bitmap[BITS / 64 + 2], state = 1181783497276652981u;
    hw_lid list[BITS], expected = 0;
    bool right = true;

    fill(bitmap, &state);
    bitmap[3] = 0;
    bitmap[5] = UINT64_MAX;
    hw_lid count = hw_bits_list(bitmap, BITS / 64, list);
    for (hw_lid k = 0; k < BITS / 64 * 64; k++)
        if (hw_bitmap_test(bitmap, k))
            right = right && expected < count && list[expected++] == k;
    tap_ok(tap, right && expected == count, "set bits are listed, rising");
    tap_ok(tap, hw_bits_count(bitmap, BITS / 64) == count, "and counted");
}

static void test_look_ups(struct tap *tap)
{
    uint64_t bitmap[BITS / 64 + 2], state = 2463534242u;
    hw_lid ids[64];
    int rank = 0;

    fill(bitmap, &state);
    for (; hw_bits_looker(rank); rank++) {
        bool right = true;
        for (int round = 0; round < 100; round++) {
            for (int k = 0; k < 64; k++)
                ids[k] = (hw_lid)(next_random(&state) % BITS);
            uint64_t got = hw_bits_looker(rank)(ids, bitmap);
            for (int k = 0; k < 64; k++)
                right = right && (got >> k & 1) == hw_bitmap_test(bitmap, ids[k]);
        }
        tap_ok(tap, right, "look-up %d of 64 ids", rank);
    }
    tap_ok(tap, rank > 0, "there is a look-up");
}

/* Lists of all lengths, at the end of what may be read and before it, in bitmaps of few bits. */
static void test_finders(struct tap *tap)
{
    uint64_t bitmap[BITS / 64 + 2], state = 88172645463325252u;
    hw_lid ids[64];
    int rank = 0;

    for (; hw_bits_finder(rank); rank++) {
        bool right = true;
        for (int round = 0; round < 2000; round++) {
            const hw_count readable = 40 + round % 24, to = readable - round % 7;
            hw_count first = (hw_count)(next_random(&state) % 34);
            memset(bitmap, 0, sizeof bitmap);
            for (int k = 0; k < 64; k++)
                ids[k] = (hw_lid)(next_random(&state) % BITS);
            for (int k = 0; k < round % 4; k++)
                hw_bitmap_set(bitmap, ids[next_random(&state) % 64]);
            hw_count got = hw_bits_finder(rank)(ids, first, to, readable, bitmap);
            while (first < to && !hw_bitmap_test(bitmap, ids[first]))
                first++;
            right = right && got == first;
        }
        tap_ok(tap, right, "search %d for the first id that is set", rank);
    }
    tap_ok(tap, rank > 0, "there is a search");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 9 + (hw_bits_finder(1) ? 3 : 2));
    test_words(&tap);
    test_lists(&tap);
    test_look_ups(&tap);
    test_finders(&tap);
    return tap_done(&tap);
}
