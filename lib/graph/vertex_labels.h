/*
 * Labels: what vertices were called where a graph came from.
 *
 * The dataset /vertices/label has them. In a graph without it the label of a
 * vertex is its id plus the attribute `first_label` of /parameters, if there is
 * one: formats that count vertices from 1 need no more.
 */
#ifndef HOPWAVE_GRAPH_VERTEX_LABELS_H
#define HOPWAVE_GRAPH_VERTEX_LABELS_H

#include "lib/graph/graph.h"
#include "lib/store/block_distribution.h"

/*
 * Replaces labels by the ids of the vertices that bear them. Each rank reads its
 * share of the graph's labels once, a piece at a time.
 *
 * id: [count], labels that become ids, the same on all ranks. Collective.
 * Returns HW_BAD_INPUT naming the graph and a label that no vertex has, or more
 * than one.
 */
enum hw_status hw_labels_find(const struct hw_context *ctx, struct hw_graph *graph, hw_count count,
                              hw_gid *id, struct hw_error *err);

/* All labels of a graph, distributed over the ranks: each has those of its
 * block. Zero-initialise; free with hw_labels_close(). */
struct hw_labels {
    const struct hw_context *ctx;
    struct hw_block_distribution slices; /* who holds which */
    int64_t *label;                      /* of this rank's slice; NULL where they are counted */
    int64_t first;                       /* of vertex 0, where they are counted */
    bool counted;                        /* labels are ids plus `first` */
};

/* Reads and verifies the labels. Borrows ctx. Collective. */
enum hw_status hw_labels_open(const struct hw_context *ctx, struct hw_graph *graph,
                              struct hw_labels *labels, struct hw_error *err);

/* Bytes that this rank needs for them, `asked` look-ups at a time. Local. */
hw_count hw_labels_bytes(const struct hw_context *ctx, const struct hw_graph *graph,
                         hw_count asked);

/*
 * Looks ids up that any rank may hold. label: [count], of the vertices id[count],
 * each in [0, vertices) or HW_GID_NONE, whose label is left as it is. The counts
 * may differ between ranks. id and label may be one array. Collective.
 */
enum hw_status hw_labels_of(const struct hw_labels *labels, hw_count count, const hw_gid *id,
                            int64_t *label, struct hw_error *err);

/* Local. */
void hw_labels_close(struct hw_labels *labels);

#endif
