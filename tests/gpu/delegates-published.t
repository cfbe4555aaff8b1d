#!/bin/sh
# Method delegates on GPUs as its paper has it, one rank a GPU (ranks share GPUs where there are
# fewer): valid, with the CPU's levels, on every shape of nodes and devices and each transport; and
# each switch changes in the steps what it names.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
needs_gpu "searches as published" 1 recipe.h5 --layout degree-separated --as-published
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
hopwave-generate -q --model rmat --scale 11 -o rmat.h5
hopwave-generate -q --model rmat --scale 14 -o large.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
odd_graph 15

for graph in directed odd; do
    hopwave-traverse -q --force $graph.h5 --layout 1d --roots 2 -o cpu.h5
    like_cpu "$graph on one part" 1 $graph.h5 --layout degree-separated --degree-threshold 30 \
        --as-published --roots 2
    for parts in 1x4 2x2 4x1; do
        like_cpu "$graph, $parts over peer" 4 $graph.h5 --layout degree-separated --parts $parts \
            --transport peer --degree-threshold 30 --as-published --roots 2
        like_cpu "$graph, $parts over mpi, all options" 4 $graph.h5 --layout degree-separated \
            --parts $parts --transport mpi --degree-threshold 30 --as-published --roots 2 \
            --local-all2all --uniquify --reduce nonblocking
    done
done

# take RANKS PARTS OUT OPTIONS...
take() {
    count=$1 parts=$2 out=$3
    shift 3
    ranks "$count" hopwave-traverse -q --force "${searched:-rmat.h5}" --layout degree-separated \
        --parts "$parts" --device cuda --roots 2 --check "$@" -o "$out"
}

# ---- directions ----
for name in dd dn nd; do
    take 1 1 $name.h5 --degree-threshold 100 --backward-estimate uniform --forward-factor 1e30 \
        --forward-factor-$name 1e-9
done
steps "each subgraph has a factor of its own" dd.h5 dn.h5 nd.h5 <<'END'
back = [{way for row in r["routine"] for way in row.decode().split() if way.endswith(":bu")}
        for r in t]
assert back == [{"dd:bu"}, {"dn:bu"}, {"nd:bu"}], back
END
# The paper's estimate turns visits at other steps, those of a CPU, which always has it.
take 1 1 degrees.h5
searched=large.h5
for factor in 0.1 1; do
    take 1 1 degrees-$factor.h5 --forward-factor $factor
    take 1 1 uniform-$factor.h5 --forward-factor $factor --backward-estimate uniform
    ranks 1 hopwave-traverse -q --force large.h5 --layout degree-separated --device cpu --roots 2 \
        --forward-factor $factor -o cpu-$factor.h5
done
searched=
steps "the paper's estimate, as on CPUs" degrees-0.1.h5 degrees-1.h5 uniform-0.1.h5 \
    uniform-1.h5 cpu-0.1.h5 cpu-1.h5 <<'END'
def ways_of(r):  # of dd and dn, of steps that visit any
    all = [[way for way in row.decode().split() if way[0] == "d"] for row in r["routine"]]
    return [step for step in all if step not in ([], ["dd:--", "dn:--"])]
ways = [ways_of(r) for r in t]
assert ways[2:4] == ways[4:6], ways
assert ways[0:2] != ways[2:4], ways
END
take 1 1 pruned.h5 --degree-threshold 60
take 1 1 whole.h5 --degree-threshold 60 --prune-nn off
steps "nn is followed to all its destinations" pruned.h5 whole.h5 <<'END'
assert (t[0]["discovered"].sum() == t[1]["discovered"].sum())
assert t[0]["edges_examined"].sum() < t[1]["edges_examined"].sum()
END
take 1 1 large-steps.h5 --small-steps off
steps "small steps, or none" degrees.h5 large-steps.h5 <<'END'
small = [sum(row.endswith(b" small") for row in r["routine"]) for r in t]
assert small[0] > 0 and small[1] == 0, small
END
searched=large.h5
take 4 4 twice.h5 --degree-threshold 2
take 4 4 once.h5 --degree-threshold 2 --dd-visits once
steps "dd is visited once" twice.h5 once.h5 <<'END'
assert (t[0]["discovered"] == t[1]["discovered"]).all()
assert t[0]["edges_examined"].sum() < t[1]["edges_examined"].sum()
END
searched=

# ---- exchanges ----
for transport in peer mpi; do
    take 4 2x2 ranges.h5 --transport $transport --degree-threshold 20
    take 4 2x2 leader.h5 --transport $transport --degree-threshold 20 --mask-reduction leader
    steps "masks are reduced on the first GPU of a node, $transport" ranges.h5 leader.h5 <<'END'
most = [r["bytes_sent_max"].sum() for r in t]
assert most[0] < most[1], most
messages = [r["messages_sent"].sum() for r in t]
assert messages[1] < messages[0], messages
END
done
take 4 2x2 apart.h5 --transport mpi
take 4 2x2 overlap.h5 --transport mpi --overlap-visits on
steps "masks are combined while slots are visited" apart.h5 overlap.h5 <<'END'
named = [sum(row.endswith(b" overlap") for row in r["routine"]) for r in t]
assert named == [0, len(t[1])], named
assert (t[0]["discovered"] == t[1]["discovered"]).all()
END
# Gathering inside a node: all there is with one node, nothing to send with nodes of one GPU.
for parts in 1x4 2x2 4x1; do
    take 4 $parts direct.h5 --transport mpi --as-published --reduce blocking
    take 4 $parts gathered.h5 --transport mpi --as-published --local-all2all --reduce nonblocking
    steps "--local-all2all and --reduce, $parts" direct.h5 gathered.h5 <<END
assert (t[0]["discovered"] == t[1]["discovered"]).all()
bytes_sent = [int(r["bytes_sent"].sum()) for r in t]
inter = [int(r["internode_bytes"].sum()) for r in t]
assert inter[0] == inter[1] and (inter[0] == 0) == ("$parts" == "1x4"), inter
assert (bytes_sent[0] < bytes_sent[1]) == ("$parts" == "2x2"), bytes_sent
assert all(r["delegate_reduction_max"].sum() > 0 for r in t)
local = [r["local_exchange_max"].sum() for r in t]
assert local[1] > local[0], local
ways = [h5py.File(name)["run"].attrs["reduce"] for name in ("direct.h5", "gathered.h5")]
assert [str(w.decode() if isinstance(w, bytes) else w) for w in ways] == ["blocking", "nonblocking"]
END
done
# The paper's model, with 8 bytes an update: the vertex and its parent.
for parts in 4x1 2x2; do
    hopwave-partition -q --force large.h5 --layout degree-separated --parts $parts --order hash \
        -o p.h5
    ok "as published, $parts: a search" ranks 4 hopwave-traverse -q --force p.h5 --graph large.h5 \
        --device cuda --as-published --transport mpi --roots 2 --check -o model.h5
    ok "the bytes of the model, $parts" "$PYTHON3" "$top_srcdir/tests/pipeline/delegates_model.py" \
        model.h5 p.h5 8
done
done_testing
