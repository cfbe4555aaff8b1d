#include "lib/comm/traffic.h"

/* 2 (ranks-1)/ranks of the bytes, rounded up. */
static hw_count reduction_bytes(hw_count bytes, int ranks)
{
    return (2 * bytes * (ranks - 1) + ranks - 1) / ranks;
}

void hw_traffic_add_reduction(struct hw_traffic *traffic, hw_count bytes, int ranks,
                              int ranks_per_node)
{
    traffic->bytes += reduction_bytes(bytes, ranks);
    traffic->internode.bytes += reduction_bytes((bytes + ranks_per_node - 1) / ranks_per_node,
                                                (ranks + ranks_per_node - 1) / ranks_per_node);
}

void hw_traffic_add_gather(struct hw_traffic *traffic, hw_count bytes, int ranks,
                           int ranks_per_node)
{
    traffic->bytes += (ranks - 1) * bytes;
    traffic->internode.bytes += (ranks - ranks_per_node) * bytes;
}
