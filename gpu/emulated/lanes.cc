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

/* Keeps the registers that a call keeps, and the stack pointer in *from; goes on where
 * `to` was kept. */
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
    meeting open[4]; /* a lane waits in one, and its warp may be spread over several */
};

struct lane {
    void *stack_pointer, *stack, *fake_stack;
    state now;
    int number; /* in its warp */
    index thread;
    warp *of;
    meeting *in;
    combining how;
    int result;
};

namespace
{

/* Blocks still to run, and the barrier of those that run. */
struct grid {
    const shape &is;
    const char *kernel;
    const std::function<void()> &body;
    uint64_t blocks, next, arrived, ended, epoch;
    std::mutex mutex;
    std::condition_variable turn;

    grid(const shape &shape, const char *name, const std::function<void()> &what)
        : is(shape), kernel(name), body(what), blocks(uint64_t{shape.grid.x} * shape.grid.y),
          next(0), arrived(0), ended(0), epoch(0)
    {
    }

    bool take(uint64_t &block)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        block = next;
        return next < blocks && ++next != 0;
    }

    void open_if_all()
    {
        if (arrived == 0 || arrived + ended < blocks)
            return;
        arrived = 0;
        epoch++;
        turn.notify_all();
    }

    void meet()
    {
        std::unique_lock<std::mutex> lock(mutex);
        const uint64_t before = epoch;
        arrived++;
        open_if_all();
        turn.wait(lock, [&] { return epoch != before; });
    }

    void leave()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        ended++;
        open_if_all();
    }
};

/* A thread of the system, and the block that it runs. */
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
    int any, all;                       /* of the predicates brought to the barrier */
    std::vector<char> shared;
    uint64_t random;
    bool advanced;
};

thread_local worker *me;

void leave(bool for_good)
{
    lane *l = me->running;

#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_good ? nullptr : &l->fake_stack, me->bottom, me->size);
#else
    (void)for_good;
#endif
    hw_emulated_switch(&l->stack_pointer, me->stack_pointer);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(l->fake_stack, &me->bottom, &me->size);
#endif
}

void enter(lane *l)
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

/* ---- what lanes wait for ---- */

bool complete(const warp *w, const meeting *m)
{
    return ((m->arrived | ~w->alive) & m->mask) == m->mask;
}

void close_meeting(warp *w, meeting *m)
{
    lane *l = me->lanes + (w - me->warps) * warp_lanes;

    m->done = true;
    m->leaving = m->arrived;
    for (int i = 0; i < warp_lanes; i++)
        if (l[i].now == state::in_warp && l[i].in == m)
            l[i].now = state::ready;
}

meeting *find_meeting(warp *w, operation kind, uint32_t mask, uint32_t own)
{
    meeting *free_one = nullptr;

    for (meeting &m : w->open) {
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
    *free_one = meeting{kind, mask, 0, 0, true, false, {}};
    return free_one;
}

void open_block_if_all()
{
    if (me->waiting == 0 || me->waiting < me->alive)
        return;
    for (int i = 0; i < me->count; i++) {
        lane &l = me->lanes[i];
        if (l.now != state::in_block)
            continue;
        l.result = l.how == combining::any ? me->any : l.how == combining::all ? me->all : 0;
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
    for (meeting &m : l->of->open)
        if (m.used && !m.done && complete(l->of, &m))
            close_meeting(l->of, &m);
    open_block_if_all();
    leave(true);
    abort();
}

void begin_lane(int i)
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
    *--top = 0; /* as if called: the stack is 8 bytes off its alignment */
    *--top = reinterpret_cast<uint64_t>(&lane_main);
    top -= 6;
    memset(top, 0, 6 * sizeof *top);
    l.stack_pointer = top;
}

void begin_block(uint64_t block)
{
    const shape &is = me->of->is;

    me->block = {static_cast<unsigned>(block % is.grid.x), static_cast<unsigned>(block / is.grid.x),
                 0};
    me->count = me->alive = static_cast<int>(is.block.x);
    me->waiting = me->in_grid = me->any = 0;
    me->all = 1;
    me->shared.assign(is.shared + 16, static_cast<char>(0xA5)); /* no zeros to rely on */
    for (int w = 0; w * warp_lanes < me->count; w++) {
        const int left = me->count - w * warp_lanes;
        me->warps[w].alive = left >= warp_lanes ? ~0u : (1u << left) - 1;
        for (meeting &m : me->warps[w].open)
            m.used = false;
    }
    for (int i = 0; i < me->count; i++)
        begin_lane(i);
}

uint64_t draw()
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

/* Lets every lane that is ready run, in their order, or with a seed in one drawn. Returns
 * whether there was any. */
bool run_lanes()
{
    static const bool mixed = setting("HW_EMULATED_SEED", 0) != 0;
    const int first = mixed ? static_cast<int>(draw() % static_cast<unsigned>(me->count)) : 0;
    const bool falling = mixed && draw() % 2;
    bool any = false;

    me->advanced = false;
    for (int k = 0; k < me->count; k++) {
        const int at = (first + k) % me->count;
        lane *l = me->lanes + (falling ? me->count - 1 - at : at);
        if (l->now == state::ready) {
            any = true;
            enter(l);
        }
    }
    return any;
}

[[noreturn]] void stuck()
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
    begin_block(block);
    while (me->alive > 0) {
        if (run_lanes()) {
            if (!me->advanced) /* they wait for another block or process */
                sched_yield();
        } else if (me->in_grid == me->alive) {
            me->of->meet();
            me->in_grid = 0;
            for (int i = 0; i < me->count; i++)
                if (me->lanes[i].now == state::in_grid)
                    me->lanes[i].now = state::ready;
        } else {
            stuck();
        }
    }
    if (me->of->is.cooperative)
        me->of->leave();
}

/* ---- the threads of the system that run blocks ---- */

class crew
{
  public:
    void run(grid *all, int wanted)
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (static_cast<int>(count) < wanted)
            std::thread(&crew::work, this, count++).detach();
        now = all;
        called = running = wanted;
        turn++;
        begin.notify_all();
        end.wait(lock, [&] { return running == 0; });
        called = 0;
    }

  private:
    std::mutex mutex;
    std::condition_variable begin, end;
    grid *now = nullptr;
    int count = 0, called = 0, running = 0;
    uint64_t turn = 0;

    void work(int number)
    {
        uint64_t seen = 0, block;

        open(number);
        for (;;) {
            {
                std::unique_lock<std::mutex> lock(mutex);
                begin.wait(lock, [&] { return turn != seen && number < called; });
                seen = turn;
                me->of = now;
            }
            while (me->of->take(block))
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
        void *room = mmap(nullptr, stack_bytes * block_lanes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            fail("there is no memory for the stacks of a block");
        me->stacks = static_cast<char *>(room);
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

launches &from_kernels()
{
    static launches *all = new launches; /* outlives the threads that use it */
    return *all;
}

void run_one(const shape &is, const char *kernel, const std::function<void()> &body)
{
    static crew *workers = new crew;
    static const int few = static_cast<int>(setting("HW_EMULATED_BLOCKS", 2));
    grid all(is, kernel, body);

    if (is.block.x < 1 || is.block.x > block_lanes || is.block.y != 1 || is.block.z != 1 ||
        all.blocks < 1 || is.grid.z != 1)
        fail("kernel %s is launched with %u x %u x %u threads in %u x %u x %u blocks", kernel,
             is.block.x, is.block.y, is.block.z, is.grid.x, is.grid.y, is.grid.z);
    const uint64_t most = is.cooperative ? all.blocks : static_cast<uint64_t>(few);
    workers->run(&all, static_cast<int>(all.blocks < most ? all.blocks : most));
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

rendezvous::rendezvous(operation kind, uint32_t mask, uint64_t value)
{
    lane *l = me->running;
    const uint32_t own = 1u << l->number;

    if (!(mask & own))
        fail("lane %d is not in the mask %08x that it gives", l->number, mask);
    all = find_meeting(l->of, kind, mask, own);
    all->value[l->number] = value;
    all->arrived |= own;
    me->advanced = true;
    if (complete(l->of, all)) {
        close_meeting(l->of, all);
        return;
    }
    l->in = all;
    l->now = state::in_warp;
    leave(false);
}

rendezvous::~rendezvous()
{
    all->leaving &= ~(1u << me->running->number);
    if (all->leaving == 0)
        all->used = false;
}

int block_barrier(combining how, int predicate)
{
    lane *l = me->running;

    me->any |= predicate != 0;
    me->all &= predicate != 0;
    me->waiting++;
    me->advanced = true;
    l->how = how;
    l->now = state::in_block;
    open_block_if_all();
    if (l->now == state::in_block)
        leave(false);
    return l->result;
}

void grid_barrier()
{
    if (!me->of->is.cooperative)
        fail("a grid's barrier in a launch that is not cooperative");
    me->in_grid++;
    me->advanced = true;
    me->running->now = state::in_grid;
    leave(false);
}

void give_way()
{
    if (self())
        leave(false);
}

void shake()
{
    static const long often = setting("HW_EMULATED_SHAKE", 0);

    if (often > 0 && self() && draw() % static_cast<uint64_t>(often) == 0)
        leave(false);
}

uint64_t nanoseconds()
{
    static const uint64_t slower = static_cast<uint64_t>(setting("HW_EMULATED_SLOWER", 100));
    timespec time;

    give_way();
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
    launches &later = from_kernels();

    if (self()) {
        const std::lock_guard<std::mutex> lock(later.mutex);
        later.list.push_back({is, kernel, body});
        return;
    }
    run_one(is, kernel, body);
    for (;;) {
        std::vector<launch> now;
        {
            const std::lock_guard<std::mutex> lock(later.mutex);
            now.swap(later.list);
        }
        if (now.empty())
            return;
        for (const launch &each : now)
            run_one(each.is, each.kernel, each.body);
    }
}

long setting(const char *name, long other)
{
    const char *value = getenv(name);

    return value && *value ? strtol(value, nullptr, 10) : other;
}

} // namespace emulated
