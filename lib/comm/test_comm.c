/* Units of lib/comm: agreement on errors and the exchanges, at any rank count. */
#include "lib/comm/context.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/start/mpi_start.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_agree(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    int last = ctx->size - 1;

    tap_ok(tap, hw_agree(ctx->world, HW_OK, &err) == HW_OK, "all well is well");
    enum hw_status mine = HW_OK;
    if (ctx->rank == last)
        mine = hw_fail(&err, HW_BAD_INPUT, "rank %d failed", last);
    tap_ok(tap, hw_agree(ctx->world, mine, &err) == HW_BAD_INPUT, "one failure is everyone's");
    tap_ok(tap, strncmp(err.text, "rank ", 5) == 0 && atoi(err.text + 5) == last,
           "with the message of the rank that failed");
    mine = hw_fail(&err, ctx->rank == 0 ? HW_CHECK_FAILED : HW_RESOURCES, "rank %d", ctx->rank);
    tap_ok(tap, hw_agree(ctx->world, mine, NULL) == (last ? HW_RESOURCES : HW_CHECK_FAILED),
           "the most severe wins, without a buffer too");
}

/* Sends to rank r as many elements as r + 1, each naming sender and receiver. */
static void test_exchange(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    hw_count *send_count = calloc((size_t)ctx->size * 2, sizeof *send_count);
    hw_count *receive_count = send_count + ctx->size;
    hw_count total = 0, before = -1;
    uint64_t(*send)[3] = calloc((size_t)(ctx->size * (ctx->size + 1)), sizeof *send);
    uint64_t(*received)[3] = NULL;
    bool right = true;

    for (int r = 0; r < ctx->size; r++) {
        send_count[r] = r + 1;
        for (int i = 0; i <= r; i++, total++) {
            send[total][0] = (uint64_t)ctx->rank;
            send[total][1] = (uint64_t)r;
            send[total][2] = (uint64_t)i;
        }
    }
    tap_ok(tap,
           hw_alltoallv(ctx->world, sizeof *send, send, send_count, &received, receive_count,
                        &err) == HW_OK,
           "exchange");
    for (int r = 0, at = 0; r < ctx->size && received; r++) {
        right = right && receive_count[r] == ctx->rank + 1;
        for (int i = 0; i <= ctx->rank; i++, at++)
            right = right && received[at][0] == (uint64_t)r &&
                    received[at][1] == (uint64_t)ctx->rank && received[at][2] == (uint64_t)i;
    }
    tap_ok(tap, right && received, "everything came, in rank order");
    tap_ok(tap, hw_prefix_sum(ctx->world, 2, &before, &err) == HW_OK && before == 2 * ctx->rank,
           "prefix sum");
    tap_ok(tap,
           hw_sum(ctx->world, &before, &err) == HW_OK &&
               before == (hw_count)ctx->size * (ctx->size - 1),
           "sum");
    free(send_count);
    free(send);
    free(received);
}

/* The status of a child that exits with 1, as ROMIO has a rank do where memory ends, and what it
 * prints; -1: it did not end by itself. */
static int exit_of_child(const char *program, char *printed, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t got = 0;

    if (pipe(ends) != 0)
        abort();
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        hw_mpi_guard(program);
        exit(1);
    }
    close(ends[1]);
    while (child > 0 && length + 1 < size &&
           (got = read(ends[0], printed + length, size - 1 - length)) > 0)
        length += (size_t)got;
    printed[length] = '\0';
    hw_make_line(printed);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_guard(struct tap *tap)
{
    char printed[1000];

    tap_ok(tap, exit_of_child("prog", printed, sizeof printed) == HW_RESOURCES,
           "where MPI exits with 1, a program ends with %d", HW_RESOURCES);
    tap_ok(tap, strstr(printed, "prog: MPI ended this process") != NULL, "and says so: %s",
           printed);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 10);
    test_guard(tap);
    test_agree(tap, ctx);
    test_exchange(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_comm", tests);
}
