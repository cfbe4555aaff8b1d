#!/bin/sh
# Searches on several GPUs that lose a rank: one that is killed or stopped ends the run within
# ten seconds, with a status that is not 0 and no file; one that fails alone ends it with one
# line and that rank's status. Each method over each transport. HW_GPU_RANKS (2, or 4),
# HW_GPU_METHODS and HW_GPU_TRANSPORTS: which lose ranks, and no more.
# shellcheck disable=SC1091,SC2046,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 14 -o graph.h5
many=${HW_GPU_RANKS:-2}
needs_gpu "lost ranks" "$many" graph.h5 --layout 1d --parts "$many"
hopwave-generate -q --model rmat --scale 14 --weights uniform -o weighted.h5
methods=${HW_GPU_METHODS:-fused scan2d delegates delta bellman-ford}
transports=${HW_GPU_TRANSPORTS:-}
if [ -z "$transports" ]; then
    transports='peer mpi'
    ranks "$many" hopwave-traverse -q graph.h5 --layout 1d --parts "$many" --device cuda \
        --transport nccl --roots 2 --store none -o nccl.h5 2>err
    case $? in
    0) transports="$transports nccl" ;;
    *) ok "nccl wants its library and a GPU for each rank" grep -q -i nccl err ;;
    esac
fi

# options METHOD: the graph, and how it is searched.
options() {
    case $1 in
    fused) echo graph.h5 --layout 1d --parts "$many" --method fused ;;
    scan2d) echo graph.h5 --layout 2d --grid "2x$((many / 2))" --method scan2d ;;
    delegates) echo graph.h5 --layout degree-separated --parts "$many" --method delegates ;;
    *) echo weighted.h5 --layout 1d --parts "$many" --algorithm sssp --method "$1" ;;
    esac
}

# begin NAME METHOD TRANSPORT LAUNCHER'S-OPTIONS: a run beside this shell; its number is in
# NAME.run.
begin() {
    OMP_NUM_THREADS=1 timeout -s KILL 90 "$MPIEXEC" $4 -n "$many" hopwave-traverse --force \
        $(options $2) --device cuda --transport $3 --roots 12000 --store none \
        -o "$work/$1.h5" >/dev/null 2>"$1.err" </dev/null &
    echo $! >"$1.run"
}

# await NAME: until it searches, which its journal tells.
await() {
    turns=0
    until [ -s "$1.h5.partial.searches" ] || [ $turns -gt 300 ]; do
        sleep 0.1
        turns=$((turns + 1))
    done
}

# lose NAME SIGNAL [LAUNCHER'S OPTIONS]: what becomes of the runs when a rank of each gets it,
# the first or the last.
lose() {
    how=$1 signal=$2 keep=${3-}
    for transport in $transports; do
        for method in $methods; do
            begin "$method-$transport-$how" $method $transport "$keep"
        done
    done
    for transport in $transports; do
        for method in $methods; do
            await "$method-$transport-$how"
        done
    done
    sleep 1
    which='head'
    for transport in $transports; do
        for method in $methods; do
            if [ "$which" = head ]; then which='tail'; else which='head'; fi
            hit "$method-$transport-$how" "$which"
        done
    done
    before=$(date +%s)
    for transport in $transports; do
        for method in $methods; do
            judge "$method-$transport-$how"
        done
    done
}

# hit NAME head|tail: sends the signal to one of its ranks, and notes where there is none.
hit() {
    kill "-$signal" "$(pgrep -f "^([^ ]*/)?hopwave-traverse .* $work/$1\\.h5" | "$2" -n 1)" ||
        : >"$1.over"
}

# judge NAME: how it ended.
judge() {
    wait "$(cat "$1.run")"
    status=$?
    took=$(($(date +%s) - before))
    ok "$1: ends with status $status after $took s, no file" \
        test "$status" -ne 0 -a "$status" -ne 137 -a "$took" -le 10 -a ! -e "$1.h5" \
        -a ! -e "$1.over"
    [ "$signal" != STOP ] || is "$1: a line names the rank" "$(grep -c 'was stopped and has not gone on' "$1.err")" 1
}
"$MPIEXEC" -disable-auto-cleanup -n 1 true 2>/dev/null && keep=-disable-auto-cleanup || keep=
lose stopped STOP
lose killed KILL
lose kept KILL $keep

[ "$many${HW_GPU_METHODS-}" = 2 ] || done_testing

# One rank has less memory than it needs. Each rank's shell expands this.
# shellcheck disable=SC2016
short='[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-0}}}" != 1 ] || export HOPWAVE_DEVICE_MEMORY=$short
exec "$0" "$@"'
for method in $methods; do
    for where in peer:1M mpi:65M; do
        refused "$method over ${where%:*}: one rank has ${where#*:}" 4 'GiB' \
            env short="${where#*:}" "$MPIEXEC" -n "$many" sh -c "$short" hopwave-traverse -q \
            $(options $method) --device cuda --transport "${where%:*}" --roots 1 -o short.h5
    done
done
ok "and no file" test ! -e short.h5
done_testing
