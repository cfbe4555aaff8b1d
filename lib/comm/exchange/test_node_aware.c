/*
 * The node-aware exchange on ranks that are grouped into nodes of several sizes: all bytes
 * arrive, also of messages in many pieces, and the internode traffic is what the formulas give.
 */
#include "lib/comm/halo_exchange.h"
#include "tests/fixtures/exchange_trial.h"
#include "tests/tap/tap.h"

enum { MESSAGE_MAX = 50000, TRIALS = 6 };

/* Buffers apart from the host's shared memory, here of the same kind. */
struct apart {
    const struct hw_nodes *nodes;
    MPI_Win window;
};

/* Bytes of rank r for rank q: often none, sometimes many pieces. */
static hw_count bytes_of(const struct trial *trial, int r, int q)
{
    const unsigned key = (unsigned)(trial->same ? 7 * r : 7 * r + 3 * q) + (unsigned)trial->number;
    static const hw_count sizes[] = {0, 1, 4096, MESSAGE_MAX, 13, 20000, 8192};

    if (trial->same && (r + q + trial->number) % 4 == 0)
        return 0;
    return sizes[key % (sizeof sizes / sizeof *sizes)];
}

/* One message to each other node that gets any: all that goes there, or one copy. */
static struct hw_internode_traffic formula(const struct trial *trial)
{
    const struct hw_nodes *nodes = trial->nodes;
    const int me = trial->ctx->rank;
    struct hw_internode_traffic internode = {0, 0};

    for (int n = 0; n < nodes->count; n++) {
        hw_count all = 0;
        for (int q = 0; q < nodes->ranks && n != nodes->node[me]; q++) {
            const hw_count bytes = nodes->node[q] == n ? bytes_of(trial, me, q) : 0;
            all = !trial->same ? all + bytes : bytes > all ? bytes : all;
        }
        internode.bytes += all;
        internode.messages += all > 0;
    }
    return internode;
}

static void try(struct tap *tap, struct hw_halo *halo, struct trial *trial)
{
    const struct hw_internode_traffic wanted = formula(trial);
    const char *kind = trial->same ? "one for all" : "each its own";
    struct hw_traffic traffic;
    struct hw_error err = {{0}};

    trial_fill(trial);
    enum hw_status status = trial_exchange(trial, halo, HW_OK, &traffic, &err);
    const struct hw_internode_traffic internode = traffic.internode;
    tap_ok(tap, status == HW_OK && trial_right(trial), "%s, try %d: all bytes arrived", kind,
           trial->number);
    tap_ok(tap, internode.bytes == wanted.bytes && internode.messages == wanted.messages,
           "internode traffic");
}

static enum hw_status open_apart(void *self, hw_count bytes, char **at, struct hw_error *err)
{
    struct apart *apart = self;
    char *own = NULL;
    enum hw_status status =
        hw_mpi(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, apart->nodes->inside,
                                       &own, &apart->window),
               "MPI_Win_allocate_shared", err);
    int ranks = 0;

    MPI_Comm_size(apart->nodes->inside, &ranks);
    for (int k = 0; k < ranks && status == HW_OK; k++) {
        MPI_Aint size = 0;
        int unit = 0;
        status = hw_mpi(MPI_Win_shared_query(apart->window, k, &size, &unit, &at[k]),
                        "MPI_Win_shared_query", err);
    }
    return status;
}

/* Nodes of `together` ranks. */
static void try_nodes(struct tap *tap, const struct hw_context *ctx, int together, bool elsewhere,
                      struct trial *trial)
{
    struct hw_error err = {{0}};
    struct hw_nodes nodes;
    struct hw_halo halo = {0};
    struct apart apart = {.nodes = &nodes, .window = MPI_WIN_NULL};
    const struct hw_memory_ops ops = {.self = &apart,
                                      .copy = hw_memory_ops_host.copy,
                                      .wait = hw_memory_ops_host.wait,
                                      .allocate = elsewhere ? open_apart : NULL};
    int count = (ctx->size + together - 1) / together;

    enum hw_status status = hw_nodes_open(ctx, together, &nodes, &err);
    tap_ok(tap, status == HW_OK && (nodes.count == count || ctx->node_size < ctx->size),
           "nodes of %d%s", together, elsewhere ? ", buffers elsewhere" : "");
    if (status == HW_OK)
        status = hw_halo_open(&halo,
                              &(struct hw_halo_setup){.kind = HW_HALO_NODE_AWARE,
                                                      .comm = ctx->world,
                                                      .ctx = ctx,
                                                      .nodes = &nodes,
                                                      .ops = &ops,
                                                      .shared_bytes = 100000},
                              &err);
    tap_ok(tap, status == HW_OK, "shared memory");
    trial->nodes = &nodes;
    for (trial->number = 0; trial->number < TRIALS && status == HW_OK; trial->number++) {
        trial->same = trial->number % 2 == 1;
        try(tap, &halo, trial);
    }
    hw_halo_close(&halo);
    if (apart.window != MPI_WIN_NULL)
        MPI_Win_free(&apart.window);
    hw_nodes_free(&nodes);
}

/* A failure to copy, on one rank. */
static enum hw_status cannot(void *self, bool out, void *to, const void *from, size_t bytes,
                             struct hw_error *err)
{
    const struct hw_context *ctx = self;

    memcpy(to, from, bytes);
    if (out && ctx->rank == ctx->size - 1)
        return hw_fail(err, HW_RESOURCES, "as asked for");
    return HW_OK;
}

/* The others do not wait for a rank that fails, and all return its failure. */
static void test_failure(struct tap *tap, const struct hw_context *ctx, struct trial *trial)
{
    const struct hw_memory_ops ops = {
        .self = (void *)(uintptr_t)ctx, .copy = cannot, .wait = hw_memory_ops_host.wait};
    const int ranks = ctx->size;
    struct hw_traffic traffic;
    struct hw_error err = {{0}};
    struct hw_nodes nodes;
    struct hw_halo halo = {0};

    enum hw_status status = hw_nodes_open(ctx, 2, &nodes, &err);
    if (status == HW_OK)
        status = hw_halo_open(&halo,
                              &(struct hw_halo_setup){.kind = HW_HALO_NODE_AWARE,
                                                      .comm = ctx->world,
                                                      .ctx = ctx,
                                                      .nodes = &nodes,
                                                      .ops = &ops,
                                                      .shared_bytes = 0},
                              &err);
    trial->number = 0;
    trial->same = false;
    for (int q = 0; q < ranks; q++) {
        trial->count[q] = trial->count[2 * ranks + q] = (hw_count)q * MESSAGE_MAX;
        trial->count[ranks + q] = trial->count[3 * ranks + q] = MESSAGE_MAX;
    }
    if (status == HW_OK)
        status = trial_exchange(trial, &halo, HW_OK, &traffic, &err);
    tap_ok(tap, status == (ranks > 1 ? HW_RESOURCES : HW_OK), "a failure is everyone's");
    if (halo.node_aware)
        status = trial_exchange(trial, &halo, ctx->rank == ranks - 1 ? HW_INTERNAL : HW_OK,
                                &traffic, &err);
    tap_ok(tap, status == HW_INTERNAL, "one before the exchange, too");
    hw_halo_close(&halo);
    hw_nodes_free(&nodes);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 115);
    struct trial trial = {.ctx = ctx, .max = MESSAGE_MAX, .bytes_of = bytes_of};
    const bool opened = trial_open(&trial);

    tap_ok(tap, opened, "memory for messages");
    for (int together = 1; together <= 4 && opened; together++)
        try_nodes(tap, ctx, together, false, &trial);
    for (int together = 1; together <= 4 && opened; together++)
        try_nodes(tap, ctx, together, true, &trial);
    if (opened)
        test_failure(tap, ctx, &trial);
    trial_close(&trial);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_node_aware", tests);
}
