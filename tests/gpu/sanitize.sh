#!/bin/sh
# Memory and races of every GPU method, by compute-sanitizer on small graphs: no error and no
# hazard. Ranks of several parts share the GPU. One line a case.
#
#   sanitize.sh [CASES]   CASES: only those of which the line, such as "1 memcheck p-g12.h5
#                         --method fused --direction auto", matches it, an extended regular
#                         expression
#
# Skips without a GPU or compute-sanitizer. HW_GPU_JOBS: how many cases at a time.
set -u
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
only=${1:-}
command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
if ! command -v compute-sanitizer >/dev/null; then
    echo "1..0 # SKIP there is no compute-sanitizer here"
    exit 0
fi

# clean RANKS TOOL OPTIONS...: every rank ends, and its tool has a summary without a finding.
clean() {
    count=$1 tool=$2
    shift 2
    launch=''
    [ "$count" = 1 ] || launch="${MPIEXEC:-mpiexec} -n $count"
    # shellcheck disable=SC2086 # words
    timeout 150 $launch compute-sanitizer --error-exitcode 9 --tool "$tool" hopwave-traverse -q \
        --device cuda --store none --roots 2 "$@" -o "${own}t.h5" 2>&1 || return
    rm "${own}t.h5"
}
check() {
    clean "$@" >"${own}said"
    status=$?
    summaries=$(grep -c -E 'SUMMARY: 0 (errors|hazards displayed \(0 errors, 0 warnings\))$' "${own}said")
    [ "$summaries" = "$1" ] || status=1
    verdict $status "$*"
    [ $status = 0 ] || sed 's/^/# /' "${own}said" | tail -n 20
}
# both RANKS OPTIONS...: memcheck and racecheck.
both() {
    parts=$1
    shift
    for tool in memcheck racecheck; do
        if echo "$parts $tool $*" | grep -Eq -e "$only"; then
            later check "$parts" $tool "$@"
        fi
    done
}

# What is searched: partitions, so that it is the searches that are looked at.
g="hopwave-generate -q --model rmat"
for graph in "g12 --scale 12" "d10 --scale 10 --directed" "w12 --scale 12 --weights uniform" \
    "s10 --scale 10 --directed --weights signed" "i10 --scale 10 --weights integer:1:255"; do
    # shellcheck disable=SC2086
    $g ${graph#* } -o "${graph%% *}.h5"
    hopwave-partition -q "${graph%% *}.h5" --layout 1d --parts 1 -o "p-${graph%% *}.h5"
done

# Of degrees that hardly vary: distances and hints in one word.
for graph in "e12 --weights uniform" "z12 --weights integer:0:3"; do
    # shellcheck disable=SC2086
    hopwave-generate -q --model erdos-renyi --scale 12 --edge-factor 8 ${graph#* } -o "${graph%% *}.h5"
    hopwave-partition -q "${graph%% *}.h5" --layout 1d --parts 1 -o "p-${graph%% *}.h5"
    both 1 "p-${graph%% *}.h5" --algorithm sssp --method delta
done

for direction in auto top-down bottom-up; do
    both 1 p-g12.h5 --method fused --direction $direction
done
for method in fused adaptive merge cta-warp-scan scan2d scatter-compact; do
    both 1 p-d10.h5 --method $method
done
both 1 p-g12.h5 --method adaptive
both 1 p-g12.h5 --method merge --coupling hybrid
both 1 p-g12.h5 --method scan2d
for graph in w12 i10; do
    for method in delta bellman-ford near-far; do
        both 1 p-$graph.h5 --algorithm sssp --method $method
    done
done
both 1 p-s10.h5 --algorithm sssp --method bellman-ford
both 1 g12.h5 --layout degree-separated --parts 1
both 1 d10.h5 --layout degree-separated --parts 1 --degree-threshold 20 --direction top-down
both 1 g12.h5 --layout degree-separated --parts 1 --degree-threshold 20 --direction bottom-up
both 1 i10.h5 --layout degree-separated --parts 1 --algorithm sssp --method delta
both 2 g12.h5 --layout 1d --parts 2 --method fused --transport mpi
both 4 g12.h5 --layout 2d --grid 2x2 --method scan2d --transport mpi
both 2 g12.h5 --layout 2d --grid 1x2 --method scan2d --transport mpi --direction bottom-up
both 2 d10.h5 --layout degree-separated --parts 2 --degree-threshold 20 --transport mpi
both 4 d10.h5 --layout degree-separated --parts 2x2 --degree-threshold 20 --transport mpi
both 2 i10.h5 --layout 1d --parts 2 --algorithm sssp --method delta --transport mpi
both 2 s10.h5 --layout degree-separated --parts 2 --algorithm sssp --method bellman-ford --transport mpi
gather
finish
