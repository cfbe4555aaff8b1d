/* Units of lib/comm/node_window: memory that all ranks share, at any rank count. */
#include "lib/comm/node_window.h"
#include "tests/tap/tap.h"

#include <stdint.h>

/* The words that all ranks store and add to. */
struct words {
    uint64_t sum, own[];
};

static void test_applies(struct tap *tap, struct hw_context *ctx)
{
    const struct hw_context as_it_is = *ctx;

    tap_ok(tap, hw_node_window_applies(ctx) == (ctx->size > 1),
           "ranks of this machine, if several, can share memory");
    hw_context_group(ctx, 1);
    tap_ok(tap, !hw_node_window_applies(ctx), "but not where each rank counts as a node");
    *ctx = as_it_is;
}

/* Whether every rank sees zeros, then what all have stored, then what all have added. */
static void test_words(struct tap *tap, const struct hw_context *ctx, struct hw_node_window *window,
                       struct hw_error *err)
{
    struct words *words = window->memory;
    const uint64_t size = (uint64_t)ctx->size;
    bool zero = words->sum == 0, stored = true;

    for (int r = 0; r < ctx->size; r++)
        zero = zero && words->own[r] == 0;
    tap_ok(tap, zero && hw_node_window_barrier(window, err) == HW_OK, "they are zeros at first");
    words->own[ctx->rank] = (uint64_t)ctx->rank + 1;
    tap_ok(tap, hw_node_window_barrier(window, err) == HW_OK, "a barrier");
    for (int r = 0; r < ctx->size; r++)
        stored = stored && words->own[r] == (uint64_t)r + 1;
    tap_ok(tap, stored, "after which each rank sees what all have stored");
    for (int k = 0; k < 1000; k++)
        __atomic_fetch_add(&words->sum, words->own[ctx->rank], __ATOMIC_RELAXED);
    tap_ok(tap,
           hw_node_window_barrier(window, err) == HW_OK &&
               words->sum == 1000 * size * (size + 1) / 2,
           "atomic additions of all ranks are all there");
}

static void test_window(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_node_window window = {0};
    struct hw_error err = {{0}};

    tap_ok(tap,
           hw_node_window_open(&window, ctx, (ctx->size + 1) * (hw_count)sizeof(uint64_t), &err) ==
                   HW_OK &&
               window.memory,
           "memory of all ranks");
    test_words(tap, ctx, &window, &err);
    hw_node_window_close(&window);
    tap_ok(tap, !window.memory && window.bytes == 0, "it is closed");
    tap_ok(tap, hw_node_window_open(&window, ctx, INT64_MAX / 2, &err) == HW_OK && !window.memory,
           "more than there is is none, and no error");
    hw_node_window_close(&window);
    hw_node_window_close(&window);
}

static void test_arrays(struct tap *tap)
{
    _Alignas(64) char memory[256];
    char *at = memory;

    tap_ok(tap,
           hw_node_window_next(&at, 3, 8) == memory && at == memory + 64 &&
               hw_node_window_next(&at, 65, 1) == memory + 64 && at == memory + 192,
           "arrays begin with cache lines");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, ctx->size > 1 ? 10 : 3);
    test_applies(tap, ctx);
    test_arrays(tap);
    if (ctx->size > 1)
        test_window(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_node_window", tests);
}
