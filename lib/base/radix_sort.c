#include "lib/base/radix_sort.h"

#include "lib/base/memory.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS ((size_t)1 << HW_SORT_DIGIT)

/* How `bits` are cut into passes of equal digits. */
struct plan {
    int passes, width;
};

static struct plan plan_of(int bits)
{
    struct plan plan = {.passes = (bits + HW_SORT_DIGIT - 1) / HW_SORT_DIGIT};

    plan.width = plan.passes ? (bits + plan.passes - 1) / plan.passes : 0;
    return plan;
}

/* Moves elements [first, last) to where `next` says for each digit. */
static void scatter(const uint64_t *key, const uint32_t *payload, hw_count first, hw_count last,
                    int shift, uint64_t mask, hw_count *next, uint64_t *to_key,
                    uint32_t *to_payload)
{
    if (!payload) {
        for (hw_count i = first; i < last; i++)
            to_key[next[key[i] >> shift & mask]++] = key[i];
        return;
    }
    for (hw_count i = first; i < last; i++) {
        hw_count at = next[key[i] >> shift & mask]++;
        to_key[at] = key[i];
        to_payload[at] = payload[i];
    }
}

/* Turns the counts of a digit into where each begins. Returns false if one
 * digit has all. */
static bool begin_digits(hw_count *count, size_t digits, hw_count all)
{
    hw_count sum = 0;

    for (size_t d = 0; d < digits; d++) {
        hw_count here = count[d];
        if (here == all)
            return false;
        count[d] = sum;
        sum += here;
    }
    return true;
}

/* Counts all digits of all passes in one reading. */
static void count_digits(const uint64_t *key, hw_count count, struct plan plan,
                         hw_count table[][DIGITS])
{
    uint64_t mask = ((uint64_t)1 << plan.width) - 1;

    for (int p = 0; p < plan.passes; p++)
        memset(table[p], 0, sizeof table[p][0] << plan.width);
    for (hw_count i = 0; i < count; i++)
        for (int p = 0; p < plan.passes; p++)
            table[p][key[i] >> (p * plan.width) & mask]++;
}

void hw_sort_here(uint64_t *key, uint32_t *payload, hw_count count, int bits, uint64_t *key_room,
                  uint32_t *payload_room)
{
    hw_count table[64 / HW_SORT_DIGIT + 1][DIGITS];
    struct plan plan = plan_of(bits);
    uint64_t mask = ((uint64_t)1 << plan.width) - 1;
    uint64_t *from = key, *to = key_room;
    uint32_t *from_payload = payload, *to_payload = payload_room;

    if (count < 2)
        return;
    count_digits(key, count, plan, table);
    for (int p = 0; p < plan.passes; p++) {
        if (!begin_digits(table[p], (size_t)mask + 1, count))
            continue;
        scatter(from, from_payload, 0, count, p * plan.width, mask, table[p], to, to_payload);
        uint64_t *swap = from;
        uint32_t *swap_payload = from_payload;
        from = to;
        to = swap;
        from_payload = to_payload;
        to_payload = swap_payload;
    }
    if (from == key)
        return;
    memcpy(key, from, (size_t)count * sizeof *key);
    if (payload)
        memcpy(payload, from_payload, (size_t)count * sizeof *payload);
}

/* Where each thread's elements of each digit begin: by digit, then by thread.
 * Returns false if one digit has all. next: [threads][digits], in counts. */
static bool begin_shared(hw_count *next, int threads, size_t digits, hw_count all)
{
    hw_count sum = 0;

    for (size_t d = 0; d < digits; d++) {
        hw_count before = sum;
        for (int t = 0; t < threads; t++) {
            hw_count here = next[(size_t)t * digits + d];
            next[(size_t)t * digits + d] = sum;
            sum += here;
        }
        if (sum - before == all)
            return false;
    }
    return true;
}

/* One pass by all threads, each over its own run of elements. Returns whether
 * anything moved. */
static bool shared_pass(const uint64_t *key, const uint32_t *payload, hw_count count, int shift,
                        int width, int threads, hw_count *next, uint64_t *to, uint32_t *to_payload)
{
    size_t digits = (size_t)1 << width;
    uint64_t mask = digits - 1;
    bool moves = false;

#pragma omp parallel num_threads(threads)
    {
        /* A team may be smaller than asked for: every run is done by someone. */
        for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
            hw_count *mine = next + (size_t)t * digits;
            memset(mine, 0, digits * sizeof *mine);
            for (hw_count i = count / threads * t,
                          last = t == threads - 1 ? count : count / threads * (t + 1);
                 i < last; i++)
                mine[key[i] >> shift & mask]++;
        }
#pragma omp barrier
#pragma omp single
        moves = begin_shared(next, threads, digits, count);
        for (int t = omp_get_thread_num(); moves && t < threads; t += omp_get_num_threads())
            scatter(key, payload, count / threads * t,
                    t == threads - 1 ? count : count / threads * (t + 1), shift, mask,
                    next + (size_t)t * digits, to, to_payload);
    }
    return moves;
}

enum hw_status hw_sort(uint64_t *key, uint32_t *payload, hw_count count, int bits,
                       struct hw_error *err)
{
    int threads = count < HW_SERIAL_BELOW ? 1 : omp_get_max_threads();
    struct plan plan = plan_of(bits);
    uint64_t *room = NULL, *from = key, *to = NULL;
    uint32_t *payload_room = NULL, *from_payload = payload, *to_payload = NULL;
    hw_count *next = NULL;
    enum hw_status status = hw_alloc(&room, count, sizeof *room, "sort", err);

    if (status == HW_OK && payload)
        status = hw_alloc(&payload_room, count, sizeof *payload_room, "sort", err);
    if (status == HW_OK && threads > 1)
        status = hw_alloc(&next, (hw_count)threads << plan.width, sizeof *next, "sort", err);
    if (status != HW_OK)
        goto done;
    if (threads == 1) {
        hw_sort_here(key, payload, count, bits, room, payload_room);
        goto done;
    }
    to = room;
    to_payload = payload_room;
    for (int p = 0; p < plan.passes; p++) {
        if (!shared_pass(from, from_payload, count, p * plan.width, plan.width, threads, next, to,
                         to_payload))
            continue;
        to = from;
        to_payload = from_payload;
        from = to == key ? room : key;
        from_payload = to_payload == payload ? payload_room : payload;
    }
    if (from != key) {
        memcpy(key, from, (size_t)count * sizeof *key);
        if (payload)
            memcpy(payload, from_payload, (size_t)count * sizeof *payload);
    }
done:
    free(room);
    free(payload_room);
    free(next);
    return status;
}

hw_count hw_lower_bound(const uint64_t *key, hw_count count, uint64_t value)
{
    hw_count low = 0, high = count;

    while (low < high) {
        const hw_count middle = low + (high - low) / 2;
        if (key[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
