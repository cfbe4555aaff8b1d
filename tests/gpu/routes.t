#!/bin/sh
# Shortest paths on several parts, one rank a GPU (ranks share them where there are fewer):
# the CPU's distances in every layout and over each transport, negative weights and cycles,
# canonical parents, refusals.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --weights uniform --recipe -o recipe.h5
needs_gpu "shortest paths on several parts" 2 recipe.h5 --layout 1d --parts 2 --algorithm sssp

# cpu GRAPH OPTIONS...: what is compared with.
cpu() {
    graph=$1
    shift
    hopwave-traverse -q --force "$graph" --layout 1d --algorithm sssp --roots 4 "$@" -o cpu.h5
}
# gpu RANKS LAYOUT OPTIONS...
gpu() {
    ranks=$1 layout=$2
    shift 2
    like_cpu "$graph on $ranks GPUs, $layout $*" "$ranks" "$graph" --layout $layout --algorithm sssp \
        --roots 4 "$@"
}

python=${PYTHON3:-python3}
# rows NAME CONDITION: what holds of the rows of gpu.h5, in Python.
rows() {
    if "$python" -c 'import h5py' 2>/dev/null; then
        ok "$1" "$python" -c "import h5py, sys
rows = h5py.File('gpu.h5')['run/steps'][:]
def total(routine, column):
    return rows[rows['routine'] == routine][column].sum()
sys.exit(0 if $2 else 1)"
    else
        skip "$1" "there is no h5py here"
    fi
}

# peer_rows NAME CONDITION: likewise, of a search in which GPUs reach each other's memory.
peer_rows() {
    if [ "$(gpus)" -ge 2 ]; then
        rows "$@"
    else
        skip "$1" "all ranks share one GPU here"
    fi
}

ok "an estimate tells the device's memory" sh -c "hopwave-traverse recipe.h5 --layout 1d \
    --parts 2 --device cuda --algorithm sssp --estimate=2 | grep -q '^device_memory_per_rank: [1-9]'"
cpu recipe.h5
gpu 2 "1d --parts 2" --method bellman-ford
gpu 1 "1d --parts 1" --method delta
gpu 3 "1d --parts 3" --method delta --transport mpi
gpu 2 "1d --parts 2" --method delta
gpu 4 "1d --parts 4" --method delta
gpu 4 "2d --grid 2x2" --method delta
gpu 2 "degree-separated --parts 2" --method delta
# Boxes large enough for keys that are told packed, of 32 bits and of 64.
hopwave-generate -q --model rmat --scale 12 --weights integer:0:99 --recipe -o larger.h5
cpu larger.h5
gpu 4 "1d --parts 4" --method delta
# Trace records: bytes of broadcasts, edges pulled, vertices and edges pushed.
rows "broadcasts, pushes and pulls are counted" "total(b'broadcast', 'bytes_sent') > 0 and \
    total(b'long.pull', 'pulled') > 0 and total(b'short.push', 'frontier') > 0"
hopwave-generate -q --model rmat --scale 12 --weights integer:0:1000000 --recipe -o longer.h5
cpu longer.h5
gpu 3 "1d --parts 3" --method delta
gpu 2 "1d --parts 2" --method delta
# Hints say who gave nearly all of these, and few keys are asked for in the end.
rows "distances of 64 bits have hints" "len(rows) > 0 and total(b'parents', 'bytes_sent') < 30000"
hopwave-generate -q --model rmat --scale 10 --weights integer:1000000000:2000000000 --recipe \
    -o longest.h5
cpu longest.h5
gpu 2 "1d --parts 2" --method delta --check
# Enough vertices that wait for steps to go on with some left.
hopwave-generate -q --model rmat --scale 15 --weights uniform --recipe -o waiting.h5
cpu waiting.h5
gpu 2 "1d --parts 2" --method delta
# Where devices are emulated, ones so small that a bucket is left with more than comes along with
# the pull.
export HW_EMULATED_MULTIPROCESSORS=1
gpu 2 "1d --parts 2" --method delta
unset HW_EMULATED_MULTIPROCESSORS
# Where every vertex has as many edges as others, few are reached by the first buckets.
hopwave-generate -q --model erdos-renyi --scale 12 --edge-factor 8 --weights uniform -o even.h5
cpu even.h5
gpu 2 "1d --parts 2" --method delta
rows "buckets with little to do are followed by wider ones" "rows['bucket'].max() < 20"
ok "such graphs keep their order" sh -c "hopwave-info gpu.h5 | grep -q 'order: none'"
gpu 3 "1d --parts 3" --method delta --canonical-parents
gpu 2 "1d --parts 2" --method delta --order degree
ok "unless another one is asked for" sh -c "hopwave-info gpu.h5 | grep -q 'order: degree'"
gpu 1 "1d --parts 1" --method delta
ok "on one GPU, too" sh -c "hopwave-info gpu.h5 | grep -q 'order: none'"
gpu 1 "1d --parts 1" --method delta --canonical-parents
gpu 1 "1d --parts 1" --method delta --order degree
# Distances and hints in one word, of which many have the same distance, or one that their edge vanishes in.
hopwave-generate -q --model erdos-renyi --scale 11 --edge-factor 8 --weights integer:0:3 -o ties.h5
cpu ties.h5
gpu 1 "1d --parts 1" --method delta --check
gpu 2 "1d --parts 2" --method delta --check
hopwave-generate -q --model erdos-renyi --scale 11 --edge-factor 8 --weights integer:0:1000000 \
    -o even-longer.h5
cpu even-longer.h5
gpu 4 "1d --parts 4" --method delta
# Buckets of whole numbers do not begin too narrow.
hopwave-generate -q --model rmat --scale 15 --weights integer:1:255 --recipe -o numbers.h5
cpu numbers.h5
gpu 2 "1d --parts 2" --method delta
peer_rows "whole numbers in few steps" "0 < len(rows) < 90"
hopwave-generate -q --model rmat --scale 15 --directed --weights uniform --recipe -o away.h5
# Directed graphs have in-lists, which are pulled, and vertices of one edge are left out until the
# end; they are made on the devices, or read from a partition.
cpu away.h5
gpu 2 "1d --parts 2" --method delta
peer_rows "a directed graph is pulled, in few steps" "0 < len(rows) < 180 and \
    total(b'long.pull', 'pulled') > 0"
gpu 3 "1d --parts 3" --method delta
hopwave-partition -q away.h5 --layout 1d --parts 2 -o away-2.h5
ok "so is a partition of it" ranks 2 hopwave-traverse -q --force away-2.h5 --device cuda \
    --algorithm sssp --method delta --roots 4 -o gpu.h5
ok "which validates, like the CPU's" hopwave-validate -q --force gpu.h5 --graph away.h5 \
    --against cpu.h5
peer_rows "and pulls" "total(b'long.pull', 'pulled') > 0"
# Where there is no memory for in-lists, edges are pushed alone.
export HOPWAVE_DEVICE_MEMORY=600M
gpu 2 "1d --parts 2" --method delta
peer_rows "without in-lists, in few steps" "0 < len(rows) < 260 and rows['pulled'].sum() == 0"
ok "nor those of a partition" ranks 2 hopwave-traverse -q --force away-2.h5 --device cuda \
    --algorithm sssp --method delta --roots 4 -o gpu.h5
ok "which validates, like the CPU's" hopwave-validate -q --force gpu.h5 --graph away.h5 \
    --against cpu.h5
rows "and does not pull" "len(rows) > 0 and rows['pulled'].sum() == 0"
unset HOPWAVE_DEVICE_MEMORY
# More long lists than a block has room for.
hopwave-generate -q --model erdos-renyi --scale 12 --edges 700000 --weights uniform -o dense.h5
cpu dense.h5
gpu 2 "1d --parts 2" --method bellman-ford
gpu 2 "1d --parts 2" --method delta
# Half of the weights so small that what was sent does not tell their distances apart. Outboxes have no
# room for all: vertices are queued whose distances others lowered in place, no others, or the search has no end.
awk 'BEGIN { srand(5); for (i = 0; i < 500000; i++)
    print int(4096 * rand()), int(4096 * rand()), (i % 2 ? 1 : 1e-6) * rand() }' >narrow.wel
hopwave-import -q narrow.wel --undirected --vertices 4096 -o narrow.h5
cpu narrow.h5
gpu 1 "1d --parts 1" --method delta --check
gpu 2 "1d --parts 2" --method delta --check
cpu recipe.h5 --min-component 5
gpu 1 "1d --parts 1" --min-component 5
gpu 2 "1d --parts 2" --min-component 5
gpu 2 "degree-separated --parts 2" --min-component 5
hopwave-generate -q --model erdos-renyi --scale 9 --edges 5000 --directed --weights integer:0:9 \
    -o directed.h5
cpu directed.h5
gpu 4 "2d --grid 2x2" --method delta --order hash
gpu 1 "degree-separated --parts 1" --method bellman-ford
gpu 3 "1d --parts 3" --method delta
gpu 4 "1d --parts 4" --method delta --order hash
gpu 2 "1d --parts 2" --method delta --canonical-parents
cpu directed.h5 --canonical-parents
same_parents
# Hardly any edges: sources that nothing leads to, ends of one edge, chains of weight zero.
awk 'BEGIN { srand(7); for (i = 0; i < 900; i++)
    print int(rand() * 1000), int(rand() * 1000), int(rand() * 20) }' >thin.wel
hopwave-import -q thin.wel --directed --vertices 1000 -o thin.h5
awk 'BEGIN { for (i = 0; i < 40; i++) print i, i + 1, 0
             for (i = 0; i < 40; i += 3) print i + 1, i, 0
             for (i = 0; i < 30; i++) print i * 7 % 40, 50 + i, 1 }' >chain.wel
hopwave-import -q chain.wel --directed --vertices 90 -o chain.h5
for name in thin chain; do
    cpu $name.h5
    gpu 2 "1d --parts 2" --method delta
    gpu 3 "1d --parts 3 --order none" --method delta
done
# Vertex 5, the last of its part, has no edge that leaves it; 2 is not the way there.
printf '%s\n' '0 2 10' '2 5 1' '0 1 1' '1 3 1' '3 5 1' '4 0 1' >sink.wel
hopwave-import -q sink.wel --directed -o sink.h5
cpu sink.h5 --roots 5
gpu 2 "1d --parts 2 --order none" --roots 5 --transport mpi --method delta
gpu 2 "1d --parts 2 --order none" --roots 5 --transport mpi --method bellman-ford
hopwave-generate -q --model rmat --scale 8 --weights integer:0:3 --recipe -o zeros.h5
cpu zeros.h5 --canonical-parents
gpu 2 "1d --parts 2" --method delta --check
gpu 1 "1d --parts 1" --method delta --check
gpu 3 "1d --parts 3" --method delta --canonical-parents
same_parents
hopwave-generate -q --model rmat --scale 8 --directed --weights signed -o signed.h5
cpu signed.h5 --canonical-parents
gpu 2 "1d --parts 2" --method bellman-ford --canonical-parents
same_parents
gpu 2 "degree-separated --parts 2" --method bellman-ford --transport mpi

# A ring of weight -1 behind a path, and no cycle elsewhere.
awk 'BEGIN { for (v = 0; v < 200; v++) print v, v + 1, 3
             for (v = 0; v < 30; v++) print 200 + v, 200 + (v + 1) % 30, v ? 2 : -59 }' >ring.wel
hopwave-import -q ring.wel -o ring.h5
ok "a negative cycle is found on two GPUs" ranks 2 hopwave-traverse -q ring.h5 --layout 1d \
    --parts 2 --device cuda --algorithm sssp --root-list 0 -o ring-2.h5
ok "which is one" hopwave-validate -q ring-2.h5 --graph ring.h5 --reference
hopwave-info ring-2.h5 >info
ok "and is kept" grep -q cycle info

printf '%s\n' '0 1 3' '1 2 -2' '2 3 4' >edge.wel
hopwave-import -q edge.wel --undirected -o edge.h5
ok "auto finds a negative edge on one GPU" hopwave-traverse -q edge.h5 --layout 1d --device cuda \
    --algorithm sssp --root-list 0 -o edge-1.h5
ok "which is a cycle" hopwave-validate -q edge-1.h5 --graph edge.h5 --reference
printf '%s\n' '0 1 -3e38' '1 2 -3e38' >deep.wel
hopwave-import -q deep.wel --directed -o deep.h5
for layout in 1d degree-separated; do
    refused "a sum below all floats is refused, $layout" 3 'exceed the range of 32-bit floats' \
        "$MPIEXEC" -n 2 hopwave-traverse -q deep.h5 --layout $layout --parts 2 --device cuda \
        --algorithm sssp --root-list 0 -o no.h5
done
refused "--exchange is refused" 3 'is for methods grid and scan2d' "$MPIEXEC" -n 2 hopwave-traverse -q recipe.h5 \
    --layout 1d --parts 2 --device cuda --algorithm sssp --exchange bitmap -o no.h5
refused "so are switches of one GPU" 3 'is for methods bellman-ford on one GPU' "$MPIEXEC" -n 2 hopwave-traverse -q recipe.h5 \
    --layout 1d --parts 2 --device cuda --algorithm sssp --method bellman-ford \
    --frontier sweep -o no.h5
refused "delta takes no negative weights" 3 'use --method bellman-ford' "$MPIEXEC" -n 2 \
    hopwave-traverse -q signed.h5 --layout 1d --parts 2 --device cuda --algorithm sssp \
    --method delta -o no.h5
refused "too little memory is told with the figure" 4 'GiB' \
    "$MPIEXEC" -n 2 env HOPWAVE_DEVICE_MEMORY=1M hopwave-traverse -q recipe.h5 --layout 1d \
    --parts 2 --device cuda --algorithm sssp -o no.h5
done_testing
