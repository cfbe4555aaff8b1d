/*
 * The CUDA runtime on a machine without devices. Device memory is a memfd, so that other processes
 * can map it (CUDA IPC). A page without access follows each array, and new memory is not zero, so
 * that kernels that access memory past an array, or read uninitialised memory, fail here. Each
 * process has its own device, except for memory mapped by IPC.
 */
#include "gpu/emulated/launch.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

using emulated::action;

struct CUstream_st {
    int unused;
};
struct CUevent_st {
    timespec time;
};
struct CUgraph_st {
    std::vector<action> actions;
};
struct CUgraphExec_st {
    std::vector<action> actions;
};

namespace
{

constexpr size_t page = 4096, alignment = 16; /* of vectors */
constexpr size_t default_shared = 48 << 10;   /* dynamic bytes per block that need no attribute */

/* Shared memory of a block at most, in bytes; as on sm_90 unless set. */
int max_shared()
{
    return static_cast<int>(emulated::setting("HW_EMULATED_SHARED", 227)) << 10;
}

size_t rounded(size_t bytes)
{
    return (bytes + page - 1) / page * page;
}

/* ---- errors ---- */

thread_local cudaError_t last = cudaSuccess;

cudaError_t record_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

/* ---- shared memory ---- */

/* What each kernel was given by cudaFuncSetAttribute(). */
struct {
    std::mutex mutex;
    std::map<const void *, size_t> bytes;
} granted_shared;

/* Whether a kernel may be launched with so many dynamic bytes a block. */
bool may_have_shared(const void *kernel, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(granted_shared.mutex);
    const auto given = granted_shared.bytes.find(kernel);

    return bytes <= (given == granted_shared.bytes.end() ? default_shared : given->second);
}

/* ---- visible devices ---- */

/* The devices that are visible to this process: all, or those of CUDA_VISIBLE_DEVICES up to the
 * first invalid one. */
std::vector<int> visible()
{
    const int devices = static_cast<int>(emulated::setting("HW_EMULATED_DEVICES", 4));
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    std::vector<int> devices_visible;

    for (int d = 0; !list && d < devices; d++)
        devices_visible.push_back(d);
    while (list && *list) {
        char *end = nullptr;
        const long device = strtol(list, &end, 10);
        if (end == list || device < 0 || device >= devices)
            break;
        devices_visible.push_back(static_cast<int>(device));
        list = *end == ',' ? end + 1 : end;
        if (*end != ',')
            break;
    }
    return devices_visible;
}

/* ---- stream capture ---- */

thread_local std::unique_ptr<CUgraph_st> captured;

/* Performs an action, or records it while the stream is captured. */
cudaError_t perform(action what)
{
    if (captured)
        captured->actions.push_back(std::move(what));
    else
        what();
    return cudaSuccess;
}

/* ---- memory ---- */

struct area {
    char *map; /* a page without access, the pages of the array, a page without access */
    size_t bytes;
    int file;
    bool own;
};

struct handle {
    int process, file;
    size_t bytes;
};

struct memory {
    std::mutex mutex;
    std::map<void *, area> areas;
    size_t used = 0;
};

memory &all_memory()
{
    static auto *all = new memory; /* outlives the threads that use it */
    return *all;
}

size_t capacity()
{
    return static_cast<size_t>(emulated::setting("HW_EMULATED_MEMORY", 4096)) << 20;
}

/* Maps the array of a file so that it ends where the page without access begins. */
void *map_area(int file, size_t bytes, bool own)
{
    const size_t mapped = rounded(bytes);
    void *reserved = mmap(nullptr, mapped + 2 * page, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *map = static_cast<char *>(reserved);

    if (reserved == MAP_FAILED || mmap(map + page, mapped, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        emulated::fail("%zu bytes of a device's memory cannot be mapped: %m", bytes);
    char *at = map + page + (mapped - bytes) / alignment * alignment;
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(at + bytes,
                                static_cast<size_t>(map + page + mapped - (at + bytes)));
#endif
    all_memory().areas[at] = area{map, bytes, file, own};
    return at;
}

cudaError_t release(void *at)
{
    memory &all = all_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.areas.find(at);

    if (!at)
        return cudaSuccess;
    if (found == all.areas.end())
        emulated::fail("%p is freed, and is not allocated", at);
    const area &freed = found->second;
    const size_t mapped = rounded(freed.bytes);
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(freed.map + page, mapped);
#endif
    /* The addresses stay reserved, so that a use after free faults. */
    if (mmap(freed.map, mapped + 2 * page, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        emulated::fail("a device's memory cannot be unmapped: %m");
    close(freed.file);
    all.used -= freed.own ? freed.bytes : 0;
    all.areas.erase(found);
    return cudaSuccess;
}

/* ---- kernels registered by address ---- */

struct kernels {
    std::mutex mutex;
    std::map<const void *, emulated::caller> known;
};

kernels &all_kernels()
{
    static auto *all = new kernels;
    return *all;
}

void launch_by_address(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                       bool cooperative)
{
    kernels &all = all_kernels();
    std::unique_lock<std::mutex> lock(all.mutex);
    const auto found = all.known.find(kernel);

    if (found == all.known.end())
        emulated::fail("a kernel is launched by an address that is not registered");
    const emulated::caller call = found->second;
    lock.unlock();
    emulated::launch({{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, cooperative},
                     cooperative ? "of a cooperative launch" : "launched by address",
                     call(arguments));
}

int current_device = 0;

std::function<bool()> busy_until;

cudaError_t query()
{
    if (busy_until && !busy_until())
        return cudaErrorNotReady;
    busy_until = nullptr;
    return cudaSuccess;
}

} // namespace

namespace emulated
{

void register_kernel(const void *kernel, caller call)
{
    kernels &all = all_kernels();
    const std::lock_guard<std::mutex> lock(all.mutex);

    all.known.emplace(kernel, std::move(call));
}

void keep_busy(std::function<bool()> until)
{
    busy_until = std::move(until);
}

void launch(const shape &is, const char *kernel, action body)
{
    if (self()) /* launches of kernels are not captured */
        run(is, kernel, body);
    else
        perform([is, kernel, body] { run(is, kernel, body); });
}

} // namespace emulated

using namespace emulated;

extern "C" {

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = static_cast<int>(visible().size());
    return *count > 0 ? cudaSuccess : record_error(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount
                 ? static_cast<int>(setting("HW_EMULATED_MULTIPROCESSORS", 3))
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? max_shared()
             : attribute == cudaDevAttrL2CacheSize /* small, so that graphs of tests exceed it */
                 ? static_cast<int>(setting("HW_EMULATED_L2_BYTES", 32 << 10))
             : attribute == cudaDevAttrComputeCapabilityMajor
                 ? static_cast<int>(setting("HW_EMULATED_CAPABILITY", 9))
                 : attribute == cudaDevAttrCooperativeLaunch;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *name, int length, int device)
{
    snprintf(name, static_cast<size_t>(length), "0000:%02x:00.0",
             visible().at(static_cast<size_t>(device)) + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit, size_t)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;

    if (!self())
        last = cudaSuccess;
    return self() ? cudaSuccess : error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorInvalidValue:
        return "invalid argument";
    default:
        return "an error that emulated devices do not make";
    }
}

/* ---- memory ---- */

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    memory &all = all_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);

    *total = capacity();
    *left = *total - all.used;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    memory &all = all_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);

    *out = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > capacity() - all.used)
        return record_error(cudaErrorMemoryAllocation);
    const int file = memfd_create("emulated device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(rounded(bytes))) != 0)
        fail("%zu bytes of a device's memory cannot be allocated: %m", bytes);
    *out = map_area(file, bytes, true);
    all.used += bytes;
    if (bytes <= size_t{256} << 20) /* larger ones would be slow */
        memset(*out, 0xCD, bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    return release(memory);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned)
{
    *out = aligned_alloc(page, rounded(bytes));
    if (!*out)
        return record_error(cudaErrorMemoryAllocation);
    memset(*out, 0xCE, bytes);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *, size_t, unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *)
{
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind)
{
    if (bytes > 0)
        memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t)
{
    return perform([=] { cudaMemcpy(to, from, bytes, kind); });
}

cudaError_t cudaMemset(void *memory, int byte, size_t bytes)
{
    if (bytes > 0)
        memset(memory, byte, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t)
{
    return perform([=] { cudaMemset(memory, byte, bytes); });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *at)
{
    memory &all = all_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.areas.find(at);

    if (found == all.areas.end())
        return record_error(cudaErrorInvalidValue);
    const handle own = {getpid(), found->second.file, found->second.bytes};
    static_assert(sizeof own <= sizeof *out);
    memset(out, 0, sizeof *out);
    memcpy(out, &own, sizeof own);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t from, unsigned)
{
    memory &all = all_memory();
    const std::lock_guard<std::mutex> lock(all.mutex);
    char path[64];
    handle other;

    if (setting("HW_EMULATED_HIDDEN", 0)) /* as if a scheduler made the peers' devices invisible */
        return record_error(cudaErrorInvalidValue);
    memcpy(&other, &from, sizeof other);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", other.process, other.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return record_error(cudaErrorInvalidValue);
    *out = map_area(file, other.bytes, false);
    return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    return release(memory);
}

/* ---- streams, graphs and events ---- */

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = new CUstream_st{};
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return cudaStreamCreate(stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t)
{
    return query();
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
    captured = std::make_unique<CUgraph_st>();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = captured.release();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new CUgraphExec_st{graph->actions};
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
    for (const action &each : exec->actions)
        each();
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new CUevent_st{};
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    return perform([event] { clock_gettime(CLOCK_MONOTONIC, &event->time); });
}

cudaError_t cudaEventQuery(cudaEvent_t)
{
    return query();
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    *milliseconds =
        static_cast<float>(1e3 * static_cast<double>(to->time.tv_sec - from->time.tv_sec) +
                           1e-6 * static_cast<double>(to->time.tv_nsec - from->time.tv_nsec));
    return cudaSuccess;
}

/* ---- kernels ---- */

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value > max_shared())
        return record_error(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(granted_shared.mutex);
    granted_shared.bytes[kernel] = static_cast<size_t>(value);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *)
{
    attributes->sharedSizeBytes = 8192; /* more than any kernel here declares */
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int,
                                                          size_t shared)
{
    *blocks = shared <= static_cast<size_t>(max_shared())
                  ? static_cast<int>(setting("HW_EMULATED_RESIDENT", 1))
                  : 0;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t)
{
    if (!may_have_shared(kernel, shared))
        return record_error(cudaErrorInvalidValue);
    launch_by_address(kernel, grid, block, arguments, shared, false);
    return cudaSuccess;
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t)
{
    if (!may_have_shared(kernel, shared))
        return record_error(cudaErrorInvalidValue);
    launch_by_address(kernel, grid, block, arguments, shared, true);
    return cudaSuccess;
}

} // extern "C"
