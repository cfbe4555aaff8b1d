#!/bin/sh
# Methods scan2d and scatter-compact as their paper has them, one rank a GPU (ranks share GPUs where
# there are fewer): valid, with the CPU's levels, on every shape and transport; and each switch
# changes in the steps what it names.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
needs_gpu "searches as published" 2 recipe.h5 --layout 2d --grid 1x2 --method scan2d --as-published
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
hopwave-generate -q --model rmat --scale 11 -o rmat.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
odd_graph 30

for graph in directed odd; do
    hopwave-traverse -q --force $graph.h5 --layout 1d --roots 3 -o cpu.h5
    like_cpu "$graph on one part" 1 $graph.h5 --layout 1d --method scan2d --as-published --roots 3
    for grid in 1x4 2x2 4x1; do
        for transport in peer mpi; do
            like_cpu "$graph, $grid over $transport" 4 $graph.h5 --layout 2d --grid $grid \
                --transport $transport --method scan2d --as-published --roots 3
        done
    done
    for transport in peer mpi; do
        like_cpu "$graph, scatter-compact over $transport" 4 $graph.h5 --layout 1d --parts 4 \
            --transport $transport --method scatter-compact --roots 3
    done
done
refused "scatter-compact has no 2d grid" 3 "scatter-compact" "$MPIEXEC" -n 4 hopwave-traverse -q \
    rmat.h5 --layout 2d --grid 2x2 --device cuda --method scatter-compact -o t.h5
refused "nor goes bottom-up" 3 "supports top-down only" "$MPIEXEC" -n 2 hopwave-traverse -q \
    rmat.h5 --layout 1d --parts 2 --device cuda --method scatter-compact --direction bottom-up \
    -o t.h5
refused "grouping with atomics is for top-down" 2 "grouping" "$MPIEXEC" -n 4 hopwave-traverse -q \
    rmat.h5 --layout 2d --grid 2x2 --device cuda --method scan2d --grouping atomics -o t.h5

# take OUT OPTIONS...: top-down on 2x2 GPUs over peer.
take() {
    out=$1
    shift
    ranks 4 hopwave-traverse -q --force rmat.h5 --layout 2d --grid 2x2 --device cuda \
        --method scan2d --direction top-down --roots 3 --check "$@" -o "$out"
}
take default.h5
take visited.h5 --skip-visited off
take slices.h5 --level-slices off
take block.h5 --single-block-levels off
take atomics.h5 --grouping atomics
take paper.h5 --as-published
ranks 4 hopwave-traverse -q --force rmat.h5 --layout 2d --grid 2x2 --device cuda --method scan2d \
    --roots 3 -o auto.h5
steps "each finds the same" default.h5 visited.h5 slices.h5 block.h5 atomics.h5 paper.h5 <<'END'
assert all((r["discovered"] == t[0]["discovered"]).all() for r in t)
END
steps "visited edges are examined, all of them" default.h5 visited.h5 <<'END'
edges = [r["edges_examined"].sum() for r in t]
assert edges[0] < edges[1], edges
ranks = h5py.File("visited.h5")["run/search"]["edges"].sum()
assert edges[1] > ranks, (edges, ranks)
END
steps "levels in slices skip more" default.h5 slices.h5 visited.h5 <<'END'
edges = [r["edges_examined"].sum() for r in t]
assert edges[0] < edges[1] < edges[2], edges
END
steps "levels of few edges, in one block or not" default.h5 block.h5 <<'END'
small = [sum(name.endswith(b" small") for name in r["routine"]) for r in t]
assert 0 < small[0] < len(t[0]) and small[1] == 0, small
END
steps "grouping with atomics" default.h5 atomics.h5 <<'END'
named = [sum(name.startswith(b"scan2d atomics") for name in r["routine"]) for r in t]
assert named == [0, len(t[1])], named
END
steps "bottom-up, or as published never" auto.h5 paper.h5 <<'END'
assert b"bottom-up" in t[0]["direction"] and set(t[1]["direction"]) == {b"top-down"}
END
hopwave-generate -q --model rmat --scale 13 --edge-factor 2 -o sparse.h5
for way in drop keep; do
    ranks 4 hopwave-traverse -q --force sparse.h5 --layout 2d --grid 2x2 --device cuda \
        --method scan2d --direction top-down --exchange bitmap --isolated-vertices $way --roots 2 \
        --check -o $way.h5
done
steps "bitmaps with or without isolated vertices" drop.h5 keep.h5 <<'END'
assert t[0]["bytes_sent"].sum() < t[1]["bytes_sent"].sum()
assert max(t[1]["bytes_sent"] / t[1]["messages_sent"]) == 8192 / 4 / 8
END
for way in auto ahead; do
    ranks 4 hopwave-traverse -q --force rmat.h5 --layout 2d --grid 4x1 --device cuda \
        --method scan2d --direction top-down --transport mpi --ranks-per-node 2 --receives $way \
        --roots 2 --check -o $way.h5
done
steps "receives ahead, or one message between nodes" auto.h5 ahead.h5 <<'END'
assert t[0]["internode_messages"].sum() < t[1]["internode_messages"].sum()
END

# The authors' earlier code against the grid: four parts, lists from all to all.
ranks 4 hopwave-traverse -q --force rmat.h5 --layout 1d --parts 4 --device cuda --roots 3 --check \
    --method scatter-compact --transport mpi -o earlier.h5
ranks 4 hopwave-traverse -q --force rmat.h5 --layout 2d --grid 2x2 --device cuda --roots 3 --check \
    --method scan2d --as-published --transport mpi -o paper.h5
steps "2d sends fewer messages and bytes than lists from all to all" paper.h5 earlier.h5 <<'END'
assert (t[0]["discovered"] == t[1]["discovered"]).all()
assert (t[0]["edges_examined"] == t[1]["edges_examined"]).all()
late = t[0]["step"] > 0  # the root is not sent
assert (t[0]["messages_sent"][late] == 4 * 2).all() and (t[1]["messages_sent"] == 4 * 3).all()
assert 2 * t[0]["bytes_sent"].sum() < t[1]["bytes_sent"].sum()
assert all(name in (b"scatter-compact", b"scatter-compact list") for name in t[1]["routine"])
END
done_testing
