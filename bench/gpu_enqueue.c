/*
 * gpu-enqueue [MILLIONS [FRACTION]]
 *
 * Generation of a frontier queue from a status array, by atomic operations and by prefix sums
 * (figure 5 of XBFS, HPDC 2019), for 1, 2, 4, ... million entries up to MILLIONS (512), of which
 * FRACTION (0.1) are in the frontier. Prints tab-separated lines: entries, way, median milliseconds
 * of nine runs, thousands of entries per second, and the speedup over the scan.
 */
#include "bench/enqueue_kernel.h"
#include "gpu/device/device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS 9

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The median time of one kind; checks the size of its queue. expected: 0 if unknown. */
static enum hw_status measure(const struct hw_enqueue *work, enum hw_enqueue_kind kind,
                              cudaEvent_t const event[2], uint64_t expected, float *milliseconds,
                              struct hw_error *err)
{
    float times[RUNS] = {0};
    uint64_t size = 0;
    enum hw_status status = HW_OK;

    for (int r = -1; r < RUNS && status == HW_OK; r++) { /* run -1 warms up */
        status = hw_cuda((int)cudaEventRecord(event[0], NULL), "cudaEventRecord", err);
        if (status == HW_OK)
            status = hw_cuda(hw_enqueue_launch(work, kind), "an enqueueing kernel", err);
        if (status == HW_OK)
            status = hw_cuda((int)cudaEventRecord(event[1], NULL), "cudaEventRecord", err);
        if (status == HW_OK)
            status = hw_cuda((int)cudaEventSynchronize(event[1]), "enqueueing", err);
        if (status == HW_OK && r >= 0)
            status = hw_cuda((int)cudaEventElapsedTime(&times[r], event[0], event[1]),
                             "cudaEventElapsedTime", err);
    }
    if (status == HW_OK)
        status = hw_gpu_get(&size, work->size, sizeof size, err);
    if (status == HW_OK && expected && size != expected)
        return hw_fail(err, HW_CHECK_FAILED, "kind %d enqueued %llu instead of %llu", kind,
                       (unsigned long long)size, (unsigned long long)expected);
    qsort(times, RUNS, sizeof *times, compare);
    *milliseconds = times[RUNS / 2];
    return status;
}

/* All kinds at one size, the scan first. */
static enum hw_status compare_kinds(struct hw_enqueue *work, double fraction,
                                    cudaEvent_t const event[2], struct hw_error *err)
{
    static const enum hw_enqueue_kind order[] = {HW_ENQUEUE_SCAN, HW_ENQUEUE_SELECT,
                                                 HW_ENQUEUE_ATOMIC_WARP, HW_ENQUEUE_ATOMIC};
    static const char *const names[] = {[HW_ENQUEUE_SCAN] = "scan",
                                        [HW_ENQUEUE_SELECT] = "select",
                                        [HW_ENQUEUE_ATOMIC_WARP] = "atomic-warp",
                                        [HW_ENQUEUE_ATOMIC] = "atomic"};
    float scan = 0;
    uint64_t expected = 0;
    enum hw_status status = hw_cuda(hw_enqueue_fill(work, fraction), "the kernel that fills", err);

    for (int w = 0; w < HW_ENQUEUE_KINDS && status == HW_OK; w++) {
        float own = 0;
        status = measure(work, order[w], event, expected, &own, err);
        if (status != HW_OK)
            return status;
        scan = w == 0 ? own : scan;
        if (w == 0)
            status = hw_gpu_get(&expected, work->size, sizeof expected, err);
        printf("%llu\t%s\t%.4f\t%.0f\t%.2f\n", (unsigned long long)work->entries, names[order[w]],
               (double)own, (double)work->entries / (double)own, (double)(scan / own));
    }
    return status;
}

static enum hw_status run(uint64_t millions, double fraction, struct hw_error *err)
{
    struct hw_enqueue work = {.entries = millions << 20};
    struct hw_gpu_arrays arrays = {.count = 0};
    cudaEvent_t event[2] = {NULL, NULL};
    enum hw_status status = hw_gpu_ready(err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_enqueue_scratch(work.entries, &work.scratch_bytes), "scratch memory", err);
    if (status != HW_OK)
        return status;
    hw_count entries = (hw_count)work.entries;
    hw_gpu_add(&arrays, &work.status, entries, sizeof *work.status);
    hw_gpu_add(&arrays, &work.queue, entries, sizeof *work.queue);
    hw_gpu_add(&arrays, &work.prefix, entries, sizeof *work.prefix);
    hw_gpu_add(&arrays, &work.size, 1, sizeof *work.size);
    hw_gpu_add(&arrays, &work.scratch, (hw_count)work.scratch_bytes, 1);
    status = hw_gpu_allocate(&arrays, 0, "gpu-enqueue", err);
    for (int e = 0; e < 2 && status == HW_OK; e++)
        status = hw_cuda((int)cudaEventCreate(&event[e]), "cudaEventCreate", err);
    printf("entries\tway\tmilliseconds\tentries_per_ms\tspeedup_over_scan\n");
    for (uint64_t m = 1; m <= millions && status == HW_OK; m *= 2) {
        work.entries = m << 20;
        status = compare_kinds(&work, fraction, event, err);
    }
    for (int e = 0; e < 2; e++)
        if (event[e])
            cudaEventDestroy(event[e]);
    hw_gpu_release(&arrays);
    return status;
}

int main(int argc, char **argv)
{
    struct hw_error err = {0};
    char *end = NULL;
    unsigned long long millions = argc > 1 ? strtoull(argv[1], &end, 10) : 512;
    double fraction = argc > 2 ? strtod(argv[2], &end) : 0.1;

    if (argc > 3 || millions < 1 || millions > 2048 || !(fraction >= 0 && fraction <= 1)) {
        fprintf(stderr, "usage: gpu-enqueue [MILLIONS [FRACTION]]\n");
        return HW_USAGE;
    }
    enum hw_status status = run(millions, fraction, &err);
    if (status != HW_OK)
        fprintf(stderr, "gpu-enqueue: %s\n", err.text);
    return (int)status;
}
