/*
 * The launch configuration of method fused on several GPUs: blocks leave their multiprocessor
 * 60 KiB of L1 cache, which tests of the bitmap outside the hubs need, and have room for what they
 * keep in shared memory.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs.h"
#include "gpu/device/device.h"
#include "tests/tap/tap.h"

int main(void)
{
    /* On Hopper, with the KiB that the driver reserves; beyond, the L1 cache has 28 KiB. */
    const uint32_t most = 196u << 10, reserved = 1u << 10;
    struct hw_peer_bfs_params params = {.hub_words = 0};
    struct hw_peer_bfs_shape shape = {0};
    struct hw_error err = {{0}};
    struct tap tap = {0};

    tap_plan(&tap, TAP_AT_END);
    if (hw_gpu_ready(&err) != HW_OK || hw_peer_bfs_launch_shape(&params, &shape) != 0) {
        tap_skip(&tap, "there is no GPU here");
        return tap_done(&tap);
    }
    tap_ok(&tap, shape.blocks > 0, "there are blocks");
    tap_ok(&tap, params.hub_words > 0 && params.hub_words % 4 == 0,
           "the hubs have words, whole ones of 16 bytes");
    tap_ok(&tap, params.hub_words * 4 < shape.shared_bytes, "they fit, with scratch");
    tap_ok(&tap,
           shape.static_bytes > 0 && shape.shared_bytes + shape.static_bytes <= most - reserved,
           "the L1 cache is kept");
    return tap_done(&tap);
}
