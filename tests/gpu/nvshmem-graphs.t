#!/bin/sh
# Random graphs, searched over NVSHMEM by all methods of several GPUs: between 4 x 1 and 2 x 2 nodes
# that emulated devices pretend to be, with three orders of deliveries each, as their puts are late and out
# of order. Trees are those of one CPU. Graphs are undirected and directed, dense, sparse and uniform;
# weights real, whole, of 64 bits, zeros and, for bellman-ford, negative.
# HW_GRAPHS=N (1): so many graphs, from HW_FIRST_GRAPH (1) on; a graph and its weights depend on
# its number alone. HW_ORDERS (3): orders of each. A run searches from each root once per order: the random
# numbers that order its deliveries go on from search to search, and begin elsewhere for each graph and shape.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 6 -o g.h5
needs_gpu "random graphs over NVSHMEM" 2 g.h5 --layout 1d --parts 2
if ! hopwave-traverse --version | grep -q emulated; then
    skip "random graphs over NVSHMEM" "devices are not emulated"
    done_testing
fi
export HW_EMULATED_NVSHMEM_SEED HW_EMULATED_NVSHMEM_NODE

# graph I: to g.h5, and to `roots` what is searched from, one after another, as often as there are orders.
graph() {
    directed='' signed=false roots=1
    [ $(($1 % 7)) -gt 2 ] || roots=2
    [ $(($1 % 3)) != 0 ] || directed=--directed
    case $(($1 % 4)) in
    0) model="erdos-renyi --edges $((60 + 40 * ($1 % 7)))" ;;
    1) model="rmat --edge-factor 2" ;;
    *) model="rmat" ;;
    esac
    case $(($1 % 5)) in
    0) weights=uniform ;;
    1) weights=integer:0:3 ;;
    2) weights=integer:1:99 ;;
    3) weights=integer:1000000000:2000000000 ;;
    4) weights=integer:0:1 ;;
    esac
    [ $(($1 % 9)) != 0 ] || weights=signed signed=true
    hopwave-generate -q --force --model $model --scale $((6 + $1 % 2)) --seed $1 $directed \
        --weights $weights -o g.h5
    hopwave-traverse -q --force g.h5 --layout 1d --roots $roots -o sample.h5
    for _ in $(seq "${HW_ORDERS:-3}"); do
        h5dump -y -w 1 -d /roots sample.h5 | sed -n 's/^ *\([0-9][0-9]*\),*$/\1/p'
    done >roots
}

# like ALGORITHM OPTIONS...: over NVSHMEM, with the trees of ALGORITHM.h5. Parents that are
# canonical are others' work than those that kernels find: every other graph has them between nodes of 1.
like() {
    algorithm=$1 what="digest|/level|/distance" parents=''
    shift
    [ $(((i + HW_EMULATED_NVSHMEM_NODE) % 2)) != 0 ] ||
        what="$what|/parent" parents=--canonical-parents
    what="^ *($what):"
    ok "graph $i, seed $HW_EMULATED_NVSHMEM_SEED, $shape: $*" ranks 4 hopwave-traverse -q --force g.h5 --device cuda \
        --transport nvshmem --algorithm $algorithm --root-list roots --check $parents "$@" -o gpu.h5
    hopwave-info gpu.h5 >gpu.info
    same "the same trees" "$(grep -E "$what" gpu.info)" "$(grep -E "$what" $algorithm.info)"
}

# put_by WHO: who put in the last search.
put_by() {
    is "by $1" "$(sed -n 's/^ *puts: //p' gpu.info)" "$1"
}

# methods: all, of the graph, between nodes of $HW_EMULATED_NVSHMEM_NODE; with directions and
# layouts in turn. Kernels of fused, and in layout 1d of delta and bellman-ford, put.
methods() {
    if [ $(((i / 2 + HW_EMULATED_NVSHMEM_NODE) % 2)) = 0 ]; then
        direction=bottom-up scan2d="--layout 1d --parts 4"
        other="--layout 2d --grid 2x2 $each"
    else
        direction=top-down scan2d="--layout 2d --grid 2x2"
        other="--layout degree-separated --parts $shape"
    fi
    if ! $signed; then
        like bfs --layout 1d --parts 4 --method fused $each
        put_by kernels
        like bfs --layout 1d --parts 4 --method fused --direction $direction $each
        like bfs $scan2d --method scan2d $each
        like bfs --layout 1d --parts 4 --method scatter-compact $each
        [ -n "$directed" ] || like bfs --layout degree-separated --parts $shape --method delegates
        like sssp --layout 1d --parts 4 --method delta $each
        put_by kernels
        like sssp $other --method delta
    fi
    like sssp --layout 1d --parts 4 --method bellman-ford $each
    like sssp $other --method bellman-ford
}

# by_hosts: a method whose kernels put.
by_hosts() {
    export HOPWAVE_NVSHMEM_PUTS=host
    if [ $((i % 2)) = 0 ]; then
        like bfs --layout 1d --parts 4 --method fused $each
    else
        like sssp --layout 1d --parts 4 --method bellman-ford $each
    fi
    $signed || put_by host
    unset HOPWAVE_NVSHMEM_PUTS
}

i=${HW_FIRST_GRAPH:-1} end=$((${HW_FIRST_GRAPH:-1} + ${HW_GRAPHS:-1}))
while [ $i -lt $end ]; do
    graph $i
    for algorithm in bfs sssp; do
        method=
        [ $algorithm != sssp ] || ! $signed || method="--method bellman-ford"
        hopwave-traverse -q --force g.h5 --layout 1d --algorithm $algorithm $method --root-list roots \
            --canonical-parents -o $algorithm.h5
        hopwave-info $algorithm.h5 >$algorithm.info
    done
    for HW_EMULATED_NVSHMEM_NODE in 1 2; do
        HW_EMULATED_NVSHMEM_SEED=$((2 * i + HW_EMULATED_NVSHMEM_NODE))
        each="--ranks-per-node $HW_EMULATED_NVSHMEM_NODE"
        shape=$((4 / HW_EMULATED_NVSHMEM_NODE))x$HW_EMULATED_NVSHMEM_NODE
        methods
    done
    by_hosts
    i=$((i + 1))
done
done_testing
