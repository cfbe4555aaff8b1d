/*
 * NVSHMEM on emulated devices: a process for each rank, all on one machine.
 *
 * Puts and signals go into a queue, from which a thread delivers them late and in any order that
 * the specification allows: the bytes of a put in pieces, puts and signals in any order, but the
 * signal of a put after its bytes, and all before quiet() returns. So what works here by luck
 * alone, without a signal or a wait for it, fails soon. What a put sends must not change before
 * quiet(): it is compared with a copy. Kernels put too (gpu/emulated/include/nvshmem.h); quiet() of
 * a block is for the puts of that block alone.
 *
 * Environment:
 *   HW_EMULATED_NVSHMEM=0             there is no library
 *   HW_EMULATED_NVSHMEM_MAJOR         its version (3)
 *   HW_EMULATED_NVSHMEM_NODE          ranks on a node: others' memory has no address (all)
 *   HW_EMULATED_NVSHMEM_SEED          of the order and the delays of deliveries (1)
 *   HW_EMULATED_NVSHMEM_DELAY         longest delay of a delivery in microseconds (50)
 *   HW_EMULATED_NVSHMEM_LOSE          so many puts and signals are delivered, and then none
 *   HW_EMULATED_NVSHMEM_KERNELS=0     kernels cannot put
 *   HW_EMULATED_NVSHMEM_FAULT         of kernels, so that tests find it: 1: quiet() does nothing;
 *                                     2: waits for words end at once; 3: signals of puts do not
 *                                     wait for their bytes
 *   NVSHMEM_SYMMETRIC_SIZE            bytes of the symmetric heap (no limit)
 */
#include "gpu/emulated/nvshmem.h"

#include "gpu/emulated/launch.h"

#include <nvshmemx.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using emulated::fail;
using emulated::setting;

constexpr int max_ranks = 64, poll_microseconds = 20;
constexpr int host = -1; /* who puts: a block, or the host by a stream */
enum fault { no_quiet = 1, no_wait, no_order };
constexpr double barrier_seconds = 60; /* before a barrier is given up */
constexpr double wait_seconds = 8;     /* before the stream of a wait is left busy */

/* Memory of all processes of a job. */
struct control {
    std::atomic<uint32_t> arrived, generation;
    std::atomic<uint32_t> lacking; /* ranks without memory for an allocation */
    cudaIpcMemHandle_t handle[max_ranks];
};

/* How the job is found: in struct hw_nvshmem_id. */
struct address {
    int process, file;
};

/* An allocation: where it lies on each rank. */
struct allocation {
    size_t bytes;
    std::vector<char *> at;
};

/* A piece of a put, or a signal. */
struct delivery {
    char *to;
    const char *from; /* nullptr: a signal */
    size_t bytes;
    uint64_t signal;
    std::shared_ptr<int> pieces_left; /* of the put whose signal this is, or that this is part of */
    int issuer;
};

/* What a put sends, and a copy of it. */
struct source {
    const char *at;
    std::vector<char> copy;
    int issuer;
};

struct job {
    control *shared = nullptr;
    int rank = 0, ranks = 0;
    size_t used = 0;
    std::map<char *, allocation> allocations; /* by their address on this rank */

    std::mutex mutex; /* of all below */
    std::condition_variable changed;
    std::vector<source> sources; /* of puts since quiet() */
    std::vector<delivery> queue;
    bool ends = false;
    long delivered = 0;
    std::mt19937_64 random;
    std::thread thread;
};

job *own = nullptr;
bool changes_are_counted = false;
long changed_sources = 0;

double seconds()
{
    using std::chrono::steady_clock;

    return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
}

/* ---- all ranks ---- */

void barrier()
{
    control &shared = *own->shared;
    const uint32_t generation = shared.generation.load();
    const double begin = seconds();

    if (shared.arrived.fetch_add(1) + 1 == static_cast<uint32_t>(own->ranks)) {
        shared.arrived.store(0);
        shared.generation.fetch_add(1);
        return;
    }
    while (shared.generation.load() == generation) {
        if (seconds() - begin > barrier_seconds)
            fail("a rank did not come to a barrier of NVSHMEM");
        usleep(poll_microseconds);
    }
}

control *map_control(int file)
{
    void *mapped = mmap(nullptr, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (mapped == MAP_FAILED)
        fail("the memory of a job of NVSHMEM cannot be mapped: %m");
    return static_cast<control *>(mapped);
}

/* ---- deliveries ---- */

void deliver(const delivery &one)
{
    if (one.from) {
        memcpy(one.to, one.from, one.bytes);
        --*one.pieces_left;
    } else {
        __atomic_store_n(reinterpret_cast<uint64_t *>(one.to), one.signal, __ATOMIC_SEQ_CST);
    }
}

bool is_at_fault(fault kind)
{
    static const long asked = setting("HW_EMULATED_NVSHMEM_FAULT", 0);

    return asked == kind;
}

bool may_be_delivered(const delivery &one)
{
    return one.from || !one.pieces_left || *one.pieces_left == 0 ||
           (one.issuer != host && is_at_fault(no_order));
}

/* Delivers the queue until the job ends. */
void deliver_all(job *of)
{
    const auto longest = static_cast<uint64_t>(setting("HW_EMULATED_NVSHMEM_DELAY", 50));
    const long last = setting("HW_EMULATED_NVSHMEM_LOSE", -1);
    std::unique_lock<std::mutex> lock(of->mutex);

    for (;;) {
        of->changed.wait(lock, [of] { return of->ends || !of->queue.empty(); });
        if (of->ends)
            return;
        lock.unlock();
        usleep(static_cast<useconds_t>(of->random() % (longest + 1)));
        lock.lock();
        size_t pick = of->random() % of->queue.size();
        while (!may_be_delivered(of->queue[pick]))
            pick = of->random() % of->queue.size();
        const delivery one = of->queue[pick];
        of->queue.erase(of->queue.begin() + static_cast<ptrdiff_t>(pick));
        if (last < 0 || of->delivered++ < last)
            deliver(one);
        else if (one.from)
            --*one.pieces_left;
        of->changed.notify_all();
    }
}

/* Ends the process if what was sent since quiet() is not what it was. With the mutex. */
void check_sources()
{
    for (source &sent : own->sources) {
        if (memcmp(sent.at, sent.copy.data(), sent.copy.size()) == 0)
            continue;
        if (!changes_are_counted)
            fail("%zu bytes that a put sends at %p changed before quiet()", sent.copy.size(),
                 static_cast<const void *>(sent.at));
        changed_sources++;
        sent.copy.assign(sent.at, sent.at + sent.copy.size());
    }
}

/* Waits until all that a block or the host has put is delivered, then forgets its sources. */
void drain(int issuer)
{
    std::unique_lock<std::mutex> lock(own->mutex);
    const auto is_its = [issuer](const auto &one) { return one.issuer == issuer; };

    own->changed.wait(
        lock, [&is_its] { return std::none_of(own->queue.begin(), own->queue.end(), is_its); });
    check_sources();
    own->sources.erase(std::remove_if(own->sources.begin(), own->sources.end(), is_its),
                       own->sources.end());
}

/* The same of all. */
void drain_all()
{
    std::unique_lock<std::mutex> lock(own->mutex);

    own->changed.wait(lock, [] { return own->queue.empty(); });
    check_sources();
    own->sources.clear();
}

/* The address on a rank of symmetric memory that has the address `memory` here. */
char *address_on(int rank, const void *memory)
{
    char *at = static_cast<char *>(const_cast<void *>(memory));
    auto found = own->allocations.upper_bound(at);

    if (found == own->allocations.begin())
        fail("%p is not symmetric memory", memory);
    --found;
    const size_t offset = static_cast<size_t>(at - found->first);
    if (offset >= found->second.bytes)
        fail("%p is not symmetric memory", memory);
    return found->second.at[static_cast<size_t>(rank)] + offset;
}

/* ---- the functions ---- */

int get_id(hw_nvshmem_id *id)
{
    const int file = memfd_create("emulated NVSHMEM", MFD_CLOEXEC);
    const address at = {getpid(), file};

    if (file < 0 || ftruncate(file, sizeof(control)) != 0)
        return 1;
    memcpy(id->content, &at, sizeof at);
    return 0;
}

int set_id(int rank, int ranks, const hw_nvshmem_id *id, hw_nvshmem_init *init)
{
    init->arguments.job.id = const_cast<hw_nvshmem_id *>(id);
    init->arguments.job.rank = rank;
    init->arguments.job.ranks = ranks;
    return ranks > max_ranks;
}

void version(int *major, int *minor, int *patch)
{
    *major = static_cast<int>(setting("HW_EMULATED_NVSHMEM_MAJOR", HW_NVSHMEM_MAJOR));
    *minor = *patch = 0;
}

int init(unsigned, hw_nvshmem_init *with)
{
    address at;
    char path[64];

    memcpy(&at, with->arguments.job.id->content, sizeof at);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", at.process, at.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return 1;
    own = new job;
    own->shared = map_control(file);
    close(file);
    own->rank = with->arguments.job.rank;
    own->ranks = with->arguments.job.ranks;
    own->random.seed(static_cast<uint64_t>(setting("HW_EMULATED_NVSHMEM_SEED", 1)) * 1000 +
                     static_cast<uint64_t>(own->rank));
    own->thread = std::thread(deliver_all, own);
    barrier();
    if (at.process == getpid())
        close(at.file);
    return 0;
}

void finalize()
{
    drain_all();
    barrier();
    own->mutex.lock();
    own->ends = true;
    own->mutex.unlock();
    own->changed.notify_all();
    own->thread.join();
    munmap(own->shared, sizeof(control));
    emulated::keep_busy(nullptr);
    delete own;
    own = nullptr;
}

void *allocate(size_t bytes)
{
    control &shared = *own->shared;
    const long limit = setting("NVSHMEM_SYMMETRIC_SIZE", -1);
    void *memory = nullptr;
    allocation made = {bytes, {}};

    if ((limit >= 0 && own->used + bytes > static_cast<size_t>(limit)) ||
        cudaMalloc(&memory, bytes) != cudaSuccess ||
        cudaIpcGetMemHandle(&shared.handle[own->rank], memory) != cudaSuccess)
        shared.lacking.fetch_add(1);
    barrier();
    const bool lacks = shared.lacking.load() != 0;
    for (int q = 0; q < own->ranks && !lacks; q++) {
        void *mapped = memory;
        if (q != own->rank && cudaIpcOpenMemHandle(&mapped, shared.handle[q], 0) != cudaSuccess)
            fail("the memory of rank %d cannot be mapped", q);
        made.at.push_back(static_cast<char *>(mapped));
    }
    barrier();
    shared.lacking.store(0);
    barrier();
    if (lacks) {
        cudaFree(memory);
        (void)cudaGetLastError();
        return nullptr;
    }
    own->used += bytes;
    own->allocations[static_cast<char *>(memory)] = made;
    return memory;
}

void release(void *memory)
{
    const auto found = own->allocations.find(static_cast<char *>(memory));

    if (found == own->allocations.end())
        fail("%p is freed, and is not symmetric memory", memory);
    drain_all();
    emulated::keep_busy(nullptr); /* with what waits for words in this memory */
    barrier();
    for (int q = 0; q < own->ranks; q++)
        if (q != own->rank)
            cudaIpcCloseMemHandle(found->second.at[static_cast<size_t>(q)]);
    barrier();
    own->used -= found->second.bytes;
    own->allocations.erase(found);
    cudaFree(memory);
}

void *pointer(const void *memory, int rank)
{
    const long node = setting("HW_EMULATED_NVSHMEM_NODE", own->ranks);

    return rank / node == own->rank / node ? address_on(rank, memory) : nullptr;
}

void put(int issuer, void *to, const void *from, size_t bytes, uint64_t *at, uint64_t signal,
         int rank)
{
    char *target = address_on(rank, to);
    const char *sent = static_cast<const char *>(from);
    const std::lock_guard<std::mutex> lock(own->mutex);
    check_sources();
    own->sources.push_back({sent, {sent, sent + bytes}, issuer});
    const size_t pieces = 1 + own->random() % 3;
    const auto left = std::make_shared<int>(static_cast<int>(pieces));

    for (size_t k = 0; k < pieces; k++) {
        const size_t begin = bytes * k / pieces, end = bytes * (k + 1) / pieces;
        own->queue.push_back({target + begin, sent + begin, end - begin, 0, left, issuer});
    }
    own->queue.push_back({address_on(rank, at), nullptr, 0, signal, left, issuer});
    own->changed.notify_all();
}

void put_word(int issuer, uint64_t *at, uint64_t signal, int rank)
{
    const std::lock_guard<std::mutex> lock(own->mutex);

    own->queue.push_back({address_on(rank, at), nullptr, 0, signal, nullptr, issuer});
    own->changed.notify_all();
}

/* ---- on streams ---- */

void put_signal(void *to, const void *from, size_t bytes, uint64_t *at, uint64_t signal, int,
                int rank, void *)
{
    put(host, to, from, bytes, at, signal, rank);
}

void signal_op(uint64_t *at, uint64_t signal, int, int rank, void *)
{
    put_word(host, at, signal, rank);
}

void wait(uint64_t *at, int, uint64_t signal, void *)
{
    const double begin = seconds();
    const auto is_there = [at, signal] { return __atomic_load_n(at, __ATOMIC_SEQ_CST) >= signal; };

    while (!is_there() && seconds() - begin < wait_seconds)
        usleep(poll_microseconds);
    if (!is_there())
        emulated::keep_busy(is_there);
}

void quiet(void *)
{
    drain(host);
}

int init_image(void *)
{
    return setting("HW_EMULATED_NVSHMEM_KERNELS", 1) == 0;
}

int end_image(void *)
{
    return 0;
}

/* This block, for calls of kernels. */
int own_block()
{
    return static_cast<int>(emulated::block_index().x);
}

} // namespace

bool hw_emulated_nvshmem(hw_nvshmem_api *api)
{
    *api = {get_id,  set_id,     version,   init, finalize, allocate,   release,
            pointer, put_signal, signal_op, wait, quiet,    init_image, end_image};
    return setting("HW_EMULATED_NVSHMEM", 1) != 0;
}

/* ---- in kernels ---- */

void nvshmemx_putmem_signal_nbi_block(void *to, const void *from, size_t bytes, uint64_t *at,
                                      uint64_t signal, int, int rank)
{
    emulated::block_barrier(emulated::reduction::any, 0);
    if (emulated::thread_index().x == 0)
        put(own_block(), to, from, bytes, at, signal, rank);
    emulated::block_barrier(emulated::reduction::any, 0);
}

void nvshmemx_putmem_signal_nbi_warp(void *to, const void *from, size_t bytes, uint64_t *at,
                                     uint64_t signal, int, int rank)
{
    constexpr uint32_t all = 0xffffffff;

    {
        const emulated::warp_collective begin(emulated::operation::wait, all, 0);
        if (emulated::thread_index().x % 32 == 0)
            put(own_block(), to, from, bytes, at, signal, rank);
    }
    const emulated::warp_collective end(emulated::operation::wait, all, 0);
}

void nvshmemx_signal_op(uint64_t *at, uint64_t signal, int, int rank)
{
    put_word(own_block(), at, signal, rank);
}

int nvshmem_uint64_test(uint64_t *word, int comparison, uint64_t value)
{
    emulated::yield_lane();
    const uint64_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST);

    return is_at_fault(no_wait) || (comparison == NVSHMEM_CMP_EQ ? now == value : now >= value);
}

void nvshmem_quiet()
{
    if (!is_at_fault(no_quiet))
        drain(own_block());
}

long hw_emulated_nvshmem_changed_sources(void)
{
    changes_are_counted = true;
    return changed_sources;
}
