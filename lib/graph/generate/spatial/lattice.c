#include "lib/graph/generate/spatial/lattice.h"

void hw_lattice_init(struct hw_lattice *lattice, int dimensions, const hw_gid *size, bool torus)
{
    uint64_t vertices = 1, stride = 1;

    *lattice = (struct hw_lattice){.dimensions = dimensions};
    for (int d = 0; d < dimensions; d++)
        vertices *= (uint64_t)size[d];
    for (int d = 0; d < dimensions; d++) {
        const uint64_t here = (uint64_t)size[d];
        lattice->size[d] = here;
        lattice->stride[d] = stride;
        lattice->wrapped[d] = torus && here > 2;
        lattice->first_edge[d + 1] =
            lattice->first_edge[d] + vertices / here * (here - !lattice->wrapped[d]);
        stride *= here;
    }
}

hw_count hw_lattice_edges(const struct hw_lattice *lattice)
{
    return (hw_count)lattice->first_edge[lattice->dimensions];
}

/* Tuple `index` of a dimension. */
static void make_one(const struct hw_lattice *lattice, int dimension, uint64_t index,
                     hw_gid *source, hw_gid *target)
{
    const uint64_t size = lattice->size[dimension], stride = lattice->stride[dimension];
    const uint64_t starts = size - !lattice->wrapped[dimension]; /* vertices with a successor */
    const uint64_t line = index / stride, place = line % starts;
    const uint64_t vertex = index % stride + stride * (place + size * (line / starts));

    *source = (hw_gid)vertex;
    *target = (hw_gid)(place + 1 < size ? vertex + stride : vertex - stride * (size - 1));
}

void hw_lattice_make(const struct hw_lattice *lattice, hw_count first, hw_count count,
                     hw_gid *source, hw_gid *target)
{
    int d = 0;

    for (hw_count i = 0; i < count; i++) {
        const uint64_t index = (uint64_t)(first + i);
        while (index >= lattice->first_edge[d + 1])
            d++;
        make_one(lattice, d, index - lattice->first_edge[d], source + i, target + i);
    }
}
