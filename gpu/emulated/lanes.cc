/* Fibers, collective operations, barriers and launches (gpu/emulated/lanes.h). */
#include "gpu/emulated/lanes.h"

#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

/* Switches fibers: saves the callee-saved registers and, in *from, the stack pointer; restores
 * those that were saved at `to`. */
extern "C" void hw_emulated_switch(void **from, void *to);
asm(R"(
    .text
    .globl hw_emulated_switch
    .type hw_emulated_switch, @function
hw_emulated_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size hw_emulated_switch, .-hw_emulated_switch
)");

namespace emulated
{

constexpr int warp_lanes = 32, block_lanes = 1024;
constexpr size_t stack_bytes = size_t{256} << 10; /* mapped when touched */

enum class state { ready, in_warp, in_block, in_grid, ended };

struct warp {
    uint32_t alive;
    collective_state open[4]; /* a lane waits in one; the lanes of a warp may wait in several */
};

struct lane {
    void *stack_pointer, *stack, *fake_stack;
    state now;
    int number; /* in its warp */
    index thread;
    warp *of;
    collective_state *in;
    reduction kind;
    int result;
};

namespace
{

/* The blocks of a launch that have not started, and the grid barrier of those that run. */
struct grid {
    const shape &is;
    const char *kernel;
    const std::function<void()> &body;
    uint64_t blocks, next, arrived, ended, epoch;
    std::mutex mutex;
    std::condition_variable released;

    grid(const shape &shape, const char *name, const std::function<void()> &what)
        : is(shape), kernel(name), body(what), blocks(uint64_t{shape.grid.x} * shape.grid.y),
          next(0), arrived(0), ended(0), epoch(0)
    {
    }

    bool next_block(uint64_t &block)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        block = next;
        return next < blocks && ++next != 0;
    }

    void release_if_all()
    {
        if (arrived == 0 || arrived + ended < blocks)
            return;
        arrived = 0;
        epoch++;
        released.notify_all();
    }

    void barrier()
    {
        std::unique_lock<std::mutex> lock(mutex);
        const uint64_t before = epoch;
        arrived++;
        release_if_all();
        released.wait(lock, [&] { return epoch != before; });
    }

    void leave()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        ended++;
        release_if_all();
    }
};

/* An operating system thread and the block that it runs. */
struct worker {
    void *stack_pointer = nullptr, *fake_stack = nullptr; /* of the scheduler */
    const void *bottom = nullptr;
    size_t size = 0;
    char *stacks;
    lane lanes[block_lanes];
    warp warps[block_lanes / warp_lanes];
    lane *running = nullptr;
    grid *of = nullptr;
    index block;
    int count, alive, waiting, in_grid; /* lanes */
    int any, all;                       /* of the predicates at the barrier */
    std::vector<char> shared;
    uint64_t random;
    bool advanced; /* a lane has made progress in this iteration over all lanes */
};

thread_local worker *me;

void switch_to_scheduler(bool lane_ended)
{
    lane *l = me->running;

#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(lane_ended ? nullptr : &l->fake_stack, me->bottom, me->size);
#else
    (void)lane_ended;
#endif
    hw_emulated_switch(&l->stack_pointer, me->stack_pointer);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(l->fake_stack, &me->bottom, &me->size);
#endif
}

void switch_to_lane(lane *l)
{
    me->running = l;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&me->fake_stack, l->stack, stack_bytes);
#endif
    hw_emulated_switch(&me->stack_pointer, l->stack_pointer);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(me->fake_stack, nullptr, nullptr);
#endif
    me->running = nullptr;
}

/* ---- collective operations ---- */

bool complete(const warp *w, const collective_state *m)
{
    return ((m->arrived | ~w->alive) & m->mask) == m->mask;
}

void complete_collective(warp *w, collective_state *m)
{
    lane *l = me->lanes + (w - me->warps) * warp_lanes;

    m->done = true;
    m->leaving = m->arrived;
    for (int i = 0; i < warp_lanes; i++)
        if (l[i].now == state::in_warp && l[i].in == m)
            l[i].now = state::ready;
}

collective_state *find_collective(warp *w, operation kind, uint32_t mask, uint32_t own)
{
    collective_state *free_one = nullptr;

    for (collective_state &m : w->open) {
        if (m.used && !m.done && m.mask == mask && !(m.arrived & own)) {
            if (m.kind != kind)
                fail("lanes of mask %08x meet in different operations", mask);
            return &m;
        }
        if (!m.used && !free_one)
            free_one = &m;
    }
    if (!free_one)
        fail("lanes of a warp wait in more than four places");
    *free_one = collective_state{kind, mask, 0, 0, true, false, {}};
    return free_one;
}

void release_block_if_all()
{
    if (me->waiting == 0 || me->waiting < me->alive)
        return;
    for (int i = 0; i < me->count; i++) {
        lane &l = me->lanes[i];
        if (l.now != state::in_block)
            continue;
        l.result = l.kind == reduction::any ? me->any : l.kind == reduction::all ? me->all : 0;
        l.now = state::ready;
    }
    me->waiting = 0, me->any = 0, me->all = 1;
}

/* ---- the lanes of a block ---- */

void lane_main()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &me->bottom, &me->size);
#endif
    me->of->body();
    lane *l = me->running;
    l->now = state::ended;
    me->advanced = true;
    me->alive--;
    l->of->alive &= ~(1u << l->number);
    for (collective_state &m : l->of->open)
        if (m.used && !m.done && complete(l->of, &m))
            complete_collective(l->of, &m);
    release_block_if_all();
    switch_to_scheduler(true);
    abort();
}

void init_lane(int i)
{
    lane &l = me->lanes[i];
    auto *top =
        reinterpret_cast<uint64_t *>(me->stacks + (static_cast<size_t>(i) + 1) * stack_bytes);

    l.now = state::ready;
    l.number = i % warp_lanes;
    l.thread = {static_cast<unsigned>(i), 0, 0};
    l.of = me->warps + i / warp_lanes;
    l.stack = me->stacks + static_cast<size_t>(i) * stack_bytes;
    l.fake_stack = nullptr;
    *--top = 0; /* the alignment of a function's entry: 8 bytes off 16 */
    *--top = reinterpret_cast<uint64_t>(&lane_main);
    top -= 6;
    memset(top, 0, 6 * sizeof *top);
    l.stack_pointer = top;
}

void init_block(uint64_t block)
{
    const shape &is = me->of->is;

    me->block = {static_cast<unsigned>(block % is.grid.x), static_cast<unsigned>(block / is.grid.x),
                 0};
    me->count = me->alive = static_cast<int>(is.block.x);
    me->waiting = me->in_grid = me->any = 0;
    me->all = 1;
    me->shared.assign(is.shared + 16, static_cast<char>(0xA5)); /* not zeros, as on a device */
    for (int w = 0; w * warp_lanes < me->count; w++) {
        const int left = me->count - w * warp_lanes;
        me->warps[w].alive = left >= warp_lanes ? ~0u : (1u << left) - 1;
        for (collective_state &m : me->warps[w].open)
            m.used = false;
    }
    for (int i = 0; i < me->count; i++)
        init_lane(i);
}

uint64_t draw()
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

/* Runs every lane that is ready once, in order, or, with a seed, in a random order. Returns whether
 * there was any. */
bool run_lanes()
{
    static const bool random_order = setting("HW_EMULATED_SEED", 0) != 0;
    const int first =
        random_order ? static_cast<int>(draw() % static_cast<unsigned>(me->count)) : 0;
    const bool reversed = random_order && draw() % 2;
    bool any = false;

    me->advanced = false;
    for (int k = 0; k < me->count; k++) {
        const int at = (first + k) % me->count;
        lane *l = me->lanes + (reversed ? me->count - 1 - at : at);
        if (l->now == state::ready) {
            any = true;
            switch_to_lane(l);
        }
    }
    return any;
}

[[noreturn]] void fail_deadlock()
{
    int in[5] = {};

    for (int i = 0; i < me->count; i++)
        in[static_cast<int>(me->lanes[i].now)]++;
    fail("all lanes of a block wait: %d for their warps, %d for the block, %d for the grid; %d "
         "have ended",
         in[1], in[2], in[3], in[4]);
}

void run_block(uint64_t block)
{
    init_block(block);
    while (me->alive > 0) {
        if (run_lanes()) {
            if (!me->advanced) /* all poll for another block or process */
                sched_yield();
        } else if (me->in_grid == me->alive) {
            me->of->barrier();
            me->in_grid = 0;
            for (int i = 0; i < me->count; i++)
                if (me->lanes[i].now == state::in_grid)
                    me->lanes[i].now = state::ready;
        } else {
            fail_deadlock();
        }
    }
    if (me->of->is.cooperative)
        me->of->leave();
}

/* ---- operating system threads that run blocks ---- */

class worker_pool
{
  public:
    void run(grid *all, int wanted)
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (static_cast<int>(count) < wanted)
            std::thread(&worker_pool::work, this, count++).detach();
        now = all;
        called = running = wanted;
        epoch++;
        begin.notify_all();
        end.wait(lock, [&] { return running == 0; });
        called = 0;
    }

  private:
    std::mutex mutex;
    std::condition_variable begin, end;
    grid *now = nullptr;
    int count = 0, called = 0, running = 0;
    uint64_t epoch = 0;

    void work(int number)
    {
        uint64_t seen = 0, block;

        open(number);
        for (;;) {
            {
                std::unique_lock<std::mutex> lock(mutex);
                begin.wait(lock, [&] { return epoch != seen && number < called; });
                seen = epoch;
                me->of = now;
            }
            while (me->of->next_block(block))
                run_block(block);
            const std::lock_guard<std::mutex> lock(mutex);
            if (--running == 0)
                end.notify_all();
        }
    }

    static void open(int number)
    {
        me = new worker;
        me->random = static_cast<uint64_t>(setting("HW_EMULATED_SEED", 1)) * 7919 +
                     static_cast<uint64_t>(number) * 104729 + 1;
        void *memory = mmap(nullptr, stack_bytes * block_lanes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            fail("there is no memory for the stacks of a block");
        me->stacks = static_cast<char *>(memory);
    }
};

struct launch {
    shape is;
    const char *kernel;
    std::function<void()> body;
};

struct launches {
    std::mutex mutex;
    std::vector<launch> list;
};

launches &deferred_launches()
{
    static launches *all = new launches; /* outlives the threads that use it */
    return *all;
}

void run_grid(const shape &is, const char *kernel, const std::function<void()> &body)
{
    static worker_pool *workers = new worker_pool;
    static const int concurrent_blocks = static_cast<int>(setting("HW_EMULATED_BLOCKS", 2));
    grid all(is, kernel, body);

    if (is.block.x < 1 || is.block.x > block_lanes || is.block.y != 1 || is.block.z != 1 ||
        all.blocks < 1 || is.grid.z != 1)
        fail("kernel %s is launched with %u x %u x %u threads in %u x %u x %u blocks", kernel,
             is.block.x, is.block.y, is.block.z, is.grid.x, is.grid.y, is.grid.z);
    const uint64_t max_workers =
        is.cooperative ? all.blocks : static_cast<uint64_t>(concurrent_blocks);
    workers->run(&all, static_cast<int>(all.blocks < max_workers ? all.blocks : max_workers));
}

} // namespace

lane *self()
{
    return me ? me->running : nullptr;
}

int lane_in_warp()
{
    return me->running->number;
}

const index &thread_index()
{
    return me->running->thread;
}

const index &block_index()
{
    return me->block;
}

const index &block_size()
{
    return me->of->is.block;
}

const index &grid_size()
{
    return me->of->is.grid;
}

void *dynamic_shared()
{
    const auto at = reinterpret_cast<uintptr_t>(me->shared.data());

    return reinterpret_cast<void *>((at + 15) / 16 * 16);
}

warp_collective::warp_collective(operation kind, uint32_t mask, uint64_t value)
{
    lane *l = me->running;
    const uint32_t own = 1u << l->number;

    if (!(mask & own))
        fail("lane %d is not in the mask %08x that it gives", l->number, mask);
    all = find_collective(l->of, kind, mask, own);
    all->value[l->number] = value;
    all->arrived |= own;
    me->advanced = true;
    if (complete(l->of, all)) {
        complete_collective(l->of, all);
        return;
    }
    l->in = all;
    l->now = state::in_warp;
    switch_to_scheduler(false);
}

warp_collective::~warp_collective()
{
    all->leaving &= ~(1u << me->running->number);
    if (all->leaving == 0)
        all->used = false;
}

int block_barrier(reduction kind, int predicate)
{
    lane *l = me->running;

    me->any |= predicate != 0;
    me->all &= predicate != 0;
    me->waiting++;
    me->advanced = true;
    l->kind = kind;
    l->now = state::in_block;
    release_block_if_all();
    if (l->now == state::in_block)
        switch_to_scheduler(false);
    return l->result;
}

void grid_barrier()
{
    if (!me->of->is.cooperative)
        fail("a grid's barrier in a launch that is not cooperative");
    me->in_grid++;
    me->advanced = true;
    me->running->now = state::in_grid;
    switch_to_scheduler(false);
}

void yield_lane()
{
    if (self())
        switch_to_scheduler(false);
}

void yield_randomly()
{
    static const long period = setting("HW_EMULATED_SHAKE", 0);

    if (period > 0 && self() && draw() % static_cast<uint64_t>(period) == 0)
        switch_to_scheduler(false);
}

uint64_t nanoseconds()
{
    static const uint64_t slower = static_cast<uint64_t>(setting("HW_EMULATED_SLOWER", 100));
    timespec time;

    yield_lane();
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (static_cast<uint64_t>(time.tv_sec) * 1000000000u +
            static_cast<uint64_t>(time.tv_nsec)) /
           slower;
}

void fail(const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (self())
        fprintf(stderr, "emulated device: kernel %s, block %u, thread %u: %s\n", me->of->kernel,
                me->block.x, me->running->thread.x, text);
    else
        fprintf(stderr, "emulated device: %s%s%s\n", text, me && me->of ? " in kernel " : "",
                me && me->of ? me->of->kernel : "");
    abort();
}

void run(const shape &is, const char *kernel, const std::function<void()> &body)
{
    launches &deferred = deferred_launches();

    if (self()) {
        const std::lock_guard<std::mutex> lock(deferred.mutex);
        deferred.list.push_back({is, kernel, body});
        return;
    }
    run_grid(is, kernel, body);
    for (;;) {
        std::vector<launch> now;
        {
            const std::lock_guard<std::mutex> lock(deferred.mutex);
            now.swap(deferred.list);
        }
        if (now.empty())
            return;
        for (const launch &each : now)
            run_grid(each.is, each.kernel, each.body);
    }
}

long setting(const char *name, long default_value)
{
    const char *value = getenv(name);

    return value && *value ? strtol(value, nullptr, 10) : default_value;
}

} // namespace emulated
