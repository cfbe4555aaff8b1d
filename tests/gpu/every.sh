#!/bin/sh
# Every layout, method and transport on 1, 2 and 4 GPUs: each search validated, and the trees
# like the CPU's. One line a case: searches, how many of them were checked and failed, their
# harmonic mean in GTEPS, and the seconds that the whole run took.
#
#   every.sh [G.h5...]   G.h5: more graphs, weighted, no weight negative
#
# From a bundle: hopwave-bundle/tests/gpu/every.sh. Skips without a GPU. Each case has GPUs of
# its own, and as many run side by side as there are GPUs for. HW_GPU_SCALES (16): of R-MAT
# graphs. HW_GPU_LARGE (22): one more, whose trees stay on the GPUs, as those of the others do
# not. HW_GPU_TRANSPORTS (peer nccl mpi): all on the former, the first of them on the large one
# and those given. HW_GPU_COUNTS (4 2 1) of GPUs, HW_GPU_ROOTS (64); HW_GPU_ONLY: cases whose
# lines hold it. HW_GPU_LIMIT (60): seconds of a case; HW_GPU_SECONDS: after so many none is
# begun, and it is said how many were left out.
set -u
given=''
for file in "$@"; do
    given="$given $(readlink -f -- "$file")"
done
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
scales=${HW_GPU_SCALES-16} large=${HW_GPU_LARGE-22}
if hopwave-info --version | grep -q emulated; then
    scales=${HW_GPU_SCALES-9} large=${HW_GPU_LARGE-}
fi
roots=${HW_GPU_ROOTS:-64} only=${HW_GPU_ONLY-} limit=${HW_GPU_LIMIT:-60} left=0
last=$(($(date +%s) + ${HW_GPU_SECONDS:-100000}))
gpus=$(devices)
all=$(echo "$gpus" | wc -w)
[ "$all" -gt 0 ] || exit 99

# forms GPUS: what is tried on so many, a line each: algorithm, layout and method.
forms() {
    printf '%s\n' "bfs 1d fused" "bfs 1d scan2d" "bfs 2d scan2d" "bfs degree-separated delegates"
    for layout in 1d 2d degree-separated; do
        printf '%s\n' "sssp $layout delta" "sssp $layout bellman-ford"
    done
    [ "$1" -gt 1 ] ||
        printf '%s\n' "bfs 1d adaptive" "bfs 1d merge" "bfs 1d cta-warp-scan" \
            "bfs 1d scatter-compact" "sssp 1d near-far"
}

# shape LAYOUT GPUS: the options of a layout.
shape() {
    case $1-$2 in
    2d-4) echo --layout 2d --grid 2x2 ;;
    2d-*) echo --layout 2d --grid "1x$2" ;;
    *) echo --layout "$1" --parts "$2" ;;
    esac
}

# stored NAME: the trees that are. Canonical ones are the same from every method.
stored() {
    case $1 in
    "rmat-$large") echo --store none --no-steps ;;
    *) echo --store first --canonical-parents ;;
    esac
}

# about: of what `hopwave-info` tells, all that must be the CPU's, too: digests of the first
# tree, where there is one, and what the searches reached.
about() {
    sed -n 's/^ *\(bfs\|sssp\)_\([a-z]*_nedge: \)/\2/p
        s/^ *\(\/distance\|\/level\|\/parent\|\/roots\): [^ ]* /\1 /p'
}

# on_cpu NAME ALGORITHM ROOTS: what that finds.
on_cpu() {
    # shellcheck disable=SC2046 # words
    hopwave-traverse -q --force "$1.h5" --layout 1d --algorithm "$2" --roots "$3" $(stored "$1") \
        -o cpu.h5 >&2 && hopwave-info cpu.h5 | about
}

# reference NAME: what is compared with, to NAME-bfs.about and NAME-sssp.about. What searches reach
# does not depend on the algorithm, and the first root not on how many there are.
reference() {
    on_cpu "$1" bfs "$roots" >bfs.new
    case $1 in
    "rmat-$large") : >sssp.new ;;
    *) on_cpu "$1" sssp 1 | grep -E '^/(distance|parent)' >sssp.new ;;
    esac
    grep -v -E '^/(level|parent)' bfs.new >>sssp.new
    mv bfs.new "$1-bfs.about"
    mv sssp.new "$1-sssp.about"
}

# like_cpu NAME ALGORITHM: waits until that is known, and compares.
like_cpu() {
    until [ -e "$1-$2.about" ] || [ "$(date +%s)" -gt $((last + 120)) ]; do
        sleep 0.2
    done
    about <"${own}info" | sort >"${own}about"
    sort "$1-$2.about" | diff - "${own}about" >>"${own}out"
}

# value NAME: of the file that `hopwave-info` told of.
value() { sed -n "s/^ *$1: //p" "${own}info" | head -n 1; }

# tell STATUS FOUND: the line of a case.
tell() {
    rate=$(value "${algorithm}_search_order_harmonic_mean_TEPS")
    verdict "$1" "$(printf '%-10s %s GPU %-4s %-30s %-4s %3s searches %3s checked %2s failed %8.2f GTEPS %5.1f s, %s' \
        "$name" "$count" "$algorithm" "$layout, $method" "$over" "$(value roots)" \
        "$(value checked)" "$(value failed)" "$(awk "BEGIN { print ${rate:-0} / 1e9 }")" "$took" "$2")"
}

# one NAME GPUS ALGORITHM LAYOUT METHOD TRANSPORT: a case.
one() {
    name=$1 count=$2 algorithm=$3 layout=$4 method=$5 over=$6
    OMP_NUM_THREADS=$(((all + $(nproc) - 1) / all))
    export OMP_NUM_THREADS
    began=$(date +%s%N)
    # shellcheck disable=SC2046 # words
    timeout -k 5 "$limit" "${MPIEXEC:-mpiexec}" -n "$count" hopwave-traverse -q "$name.h5" \
        $(shape "$layout" "$count") --device cuda --algorithm "$algorithm" --method "$method" \
        --transport "$over" --roots "$roots" --check $(stored "$name") -o "${own}t.h5" \
        >"${own}out" 2>&1
    status=$?
    took=$(awk "BEGIN { print ($(date +%s%N) - $began) / 1e9 }")
    free_gpus
    : >"${own}info"
    if [ "$status" -ne 0 ]; then
        tell "$status" "status $status"
    elif hopwave-info "${own}t.h5" >"${own}info" 2>>"${own}out" && like_cpu "$name" "$algorithm"; then
        tell 0 "like the CPU's"
    else
        tell 1 "unlike the CPU's"
    fi
    if [ "$failures" -gt 0 ]; then
        sed 's/^/# /' "${own}out" | tail -n 12
        echo "$name" >>wrong
    fi
    rm -f "${own}"*
}

# some NAME GPUS TRANSPORT: all cases of a graph.
some() {
    forms "$2" >list
    while read -r algorithm layout method; do
        case "$1 $2 $algorithm $layout $method $3" in
        *"$only"*) ;;
        *) continue ;;
        esac
        if [ "$(date +%s)" -lt "$last" ]; then
            on "$2" one "$1" "$2" "$algorithm" "$layout" "$method" "$3"
        else
            left=$((left + 1))
        fi
    done <list
}

# transports: those that there are.
transports() {
    for over in ${HW_GPU_TRANSPORTS:-peer nccl mpi}; do
        if [ "$over" != nccl ] || "${MPIEXEC:-mpiexec}" -n 2 hopwave-traverse -q probe.h5 \
            --layout 1d --parts 2 --device cuda --transport nccl --roots 1 --store none -o nccl.h5 \
            >nccl.out 2>&1; then
            echo "$over"
        fi
    done
}

names='' narrow="rmat-$large"
for scale in $scales $large; do
    hopwave-generate -q --model rmat --scale "$scale" --weights uniform --recipe -o "rmat-$scale.h5"
    names="$names rmat-$scale"
done
for file in $given; do
    name=$(basename "$file" .h5)
    ln -s "$file" "$name.h5"
    names="$names $name" narrow="$narrow $name"
done
for name in $names; do
    reference "$name"
done >cpu.out 2>&1 &
hopwave-generate -q --model rmat --scale 9 -o probe.h5
over=''
[ "$all" -eq 1 ] || over=$(transports)
[ ! -s nccl.out ] || sed 's/^/# without nccl: /' nccl.out
for name in $names; do
    for count in ${HW_GPU_COUNTS:-4 2 1}; do
        [ "$count" -le "$all" ] || continue
        if [ "$count" -eq 1 ]; then
            some "$name" 1 auto
            continue
        fi
        case " $narrow " in
        *" $name "*) ways=$(echo "$over" | head -n 1) ;;
        *) ways=$over ;;
        esac
        for way in $ways; do
            some "$name" "$count" "$way"
        done
    done
done
wait
[ "$left" -eq 0 ] || echo "# $left cases were left out: HW_GPU_SECONDS"
[ ! -e wrong ] || failures=$(wc -l <wrong)
finish
