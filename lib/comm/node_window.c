#include "lib/comm/node_window.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define PAGE ((hw_count)4096)

hw_count hw_dev_shm_available(void)
{
    struct statvfs disk;

    if (statvfs("/dev/shm", &disk) != 0)
        return INT64_MAX;
    return (hw_count)disk.f_bavail * (hw_count)disk.f_frsize;
}

bool hw_node_window_applies(const struct hw_context *ctx)
{
    return ctx->size > 1 && ctx->one_node && ctx->node_size == ctx->size;
}

/* Asks for huge pages, which some systems have for shared memory, too. Only a hint. Local. */
static void ask_for_huge_pages(void *memory, hw_count bytes)
{
    const uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)memory + (uintptr_t)bytes) / HUGE_PAGE * HUGE_PAGE;

    if (begin < end)
        (void)madvise((char *)memory + (begin - (uintptr_t)memory), end - begin, MADV_HUGEPAGE);
}

/* Looks at every page, so that no search waits for a page fault. Each rank begins with its part,
 * whose pages are then near it. Local. */
static void touch(const struct hw_context *ctx, const char *memory, hw_count bytes)
{
    const hw_count pages = (bytes + PAGE - 1) / PAGE, first = pages * ctx->rank / ctx->size;

    for (hw_count p = 0; p < pages; p++)
        (void)*(volatile const char *)(memory + (first + p) % pages * PAGE);
}

/* Allocates the window; rank 0 has all of it. Collective. */
static enum hw_status allocate(struct hw_node_window *window, const struct hw_context *ctx,
                               hw_count bytes, struct hw_error *err)
{
    void *memory = NULL;
    MPI_Aint size = 0;
    int unit = 0;

    HW_TRY(hw_mpi(MPI_Win_allocate_shared(ctx->rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL,
                                          ctx->world, &memory, &window->window),
                  "MPI_Win_allocate_shared", err));
    HW_TRY(hw_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window->window), "MPI_Win_lock_all", err));
    HW_TRY(hw_mpi(MPI_Win_shared_query(window->window, 0, &size, &unit, &memory),
                  "MPI_Win_shared_query", err));
    window->memory = memory;
    ask_for_huge_pages(memory, bytes);
    touch(ctx, memory, bytes);
    return HW_OK;
}

enum hw_status hw_node_window_open(struct hw_node_window *window, const struct hw_context *ctx,
                                   hw_count bytes, struct hw_error *err)
{
    hw_count fits = hw_dev_shm_available() / 2 >= bytes;

    *window = (struct hw_node_window){.comm = ctx->world, .window = MPI_WIN_NULL};
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, HW_MPI_COUNT, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err));
    if (!fits) {
        hw_note(ctx,
                "half of what is left of /dev/shm is less than the %.1f MiB that ranks of a node "
                "would share; they send messages instead",
                (double)bytes / 1048576);
        return HW_OK;
    }
    window->bytes = bytes;
    const enum hw_status status = hw_agree(ctx->world, allocate(window, ctx, bytes, err), err);
    if (status != HW_OK) /* freeing is collective, and not all ranks may have one */
        *window = (struct hw_node_window){0};
    return status;
}

void hw_node_window_close(struct hw_node_window *window)
{
    if (window->bytes > 0 && window->window != MPI_WIN_NULL) {
        if (window->memory)
            MPI_Win_unlock_all(window->window);
        MPI_Win_free(&window->window);
    }
    *window = (struct hw_node_window){0};
}

enum hw_status hw_window_barrier(MPI_Win window, MPI_Comm comm, struct hw_error *err)
{
    enum hw_status status = hw_mpi(MPI_Win_sync(window), "MPI_Win_sync", err);
    enum hw_status met = hw_mpi(MPI_Barrier(comm), "MPI_Barrier", err);

    if (status == HW_OK)
        status = met;
    return status == HW_OK ? hw_mpi(MPI_Win_sync(window), "MPI_Win_sync", err) : status;
}

enum hw_status hw_node_window_barrier(const struct hw_node_window *window, struct hw_error *err)
{
    return hw_window_barrier(window->window, window->comm, err);
}
