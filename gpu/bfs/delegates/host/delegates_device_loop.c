/*
 * Method `delegates` on GPUs that map each other's memory, or on one GPU: the search from the host.
 * A step is a CUDA graph of kernels in two streams, followed by a kernel that takes small steps if
 * such follow. GPUs synchronize and decide by themselves. The host polls a word in its memory: it
 * says that a step that is not small comes next, which the host launches behind the running
 * kernels, or that the search is over.
 */
#include "gpu/bfs/delegates/host/delegates_host.h"

#include <cuda_runtime_api.h>

/* Polls of the host status between two queries of the device. */
#define POLLS 65536

/* Launches the kernels of a step, into a stream that is captured. */
static enum hw_status launch_step(const struct hw_gpu_delegates_state *state, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &state->params;
    cudaStream_t delegates = (cudaStream_t)state->stream[0],
                 normal = (cudaStream_t)state->stream[1];
    cudaEvent_t fork = (cudaEvent_t)state->event[0], join = (cudaEvent_t)state->event[1],
                combined = (cudaEvent_t)state->event[2];
    int code = (int)cudaEventRecord(fork, delegates);

    if (code == 0)
        code = (int)cudaStreamWaitEvent(normal, fork, 0);
    if (code == 0)
        code = hw_gpu_delegates_visit(params, true, delegates);
    if (code == 0 && params->config.may_visit_twice)
        code = hw_gpu_delegates_visit_again(params, delegates);
    if (code == 0)
        code = hw_gpu_delegates_barrier_reduce(params, delegates);
    if (code == 0)
        code = (int)cudaEventRecord(combined, delegates);
    if (code == 0)
        code = hw_gpu_delegates_visit(params, false, normal);
    if (code == 0)
        code = hw_gpu_delegates_receive(params, normal);
    if (code == 0)
        code = hw_gpu_delegates_write_pending(params, delegates);
    if (code == 0)
        code = (int)cudaStreamWaitEvent(normal, combined, 0);
    if (code == 0)
        code = hw_gpu_delegates_advance(params, normal);
    if (code == 0)
        code = (int)cudaEventRecord(join, normal);
    if (code == 0)
        code = (int)cudaStreamWaitEvent(delegates, join, 0);
    return hw_cuda(code, "a step of method delegates", err);
}

/* Captures a step as a CUDA graph. */
static enum hw_status capture(struct hw_gpu_delegates_state *state, struct hw_error *err)
{
    cudaStream_t stream = (cudaStream_t)state->stream[0];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t step = NULL;
    enum hw_status status =
        hw_cuda((int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                "cudaStreamBeginCapture", err);

    if (status != HW_OK)
        return status;
    status = launch_step(state, err);
    const int code = (int)cudaStreamEndCapture(stream, &graph);
    if (status == HW_OK)
        status = hw_cuda(code, "cudaStreamEndCapture", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaGraphInstantiate(&step, graph, 0), "cudaGraphInstantiate", err);
    if (graph)
        cudaGraphDestroy(graph);
    state->step = step;
    return status;
}

/* Launches a step and the small steps after it. */
static enum hw_status launch_step_and_small(const struct hw_gpu_delegates_state *state,
                                            struct hw_error *err)
{
    const enum hw_status status =
        hw_cuda((int)cudaGraphLaunch((cudaGraphExec_t)state->step, NULL), "cudaGraphLaunch", err);

    return status == HW_OK ? hw_cuda(hw_gpu_delegates_small(&state->params, NULL),
                                     "the kernel of small steps", err)
                           : status;
}

/* Launches steps until the search is over. */
static enum hw_status run_steps(const struct hw_gpu_delegates_state *state, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    uint32_t launched = 0;

    for (uint64_t poll = 1; status == HW_OK; poll++) {
        const unsigned long long host_status =
            __atomic_load_n(state->host_status, __ATOMIC_ACQUIRE);
        if (host_status >> 32)
            break;
        if (launched < (uint32_t)host_status) {
            status = launch_step_and_small(state, err);
            launched++;
        } else if (poll % POLLS == 0) {
            const cudaError_t error = cudaStreamQuery(NULL);
            if (error != cudaSuccess && error != cudaErrorNotReady)
                status = hw_cuda((int)error, "method delegates", err);
        }
    }
    return status;
}

enum hw_status hw_gpu_delegates_device_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    enum hw_status status = state->step ? HW_OK : capture(state, err);

    *state->host_status = 0;
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_begin(&state->params, &state->root, NULL),
                         "the beginning of a search", err);
    return status == HW_OK ? run_steps(state, err) : status;
}
