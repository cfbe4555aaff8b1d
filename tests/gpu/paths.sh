#!/bin/sh
# Every GPU method for shortest paths on graphs of many kinds: trees validated, distances
# and canonical parents equal to the CPU's. One line a case.
#
#   paths.sh [DATA]   DATA: a folder with more weighted graphs (*.h5), all run
#
# From a bundle: hopwave-bundle/tests/gpu/paths.sh. Skips without a GPU. HW_GPU_METHODS and
# HW_GPU_GRAPHS say which to run, HW_GPU_JOBS how many cases at a time.
set -u
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
data=${1:-}
methods=${HW_GPU_METHODS:-delta}
graphs=${HW_GPU_GRAPHS-rmat-12 integers-12 zeros-11 equal-10 directed-12 sparse-9 rmat-16 random-12 \
    vanish wide zeros grid few few-floats few-wide rings}
roots=${HW_GPU_ROOTS:-24}

traverse="hopwave-traverse -q --force --layout 1d --algorithm sssp" # words
# parents T.h5: their digest.
parents() { hopwave-info "$1" | grep ' /parent: '; }

# compare_one METHOD OPTIONS...: a method on $graph, called $name, against the CPU's trees.
compare_one() {
    # shellcheck disable=SC2086 # options are words
    try "$name $*" $traverse "$graph" --device cuda --roots "$roots" --method "$@" \
        -o "${own}gpu.h5" || return
    try "$name $*: validates, distances of the CPU" \
        hopwave-validate -q --force "${own}gpu.h5" --graph "$graph" --against cpu.h5
    case $* in
    *--canonical-parents*)
        try "$name $*: parents of the CPU" \
            test "$(parents "${own}gpu.h5")" = "$(parents cpu--canonical-parents.h5)"
        ;;
    esac
    rm "${own}gpu.h5"
}

# compare NAME G.h5: each method against the CPU on one graph.
compare() {
    name=$1 graph=$2
    for parents in "" --canonical-parents; do
        # shellcheck disable=SC2086 # options are words
        try "$name: the CPU's search $parents" \
            $traverse "$graph" --roots "$roots" $parents -o "cpu$parents.h5" || return
    done
    for method in $methods; do
        for option in "" "--order hash" "--order none --no-steps" "--canonical-parents"; do
            # shellcheck disable=SC2086
            later compare_one "$method" $option
        done
        case $method in
        delta)
            later compare_one delta --delta 0.01
            later compare_one delta --delta-kernel balanced
            ;;
        esac
    done
    gather
}

# Edge lists of kinds that no generator makes: weights that vanish in sums, sums beyond 32
# bits, long paths of weight 0, roads.
lists() {
    awk 'BEGIN {
        srand(5); split("0.0 1e-9 3e-8 0.5 1.25 1e4 1e-20 7.0", w, " ")
        for (i = 0; i < 20000; i++)
            print int(3000 * rand()), int(3000 * rand()), w[1 + int(8 * rand())] >"vanish.wel"
        for (i = 0; i < 9000; i++)
            print int(3000 * rand()), int(3000 * rand()), 1 + int(2147483646 * rand()) >"wide.wel"
        for (i = 0; i < 2999; i++)
            print i, i + 1, 0 >"zeros.wel"
        for (i = 0; i < 2900; i += 7)
            print i, i + 50, int(2 * rand()) >"zeros.wel"
        for (x = 0; x < 63; x++)
            for (y = 0; y < 63; y++) {
                print 64 * x + y, 64 * x + y + 1, 1 + int(255 * rand()) >"grid.wel"
                print 64 * x + y, 64 * x + y + 64, 1 + int(255 * rand()) >"grid.wel"
            }
        for (i = 0; i < 6000; i++) {
            u = int(3000 * rand()); v = int(3000 * rand())
            print u, v, 1 + int(255 * rand()) >"few.wel"
            print u, v, w[1 + int(8 * rand())] >"few-floats.wel"
            print u, v, 1 + int(2147483646 * rand()) >"few-wide.wel"
        }
        for (i = 0; i < 3000; i++) # with ways that are one-way, and rings without a way out
            print i, i % 100 == 99 ? i - 99 : i + 1, 1 + int(9 * rand()) >"rings.wel"
        for (i = 0; i < 2900; i += 9)
            print i, i + 100, int(3 * rand()) >"rings.wel"
    }'
    for list in vanish.3000 wide.3000 zeros.3000 grid.4096 few.3000 few-floats.3000 few-wide.3000; do
        hopwave-import -q "${list%.*}.wel" --undirected --vertices "${list#*.}" \
            -o "${list%.*}.h5" || exit 99
        rm "${list%.*}.wel"
    done
    hopwave-import -q rings.wel --directed --vertices 3000 -o rings.h5 || exit 99
}

g="hopwave-generate -q --force --model"
# shellcheck disable=SC2086
{
    $g rmat --scale 12 --weights uniform -o rmat-12.h5
    $g rmat --scale 12 --weights integer:1:255 -o integers-12.h5
    $g rmat --scale 11 --weights integer:0:3 -o zeros-11.h5
    $g rmat --scale 10 --weights integer:7:7 -o equal-10.h5
    $g rmat --scale 12 --directed --weights uniform -o directed-12.h5
    $g rmat --scale 9 --edge-factor 1 --weights uniform -o sparse-9.h5
    $g rmat --scale 16 --weights uniform -o rmat-16.h5
    $g erdos-renyi --scale 12 --edges 65536 --weights uniform -o random-12.h5
    $g rmat --scale 10 --directed --weights signed -o signed-10.h5
}
lists
for graph in $graphs; do
    compare "$graph" "$graph.h5"
done
if [ -n "$data" ]; then
    for graph in "$data"/*.h5; do
        compare "$(basename "$graph" .h5)" "$graph"
    done
fi
# shellcheck disable=SC2086
$traverse signed-10.h5 --device cuda --method delta --roots 2 -o gpu.h5 2>refusal
try "delta takes no negative weights" test $? -eq 3
try "and names the method that does" grep -q 'use --method bellman-ford' refusal

finish
