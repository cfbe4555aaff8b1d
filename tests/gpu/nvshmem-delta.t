#!/bin/sh
# Method delta between nodes whose kernels put over NVSHMEM, on emulated devices with late puts out
# of order: distances of one CPU on graphs of several classes; more updates than an outbox holds;
# what must not be left out; and signals that do not come. HW_ORDERS=N tries so many orders.
# shellcheck disable=SC1091,SC2086,SC2317 # options are lists of words; right() is called by name
. "${top_srcdir:-.}/tests/tap/gpu.sh"
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3

hopwave-generate -q --model rmat --scale 7 --weights integer:1:99 -o g.h5
needs_gpu "delta between nodes" 2 g.h5 --layout 1d --parts 2
if ! hopwave-traverse --version | grep -q emulated; then
    skip "delta between nodes" "devices are not emulated"
    done_testing
fi
export HW_EMULATED_NVSHMEM_SEED HW_EMULATED_NVSHMEM_NODE HW_EMULATED_NVSHMEM_DELAY

# search RANKS PER-NODE OPTIONS...: of g.h5, to gpu.h5.
search() {
    ranks=$1 HW_EMULATED_NVSHMEM_NODE=$2
    shift 2
    ranks "$ranks" hopwave-traverse -q --force g.h5 --algorithm sssp --layout 1d --parts "$ranks" --roots 2 \
        --device cuda --transport nvshmem --ranks-per-node "$HW_EMULATED_NVSHMEM_NODE" --check "$@" -o gpu.h5
}

# held FILE WHAT: lines of what it holds.
held() { hopwave-info "$1" | grep -E "^ *($2):"; }

# like_one_cpu NAME OPTIONS...: on a graph, 4 nodes of 1 and 2 of 2, in several orders.
like_one_cpu() {
    name=$1
    shift
    hopwave-generate -q --force "$@" -o g.h5
    hopwave-traverse -q --force g.h5 --layout 1d --algorithm sssp --roots 2 --canonical-parents -o cpu.h5
    HW_EMULATED_NVSHMEM_SEED=0
    while [ $HW_EMULATED_NVSHMEM_SEED -lt "${HW_ORDERS:-3}" ]; do
        HW_EMULATED_NVSHMEM_SEED=$((HW_EMULATED_NVSHMEM_SEED + 1))
        node=$((1 + HW_EMULATED_NVSHMEM_SEED % 2))
        ok "$name, nodes of $node, order $HW_EMULATED_NVSHMEM_SEED" search 4 $node --method delta
        same "the distances of one CPU" "$(held gpu.h5 digest)" "$(held cpu.h5 digest)"
    done
    is "by kernels" "$(held gpu.h5 puts | sed 's/.*: //')" kernels
}

like_one_cpu R-MAT --model rmat --scale 8 --weights integer:1:99
like_one_cpu "R-MAT, real weights" --model rmat --scale 8 --weights uniform
like_one_cpu "G(n,m)" --model erdos-renyi --scale 8 --edges 1500 --weights integer:1:50
like_one_cpu grid --model grid --scale 7 --weights integer:1:20
like_one_cpu "grid, many zeros" --model grid --scale 7 --weights integer:0:1
like_one_cpu "distances of 64 bits" --model rmat --scale 6 --weights integer:1000000000:2000000000
like_one_cpu directed --model rmat --scale 7 --weights uniform --directed
like_one_cpu "few vertices" --model rmat --scale 4 --weights integer:0:5

# More vertices wait for a parent than a GPU has threads, here of one block.
export HW_EMULATED_MULTIPROCESSORS=1
like_one_cpu "many without a nearer neighbour" --model rmat --scale 12 --weights integer:0:1
unset HW_EMULATED_MULTIPROCESSORS

# Canonical parents are found by the hosts, after kernels have put.
hopwave-generate -q --force --model rmat --scale 7 --weights integer:0:2 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --algorithm sssp --roots 2 --canonical-parents -o cpu.h5
for node in 1 2; do
    ok "canonical parents, nodes of $node" search 4 $node --method delta --canonical-parents
    same "those of one CPU" "$(held gpu.h5 'digest|/parent')" "$(held cpu.h5 'digest|/parent')"
done
ok "puts by hosts" env HOPWAVE_NVSHMEM_PUTS=host "$MPIEXEC" -n 4 hopwave-traverse -q --force g.h5 \
    --algorithm sssp --layout 1d --parts 4 --roots 2 --device cuda --transport nvshmem \
    --ranks-per-node 2 --method delta --canonical-parents --check -o gpu.h5
same "give the same" "$(held gpu.h5 'digest|/parent')" "$(held cpu.h5 'digest|/parent')"
is "and are written down" "$(held gpu.h5 puts | sed 's/.*: //')" host

# Where an outbox of 512 updates is full, keys of 512 vertices of both parts go in their place.
hopwave-generate -q --force --model rmat --scale 10 --edge-factor 32 --weights integer:1:9999 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --algorithm sssp --roots 2 -o cpu.h5
ok "more updates than fit" search 2 1 --method bellman-ford
same "the distances of one CPU" "$(held gpu.h5 digest)" "$(held cpu.h5 digest)"
if "$python" -c 'import h5py' 2>/dev/null; then
    ok "all keys went" "$python" -c 'import h5py, sys
b = h5py.File("gpu.h5")["run/steps"]["internode_bytes"]
sys.exit(2 * (2 * 512 * 4 + 8) not in b)'
else
    skip "all keys went" "no Python has h5py"
fi

# A search whose distances are those of one CPU.
right() {
    HW_EMULATED_SLOWER=4 search 4 2 --method delta 2>err >out &&
        [ "$(held gpu.h5 digest)" = "$(held cpu.h5 digest)" ]
}
hopwave-generate -q --force --model rmat --scale 8 --weights integer:1:99 -o g.h5
hopwave-traverse -q --force g.h5 --layout 1d --algorithm sssp --roots 2 -o cpu.h5
put_faults right
HW_EMULATED_NVSHMEM_DELAY=50

refused "messages that are lost" 4 'rank [0-9] had no signal from rank [0-9] within 8 s' \
    env HW_EMULATED_NVSHMEM_NODE=2 HW_EMULATED_NVSHMEM_LOSE=60 HW_EMULATED_SLOWER=1 "$MPIEXEC" -n 4 \
    hopwave-traverse -q g.h5 --algorithm sssp --layout 1d --parts 4 --device cuda --transport nvshmem \
    --ranks-per-node 2 --method delta -o no.h5
ok "no file is left" test ! -e no.h5
done_testing
