#!/bin/sh
# An MPI that takes pointers to memory of devices: a library that is preloaded says so in its place.
# Memory of emulated devices is memory of the host, which any MPI takes, so that searches hand it
# over as they would on GPUs.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

if ! hopwave-traverse --version | grep -q 'emulated devices'; then
    skip "an MPI that takes pointers of devices" "there are no emulated devices (--with-cuda=emulated)"
    done_testing
fi
if [ -n "${HW_SANITIZER:-}" ]; then
    skip "an MPI that takes pointers of devices" "sanitizers must come before what is preloaded"
    done_testing
fi
cat >aware.c <<'END_OF_SOURCE'
#include <stdlib.h>

int MPIX_Query_cuda_support(void);

int MPIX_Query_cuda_support(void)
{
    return getenv("HW_CUDA_AWARE") != NULL;
}
END_OF_SOURCE
${MPICC:-mpicc} -shared -fPIC aware.c -o aware.so || exit 99

hopwave-generate -q --model rmat --scale 9 --weights integer:1:99 -o g.h5
hopwave-traverse -q g.h5 --layout 1d --roots 2 --canonical-parents -o bfs.h5
hopwave-traverse -q g.h5 --layout 1d --algorithm sssp --roots 2 --canonical-parents -o sssp.h5

# search WANT BUFFERS OPTIONS...: has the trees of WANT.h5, and hands over such buffers.
search() {
    want=$1.h5 buffers=$2
    shift 2
    ok "$*" ranks 4 env HW_CUDA_AWARE=1 LD_PRELOAD="$PWD/aware.so${HW_YIELD:+:$HW_YIELD}" \
        hopwave-traverse -q --force g.h5 --device cuda --transport mpi --roots 2 --canonical-parents \
        --check "$@" -o gpu.h5
    same "the same trees" "$(hopwave-info gpu.h5 | grep -E '^ *(digest|/parent):')" \
        "$(hopwave-info $want | grep -E '^ *(digest|/parent):')"
    is "from memory of the $buffers" "$(hopwave-info gpu.h5 | sed -n 's/^ *mpi_buffers: //p')" "$buffers"
}

for each in 0 2; do
    nodes=
    [ $each = 0 ] || nodes="--ranks-per-node $each"
    search bfs device --layout 1d --parts 4 --method fused $nodes
    search bfs device --layout 2d --grid 2x2 --method scan2d $nodes
    search sssp device --algorithm sssp --layout 1d --parts 4 --method delta $nodes
    search sssp device --algorithm sssp --layout 2d --grid 2x2 --method bellman-ford $nodes
done
search bfs device --layout degree-separated --parts 4 --method delegates
search bfs device --layout degree-separated --parts 2x2 --method delegates --mpi-buffers device
search bfs host --layout degree-separated --parts 2x2 --method delegates --mpi-buffers host
refused "an MPI that does not say so" 4 'mpi-buffers device: this MPI takes no pointers' \
    env LD_PRELOAD="$PWD/aware.so" "$MPIEXEC" -n 2 hopwave-traverse -q g.h5 --layout 1d --parts 2 --device cuda \
    --transport mpi --mpi-buffers device -o no.h5
done_testing
