/*
 * Block-cyclic numbering of vertices over parts: blocks of HW_CYCLIC_BLOCK local ids of each part
 * in turn.
 *
 *   global = (local / HW_CYCLIC_BLOCK * parts + part) * HW_CYCLIC_BLOCK + local % HW_CYCLIC_BLOCK
 *
 * If each part numbers its vertices by falling degree, so does the global numbering, nearly; and a
 * block of a bitmap over global numbers (64 bytes) belongs to one part.
 */
#ifndef HOPWAVE_GPU_GRAPH_BLOCK_CYCLIC_H
#define HOPWAVE_GPU_GRAPH_BLOCK_CYCLIC_H

#include "lib/base/types.h"

#include <stdint.h>

#define HW_CYCLIC_BLOCK 512u

/* The global number of a part's local one. */
static inline HW_KERNEL_CALLABLE uint32_t hw_block_cyclic_vertex(uint32_t parts, uint32_t part,
                                                                 uint32_t local)
{
    return (local / HW_CYCLIC_BLOCK * parts + part) * HW_CYCLIC_BLOCK + local % HW_CYCLIC_BLOCK;
}

#endif
