#include "gpu/bfs/direction_optimizing/direction_policy.h"

/* Vertices whose bits a block has in shared memory during a bottom-up level: 152 KiB of them. */
#define CACHED_VERTICES (152.0 * 1024 * 8)

/*
 * Picoseconds of a test in shared memory, and of one in the second-level cache: 6.25 for the access
 * (160 G random reads a second) and as much again for elements that are read together with the one
 * that is found. Together they give R-MAT graphs of edge factor 16, whose cached vertices have most
 * edges, the 4 picoseconds that were measured there. H200.
 */
#define CACHED_PROBE 2.5
#define UNCACHED_PROBE 9.0

void hw_bfs_count_degree(struct hw_bfs_degree_classes *classes, uint64_t degree)
{
    const int class = degree ? 63 - __builtin_clzll(degree) : 0;

    classes->count[class] += 1;
    classes->sum[class] += (double)degree;
}

/* The share of the edges at the `vertices` vertices of highest degree. Within a class all vertices
 * count alike. */
static double share_of_highest(const struct hw_bfs_degree_classes *classes, double vertices)
{
    double all = 0, share = 0;

    for (int c = 63; c >= 0; c--) {
        const double count = classes->count[c], taken = count < vertices ? count : vertices;
        all += classes->sum[c];
        if (taken > 0)
            share += classes->sum[c] * taken / count;
        vertices -= taken;
    }
    return all > 0 ? share / all : 0;
}

/* The expected tests where each edge begins in the frontier with probability p: a list of d more
 * in-neighbors costs (1 - (1-p)^d) / p. */
static double expected_probes(const struct hw_bfs_degree_classes *classes, double p)
{
    double sum = 0, all = 0;

    for (int c = 0; c < 64; c++) {
        if (classes->count[c] <= 0)
            continue;
        double rest = classes->sum[c] / classes->count[c] - 1;
        rest = rest > 0 ? rest : 0;
        sum += classes->count[c] * (p < 1 ? (1 - pow(1 - p, rest)) / p : rest > 0);
        all += classes->count[c];
    }
    return all > 0 ? sum / all : 0;
}

void hw_bfs_tabulate(const struct hw_bfs_degree_classes *classes, bool by_degree,
                     struct hw_bfs_policy *policy)
{
    double all = 0, cached;

    for (int c = 0; c < 64; c++)
        all += classes->count[c];
    for (int k = 0; k < HW_BFS_FRACTIONS; k++)
        policy->probes[k] = (float)expected_probes(classes, exp2(-k / 2.0));
    policy->hub_share = (float)share_of_highest(classes, all / HW_BFS_HUB_FRACTION);
    if (by_degree)
        cached = share_of_highest(classes, CACHED_VERTICES);
    else
        cached = all > CACHED_VERTICES ? CACHED_VERTICES / all : 1;
    policy->costs.pull_probe = (float)(cached * CACHED_PROBE + (1 - cached) * UNCACHED_PROBE);
}
