#!/bin/sh
# Methods on CPUs as their papers have them: what each switch changes, the 2d exchange against 1d
# parts that send lists from all to all, and the bytes of delegates against its paper's model.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
if ! python=$(python_with h5py,numpy); then
    skip "methods as published" "no Python has h5py and numpy"
    done_testing
fi
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
hopwave-generate -q --model rmat --scale 14 -o g.h5
hopwave-generate -q --model rmat --scale 16 -o model.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
for vertex in $(seq 0 39); do
    echo "$vertex $((vertex + 1))"
done >path.txt
printf '7 7\n3 4\n60 61\n' >>path.txt
hopwave-import -q --format edges --undirected path.txt -o path.h5

# search RANKS GRAPH OUT OPTIONS...
search() {
    count=$1 searched=$2 out=$3
    shift 3
    ranks "$count" hopwave-traverse -q --force "$searched" --device cpu --threads 1 --roots 3 --check \
        "$@" -o "$out"
}
# rows FILE...: steps that the Python code on standard input looks at, as `t`, a list.
rows() {
    ok "$1" "$python" -c 'if True:
        import sys, h5py
        t = [h5py.File(name)["run/steps"][:] for name in sys.argv[2:]]
        t = [r[r["direction"] != b"none"] for r in t]
        exec(sys.argv[1])' "$(cat)" "$2" "$3"
}

for graph in directed path; do
    for grid in 1x1 2x2 1x4 4x1; do
        ok "grid as published, $graph, $grid" search $((${grid%x*} * ${grid#*x})) $graph.h5 t.h5 \
            --layout 2d --grid $grid --method grid --as-published
    done
    for parts in 1 1x4 2x2 4x1; do
        for more in "" "--local-all2all --uniquify --reduce nonblocking"; do
            ok "delegates as published, $graph, $parts $more" search $((${parts%x*} * \
                $(echo "$parts" | sed 's/^1$/1x1/; s/.*x//'))) $graph.h5 t.h5 \
                --layout degree-separated --parts $parts --as-published $more
        done
    done
done

# ---- method grid ----
search 4 g.h5 default.h5 --layout 2d --grid 2x2 --method grid
search 4 g.h5 down.h5 --layout 2d --grid 2x2 --method grid --direction top-down
search 4 g.h5 paper.h5 --layout 2d --grid 2x2 --method grid --as-published
search 4 g.h5 all.h5 --layout 1d --parts 4 --method grid --as-published --exchange list
rows "top-down alone, as published" default.h5 paper.h5 <<'END'
assert b"bottom-up" in t[0]["direction"] and set(t[1]["direction"]) == {b"top-down"}
assert t[0]["edges_examined"].sum() < t[1]["edges_examined"].sum()
END
rows "bitmaps have a bit for each vertex of a block" down.h5 paper.h5 <<'END'
assert (t[0]["discovered"] == t[1]["discovered"]).all()
assert (t[0]["bytes_sent"] <= t[1]["bytes_sent"]).all()
assert t[0]["bytes_sent"].sum() < t[1]["bytes_sent"].sum()
most = max(t[1]["bytes_sent"] / t[1]["messages_sent"])
assert most == 16384 / 4 / 8, most
END
# P parts: each sends P - 1 messages a level on 1d parts, R - 1 and C - 1 on a grid of R x C.
rows "2d sends fewer messages and bytes than 1d from all to all" paper.h5 all.h5 <<'END'
assert (t[0]["discovered"] == t[1]["discovered"]).all()
assert (t[0]["messages_sent"] == 4 * (1 + 1)).all() and (t[1]["messages_sent"] == 4 * 3).all()
assert 2 * t[0]["bytes_sent"].sum() < t[1]["bytes_sent"].sum()
assert {bytes(name) for name in t[1]["routine"]} == {b"push list"}
END
search 9 directed.h5 paper.h5 --layout 2d --grid 3x3 --method grid --as-published
search 9 directed.h5 all.h5 --layout 1d --parts 9 --method grid --as-published --exchange list
rows "the more so the more parts" paper.h5 all.h5 <<'END'
assert (t[0]["messages_sent"] == 9 * (2 + 2)).all() and (t[1]["messages_sent"] == 9 * 8).all()
END

# ---- method delegates ----
model="$top_srcdir/tests/pipeline/delegates_model.py"
for parts in 4x1 2x2; do
    hopwave-partition -q --force model.h5 --layout degree-separated --parts $parts --order hash -o p.h5
    search 4 p.h5 paper.h5 --graph model.h5 --as-published
    ok "the bytes of the model, $parts" "$python" "$model" paper.h5 p.h5 4
    search 4 p.h5 all2all.h5 --graph model.h5 --as-published --local-all2all
    ok "--local-all2all: as many, $parts" "$python" "$model" all2all.h5 p.h5 4
done
search 4 p.h5 ranges.h5 --graph model.h5
rows "masks are reduced on the first device of a node" ranges.h5 paper.h5 <<'END'
assert (t[0]["bytes_sent_max"] <= t[1]["bytes_sent_max"]).all()
assert t[0]["bytes_sent_max"].sum() < t[1]["bytes_sent_max"].sum()
assert (t[0]["internode_bytes"].sum() == t[1]["internode_bytes"].sum())
END
# Backward where its factor is least, alone.
for name in dd dn nd; do
    search 1 g.h5 t.h5 --layout degree-separated --parts 1 --forward-factor 1e30 \
        --forward-factor-$name 1e-9
    ok "--forward-factor-$name is of that subgraph" "$python" -c 'if True:
        import sys, h5py
        rows = h5py.File("t.h5")["run/steps"]["routine"]
        ways = {word for row in rows for word in row.decode().split() if word.endswith("bu")}
        assert ways == {sys.argv[1] + ":bu"}, ways' $name
done
done_testing
