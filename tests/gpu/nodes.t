#!/bin/sh
# Searches on GPUs of several nodes, tried on one machine with --ranks-per-node (ranks share
# GPUs where there are fewer): the same trees however ranks are grouped, and what all ranks
# need crosses between nodes once.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3

hopwave-generate -q --model rmat --scale 11 -o g.h5
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "searches on several nodes" "no Python has h5py"
    done_testing
    exit 0
fi
needs_gpu "searches on several nodes" 2 g.h5 --layout 1d --parts 2

# trees FILE: digests of what it holds.
trees() { hopwave-info "$1" | grep -E '^ *(digest|/parent):'; }

# search NAME PER-NODE GRAPH OPTIONS...: with four ranks, to NAME.h5; compared with want.h5
search() {
    name=$1 each=$2 graph=$3
    shift 3
    [ "$each" = 0 ] || set -- "$@" --ranks-per-node "$each"
    ok "$name: $*" ranks 4 hopwave-traverse -q --force "$graph" --device cuda --roots 3 \
        --canonical-parents --check "$@" -o "$name.h5"
    same "the same trees" "$(trees "$name.h5")" "$(trees want.h5)"
}

# crossed NAME ROUTINE: bytes and messages between nodes, in steps whose routines begin so.
crossed() {
    "$python" -c 'import h5py, sys
t = h5py.File(sys.argv[1] + ".h5")["run/steps"][:]
t = t[[name.startswith(sys.argv[2].encode()) for name in t["routine"]]]
print(t["internode_bytes"].sum(), t["internode_messages"].sum())' "$1" "$2"
}

# once NAME ROUTINE: of three copies of what all ranks need, nodes of two leave one.
once() {
    # shellcheck disable=SC2046 # two words
    set -- "$1" "$2" $(crossed "$1-1" "$2") $(crossed "$1-2" "$2")
    ok "$1, $2: something crosses" test "$5" -gt 0
    is "a third of the bytes" "$((3 * $5))" "$3"
    is "and of the messages" "$((3 * $6))" "$4"
}

hopwave-traverse -q --force g.h5 --layout 1d --roots 3 --canonical-parents -o want.h5
for each in 1 2 3; do
    search fused-$each $each g.h5 --layout 1d --parts 4 --method fused --transport mpi
    search scan2d-$each $each g.h5 --layout 2d --grid 4x1 --method scan2d --transport mpi
done
for each in 1 2; do
    search pulled-$each $each g.h5 --layout 1d --parts 4 --method fused --transport mpi \
        --direction bottom-up
done
once fused push
once pulled pull
once scan2d scan2d
search auto 2 g.h5 --layout 1d --parts 4 --method fused
for each in 1 2; do
    search 1d-$each $each g.h5 --layout 1d --parts 4 --method scan2d --transport mpi
done
# shellcheck disable=SC2046 # two words
set -- $(crossed 1d-1 scan2d) $(crossed 1d-2 scan2d)
ok "finds for parts of one node go in one message" test $((2 * $4)) -le "$2"

# steps_cross NAME: of its steps in which anything goes between nodes, the most and the least
# bytes.
steps_cross() {
    "$python" -c 'import h5py, sys
b = h5py.File(sys.argv[1] + ".h5")["run/steps"]["internode_bytes"]
print(b.max(), b[b > 0].min())' "$1"
}

# Masks go between nodes once, and where all vertices with edges are delegates nothing else does;
# without nodes of several devices, few delegates go as a list.
for shape in 4x1 2x2; do
    for reduce in blocking nonblocking; do
        search delegates-$shape-$reduce 0 g.h5 --layout degree-separated --parts $shape \
            --method delegates --degree-threshold 0 --transport mpi --reduce $reduce
    done
done
# shellcheck disable=SC2046 # two words
set -- $(steps_cross delegates-4x1-blocking) $(steps_cross delegates-2x2-blocking)
ok "masks cross" test "$3" -gt 0
is "a third of their bytes where nodes have two" "$((3 * $3))" "$1"
ok "and less where few are found" test "$((2 * $2))" -lt "$1"
search delegates 0 g.h5 --layout degree-separated --parts 2x2 --method delegates --transport mpi
search delegates-1x4 0 g.h5 --layout degree-separated --parts 1x4 --method delegates --transport mpi

# Where MPI takes pointers to memory of devices, the same crosses.
if hopwave-info fused-2.h5 | grep -q 'mpi_buffers: device'; then
    search host-fused 2 g.h5 --layout 1d --parts 4 --method fused --transport mpi --mpi-buffers host
    same "as much crosses in both forms" "$(crossed host-fused push)" "$(crossed fused-2 push)"
    search host-delegates 0 g.h5 --layout degree-separated --parts 2x2 --method delegates \
        --transport mpi --mpi-buffers host
else
    skip "memory of devices between nodes" "this MPI takes none"
fi
refused "peer between nodes" 4 "--transport peer: the ranks are on several nodes" \
    "$MPIEXEC" -n 4 hopwave-traverse -q g.h5 --layout 1d --parts 4 --device cuda --transport peer \
    --ranks-per-node 2 -o no.h5

hopwave-generate -q --model rmat --scale 10 --weights integer:1:99 -o w.h5
hopwave-traverse -q --force w.h5 --algorithm sssp --layout 1d --roots 3 --canonical-parents \
    -o want.h5
for each in 1 2; do
    search delta-$each $each w.h5 --algorithm sssp --layout 1d --parts 4 --method delta --transport mpi
    search relaxed-$each $each w.h5 --algorithm sssp --layout 2d --grid 2x2 --method bellman-ford \
        --transport mpi
done
# column NAME COLUMN: of all steps.
column() {
    "$python" -c 'import h5py, sys
print(*h5py.File(sys.argv[1] + ".h5")["run/steps"][:][sys.argv[2]])' "$1" "$2"
}
# all_cross NAME WHAT: as every rank is a node.
all_cross() {
    same "$1: all $2 of each step cross" "$(column $1 internode_$2)" "$(column $1 $2_sent)"
}
for name in delta-1 relaxed-1; do
    all_cross $name bytes
    all_cross $name messages
done
all_cross scan2d-1 bytes
done_testing
