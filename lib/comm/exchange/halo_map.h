/*
 * Halo map: which elements of this rank are ghosts (copies of elements that other ranks own), and
 * which own elements are mirrors (other ranks have ghosts of them). The star forest of PETSc's
 * PetscSF: mirrors are its roots, ghosts its leaves. Values are exchanged by rank, and for each
 * pair of ranks in one order on both sides.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_HALO_MAP_H
#define HOPWAVE_COMM_EXCHANGE_HALO_MAP_H

#include "lib/comm/context.h"

/* The arrays belong to the user. */
struct hw_halo_map {
    hw_count *ghost_count;  /* [ranks] ghosts of elements that each rank owns */
    hw_count *mirror_count; /* [ranks] own elements of which each rank has ghosts */
    hw_lid *ghost_first;    /* [ranks+1] where the ghosts of each rank begin */
    hw_lid *mirror_first;   /* [ranks+1] likewise */
    hw_lid *mirror;         /* [mirrors] the own elements that they are */
    hw_lid mirrors;         /* mirror_first[ranks] */
};

/* Broadcast, owners to ghosts: the values of all mirrors, of `size` bytes each, become those of
 * the ghosts. Needs the counts alone. Collective over comm; ranks agree. */
enum hw_status hw_halo_map_broadcast(const struct hw_halo_map *map, MPI_Comm comm, size_t size,
                                     const void *mirror, void *ghost, struct hw_error *err);

/* Gather, ghosts to owners: the values of all ghosts, one for each mirror, for the caller to
 * reduce. Needs the counts alone. Collective over comm; ranks agree. */
enum hw_status hw_halo_map_gather(const struct hw_halo_map *map, MPI_Comm comm, size_t size,
                                  const void *ghost, void *mirror, struct hw_error *err);

#endif
