/*
 * The point-to-point halo exchange: all bytes arrive, in one piece and in many, the internode
 * traffic is what is sent to other nodes, and MPI is asked whether it accepts pointers to device
 * memory.
 */
#include "lib/comm/device_buffers.h"
#include "lib/comm/halo_exchange.h"
#include "tests/fixtures/exchange_trial.h"
#include "tests/tap/tap.h"

enum { MESSAGE_MAX = 5000, TRIALS = 4 };

int MPIX_Query_cuda_support(void);

/* Replaces MPI's function; HOPWAVE_TEST_CUDA decides. */
int MPIX_Query_cuda_support(void)
{
    return getenv("HOPWAVE_TEST_CUDA") != NULL;
}

/* Bytes of rank r for rank q, itself too: often none. */
static hw_count bytes_of(const struct trial *trial, int r, int q)
{
    static const hw_count sizes[] = {0, 1, 999, 1000, MESSAGE_MAX, 13, 2000};

    return sizes[(7 * r + 3 * q + 5 * trial->number) % 7];
}

static void try(struct tap *tap, struct hw_halo *halo, struct trial *trial)
{
    const int ranks = trial->ctx->size, me = trial->ctx->rank, *node = trial->nodes->node;
    struct hw_internode_traffic wanted = {0, 0};
    struct hw_traffic traffic;
    struct hw_error err = {{0}};

    trial_fill(trial);
    for (int q = 0; q < ranks; q++) {
        wanted.bytes += node[q] != node[me] ? bytes_of(trial, me, q) : 0;
        wanted.messages += node[q] != node[me] && bytes_of(trial, me, q) > 0;
    }
    enum hw_status status = trial_exchange(trial, halo, HW_OK, &traffic, &err);
    const struct hw_internode_traffic internode = traffic.internode;
    tap_ok(tap, status == HW_OK && trial_right(trial), "try %d: all bytes arrived", trial->number);
    tap_ok(tap, internode.bytes == wanted.bytes && internode.messages == wanted.messages,
           "internode traffic is counted");
}

/* A rank that failed before the exchange takes part, and all return its failure. */
static void try_failure(struct tap *tap, struct hw_halo *halo, struct trial *trial)
{
    struct hw_traffic traffic;
    struct hw_error err = {{0}};

    trial_fill(trial);
    enum hw_status status =
        trial_exchange(trial, halo, trial->ctx->rank == 0 ? HW_RESOURCES : HW_OK, &traffic, &err);
    tap_ok(tap, status == HW_RESOURCES && trial_right(trial), "a failure before is everyone's");
}

/* From the last rank to all. */
static void try_broadcast(struct tap *tap, struct hw_halo *halo, struct trial *trial)
{
    const int last = trial->ctx->size - 1;
    struct hw_error err = {{0}};
    bool fine = true;

    memset(trial->memory, 0, 2 * MESSAGE_MAX);
    for (hw_count i = 0; i < MESSAGE_MAX && trial->ctx->rank == last; i++)
        trial->memory[i] = trial_byte(trial, last, 0, i);
    enum hw_status status = hw_halo_broadcast(halo, last, trial->memory, MESSAGE_MAX,
                                              trial->memory + MESSAGE_MAX, &err);
    for (hw_count i = 0; i < MESSAGE_MAX; i++)
        fine = fine && trial->memory[MESSAGE_MAX + i] == trial_byte(trial, last, 0, i);
    tap_ok(tap, status == HW_OK && fine, "a broadcast comes whole");
}

/* Nodes of two ranks, pieces of so many bytes. */
static void try_pieces(struct tap *tap, struct trial *trial, hw_count piece)
{
    const struct hw_context *ctx = trial->ctx;
    struct hw_error err = {{0}};
    struct hw_nodes nodes;
    struct hw_halo halo = {0};
    enum hw_status status = hw_nodes_open(ctx, 2, &nodes, &err);

    if (status == HW_OK)
        status = hw_halo_open(
            &halo, &(struct hw_halo_setup){.comm = ctx->world, .nodes = &nodes, .piece = piece},
            &err);
    tap_ok(tap, status == HW_OK, "pieces of %d bytes", (int)piece);
    trial->nodes = &nodes;
    for (trial->number = 0; trial->number < TRIALS && status == HW_OK; trial->number++)
        try(tap, &halo, trial);
    if (status == HW_OK)
        try_broadcast(tap, &halo, trial);
    if (status == HW_OK)
        try_failure(tap, &halo, trial);
    hw_halo_close(&halo);
    hw_nodes_free(&nodes);
}

static void test_query(struct tap *tap)
{
    struct hw_error err = {{0}};

    tap_ok(tap,
           !hw_mpi_takes_device_pointers() && hw_mpi_require_device_pointers(&err) == HW_RESOURCES,
           "an MPI without: %s", err.text);
    setenv("HOPWAVE_TEST_CUDA", "1", 1);
    tap_ok(tap, hw_mpi_takes_device_pointers() && hw_mpi_require_device_pointers(&err) == HW_OK,
           "and one with it");
    unsetenv("HOPWAVE_TEST_CUDA");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 24);
    struct trial trial = {.ctx = ctx, .max = MESSAGE_MAX, .bytes_of = bytes_of};

    if (trial_open(&trial)) {
        try_pieces(tap, &trial, 0);
        try_pieces(tap, &trial, 1000);
    }
    test_query(tap);
    trial_close(&trial);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_point_to_point", tests);
}
