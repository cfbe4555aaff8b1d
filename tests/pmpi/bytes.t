#!/bin/sh
# Bytes that the searches of every layout send, counted by a layer between the
# program and MPI: they are those of the engine's traffic counters, and at or below the
# papers' models.
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"

python=${PYTHON3:-python3}
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "bytes" "$python has no h5py"
    done_testing
fi
counted=$top_builddir/tests/pmpi/counted-traverse

# A call that the layer does not know would go uncounted.
known='Init|Init_thread|Initialized|Finalize|Abort|Comm_.*|Type_.*|Error_.*|Get_.*|Barrier'
known="$known|Wait|Waitall|Waitany|Test|Testall|Irecv|Recv|Probe|Iprobe|Op_.*|Info_.*|Pcontrol|Wtime"
known="$known|Isend|Send|Sendrecv|Allreduce|Iallreduce|Reduce|Reduce_scatter_block|Bcast|Allgather"
known="$known|Allgatherv|Alltoall|Alltoallv|Alltoallv_c|Exscan|Gather|Gatherv|Query_thread|File_.*|Startall"
# Memory that the ranks of a node share, to watch over each other, carries nothing of a search.
known="$known|Win_.*"
# Nor do a receive that is given up, and groups of ranks.
known="$known|Cancel|Group_.*"
unknown=$(nm -u "$top_builddir/libhopwave.a" 2>/dev/null | sed -n 's/.* U MPI_//p' | sort -u |
    grep -v -x -E "$known")
is "every MPI call of the library is known to the layer" "$unknown" ""

ok "a graph" hopwave-generate -q --model rmat --scale 12 --edge-factor 8 -o "$work/g.h5"

# check NAME RANKS LAYOUT... -- OPTIONS...; shared: as traffic.py has it
shared=
check() {
    name=$1 n=$2
    shift 2
    layout=
    while [ "$1" != -- ]; do
        layout="$layout $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    HW_COUNT_FILE=$work/counts ranks "$n" "$counted" "$work/g.h5" --algorithm bfs $layout \
        --roots 4 --store none --threads 1 --quiet "$@" --force -o "$work/t.h5" \
        >"$work/log" 2>&1
    rc=$?
    if [ "$rc" -ne 0 ]; then
        verdict 1 "$name, $n ranks${*:+, $*}"
        sed 's/^/# /' "$work/log"
        return
    fi
    ok "$name, $n ranks${*:+, $*}" "$python" "$top_srcdir/tests/pmpi/traffic.py" "$work/t.h5" "$work/counts" \
        ${shared:+"$shared"}
}

for direction in auto top-down bottom-up; do
    check 1d 3 --layout 1d -- --direction "$direction" --ranks-per-node 1
    shared=shared
    check 1d 3 --layout 1d -- --direction "$direction"
    shared=
    check 2d 4 --layout 2d --grid 2x2 -- --direction "$direction"
    check 2d 6 --layout 2d --grid 3x2 -- --direction "$direction"
    check degree-separated 4 --layout degree-separated --parts 2x2 -- --direction "$direction"
done
check 2d 4 --layout 2d --grid 2x2 -- --exchange auto
check 2d 2 --layout 2d --grid 2x1 --
check 1d 4 --layout 1d -- --ranks-per-node 2
check 2d 6 --layout 2d --grid 3x2 -- --ranks-per-node 4
check degree-separated 3 --layout degree-separated --parts 3 -- --uniquify
check degree-separated 4 --layout degree-separated --parts 2x2 -- --reduce nonblocking

# HW_NODES=RANKS, a square such as 256: the same for so many, four of them a node.
most=${HW_NODES:-0}
side=1
while [ $((side * side)) -lt "$most" ]; do
    side=$((side + 1))
done
if [ "$most" -gt 0 ]; then
    check 1d "$most" --layout 1d -- --ranks-per-node 4
    check 2d "$most" --layout 2d --grid "${side}x$side" -- --ranks-per-node 4
    check degree-separated "$most" --layout degree-separated --parts "$((most / 4))x4" --
fi
done_testing
