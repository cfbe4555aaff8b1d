/*
 * Times the exchange of lists between all ranks in the ways that MPI offers, for the message sizes
 * of searches: doc/communication.md has results.
 *
 *   mpirun -n RANKS ./exchange-variants [REPETITIONS]
 *
 * Each rank sends `bytes` bytes to each other rank, as the halo exchange does when all lists have
 * one length. Variants take turns, and the least and the median time of the slowest rank are
 * printed, so that other load on the machine disturbs little.
 */
#include "lib/base/memory.h"
#include "lib/comm/halo_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum variant { HALO, ALLTOALLV, NEIGHBOR, PERSISTENT, VARIANTS };
enum { BYTES_MAX = 1 << 20, TAG = 7 };

static const char *const names[VARIANTS] = {"halo", "alltoallv", "neighbor_alltoallv",
                                            "persistent"};

struct bench {
    const struct hw_context *ctx;
    struct hw_halo halo;
    MPI_Comm neighbors; /* a graph communicator: all other ranks */
    char *out, *in;     /* [ranks][BYTES_MAX] */
    int *count, *at;    /* [ranks] */
    int *near_count, *near_at;
    MPI_Request *request; /* [2 ranks] persistent */
    int requests;
};

static enum hw_status open_neighbors(struct bench *bench, struct hw_error *err)
{
    const int ranks = bench->ctx->size;
    int *others = NULL, count = 0;

    HW_TRY(hw_alloc(&others, ranks, sizeof *others, "ranks", err));
    for (int r = 0; r < ranks; r++)
        if (r != bench->ctx->rank)
            others[count++] = r;
    enum hw_status status = hw_mpi(
        MPI_Dist_graph_create_adjacent(bench->ctx->world, count, others, MPI_UNWEIGHTED, count,
                                       others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &bench->neighbors),
        "MPI_Dist_graph_create_adjacent", err);
    free(others);
    return status;
}

/* Messages of `bytes` to each other rank, for all variants. */
static enum hw_status set_bytes(struct bench *bench, int bytes, struct hw_error *err)
{
    const int ranks = bench->ctx->size, me = bench->ctx->rank;
    int near = 0;

    bench->requests = 0;
    for (int r = 0; r < ranks; r++) {
        const int length = r == me ? 0 : bytes;
        char *out = bench->out + (size_t)r * BYTES_MAX, *in = bench->in + (size_t)r * BYTES_MAX;
        bench->halo.message[r] =
            (struct hw_halo_message){.out = out, .in = in, .out_bytes = length, .in_bytes = length};
        bench->count[r] = length;
        bench->at[r] = r * BYTES_MAX;
        if (r == me)
            continue;
        bench->near_count[near] = length;
        bench->near_at[near++] = r * BYTES_MAX;
        MPI_Request *request = &bench->request[bench->requests];
        HW_TRY(hw_mpi(MPI_Recv_init(in, length, MPI_BYTE, r, TAG, bench->ctx->world, &request[0]),
                      "MPI_Recv_init", err));
        HW_TRY(hw_mpi(MPI_Send_init(out, length, MPI_BYTE, r, TAG, bench->ctx->world, &request[1]),
                      "MPI_Send_init", err));
        bench->requests += 2;
    }
    return HW_OK;
}

static void free_requests(struct bench *bench)
{
    for (int r = 0; r < bench->requests; r++)
        MPI_Request_free(&bench->request[r]);
    bench->requests = 0;
}

static enum hw_status exchange(struct bench *bench, enum variant variant, struct hw_error *err)
{
    struct hw_traffic traffic = {0};

    switch (variant) {
    case HALO:
        return hw_halo_exchange(&bench->halo, NULL, &traffic, err);
    case ALLTOALLV:
        return hw_mpi(MPI_Alltoallv(bench->out, bench->count, bench->at, MPI_BYTE, bench->in,
                                    bench->count, bench->at, MPI_BYTE, bench->ctx->world),
                      "MPI_Alltoallv", err);
    case NEIGHBOR:
        return hw_mpi(MPI_Neighbor_alltoallv(bench->out, bench->near_count, bench->near_at,
                                             MPI_BYTE, bench->in, bench->near_count, bench->near_at,
                                             MPI_BYTE, bench->neighbors),
                      "MPI_Neighbor_alltoallv", err);
    default:
        HW_TRY(hw_mpi(MPI_Startall(bench->requests, bench->request), "MPI_Startall", err));
        for (int r = 0; r < bench->requests; r++)
            HW_TRY(hw_mpi(MPI_Wait(&bench->request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
        return HW_OK;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One message size: `times` turns of each variant. */
static enum hw_status run_bytes(struct bench *bench, int bytes, int times, double *seconds,
                                struct hw_error *err)
{
    HW_TRY(set_bytes(bench, bytes, err));
    for (int t = 0; t < times; t++)
        for (int v = 0; v < VARIANTS; v++) {
            HW_TRY(hw_mpi(MPI_Barrier(bench->ctx->world), "MPI_Barrier", err));
            const double start = hw_seconds();
            HW_TRY(exchange(bench, (enum variant)v, err));
            seconds[v * times + t] = hw_seconds() - start;
        }
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, seconds, VARIANTS * times, MPI_DOUBLE, MPI_MAX,
                                bench->ctx->world),
                  "MPI_Allreduce", err));
    for (int v = 0; v < VARIANTS && bench->ctx->rank == 0; v++) {
        qsort(seconds + v * times, (size_t)times, sizeof *seconds, compare);
        printf("%d\t%d\t%s\t%.2f\t%.2f\n", bench->ctx->size, bytes, names[v],
               1e6 * seconds[v * times], 1e6 * seconds[v * times + times / 2]);
    }
    free_requests(bench);
    return HW_OK;
}

static enum hw_status run_all(struct bench *bench, int times, struct hw_error *err)
{
    const hw_count ranks = bench->ctx->size;
    double *seconds = NULL;

    HW_TRY(hw_alloc_zero(&bench->out, ranks * BYTES_MAX, 1, "messages", err));
    HW_TRY(hw_alloc_zero(&bench->in, ranks * BYTES_MAX, 1, "messages", err));
    HW_TRY(hw_alloc(&bench->count, 4 * ranks, sizeof *bench->count, "counts", err));
    bench->at = bench->count + ranks;
    bench->near_count = bench->at + ranks;
    bench->near_at = bench->near_count + ranks;
    HW_TRY(hw_alloc(&bench->request, 2 * ranks, sizeof *bench->request, "requests", err));
    HW_TRY(hw_alloc(&seconds, (hw_count)VARIANTS * times, sizeof *seconds, "times", err));
    HW_TRY(hw_halo_open(
        &bench->halo,
        &(struct hw_halo_setup){.comm = bench->ctx->world, .ranks_per_node = (int)ranks}, err));
    HW_TRY(open_neighbors(bench, err));
    if (bench->ctx->rank == 0)
        printf("ranks\tbytes\tvariant\tleast_us\tmedian_us\n");
    for (int bytes = 64; bytes <= BYTES_MAX; bytes *= 8)
        HW_TRY(run_bytes(bench, bytes, times, seconds, err));
    free(seconds);
    return HW_OK;
}

int main(int argc, char **argv)
{
    struct hw_context ctx;
    struct hw_error err = {{0}};
    struct bench bench = {.ctx = &ctx, .neighbors = MPI_COMM_NULL};
    enum hw_status status = hw_context_open(&ctx, &argc, &argv, "exchange-variants", &err);

    if (status == HW_OK)
        status = run_all(&bench, argc > 1 ? atoi(argv[1]) : 500, &err);
    if (bench.neighbors != MPI_COMM_NULL)
        MPI_Comm_free(&bench.neighbors);
    hw_halo_close(&bench.halo);
    free(bench.out);
    free(bench.in);
    free(bench.count);
    free(bench.request);
    return hw_context_close(&ctx, status, &err);
}
