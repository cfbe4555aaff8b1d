#!/bin/sh
# Trees that stay on the devices and are validated or counted there, on one part and on several,
# in every layout and over each transport: what the CPU counts, in steps that found it all.
# (That broken ones are found: test_check.)
# shellcheck disable=SC1091,SC2086 # options are lists of words
rows=$(cd "${top_srcdir:-.}" && pwd)/tests/gpu/same-rows.py
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 12 --recipe -o recipe.h5
needs_gpu "validation on GPUs" 1 recipe.h5 --layout 1d --check

"${PYTHON3:-python3}" -c 'import h5py' 2>/dev/null && python=${PYTHON3:-python3} || python=
# same_counts: the counts are the CPU's, as far as they can be read here.
same_counts() {
    if [ "$python" ]; then
        ok "the CPU's counts" "$python" "$rows" cpu.h5 gpu.h5
    else
        skip "the CPU's counts" "there is no h5py here"
    fi
}
check=--check
# cpu GRAPH ALGORITHM: what is compared with. More searches than one batch has.
cpu() {
    graph=$1 algorithm=$2
    hopwave-traverse -q --force "$graph" --layout 1d --algorithm "$algorithm" --roots 11 $check \
        --store none -o cpu.h5
}
# gpu RANKS LAYOUT OPTIONS...: its counts; nothing comes to the host.
gpu() {
    ranks=$1 layout=$2
    shift 2
    ok "$graph on $ranks GPUs, $layout $*" ranks "$ranks" hopwave-traverse --force "$graph" \
        --layout $layout --device cuda --algorithm "$algorithm" --roots 11 $check --store none \
        "$@" -o gpu.h5
    is "no tree comes to the host" "$(grep -c 'come to the host\|on the CPU' "$work/tap.out")" 0
    same_counts
}

cpu recipe.h5 bfs
gpu 1 1d
gpu 2 1d
gpu 3 1d --transport mpi --order hash
gpu 4 "2d --grid 2x2"
gpu 4 "degree-separated --parts 4"
hopwave-generate -q --model erdos-renyi --scale 12 --edges 40000 --directed -o directed.h5
cpu directed.h5 bfs
gpu 1 1d
gpu 2 1d
hopwave-generate -q --model graph500 --scale 10 --weights uniform --recipe -o reals.h5
cpu reals.h5 sssp
gpu 1 1d
gpu 4 "2d --grid 2x2" --transport mpi
hopwave-generate -q --model rmat --scale 10 --weights integer:0:9 -o whole.h5
cpu whole.h5 sssp
gpu 2 "degree-separated --parts 2"
ok "trees that are stored too" ranks 2 hopwave-traverse -q --force whole.h5 --layout 1d \
    --parts 2 --device cuda --algorithm sssp --roots 11 --check -o gpu.h5
same_counts
is "are as many as there are searches" "$(hopwave-info gpu.h5 | grep -c 'distance: i64 \[11,')" 1
hopwave-traverse -q --force whole.h5 --layout 1d --algorithm sssp --roots 11 --check \
    --canonical-parents --store first -o cpu.h5
ok "or one alone" ranks 2 hopwave-traverse --force whole.h5 --layout 1d --parts 2 --device cuda \
    --algorithm sssp --roots 11 --check --canonical-parents --store first -o gpu.h5
is "no other comes to the host" "$(grep -c 'come to the host\|on the CPU' "$work/tap.out")" 0
same_counts
same_parents
ok "validates, like the CPU's" hopwave-validate -q gpu.h5 --graph whole.h5 --against cpu.h5

# Nothing is validated, and what was reached is counted all the same.
check=
cpu directed.h5 bfs
gpu 1 1d
gpu 4 "2d --grid 2x2"
gpu 2 "degree-separated --parts 2" --transport mpi
cpu reals.h5 sssp
gpu 2 1d
cpu whole.h5 sssp
gpu 1 1d
hopwave-generate -q --model erdos-renyi --scale 9 --edges 1200 \
    --weights integer:1000000000:2000000000 -o long.h5
cpu long.h5 sssp
gpu 1 1d
gpu 2 "degree-separated --parts 2"

hopwave-generate -q --model rmat --scale 8 --directed --weights signed -o signed.h5
ok "negative weights" ranks 2 hopwave-traverse --force signed.h5 --layout 1d --parts 2 \
    --device cuda --algorithm sssp --roots 4 --check --store none -o gpu.h5
is "come to the host, and why is said" \
    "$(grep -c 'come to the host.*negative cycle' "$work/tap.out")" 1
done_testing
