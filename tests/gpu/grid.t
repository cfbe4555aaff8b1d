#!/bin/sh
# Method scan2d on grids of parts, one rank a GPU (ranks share them where there are fewer):
# the CPU's levels on every shape, over each transport and in each form of exchange, from
# graphs, recipes and partition files, on graphs that leave parts nearly empty too.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
needs_gpu "searches on grids of GPUs" 2 recipe.h5 --layout 2d --grid 1x2 --method scan2d

# search GRAPH PARTS OPTIONS...
search() {
    graph=$1 parts=$2
    shift 2
    like_cpu "$graph, $*" "$parts" "$graph" --method scan2d --roots 4 "$@"
}

# cpu GRAPH: what is compared with.
cpu() {
    hopwave-traverse -q --force "$1" --layout 1d --roots 4 -o cpu.h5
}
hopwave-generate -q --model rmat --scale 11 -o rmat.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
hopwave-generate -q --model rmat --scale 3 -o tiny.h5
cpu rmat.h5
for grid in 1x2 2x1 2x2; do
    search rmat.h5 $((${grid%x*} * ${grid#*x})) --layout 2d --grid $grid
done
search rmat.h5 3 --layout 1d --parts 3 --transport mpi
search rmat.h5 4 --layout 2d --grid 2x2 --transport mpi --exchange list --edges-per-thread 1
search rmat.h5 4 --layout 2d --grid 4x1 --transport mpi --exchange bitmap --order none
search rmat.h5 4 --layout 2d --grid 2x2 --transport mpi --canonical-parents --order hash
if ranks 2 hopwave-traverse -q rmat.h5 --layout 2d --grid 1x2 --device cuda --method scan2d \
    --roots 1 --store none --transport mpi --mpi-buffers device -o device.h5 2>err; then
    search rmat.h5 4 --layout 2d --grid 2x2 --transport mpi --mpi-buffers device
    search rmat.h5 4 --layout 2d --grid 1x4 --transport mpi --mpi-buffers device --exchange list
fi
hopwave-partition -q rmat.h5 --layout 2d --grid 2x2 -o parts.h5
hopwave-traverse -q --force rmat.h5 --layout 1d --roots 4 --canonical-parents -o cpu.h5
ok "from a partition file" ranks 4 hopwave-traverse -q --force parts.h5 --device cuda \
    --method scan2d --roots 4 --canonical-parents -o gpu.h5
same_parents

# The books of method grid, from the second level on: the root, which all know, is not sent.
# Bitmaps go whole, 1024 positions and more: as many bytes where all those have edges (full.h5).
# Edges to rows that all are visited, and come first in the lists, are left out.
cat >books.py <<'END'
import sys, h5py
rows = [h5py.File(f)["run/steps"][:] for f in ("gpu.h5", "books.h5")]
rows = [r[r["direction"] == b"top-down"] for r in rows]
for name in ("search", "step", "frontier", "discovered"):
    assert (rows[0][name] == rows[1][name]).all(), name
edges = [r["edges_examined"] for r in rows]
assert (edges[0] <= edges[1]).all() and (edges[0] >= rows[0]["discovered"]).all()
assert (edges[0] == edges[1])[rows[0]["step"] == 0].all() and edges[0].sum() < edges[1].sum()
late = rows[0]["step"] > 0
sent = [r["bytes_sent"][late] for r in rows]
assert (rows[0]["messages_sent"] == rows[1]["messages_sent"])[late].all()
if sys.argv[1] == "same":
    assert (sent[0] == sent[1]).all(), sent
else:
    assert (sent[0] >= sent[1]).all() and sent[0].sum() > sent[1].sum(), sent
    assert (sent[0] - sent[1] <= 128 * rows[0]["messages_sent"][late]).all(), sent
END
# books GRAPH FORM TRANSPORT same|whole
books() {
    ranks 4 hopwave-traverse -q --force "$1" --layout 2d --grid 2x2 --direction top-down \
        --exchange "$2" --roots 4 -o books.h5
    ranks 4 hopwave-traverse -q --force "$1" --layout 2d --grid 2x2 --device cuda \
        --method scan2d --direction top-down --exchange "$2" --transport "$3" --roots 4 -o gpu.h5
    ok "books of method grid, $1, $2 over $3" "$PYTHON3" books.py "$4"
}
hopwave-generate -q --model erdos-renyi --vertices 4096 --edges 60000 -o full.h5
for transport in peer mpi; do
    books rmat.h5 list $transport same
    books rmat.h5 auto $transport whole
    books full.h5 auto $transport same
done

# Bottom-up from the first level on, and never; levels each way, of which few edges are looked at.
for grid in 1x2 2x1 2x2; do
    search rmat.h5 $((${grid%x*} * ${grid#*x})) --layout 2d --grid $grid --direction bottom-up
    cp gpu.h5 up-$grid.h5
done
search rmat.h5 2 --layout 2d --grid 2x1 --direction bottom-up --order none --exchange list
search rmat.h5 4 --layout 2d --grid 2x2 --transport mpi --direction bottom-up --canonical-parents
search rmat.h5 2 --layout 1d --parts 2 --direction top-down
mv gpu.h5 down.h5
search rmat.h5 2 --layout 1d --parts 2
cat >ways.py <<'END'
import h5py
def rows(name):
    r = h5py.File(name)["run/steps"][:]
    return r[r["direction"] != b"none"]
both, down = rows("gpu.h5"), rows("down.h5")
for grid in ("1x2", "2x1", "2x2"):
    assert set(rows(f"up-{grid}.h5")["direction"]) == {b"bottom-up"}, grid
assert set(down["direction"]) == {b"top-down"}
assert set(both["direction"]) == {b"top-down", b"bottom-up"}
assert both["edges_examined"].sum() < down["edges_examined"].sum()
assert (both["discovered"] == down["discovered"]).all()
END
ok "directions are as asked for" "$PYTHON3" ways.py
# Lists by row are for where there is memory to spare.
HOPWAVE_DEVICE_MEMORY=200M
export HOPWAVE_DEVICE_MEMORY
search rmat.h5 2 --layout 1d --parts 2
unset HOPWAVE_DEVICE_MEMORY
ok "top-down where memory is short" "$PYTHON3" -c 'if True:
    import h5py
    ways = set(h5py.File("gpu.h5")["run/steps"]["direction"])
    assert ways == {b"top-down", b"none"}, ways'
# Hubs that find no neighbour in the frontier for long: all blocks look through their lists.
"$PYTHON3" - <<'END'
with open("stars.txt", "w") as file:
    for hub, first in ((0, 2), (1, 40002)):
        for leaf in range(first, first + 40000):
            file.write(f"{hub} {leaf}\n")
    file.write("2 80002\n80002 80003\n80003 40002\n")
END
hopwave-import -q --format edges --undirected stars.txt -o stars.h5
cpu stars.h5
search stars.h5 2 --layout 2d --grid 2x1 --direction bottom-up
search stars.h5 4 --layout 2d --grid 2x2

cpu directed.h5
search directed.h5 4 --layout 2d --grid 2x2 --transport mpi
search directed.h5 2 --layout 2d --grid 1x2 --direction bottom-up
cpu tiny.h5
search tiny.h5 4 --layout 2d --grid 2x2 --direction bottom-up
search tiny.h5 4 --layout 2d --grid 2x2 --transport mpi
search tiny.h5 2 --layout 1d --parts 2
cpu recipe.h5
search recipe.h5 2 --layout 2d --grid 2x1
refused "too little memory on the device is said" 4 'need' \
    env HOPWAVE_DEVICE_MEMORY=1M "$MPIEXEC" -n 2 hopwave-traverse -q rmat.h5 --layout 2d \
    --grid 1x2 --device cuda --method scan2d -o small.h5
done_testing
