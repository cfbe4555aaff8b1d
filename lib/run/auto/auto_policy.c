#include "lib/run/auto/auto_policy.h"

#include <stdio.h>

/* ---- classes ---- */

/* Lists of a mesh are shorter than this in the mean, and its degrees vary less than those of a
 * random graph. Variance over mean of the degrees: roads of New York 0.35, G(n,m) of edge factor 1,
 * 2 and 16 0.69, 0.93 and 1.0, R-MAT hundreds (2026-11-26, x86-64, 5bbf891). */
#define MESH_MEAN_DEGREE 8.0
#define MESH_DISPERSION 0.5
/* From this on there are hubs: ten times the variance of a random graph. */
#define SKEWED_DISPERSION 10.0

/* ---- one GPU or several ---- */

/*
 * One GPU is faster than two below so many vertices with edges. Mean ms of 16 searches, one against
 * two H200 with NVLink, transport peer, layout 1d, edge factor 16 unless said (2026-11-26,
 * 8ac2d69; R-MAT 26: 238c313; directed: medians, after in-lists came to several GPUs, 088ad37):
 *
 *                          BFS                     SSSP, uniform weights
 *   R-MAT 22               0.109   0.186           0.976   1.02
 *   R-MAT 24               0.209   0.248           2.32    1.50
 *   R-MAT 26, GTEPS        1519    1927            161     301
 *   R-MAT directed 22      0.122   0.184           0.757   0.972
 *   R-MAT directed 24      0.268   0.265           1.58    1.54
 *   G(n,m) 22              0.297   0.334           2.65    2.93
 *   G(n,m) 24              2.40    1.28            18.1    12.0
 *   G(n,m), factor 2, 22   0.445   0.567           3.09    1.94
 *   G(n,m), factor 2, 24   1.53    1.29            16.3    9.13
 *   roads, 0.26 M          1.63    3.14            1.11    1.86  (2026-11-26, 3133d4b)
 *   roads, 1.07 M          5.48    10.7            2.82    4.32  (likewise)
 *
 * About half of the vertices of R-MAT have edges. A threshold lies between the sizes that were
 * measured; of meshes above all of them: one GPU searches them for all.
 */
#define BFS_SKEWED_VERTICES (INT64_C(1) << 24)
#define BFS_SKEWED_DIRECTED_VERTICES (INT64_C(1) << 22)
#define BFS_RANDOM_VERTICES (INT64_C(1) << 23)
#define SSSP_VERTICES (INT64_C(3) << 21)
#define SSSP_SHORT_LISTS_VERTICES (INT64_C(1) << 21)
#define MESH_VERTICES (INT64_C(1) << 24)
/* Shorter lists than this in the mean are short (HW_DELTA_SHORT_LISTS of gpu/sssp/common). */
#define SHORT_LISTS 8.0

enum hw_graph_class hw_graph_classify(const struct hw_graph_traits *traits)
{
    if (traits->vertices == 0)
        return HW_GRAPH_WITHOUT_EDGES;
    if (traits->dispersion >= SKEWED_DISPERSION)
        return HW_GRAPH_SKEWED;
    if (traits->mean_degree < MESH_MEAN_DEGREE && traits->dispersion < MESH_DISPERSION)
        return HW_GRAPH_MESH;
    return HW_GRAPH_RANDOM;
}

const char *hw_graph_class_name(enum hw_graph_class class)
{
    static const char *const names[] = {[HW_GRAPH_WITHOUT_EDGES] = "no edges",
                                        [HW_GRAPH_MESH] = "roads or a mesh",
                                        [HW_GRAPH_RANDOM] = "random degrees",
                                        [HW_GRAPH_SKEWED] = "hubs"};

    return names[class];
}

/* Vertices below which one GPU is faster than several. */
static hw_count one_gpu_below(const struct hw_graph_traits *traits, enum hw_graph_class class,
                              enum hw_algorithm algorithm)
{
    if (class == HW_GRAPH_MESH)
        return MESH_VERTICES;
    if (algorithm == HW_SSSP)
        return traits->mean_degree < SHORT_LISTS ? SSSP_SHORT_LISTS_VERTICES : SSSP_VERTICES;
    if (class == HW_GRAPH_RANDOM)
        return BFS_RANDOM_VERTICES;
    return traits->directed ? BFS_SKEWED_DIRECTED_VERTICES : BFS_SKEWED_VERTICES;
}

/* What the class means for a search. */
static const char *meaning(enum hw_graph_class class)
{
    static const char *const texts[] = {
        [HW_GRAPH_WITHOUT_EDGES] = "nothing to search",
        [HW_GRAPH_MESH] = "short lists of like lengths, as in roads and meshes: many small levels",
        [HW_GRAPH_RANDOM] = "degrees as of random graphs: few levels, no hubs",
        [HW_GRAPH_SKEWED] = "hubs, as in R-MAT and social graphs: few levels"};

    return texts[class];
}

void hw_auto_judge(const struct hw_graph_traits *traits, const struct hw_auto_request *request,
                   struct hw_auto_verdict *verdict)
{
    const enum hw_graph_class class = hw_graph_classify(traits);
    const hw_count below = one_gpu_below(traits, class, request->algorithm);

    verdict->class = class;
    verdict->advice[0] = '\0';
    snprintf(verdict->reason, sizeof verdict->reason,
             "%s, %" PRI_COUNT " vertices with %.3g neighbors, about %.0f at most (%s); %s %s",
             traits->directed ? "directed" : "undirected", traits->vertices, traits->mean_degree,
             traits->max_degree, meaning(class), request->method,
             request->negative_weights ? "accepts the negative weights"
                                       : "is the fastest measured for device and layout");
    if (request->device == HW_GPU && request->parts > 1 && class != HW_GRAPH_WITHOUT_EDGES &&
        traits->vertices < below)
        snprintf(verdict->advice, sizeof verdict->advice,
                 "one GPU is likely to be faster than %d: %s with fewer than %" PRI_COUNT
                 " vertices",
                 request->parts, class == HW_GRAPH_MESH ? "a mesh" : "a graph", below);
}
