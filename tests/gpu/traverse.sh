#!/bin/sh
# Every GPU method on graphs of many kinds: trees validated, levels equal to the CPU's,
# memory and races checked. One line a case, a table at the end.
#
#   traverse.sh [DATA]   DATA: a folder with more graphs (*.h5), all run
#
# From a bundle: hopwave-bundle/share/traverse.sh. Skips without a GPU.
set -u
here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd)
[ -d "$here/bin" ] && PATH=$here/bin:$PATH
data=${1:-}
methods=${HW_GPU_METHODS:-fused}
roots=${HW_GPU_ROOTS:-64}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failures=0

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
    echo "1..0 # SKIP there is no GPU here"
    exit 0
fi

# case NAME COMMAND...: one line, with the command's output if it fails.
try() {
    name=$1
    shift
    if "$@" >out 2>&1; then
        echo "ok - $name"
        return 0
    fi
    echo "not ok - $name"
    sed 's/^/# /' out | tail -n 12
    failures=$((failures + 1))
    return 1
}

quiet="-q --force" # words
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
        for option in "" "--direction top-down" "--direction bottom-up --no-steps" \
            "--order hash" "--canonical-parents"; do
            case "$name$option" in
            *path*bottom-up*) continue ;; # 100,000 levels of the whole bitmap
            esac
            # shellcheck disable=SC2086
            try "$name $method $option" hopwave-traverse $quiet "$graph" --layout 1d \
                --device cuda --method "$method" $option "$@" -o gpu.h5 || continue
            # shellcheck disable=SC2086
            try "$name $method $option: validates, levels of the CPU" \
                hopwave-validate $quiet gpu.h5 --graph "$graph" --against cpu.h5
        done
    done
}

g="hopwave-generate $quiet --model"
# shellcheck disable=SC2086
{
    $g rmat --scale 12 -o rmat-12.h5
    $g rmat --scale 12 --directed -o directed-12.h5
    $g rmat --scale 9 --edge-factor 1 -o sparse-9.h5
    $g erdos-renyi --scale 12 --edges 65536 -o random-12.h5
}
for graph in rmat-12 directed-12 sparse-9 random-12; do
    compare $graph $graph.h5 --roots "$roots"
done
if [ -n "$data" ]; then
    for graph in "$data"/*.h5; do
        name=$(basename "$graph" .h5)
        if [ -e "$data/$name.roots" ]; then
            compare "$name" "$graph" --root-list "$data/$name.roots"
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
    compare rmat-20 rmat-20.h5 --roots "$roots"
    compare random-20 random-20.h5 --roots "$roots"
fi

# Memory and races, on small graphs: every kind of step is in them.
if command -v compute-sanitizer >/dev/null && [ "${HW_GPU_SANITIZE:-1}" = 1 ]; then
    for method in $methods; do
        for tool in memcheck racecheck; do
            for graph in rmat-12 directed-12; do
                # shellcheck disable=SC2086
                try "$graph $method $tool" compute-sanitizer --error-exitcode 9 --tool $tool \
                    hopwave-traverse $quiet $graph.h5 --layout 1d --device cuda \
                    --method "$method" --roots 2 -o gpu.h5
            done
        done
    done
fi
echo "# $failures failures"
[ "$failures" -eq 0 ]
