#include "lib/comm/exchange/halo_map.h"

#include "lib/comm/exchange/large_alltoallv.h"

enum hw_status hw_halo_map_broadcast(const struct hw_halo_map *map, MPI_Comm comm, size_t size,
                                     const void *mirror, void *ghost, struct hw_error *err)
{
    return hw_alltoallv_into(comm, size, mirror, map->mirror_count, ghost, map->ghost_count, err);
}

enum hw_status hw_halo_map_gather(const struct hw_halo_map *map, MPI_Comm comm, size_t size,
                                  const void *ghost, void *mirror, struct hw_error *err)
{
    return hw_alltoallv_into(comm, size, ghost, map->ghost_count, mirror, map->mirror_count, err);
}
