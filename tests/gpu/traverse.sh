#!/bin/sh
# Every GPU method on graphs of many kinds: trees validated, levels equal to the CPU's. One
# line a case.
#
#   traverse.sh [DATA]   DATA: a folder with more graphs (*.h5), all run
#
# From a bundle: hopwave-bundle/tests/gpu/traverse.sh. Skips without a GPU. HW_GPU_METHODS and
# HW_GPU_GRAPHS say which to run, HW_GPU_JOBS how many cases at a time.
set -u
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
python=${PYTHON3:-python3}
data=${1:-}
methods=${HW_GPU_METHODS:-fused adaptive merge cta-warp-scan scan2d scatter-compact}
graphs=${HW_GPU_GRAPHS-rmat-12 directed-12 sparse-9 random-12}
roots=${HW_GPU_ROOTS:-64}

# options METHOD: what to try it with, a line each; all there is while wide is 1.
wide=1 large=0
options() {
    printf '%s\n' "" "--canonical-parents"
    [ "$large" = 1 ] || echo "--order hash --no-steps"
    case $1 in
    fused) printf "%s\n" "--direction top-down" "--direction bottom-up --no-steps" \
        "--order none --pull-weight 100" ;;
    esac
    [ "$wide" = 1 ] || return 0
    case $1 in
    adaptive)
        for queue in scan-free single-scan double-scan strided degree-classes; do
            echo "--queue $queue"
        done
        echo "--queue scan-free,none,double-scan --alpha 0.3"
        for balance in static thread donate; do
            echo "--balance $balance"
        done
        echo "--async-bottom-up off"
        echo "--as-published"
        ;;
    merge)
        for coupling in separate gather expand direct; do
            echo "--coupling $coupling"
        done
        echo "--expand-factor 100"
        echo "--as-published"
        ;;
    scan2d)
        for edges in 1 2 3 5 6 7 8; do
            echo "--edges-per-thread $edges"
        done
        ;;
    esac
}

quiet="-q --force" # words
# compare_one METHOD OPTIONS...: a method on $graph, called $name, against cpu.h5.
compare_one() {
    # shellcheck disable=SC2086
    try "$name $*" hopwave-traverse $quiet "$graph" --layout 1d --device cuda --method "$@" \
        -o "${own}gpu.h5" || return
    # shellcheck disable=SC2086
    try "$name $*: validates, levels of the CPU" \
        hopwave-validate $quiet "${own}gpu.h5" --graph "$graph" --against cpu.h5
    rm "${own}gpu.h5"
}

# compare NAME G.h5 OPTIONS...: each method against the CPU on one graph.
compare() {
    name=$1 graph=$2
    shift 2
    # shellcheck disable=SC2086 # options are words
    hopwave-traverse $quiet "$graph" --layout 1d "$@" -o cpu.h5 >out 2>&1 || {
        echo "not ok - $name: the CPU's search"
        cat out
        failures=$((failures + 1))
        return
    }
    for method in $methods; do
        options "$method" >tries
        while read -r option; do
            case "$name$option" in
            *path*bottom-up*) continue ;; # 100,000 levels of the whole bitmap
            esac
            # shellcheck disable=SC2086
            later compare_one "$method" $option "$@"
        done <tries
    done
    gather
}

g="hopwave-generate $quiet --model"
# shellcheck disable=SC2086
{
    $g rmat --scale 12 -o rmat-12.h5
    $g rmat --scale 12 --directed -o directed-12.h5
    $g rmat --scale 9 --edge-factor 1 -o sparse-9.h5
    $g erdos-renyi --scale 12 --edges 65536 -o random-12.h5
}
for graph in $graphs; do
    case $graph in
    rmat* | directed*) wide=1 ;;
    *) wide=0 ;;
    esac
    compare "$graph" "$graph.h5" --roots "$roots"
done
wide=0 large=1
if [ -n "$data" ]; then
    for graph in "$data"/*.h5; do
        name=$(basename "$graph" .h5)
        if [ -e "$data/$name.roots" ]; then
            compare "$name" "$graph" --ids --root-list "$data/$name.roots"
        else
            compare "$name" "$graph" --roots "$roots"
        fi
    done
fi
if [ "${HW_GPU_LARGE:-1}" = 1 ]; then
    # shellcheck disable=SC2086
    {
        $g rmat --scale 20 -o rmat-20.h5
        $g erdos-renyi --scale 20 --edges 16777216 -o random-20.h5
    }
    compare rmat-20 rmat-20.h5 --roots $(((roots + 7) / 8))
    compare random-20 random-20.h5 --roots $(((roots + 7) / 8))
fi

# Each option changes what runs, and the rows of the steps say so.
# shows ROUTINES METHOD OPTIONS...: the routines of a search, sorted.
shows() {
    want=$1
    shift
    try "$* searches" hopwave-traverse -q --force rmat-12.h5 --layout 1d --device cuda --roots 1 \
        --method "$@" -o "${own}gpu.h5" || return
    try "$* runs $want" test "$want" = "$("$python" -c 'import h5py, sys
print(" ".join(sorted({r.decode().replace(" ", "_") for r in h5py.File(sys.argv[1])["run/steps"]["routine"]})))' "${own}gpu.h5")"
}
if "$python" -c 'import h5py' 2>/dev/null; then
    for method in $methods; do
        case $method in
        merge)
            later shows "expand gather parents" merge
            later shows "gather parents" merge --expand-factor 1000000
            later shows "expand parents" merge --coupling hybrid --expand-factor 0.5
            later shows "gather parents" merge --coupling gather
            later shows "expand parents" merge --coupling expand
            later shows "parents separate" merge --coupling separate
            later shows "direct parents" merge --coupling direct
            later shows "canonical direct" merge --coupling direct --canonical-parents
            ;;
        cta-warp-scan) later shows "cta-warp-scan parents" cta-warp-scan ;;
        scan2d)
            later shows "parents scan2d_4" scan2d
            later shows "parents scan2d_7" scan2d --edges-per-thread 7
            ;;
        scatter-compact) later shows "parents scatter-compact" scatter-compact ;;
        esac
    done
    gather
fi

finish
