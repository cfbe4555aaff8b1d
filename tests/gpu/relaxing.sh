#!/bin/sh
# Methods bellman-ford and near-far on a GPU: distances equal the CPU's bit for bit under
# every switch, on weights of all kinds; negative cycles; refusals; what the steps say.
# One line a case.
#
#   relaxing.sh [SWITCHES]   SWITCHES: only those of which the name contains it
#
# From a bundle: hopwave-bundle/tests/gpu/relaxing.sh. Skips without a GPU.
set -u
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
only=${1:-}
roots=${HW_GPU_ROOTS:-16}

# refused NAME STATUS TEXT COMMAND...: ends so, and says so.
refused() {
    name=$1 status=$2 text=$3
    shift 3
    "$@" >out 2>&1
    got=$?
    if [ $got = "$status" ] && grep -q "$text" out; then
        echo "ok - $name"
    else
        echo "not ok - $name (status $got)"
        sed 's/^/# /' out | tail -n 4
        failures=$((failures + 1))
    fi
}

search="hopwave-traverse -q --force --layout 1d --algorithm sssp"
# compare GRAPH METHOD OPTIONS...: checked, and against the CPU's cpu-GRAPH.h5.
compare_one() {
    graph=$1 method=$2
    shift 2
    # shellcheck disable=SC2086 # options are words
    try "$graph $method $*" $search $graph.h5 --device cuda --method "$method" --check \
        --roots "$roots" "$@" -o "${own}gpu.h5" || return
    try "$graph $method $*: the CPU's distances" \
        hopwave-validate -q --force "${own}gpu.h5" --graph "$graph.h5" --against "cpu-$graph.h5"
    rm "${own}gpu.h5"
}
compare() {
    case "$*" in *"$only"*) later compare_one "$@" ;; esac
}

g="hopwave-generate -q --model"
# shellcheck disable=SC2086
{
    $g rmat --scale 12 --weights uniform -o float.h5
    $g rmat --scale 11 --weights integer:0:3 -o zero.h5
    $g rmat --scale 11 --directed --weights uniform -o directed.h5
    $g rmat --scale 11 --directed --weights signed -o signed.h5
    $g erdos-renyi --scale 12 --edges 65536 --weights integer:1:255 -o random.h5
    $g rmat --scale 9 --edge-factor 1 --weights uniform -o sparse.h5
}
# Weights whose sums pass 32 bits; hubs of degree 1 and 5000 around them.
awk 'BEGIN { for (v = 0; v < 40; v++) print v, v + 1, 2000000000 - v
             for (v = 0; v < 5000; v++) { print 41, 42 + v, v + 1; print 42 + v, v % 40, 5 } }' >wide.txt
hopwave-import -q wide.txt --undirected --weights integer -o wide.h5 >out 2>&1 || cat out
for graph in float zero directed signed random sparse wide; do
    # shellcheck disable=SC2086
    later try "$graph on the CPU" $search $graph.h5 --roots "$roots" --method bellman-ford -o cpu-$graph.h5
done
gather

for graph in float zero directed signed random sparse wide; do
    compare "$graph" bellman-ford
    [ "$graph" = signed ] || compare "$graph" near-far
done
for options in "--frontier queue" "--frontier sweep" "--frontier none" "--no-edge-classes" \
    "--duplicates" "--duplicate-removal words" "--large-lists off" "--large-list-length 32" \
    "--large-lists dynamic --large-list-length 64" "--virtual-warps dynamic" \
    "--virtual-warps 2 --warp-vertices 7 --frontier queue" "--cache-hints off" \
    "--hub-tiers 0" "--hub-tiers 2 --large-list-length 32" "--host-phases" \
    "--coalesced-enqueue off --frontier queue" "--relax-again --frontier queue" \
    "--canonical-parents" "--order none --no-steps" \
    "--frontier queue --duplicate-removal words --large-lists dynamic --virtual-warps dynamic"; do
    for graph in float directed; do
        # shellcheck disable=SC2086
        compare "$graph" bellman-ford $options
    done
    case $options in *none) continue ;; esac
    # shellcheck disable=SC2086
    compare random near-far --delta 20 $options
done
for options in "--frontier queue --virtual-warps dynamic" "--large-lists dynamic --large-list-length 64" \
    "--no-edge-classes --duplicates" "--canonical-parents"; do
    # shellcheck disable=SC2086
    compare signed bellman-ford $options
    # shellcheck disable=SC2086
    compare wide bellman-ford $options
done
compare random near-far --delta 1
compare random near-far --delta 100000
for options in "--delta 0.0001" "--large-list-length 32" "--hub-tiers 2 --large-list-length 32" \
    "--host-phases" "--duplicate-removal words" "--large-lists dynamic --large-list-length 64"; do
    # shellcheck disable=SC2086
    compare float near-far $options
done
gather
[ -z "$only" ] || finish

# Negative cycles: some among many edges; deep in a directed graph, from rounds on it; an edge;
# a loop.
$g rmat --scale 11 --directed -o plain.h5
hopwave-export -q --force --format el plain.h5 -o plain.el >out 2>&1 || cat out
# found NAME METHOD OPTIONS...: bellman-ford on $graph, with the CPU's outcomes.
found() {
    name=$1
    shift
    # shellcheck disable=SC2086
    try "$name" $search "$graph" --device cuda --method bellman-ford "$@" --check -o "${own}gpu.h5"
    # shellcheck disable=SC2086
    try "$name on the CPU" $search "$graph" --method bellman-ford "$@" -o "${own}cpu.h5"
    try "$name: the CPU's outcomes" \
        hopwave-validate -q --force "${own}gpu.h5" --graph "$graph" --against "${own}cpu.h5"
}
# some_negative SEED: a few edges of many.
some_negative() {
    awk -v seed="$1" 'BEGIN { srand(seed) }
        { print $1, $2, rand() < seed / 4000 ? -int(150 * rand()) : 1 + int(200 * rand()) }' \
        plain.el >"${own}some.wel"
    graph=${own}some.h5
    try "some negative $1: import" hopwave-import -q "${own}some.wel" --vertices 2048 --directed \
        --weights integer -o "$graph"
    found "some negative $1" --roots "$roots"
}
for seed in 1 2 3; do
    later some_negative $seed
done
awk 'BEGIN { srand(1); for (v = 0; v < 3000; v++) { print v, v + 1, 3; print v, int(rand() * 3000), 9 }
             print 2990, 2000, -2971 }' >cycle.txt
awk 'BEGIN { for (v = 0; v < 3000; v++) print v, v + 1, 2; print 1500, 700, -3 }' >edge.txt
awk 'BEGIN { for (v = 0; v < 3000; v++) print v, v + 1, 2; print 1500, 1500, -3 }' >loop.txt
# one_cycle NAME KIND: the list NAME.txt.
one_cycle() {
    way=--directed
    [ "$1" = edge ] && way=--undirected
    graph=${own}graph.h5
    try "$1 $2: import" hopwave-import -q "$1.txt" "$way" --weights "$2" -o "$graph"
    found "$1 $2" --root-list 0,2999
    try "$1 $2: a cycle from 0" sh -c "hopwave-info ${own}gpu.h5 | grep -qi cycle"
}
for kind in integer real; do
    for name in cycle edge loop; do
        later one_cycle $name $kind
    done
done
gather
# shellcheck disable=SC2086
{
    refused "near-far takes no negative weights" 3 "use --method bellman-ford" \
        $search signed.h5 --device cuda --method near-far -o gpu.h5
    refused "near-far has piles" 3 "none is none for it" \
        $search float.h5 --device cuda --method near-far --frontier none -o gpu.h5
    refused "words do not hold 64-bit distances" 3 "use marks" \
        $search wide.h5 --device cuda --method bellman-ford --duplicate-removal words -o gpu.h5
    refused "a sweep passes over what was relaxed" 3 "has no meaning" \
        $search float.h5 --device cuda --method bellman-ford --frontier sweep --relax-again -o gpu.h5
}

# What the steps say.
python=${PYTHON3:-python3}
# says NAME OPTIONS...: some routine has that in its name.
says() {
    name=$1
    shift
    # shellcheck disable=SC2086
    try "searches with $*" $search float.h5 --device cuda --method bellman-ford --roots 1 "$@" \
        -o "${own}gpu.h5"
    try "steps of $* name $name" "$python" -c "
import h5py, sys
names = h5py.File(sys.argv[1])['run/steps']['routine']
sys.exit(not any(sys.argv[2] in name.decode() for name in names))" "${own}gpu.h5" "$name"
}
if "$python" -c 'import h5py' 2>/dev/null; then
    for pair in ".words.:--duplicate-removal words" ".marks.:" ".dynamic.:--large-lists dynamic" \
        ".vw8.:--virtual-warps 8" "all.:--frontier none" "sweep.:--frontier sweep" "tier0:--large-list-length 32"; do
        # shellcheck disable=SC2086
        later says "${pair%%:*}" ${pair#*:}
    done
    gather
    # The kernel goes from pile to pile by itself; a sweep finds what is near then.
    # shellcheck disable=SC2086
    try "searches with piles" $search float.h5 --device cuda --method near-far --delta 0.02 --roots 1 \
        -o gpu.h5
    try "each pile begins with a sweep" "$python" -c "
import h5py, sys
rows = h5py.File('gpu.h5')['run/steps'][()]
rows = [row for row in rows if row['routine'].split(b'.')[0] in (b'queue', b'sweep')]
piles = [row['bucket'] for row in rows]
begin = [b for a, b in zip(rows, rows[1:]) if b['bucket'] != a['bucket']]
sys.exit(not (piles == sorted(piles) and len(begin) > 2
              and all(row['routine'].startswith(b'sweep') for row in begin)))"
fi
finish
