#include "lib/base/radix_sort.h"

#include "lib/base/memory.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS ((size_t)1 << HW_SORT_DIGIT)

/* How `bits` are cut into digits of equal width, one pass for each. */
struct plan {
    int passes, width;
};

static struct plan plan_of(int bits)
{
    struct plan plan = {.passes = (bits + HW_SORT_DIGIT - 1) / HW_SORT_DIGIT};

    plan.width = plan.passes ? (bits + plan.passes - 1) / plan.passes : 0;
    return plan;
}

/* Keys with an optional payload. */
struct records {
    uint64_t *key;
    uint32_t *payload; /* or NULL */
};

/* One digit of the keys. */
struct digit {
    int shift;
    uint64_t mask;
};

static inline size_t digit_of(struct digit digit, uint64_t key)
{
    return key >> digit.shift & digit.mask;
}

/* Moves elements [first, last) to the positions in `next`, which counts up, by digit. */
static void scatter(struct records from, struct records to, hw_count first, hw_count last,
                    struct digit digit, hw_count *next)
{
    if (!from.payload) {
        for (hw_count i = first; i < last; i++)
            to.key[next[digit_of(digit, from.key[i])]++] = from.key[i];
        return;
    }
    for (hw_count i = first; i < last; i++) {
        hw_count at = next[digit_of(digit, from.key[i])]++;
        to.key[at] = from.key[i];
        to.payload[at] = from.payload[i];
    }
}

static void swap_records(struct records *a, struct records *b)
{
    struct records swap = *a;

    *a = *b;
    *b = swap;
}

/* Copies back what ended up in the scratch arrays. */
static void copy_back(struct records sorted, struct records out, hw_count count)
{
    if (sorted.key == out.key)
        return;
    memcpy(out.key, sorted.key, (size_t)count * sizeof *out.key);
    if (out.payload)
        memcpy(out.payload, sorted.payload, (size_t)count * sizeof *out.payload);
}

/* Exclusive prefix sum over the counts of a digit's values. Returns false if one value has all
 * elements: then there is nothing to move. */
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

/* Counts the values of all digits in one read of the keys. */
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

void hw_sort_here(uint64_t *key, uint32_t *payload, hw_count count, int bits, uint64_t *key_scratch,
                  uint32_t *payload_scratch)
{
    hw_count table[64 / HW_SORT_DIGIT + 1][DIGITS];
    struct plan plan = plan_of(bits);
    uint64_t mask = ((uint64_t)1 << plan.width) - 1;
    struct records in = {key, payload}, from = in;
    struct records to = {key_scratch, payload ? payload_scratch : NULL};

    if (count < 2)
        return;
    count_digits(key, count, plan, table);
    for (int p = 0; p < plan.passes; p++) {
        if (!begin_digits(table[p], (size_t)mask + 1, count))
            continue;
        scatter(from, to, 0, count, (struct digit){p * plan.width, mask}, table[p]);
        swap_records(&from, &to);
    }
    copy_back(from, in, count);
}

/* Exclusive prefix sums by digit value, then by thread: where each thread's elements of each value
 * begin. Returns false if one value has all elements. next: [threads][digits], counts on entry. */
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

/* One pass by all threads, each over its own range of elements. Returns whether
 * anything moved. next: [threads][digit.mask + 1], scratch. */
static bool shared_pass(struct records from, struct records to, hw_count count, struct digit digit,
                        int threads, hw_count *next)
{
    size_t digits = (size_t)digit.mask + 1;
    bool moves = false;

#pragma omp parallel num_threads(threads)
    {
        /* A team may be smaller than requested: the threads there are take all ranges. */
        for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
            hw_count *mine = next + (size_t)t * digits;
            memset(mine, 0, digits * sizeof *mine);
            for (hw_count i = count / threads * t,
                          last = t == threads - 1 ? count : count / threads * (t + 1);
                 i < last; i++)
                mine[digit_of(digit, from.key[i])]++;
        }
#pragma omp barrier
#pragma omp single
        moves = begin_shared(next, threads, digits, count);
        for (int t = omp_get_thread_num(); moves && t < threads; t += omp_get_num_threads())
            scatter(from, to, count / threads * t,
                    t == threads - 1 ? count : count / threads * (t + 1), digit,
                    next + (size_t)t * digits);
    }
    return moves;
}

enum hw_status hw_sort(uint64_t *key, uint32_t *payload, hw_count count, int bits,
                       struct hw_error *err)
{
    int threads = count < HW_SERIAL_BELOW ? 1 : omp_get_max_threads();
    struct plan plan = plan_of(bits);
    struct records in = {key, payload}, scratch = {0}, from = in, to;
    hw_count *next = NULL;
    enum hw_status status = hw_alloc(&scratch.key, count, sizeof *scratch.key, "sort", err);

    if (status == HW_OK && payload)
        status = hw_alloc(&scratch.payload, count, sizeof *scratch.payload, "sort", err);
    if (status == HW_OK && threads > 1)
        status = hw_alloc(&next, (hw_count)threads << plan.width, sizeof *next, "sort", err);
    if (status != HW_OK)
        goto done;
    if (threads == 1) {
        hw_sort_here(key, payload, count, bits, scratch.key, scratch.payload);
        goto done;
    }
    to = scratch;
    for (int p = 0; p < plan.passes; p++) {
        const struct digit digit = {p * plan.width, ((uint64_t)1 << plan.width) - 1};
        if (shared_pass(from, to, count, digit, threads, next))
            swap_records(&from, &to);
    }
    copy_back(from, in, count);
done:
    free(scratch.key);
    free(scratch.payload);
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
