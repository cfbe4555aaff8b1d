#!/bin/sh
# Searches over NVSHMEM: within a node, and between nodes that emulated devices pretend to be, whose
# puts are late and out of order; what kernels that put must not leave out; and what is refused.
# nvshmem-graphs.t has random graphs and all methods.
# shellcheck disable=SC1091,SC2086,SC2317 # options are lists of words; right() is called by name
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 7 --weights integer:1:99 -o g.h5
needs_gpu "searches over NVSHMEM" 2 g.h5 --layout 1d --parts 2
over="--device cuda --transport nvshmem"

# There are emulated devices, or devices and a library, or neither.
if ! hopwave-traverse --version | grep -q emulated; then
    if ranks 2 hopwave-traverse -q g.h5 --layout 1d --parts 2 $over --roots 2 --check -o real.h5 2>err; then
        is "NVSHMEM is used" "$(hopwave-info real.h5 | grep -c 'transport: nvshmem')" 1
    else
        ok "what is missing is said" grep -qE 'transport nvshmem.*(not found|share GPUs|does not start)' err
    fi
    done_testing
    exit 0
fi

# like NAME OPTIONS...: over NVSHMEM, with the trees of NAME.h5.
like() {
    want=$1.h5
    shift
    ok "seed $HW_EMULATED_NVSHMEM_SEED: $*" ranks 4 hopwave-traverse -q --force g.h5 $over --roots 2 \
        --canonical-parents --check "$@" -o gpu.h5
    same "the same trees" "$(hopwave-info gpu.h5 | grep -E '^ *(digest|/parent):')" \
        "$(hopwave-info $want | grep -E '^ *(digest|/parent):')"
}

export HW_EMULATED_NVSHMEM_SEED HW_EMULATED_NVSHMEM_NODE

# put_by WHO: who put in the last search.
put_by() {
    is "by $1" "$(hopwave-info gpu.h5 | sed -n 's/^ *puts: //p')" "$1"
}

# Levels of more edges than are broadcast: entries for owners, words of bitmaps; also late ones.
export HW_EMULATED_NVSHMEM_DELAY
hopwave-generate -q --force --model rmat --scale 15 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --canonical-parents -o bfs.h5
HW_EMULATED_NVSHMEM_NODE=2
HW_EMULATED_NVSHMEM_DELAY=1000
like bfs --layout 1d --parts 4 --method fused --direction top-down --ranks-per-node 2
put_by kernels
HW_EMULATED_NVSHMEM_DELAY=50
export HOPWAVE_NVSHMEM_PUTS=host
like bfs --layout 1d --parts 4 --method fused --ranks-per-node 2
put_by host
unset HOPWAVE_NVSHMEM_PUTS

# Many bottom-up levels one after another: a GPU puts words of the next while others wait for words
# of this one. With one receive buffer in place of two, most orders give wrong parents.
hopwave-generate -q --force --model grid --scale 8 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --canonical-parents -o bfs.h5
HW_EMULATED_NVSHMEM_NODE=1
HW_EMULATED_NVSHMEM_DELAY=1000
for HW_EMULATED_NVSHMEM_SEED in 1 3; do
    like bfs --layout 1d --parts 4 --method fused --direction bottom-up --ranks-per-node 1
done
HW_EMULATED_NVSHMEM_NODE=2

# A search whose trees are those of one CPU.
right() {
    ranks 4 hopwave-traverse -q --force g.h5 $over --roots 2 --layout 1d --parts 4 --method fused \
        --direction bottom-up --ranks-per-node 2 --canonical-parents --check -o gpu.h5 2>err >out &&
        [ "$(hopwave-info gpu.h5 | grep '/parent:')" = "$(hopwave-info bfs.h5 | grep '/parent:')" ]
}
hopwave-generate -q --force --model rmat --scale 9 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --canonical-parents -o bfs.h5
put_faults right
HW_EMULATED_NVSHMEM_DELAY=50

HW_EMULATED_NVSHMEM_NODE=4
hopwave-generate -q --force --model rmat --scale 7 --weights integer:1:99 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --canonical-parents -o bfs.h5
hopwave-traverse -q --force g.h5 --layout 1d --algorithm sssp --roots 2 --canonical-parents -o sssp.h5
like bfs --layout 1d --parts 4 --method fused
like sssp --algorithm sssp --layout 1d --parts 4 --method delta
is "which is written down" "$(hopwave-info gpu.h5 | grep -c 'transport: nvshmem')" 1
ok "links" ranks 4 hopwave-traverse -q --probe=links.csv --device cuda --transport nvshmem
is "with puts within a node" \
    "$(awk -F , 'NR > 1 && $5 > 0 && $6 > 0 && $7 > 0 && $8 > 0' links.csv | wc -l)" 12

search="hopwave-traverse -q g.h5 --layout 1d --parts 4 $over -o no.h5"
refused "no library" 4 'there is no NVSHMEM here' env HW_EMULATED_NVSHMEM=0 "$MPIEXEC" -n 4 $search
ok "an estimate needs none" env HW_EMULATED_NVSHMEM=0 hopwave-traverse -q g.h5 --layout 1d --parts 1 \
    $over --estimate
refused "another version" 4 'NVSHMEM 2.0.0 is here, and version 3 is needed' \
    env HW_EMULATED_NVSHMEM_MAJOR=2 "$MPIEXEC" -n 4 $search
refused "a small heap" 4 'symmetric heap of rank 0 has not the 2.0 MiB that are needed' \
    env NVSHMEM_SYMMETRIC_SIZE=1000000 "$MPIEXEC" -n 4 $search
refused "devices of two models" 4 'rank 1 has a GPU of compute capability 8.0 and rank 0 one of 9.0' \
    "$MPIEXEC" -n 1 $search : -n 1 env HW_EMULATED_CAPABILITY=8 $search : -n 2 $search
refused "a device for two ranks" 4 'nvshmem needs a GPU for each rank' \
    env HW_EMULATED_DEVICES=2 "$MPIEXEC" -n 4 $search
refused "ranks of a node that do not reach each other" 4 \
    'rank [0-9] cannot address the memory of rank [0-9]' \
    env HW_EMULATED_NVSHMEM_NODE=2 "$MPIEXEC" -n 4 $search
# lost PUTS NODE: by kernels or the host, between nodes of so many.
lost() {
    refused "messages that are lost between nodes of $2, put by $1" 4 \
        'rank [0-9] had no signal from rank [0-9] within 8 s' \
        env HW_EMULATED_NVSHMEM_NODE=$2 HW_EMULATED_NVSHMEM_LOSE=40 HW_EMULATED_SLOWER=1 \
        HOPWAVE_NVSHMEM_PUTS=$1 "$MPIEXEC" -n 4 $search --ranks-per-node $2
}
lost kernels 2
lost host 2
lost host 1
ok "no file is left of these" test ! -e no.h5
done_testing
