/*
 * Policy constants of delta-stepping, for host and device code: bucket widths, step widths, when to
 * pull and when one block works alone. One group for each engine:
 *
 *   HW_DELTA_SHORT_LISTS      all engines;
 *   HW_DELTA_ONE_GPU_*        one GPU (gpu/sssp/delta/one_gpu_delta_kernel.cu);
 *   HW_DELTA_SMALL_FRONTIER_* one GPU, short lists (gpu/sssp/delta/small_frontier_delta_kernel.cu);
 *   HW_DELTA_PEER_*           several GPUs, one kernel each (gpu/sssp/delta/peer);
 *   HW_DELTA_ROUNDS_*         several GPUs, rounds of kernels (gpu/sssp/distributed).
 *
 * After Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm". A bucket
 * [low, high) is drained in steps; light edges end inside it, heavy edges leave it. Values
 * are measured; doc/methods.md has the tables. Measurements below are on H200 GPUs, R-MAT graphs
 * with edge factor 16 and uniform weights, unless they say otherwise. Where no figure is given,
 * none is recorded.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_DELTA_POLICY_H
#define HOPWAVE_GPU_SSSP_COMMON_DELTA_POLICY_H

/* With fewer edges per vertex on average, lists are pushed without a light/heavy split. */
#define HW_DELTA_SHORT_LISTS 8

/* On one GPU, graphs without a direction, with floating weights, so many vertices
 * and a longest list of so many times the mean are searched by the kernel that serves several GPUs:
 * 148, 219, 248 GTEPS of 127, 177, 193 (R-MAT, scales 24, 26, 28, search order; 2026-11-23). */
#define HW_DELTA_BALANCED_MIN_VERTICES (1U << 22)
#define HW_DELTA_BALANCED_MIN_SKEW 64.0

/* ---- one GPU ---- */

/* Width of the first bucket, as a fraction of hw_bucket_width(), which suits a CPU: on a GPU an
 * edge that is relaxed twice costs more than one bucket more. Half as fast again at scale 24
 * (2026-11-21, 5125992). */
#define HW_DELTA_ONE_GPU_FIRST_BUCKET 0.2
/* The same for lists without a light/heavy split: fewer iterations are better. */
#define HW_DELTA_ONE_GPU_SHORT_LIST_BUCKET 8.0
/* Width of the first step, as a fraction of the bucket. Hubs are near the root and have edges of
 * all lengths; a wider step relaxes them repeatedly. */
#define HW_DELTA_ONE_GPU_FIRST_STEP 0.1
/* A step that relaxes fewer edges than this is followed by one four times as wide. */
#define HW_DELTA_ONE_GPU_LITTLE_WORK 4000000ULL
/* A step of at most FEW iterations is followed by one twice as wide; of more than MANY iterations,
 * by one half as wide. */
#define HW_DELTA_ONE_GPU_FEW_ITERATIONS 4U
#define HW_DELTA_ONE_GPU_MANY_ITERATIONS 8U
/* Factor of growth of buckets once a pull paid, or after two consecutive buckets whose lists hold
 * fewer than one in LITTLE_FRACTION of the edges. Random graphs have many such buckets (25 before
 * the first pull at the first width; 2026-11-22, 8c581d2); R-MAT searches often begin with one, and
 * took longer where one was enough (2026-11-22, 0d49e3f). */
#define HW_DELTA_ONE_GPU_GROWTH 3.0
#define HW_DELTA_ONE_GPU_LITTLE_FRACTION 64ULL
/* Cost model of push against pull: a pull examines about PULL_EDGES edges per unsettled vertex; a
 * pushed edge takes the time of PUSH_PRICE pulled ones. After a small first bucket a pull examined
 * twelve edges per vertex, not four, and one search of sixteen took twice as long (2026-11-22,
 * be37a3d). */
#define HW_DELTA_ONE_GPU_PULL_EDGES 8ULL
#define HW_DELTA_ONE_GPU_PUSH_PRICE 2ULL
/* Once fewer than one in this many vertices is unsettled, the rest is one bucket. */
#define HW_DELTA_ONE_GPU_TAIL_FRACTION 4U
/* Rounds that a block relaxes its own discoveries within one iteration: with and without a
 * light/heavy split. */
#define HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SPLIT 2U
#define HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SHORT_LISTS 4U
/* A queue of at most this many vertices is drained by a single block: with and without a split. */
#define HW_DELTA_ONE_GPU_SINGLE_CTA_SPLIT 16U
#define HW_DELTA_ONE_GPU_SINGLE_CTA_SHORT_LISTS 256U

/* ---- one GPU, small frontiers ---- */

/* The kernel for small frontiers runs where the average degree is below MAX_MEAN_DEGREE and no list
 * is longer than MAX_LIST. Roads of Florida: 2.8 ms a search (median of 16 roots) where the general
 * kernel took 11.3 ms; a sparse random graph of a million vertices: 0.92 ms for 0.58 ms
 * (doc/methods.md). */
#define HW_DELTA_SMALL_FRONTIER_MAX_MEAN_DEGREE 6
#define HW_DELTA_SMALL_FRONTIER_MAX_LIST 16
/* Width of a step, as a fraction of hw_bucket_width(). Half of it took 11% longer; sixteen times, a
 * single step, took 15% less, but relaxes more than larger graphs allow (doc/methods.md). */
#define HW_DELTA_SMALL_FRONTIER_BUCKET 32.0
/* Vertices that a single block drains; vertices for each block of a larger queue. Other values for
 * the latter changed nothing (doc/methods.md). */
#define HW_DELTA_SMALL_FRONTIER_SINGLE_CTA 128
#define HW_DELTA_SMALL_FRONTIER_VERTICES_PER_BLOCK 16
/* An iteration ends after MIN_ROUNDS rounds once one in IDLE_FRACTION blocks found nothing more. */
#define HW_DELTA_SMALL_FRONTIER_MIN_ROUNDS 8
#define HW_DELTA_SMALL_FRONTIER_IDLE_FRACTION 4

/* ---- several GPUs, one kernel each ---- */

/* Width of the first bucket, as a fraction of hw_bucket_width(): 0.7 of what it was, which made 383
 * of 372 GTEPS (four GPUs, scale 26; 2026-11-22, 4967fe3). */
#define HW_DELTA_PEER_FIRST_BUCKET 0.14
/* The same for lists without a light/heavy split. */
#define HW_DELTA_PEER_SHORT_LIST_BUCKET 8.0
/* Added to the width where weights are whole numbers and the width is at least ONE_NUMBER: hubs lie
 * within a few numbers of each other, and a bucket that ends among them makes hubs pull. Two GPUs,
 * weights 1..255: 87 GTEPS for 60 at scale 22, 166 for 114 at 24, 240 for 182 at 26 (2026-11-23,
 * 12a3ffa). */
#define HW_DELTA_PEER_WHOLE_NUMBERS 8.0
#define HW_DELTA_PEER_ONE_NUMBER 0.5
/* Width of the first step, as a fraction of the bucket: 316 GTEPS for 312 with 0.1 (two GPUs, scale
 * 26; as fast at 24 and 25; 2026-11-23, fa8441b). */
#define HW_DELTA_PEER_FIRST_STEP 0.07
/* A step that relaxes fewer edges on each GPU is followed by one four times as wide. */
#define HW_DELTA_PEER_LITTLE_WORK 4000000ULL
/* As on one GPU. */
#define HW_DELTA_PEER_FEW_ITERATIONS 4U
#define HW_DELTA_PEER_MANY_ITERATIONS 8U
/* Factor of growth of buckets once a pull paid; in directed graphs, which have no pulls, once a
 * bucket had most edges: 21 GTEPS for 12 at scale 22, 32 for 16 at 24 (two GPUs; 2026-11-23,
 * dac2b61). */
#define HW_DELTA_PEER_GROWTH 3.0
/* Before that: buckets whose lists hold fewer than SMALL_BUCKET edges on each GPU, if more than
 * SMALL_BUCKETS of them are consecutive, are followed by ones WIDENING times as wide. Where degrees
 * are alike few vertices are reached yet: Erdos-Renyi, scale 22, two GPUs, 14.6 GTEPS for 3.4;
 * R-MAT at 24 and 26 as before (2026-11-23, 98f08e2). */
#define HW_DELTA_PEER_SMALL_BUCKET 262144ULL
#define HW_DELTA_PEER_SMALL_BUCKETS 2U
#define HW_DELTA_PEER_WIDENING 2.0
/* As on one GPU. */
#define HW_DELTA_PEER_PULL_EDGES 8ULL
#define HW_DELTA_PEER_PUSH_PRICE 2ULL
/* A pull loads remote keys from their owners, instead of having all of them broadcast first, if the
 * pull before examined fewer edges than this for each vertex that it put into the bucket. With 8
 * instead of 2: 239 GTEPS for 240 (four GPUs, scale 26; doc/methods.md). */
#define HW_DELTA_PEER_REMOTE_LOAD_EDGES 2ULL
/* Once fewer than one in this many vertices is unsettled, the rest is one bucket. */
#define HW_DELTA_PEER_TAIL_FRACTION 4U
/* A step is followed by the next one once fewer than one in this many of the vertices that wait are
 * left of it. 4, 16, 64, 256, 1024: 175, 180, 202, 205, 205 GTEPS (two GPUs, scale 26;
 * doc/methods.md). */
#define HW_DELTA_PEER_LAGGING_FRACTION 256U
/* With fewer vertices to push, a GPU lowers keys without loading them first: the time goes into
 * waiting for memory, which is then waited for once instead of twice. 307 GTEPS for 302 (two GPUs,
 * scale 26; doc/methods.md). */
#define HW_DELTA_PEER_SKIP_PRECHECK_BELOW 65536U
/* Edges on each GPU below which the rest of a bucket is left to the pull that follows: 2^18 for
 * 2^16 made 188, 256, 316 of 184, 253, 311 GTEPS (two GPUs, scales 24, 25, 26; 2026-11-23, 99ea28d,
 * with the vote over settled groups). */
#define HW_DELTA_PEER_LEFTOVER_EDGES 262144.0

/* ---- several GPUs, rounds of kernels ---- */

/* Width of the first bucket, as a fraction of hw_bucket_width(). */
#define HW_DELTA_ROUNDS_FIRST_BUCKET 0.3
/* Width of the first step, as a fraction of the bucket. */
#define HW_DELTA_ROUNDS_FIRST_STEP (1.0 / 1024)
/* A step that relaxes fewer edges on each part is followed by one four times as wide. */
#define HW_DELTA_ROUNDS_LITTLE_WORK 200000
/* A step of at most FEW rounds is followed by one twice as wide; of more than MANY rounds, by one
 * half as wide. */
#define HW_DELTA_ROUNDS_FEW_ROUNDS 4
#define HW_DELTA_ROUNDS_MANY_ROUNDS 8
/* A step that has less than this fraction left of its largest round continues with the next step.
 */
#define HW_DELTA_ROUNDS_LITTLE_LEFT 4
/* Factor of growth of buckets once a pull paid; larger than elsewhere because a bucket costs more
 * here than edges do (2026-11-21, 9ff2a26). */
#define HW_DELTA_ROUNDS_GROWTH 4
/* Cost model of push against pull, as on one GPU. */
#define HW_DELTA_ROUNDS_PULL_EDGES 4
#define HW_DELTA_ROUNDS_PUSH_PRICE 2
/* Once fewer than one in this many vertices is unsettled, the rest is one bucket. */
#define HW_DELTA_ROUNDS_TAIL_FRACTION 256

#endif
