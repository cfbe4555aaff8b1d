/*
 * Exchanges that go between nodes once, on ranks that are told apart into nodes of several
 * sizes: everything comes, of messages in many pieces too, and as much crosses as the formulas
 * say.
 */
#include "comm/nodewise.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 50000, TRIALS = 6 };

/* Rooms apart from the host's shared memory, here of the same kind. */
struct apart {
    const struct hw_nodes *nodes;
    MPI_Win window;
};

/* One exchange between all ranks. */
struct trial {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    int number;
    bool same;
    char *memory;    /* what goes out, one rank's MOST bytes after another's, then what comes */
    hw_count *count; /* [4][ranks]: offsets and bytes that go, offsets and bytes that come */
};

/* Bytes of rank r for rank q: often none, sometimes many pieces. */
static hw_count bytes_of(const struct trial *trial, int r, int q)
{
    const unsigned key = (unsigned)(trial->same ? 7 * r : 7 * r + 3 * q) + (unsigned)trial->number;
    static const hw_count sizes[] = {0, 1, 4096, MOST, 13, 20000, 8192};

    if (trial->same && (r + q + trial->number) % 4 == 0)
        return 0;
    return sizes[key % (sizeof sizes / sizeof *sizes)];
}

static char letter(const struct trial *trial, int r, int q, hw_count at)
{
    return (char)(r * 31 + (trial->same ? 0 : q * 17) + trial->number + at + at / 251);
}

static void fill(struct trial *trial)
{
    const int ranks = trial->ctx->size, me = trial->ctx->rank;

    memset(trial->memory, 0, (size_t)2 * (size_t)ranks * MOST);
    for (int q = 0; q < ranks; q++) {
        const hw_count offset = trial->same ? 0 : (hw_count)q * MOST;
        const hw_count bytes = bytes_of(trial, me, q);
        trial->count[q] = offset;
        trial->count[ranks + q] = bytes;
        trial->count[2 * ranks + q] = (hw_count)(ranks + q) * MOST;
        trial->count[3 * ranks + q] = bytes_of(trial, q, me);
        for (hw_count i = 0; i < bytes; i++)
            trial->memory[offset + i] = letter(trial, me, q, i);
    }
}

/* Whether what came is what was sent, and no more. */
static bool right(const struct trial *trial)
{
    const int ranks = trial->ctx->size, me = trial->ctx->rank;

    for (int r = 0; r < ranks; r++) {
        const char *came = trial->memory + (size_t)(ranks + r) * MOST;
        const hw_count bytes = bytes_of(trial, r, me);
        for (hw_count i = 0; i < MOST; i++)
            if (came[i] != (i < bytes ? letter(trial, r, me, i) : 0))
                return false;
    }
    return true;
}

/* One message to each other node that gets any: all that goes there, or one copy. */
static struct hw_crossed formula(const struct trial *trial)
{
    const struct hw_nodes *nodes = trial->nodes;
    const int me = trial->ctx->rank;
    struct hw_crossed crossed = {0, 0};

    for (int n = 0; n < nodes->count; n++) {
        hw_count all = 0;
        for (int q = 0; q < nodes->ranks && n != nodes->node[me]; q++) {
            const hw_count bytes = nodes->node[q] == n ? bytes_of(trial, me, q) : 0;
            all = !trial->same ? all + bytes : bytes > all ? bytes : all;
        }
        crossed.bytes += all;
        crossed.messages += all > 0;
    }
    return crossed;
}

static void try(struct tap *tap, struct hw_nodewise *exchanges, struct trial *trial)
{
    const int ranks = trial->ctx->size;
    const struct hw_nodewise_load load = {.base = trial->memory,
                                          .send_offset = trial->count,
                                          .send_bytes = trial->count + ranks,
                                          .receive_offset = trial->count + 2 * ranks,
                                          .receive_bytes = trial->count + 3 * ranks,
                                          .same = trial->same};
    const struct hw_crossed wanted = formula(trial);
    const char *kind = trial->same ? "one for all" : "each its own";
    struct hw_error err = {{0}};

    fill(trial);
    enum hw_status status = hw_nodewise_exchange(exchanges, &load, &err);
    const struct hw_crossed crossed = hw_nodewise_crossed(exchanges);
    tap_ok(tap, status == HW_OK && right(trial), "%s, try %d: everything came", kind,
           trial->number);
    tap_ok(tap, crossed.bytes == wanted.bytes && crossed.messages == wanted.messages,
           "and crossed once");
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
    struct hw_nodewise *exchanges = NULL;
    struct apart apart = {.nodes = &nodes, .window = MPI_WIN_NULL};
    const struct hw_nodewise_mover mover = {.self = &apart,
                                            .copy = hw_nodewise_plain.copy,
                                            .wait = hw_nodewise_plain.wait,
                                            .rooms = elsewhere ? open_apart : NULL};
    int count = (ctx->size + together - 1) / together;

    enum hw_status status = hw_nodes_open(ctx, together, &nodes, &err);
    tap_ok(tap, status == HW_OK && (nodes.count == count || ctx->node_size < ctx->size),
           "nodes of %d%s", together, elsewhere ? ", rooms elsewhere" : "");
    if (status == HW_OK)
        status = hw_nodewise_open(ctx, &nodes, 100000, &mover, &exchanges, &err);
    tap_ok(tap, status == HW_OK, "shared memory");
    trial->nodes = &nodes;
    for (trial->number = 0; trial->number < TRIALS && status == HW_OK; trial->number++) {
        trial->same = trial->number % 2 == 1;
        try(tap, exchanges, trial);
    }
    hw_nodewise_close(exchanges);
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

/* The others do not wait for a rank that fails, and all hear of it. */
static void test_failure(struct tap *tap, const struct hw_context *ctx, struct trial *trial)
{
    const struct hw_nodewise_mover mover = {
        .self = (void *)(uintptr_t)ctx, .copy = cannot, .wait = hw_nodewise_plain.wait};
    const int ranks = ctx->size;
    struct hw_nodewise_load load = {.base = trial->memory,
                                    .send_offset = trial->count,
                                    .send_bytes = trial->count + ranks,
                                    .receive_offset = trial->count + 2 * ranks,
                                    .receive_bytes = trial->count + 3 * ranks};
    struct hw_error err = {{0}};
    struct hw_nodes nodes;
    struct hw_nodewise *exchanges = NULL;

    enum hw_status status = hw_nodes_open(ctx, 2, &nodes, &err);
    if (status == HW_OK)
        status = hw_nodewise_open(ctx, &nodes, 0, &mover, &exchanges, &err);
    trial->number = 0;
    trial->same = false;
    for (int q = 0; q < ranks; q++) {
        trial->count[q] = trial->count[2 * ranks + q] = (hw_count)q * MOST;
        trial->count[ranks + q] = trial->count[3 * ranks + q] = MOST;
    }
    if (status == HW_OK)
        status = hw_nodewise_exchange(exchanges, &load, &err);
    tap_ok(tap, status == (ranks > 1 ? HW_RESOURCES : HW_OK), "a failure is everyone's");
    load.status = ctx->rank == ranks - 1 ? HW_INTERNAL : HW_OK;
    if (exchanges)
        status = hw_nodewise_exchange(exchanges, &load, &err);
    tap_ok(tap, status == HW_INTERNAL, "one before the exchange, too");
    hw_nodewise_close(exchanges);
    hw_nodes_free(&nodes);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    const size_t ranks = (size_t)ctx->size;
    struct trial trial = {.ctx = ctx,
                          .memory = malloc(2 * ranks * MOST),
                          .count = malloc(4 * ranks * sizeof *trial.count)};
    for (int together = 1; together <= 4 && trial.memory && trial.count; together++)
        try_nodes(tap, ctx, together, false, &trial);
    for (int together = 1; together <= 4 && trial.memory && trial.count; together++)
        try_nodes(tap, ctx, together, true, &trial);
    test_failure(tap, ctx, &trial);
    free(trial.memory);
    free(trial.count);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_nodewise", tests);
}
