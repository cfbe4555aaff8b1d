/*
 * Counts the bytes that each rank hands to MPI between MPI_Pcontrol(1) and
 * MPI_Pcontrol(0), through MPI's profiling interface: linked into a program it
 * stands between the program and the library, independent of the engines' own
 * traffic counters.
 *
 * Counted are the bytes for other ranks. A collective whose traffic depends on
 * the library's algorithm counts as the papers' models do: an all-reduce of B
 * bytes over p ranks as 2 B (p-1)/p a rank, an all-gather as B for each of the
 * p-1 others. Barriers count nothing.
 *
 * At MPI_Finalize rank 0 writes one line a rank to $HW_COUNT_FILE: the rank,
 * the bytes, the calls.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A profiling layer has no other place for its state. */
static struct {
    bool on;
    int64_t bytes, calls;
} counted;

static int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    return count * size;
}

static void add(int64_t bytes)
{
    if (counted.on && bytes > 0) {
        counted.bytes += bytes;
        counted.calls++;
    }
}

static int rank_in(MPI_Comm comm)
{
    int rank = 0;

    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int ranks_in(MPI_Comm comm)
{
    int ranks = 1;

    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

int MPI_Pcontrol(const int level, ...)
{
    counted.on = level != 0;
    return MPI_SUCCESS;
}

static void add_send(int64_t count, MPI_Datatype type, int to, MPI_Comm comm)
{
    if (to != MPI_PROC_NULL && to != rank_in(comm))
        add(bytes_of(count, type));
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    add_send(count, type, to, comm);
    return PMPI_Send(buf, count, type, to, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    add_send(count, type, to, comm);
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *sbuf, int scount, MPI_Datatype stype, int to, int stag, void *rbuf,
                 int rcount, MPI_Datatype rtype, int from, int rtag, MPI_Comm comm,
                 MPI_Status *status)
{
    add_send(scount, stype, to, comm);
    return PMPI_Sendrecv(sbuf, scount, stype, to, stag, rbuf, rcount, rtype, from, rtag, comm,
                         status);
}

static void add_reduction(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
    int64_t ranks = ranks_in(comm);

    add(2 * bytes_of(count, type) * (ranks - 1) / ranks);
}

int MPI_Allreduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    add_reduction(count, type, comm);
    return PMPI_Allreduce(sbuf, rbuf, count, type, op, comm);
}

int MPI_Iallreduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    add_reduction(count, type, comm);
    return PMPI_Iallreduce(sbuf, rbuf, count, type, op, comm, request);
}

int MPI_Reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    if (rank_in(comm) != root)
        add(bytes_of(count, type));
    return PMPI_Reduce(sbuf, rbuf, count, type, op, root, comm);
}

int MPI_Reduce_scatter_block(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    add(bytes_of(count, type) * (ranks_in(comm) - 1));
    return PMPI_Reduce_scatter_block(sbuf, rbuf, count, type, op, comm);
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (rank_in(comm) == root)
        add(bytes_of(count, type) * (ranks_in(comm) - 1));
    return PMPI_Bcast(buf, count, type, root, comm);
}

/* What an all-gather of count elements a rank sends; in place, the count is
 * that of the receive side. */
static void add_gather(const void *sbuf, int64_t scount, MPI_Datatype stype, int64_t rcount,
                       MPI_Datatype rtype, MPI_Comm comm)
{
    int64_t mine = sbuf == MPI_IN_PLACE ? bytes_of(rcount, rtype) : bytes_of(scount, stype);

    add(mine * (ranks_in(comm) - 1));
}

int MPI_Allgather(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
                  MPI_Datatype rtype, MPI_Comm comm)
{
    add_gather(sbuf, scount, stype, rcount, rtype, comm);
    return PMPI_Allgather(sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

int MPI_Allgatherv(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf,
                   const int rcounts[], const int displs[], MPI_Datatype rtype, MPI_Comm comm)
{
    add_gather(sbuf, scount, stype, rcounts[rank_in(comm)], rtype, comm);
    return PMPI_Allgatherv(sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

int MPI_Alltoall(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
                 MPI_Datatype rtype, MPI_Comm comm)
{
    add_gather(sbuf, scount, stype, rcount, rtype, comm);
    return PMPI_Alltoall(sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

int MPI_Alltoallv(const void *sbuf, const int scounts[], const int sdispls[], MPI_Datatype stype,
                  void *rbuf, const int rcounts[], const int rdispls[], MPI_Datatype rtype,
                  MPI_Comm comm)
{
    for (int r = 0; r < ranks_in(comm); r++)
        add_send(scounts[r], stype, r, comm);
    return PMPI_Alltoallv(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
}

#if MPI_VERSION >= 4
int MPI_Alltoallv_c(const void *sbuf, const MPI_Count scounts[], const MPI_Aint sdispls[],
                    MPI_Datatype stype, void *rbuf, const MPI_Count rcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype rtype, MPI_Comm comm)
{
    for (int r = 0; r < ranks_in(comm); r++)
        add_send((int64_t)scounts[r], stype, r, comm);
    return PMPI_Alltoallv_c(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
}
#endif

int MPI_Finalize(void)
{
    const char *path = getenv("HW_COUNT_FILE");
    int64_t mine[2] = {counted.bytes, counted.calls};
    int ranks = ranks_in(MPI_COMM_WORLD);
    int64_t *all = calloc((size_t)ranks, sizeof mine);

    counted.on = false;
    PMPI_Gather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    FILE *file = path && all && rank_in(MPI_COMM_WORLD) == 0 ? fopen(path, "w") : NULL;
    for (int r = 0; file && r < ranks; r++)
        fprintf(file, "%d %" PRId64 " %" PRId64 "\n", r, all[2 * r], all[2 * r + 1]);
    if (file)
        fclose(file);
    free(all);
    return PMPI_Finalize();
}
