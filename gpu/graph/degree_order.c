#include "gpu/graph/degree_order.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <stdlib.h>

hw_count hw_list_length(const struct hw_csr *lists, hw_lid v)
{
    return lists->offset[v + 1] - lists->offset[v];
}

hw_count hw_degree_of(const struct hw_part *part, hw_lid v)
{
    return hw_list_length(&part->grid.out, v) +
           (part->directed ? hw_list_length(&part->grid.in, v) : 0);
}

bool hw_degrees_fall(const struct hw_part *part)
{
    hw_count rises = 0;

#pragma omp parallel for reduction(+ : rises)
    for (hw_lid v = 1; v < part->own.count; v++)
        rises += hw_degree_of(part, v) > hw_degree_of(part, v - 1);
    return rises == 0;
}

/* Sort keys that rise as degrees fall, and their positions. Returns the number of bits of the keys.
 */
static int fill_keys(const struct hw_part *part, uint64_t *key, hw_lid *position)
{
    hw_count max_degree = 0;

#pragma omp parallel for reduction(max : max_degree)
    for (hw_lid v = 0; v < part->own.count; v++)
        max_degree = hw_degree_of(part, v) > max_degree ? hw_degree_of(part, v) : max_degree;
#pragma omp parallel for
    for (hw_lid v = 0; v < part->own.count; v++) {
        key[v] = (uint64_t)(max_degree - hw_degree_of(part, v));
        position[v] = v;
    }
    return hw_bits((uint64_t)max_degree + 1);
}

enum hw_status hw_order_by_degree(const struct hw_part *part, hw_lid **position, hw_lid **vertex,
                                  struct hw_error *err)
{
    const hw_lid n = part->own.count;
    uint64_t *key = NULL;
    enum hw_status status = hw_alloc(&key, n, sizeof *key, "degrees", err);

    if (status == HW_OK)
        status = hw_alloc(position, n, sizeof **position, "positions", err);
    if (status == HW_OK)
        status = hw_alloc(vertex, n, sizeof **vertex, "vertices", err);
    if (status == HW_OK)
        status = hw_sort(key, *position, n, fill_keys(part, key, *position), err);
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid v = 0; v < n; v++)
            (*vertex)[(*position)[v]] = v;
    }
    free(key);
    return status;
}
