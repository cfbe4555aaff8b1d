#!/bin/sh
# Searches by compact ids, hopwave-traverse --compact: the same roots and trees as by the graph's
# ids, in every layout; cycles, names, resumed runs; lists of vertices that are wrong.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# table TREE: its searches as lines.
table() {
    hopwave-export -q --force "$1" --format tsv -o table.tsv
    cat table.tsv
}

hopwave-generate -q --model rmat --scale 8 --edge-factor 4 --weights integer:1:9 -o g.h5
hopwave-generate -q --model rmat --scale 8 --edge-factor 4 --weights integer:1:9 --recipe -o recipe.h5
for algorithm in bfs sssp; do
    hopwave-traverse -q g.h5 --algorithm $algorithm --layout 1d --roots 3 --canonical-parents \
        --compact never -o never.h5 --force
    for how in "1 1d" "3 1d" "4 2d --grid 2x2" "4 degree-separated --parts 2x2"; do
        # shellcheck disable=SC2086 # words
        set -- $how
        ranks=$1
        shift
        for graph in g recipe; do
            ok "$algorithm, $how, $graph" ranks "$ranks" hopwave-traverse -q --force $graph.h5 \
                --algorithm $algorithm --layout "$@" --roots 3 --canonical-parents --compact always \
                --check -o always.h5
            same "the same searches" "$(table always.h5)" "$(table never.h5)"
        done
        ok "which validate" hopwave-validate -q --force always.h5 --graph g.h5 --reference -o c.h5
    done
done
is "rows have the vertices with edges" "$(hopwave-info always.h5 | awk '$1 == "listed:" { print $2 }')" \
    "$(hopwave-export -q g.h5 --format el -o g.el && tr ' ' '\n' <g.el | sort -u | wc -l)"
refused "a comparison with all rows" 3 'only one of them lists' \
    hopwave-validate -q --force always.h5 --graph g.h5 --against never.h5 -o c.h5
ok "a comparison with itself" hopwave-validate -q --force always.h5 --graph g.h5 \
    --against always.h5 -o c.h5
hopwave-partition -q g.h5 --layout 1d --parts 1 -o p.h5
refused "a partition" 3 'is partitioned already' hopwave-traverse -q p.h5 --compact always -o x.h5
refused "another word" 2 "'some'" hopwave-traverse -q g.h5 --layout 1d --compact some -o x.h5

# A negative cycle, and vertices that no tuple has.
printf '100 200 1\n200 300 -5\n300 200 2\n900 900 1\n' >cycle.wel
hopwave-import -q cycle.wel --vertices 1000 --compact never -o cycle.h5
for compact in never always; do
    hopwave-traverse -q --force cycle.h5 --algorithm sssp --layout 1d --root-list 100 \
        --compact $compact --check -o $compact.h5
done
ok "negative cycles validate" hopwave-validate -q --force always.h5 --graph cycle.h5 -o c.h5
same "and are the same" "$(hopwave-info always.h5 | grep -E '/cycle/|/roots')" \
    "$(hopwave-info never.h5 | grep -E '/cycle/|/roots')"

# Names.
printf '1000 2000\n2000 3000\n' >names.el
hopwave-import -q names.el --undirected -o names.h5
ok "roots are names" hopwave-traverse -q --force names.h5 --layout 1d --root-list 2000 \
    --compact always -o t.h5
hopwave-export -q --force t.h5 --graph names.h5 --format tsv -o t.tsv
same "and so are vertices" "$(sed 1d t.tsv | sort)" \
    "$(printf '2000\t1000\t1\t2000\n2000\t2000\t0\t2000\n2000\t3000\t1\t2000\n')"

# Another graph of as many vertices and edges, or a list that was changed.
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --compact always -o t.h5
if python=$(python_with "h5py, numpy, pandas, xxhash"); then
    "$python" - <<'END'
import h5py
with h5py.File("t.h5", "r+") as f:
    f["vertex"][1] = f["vertex"][1] + 1 if f["vertex"][1] + 1 != f["vertex"][2] else f["vertex"][0]
END
    refused "a list that was changed" 3 'lists vertex|digest' \
        hopwave-validate -q --force t.h5 --graph g.h5 -o c.h5
    hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --compact always -o t.h5
    hopwave-traverse -q --force g.h5 --layout 1d --roots 2 --compact never -o u.h5
    ok "Python reads the rows" env PYTHONPATH="$top_srcdir/python" "$python" - <<'END'
import hopwave
t, u = hopwave.open("t.h5"), hopwave.open("u.h5")
assert len(t.listed()) == t.attributes["listed"] and u.listed() is None
a, b = t.to_pandas(), u.to_pandas()
assert a.drop(columns="parent").equals(b.drop(columns="parent"))
vertex = int(a["vertex"].iloc[-1])
assert len(t[1].path_to(vertex)) == len(u[1].path_to(vertex)) > 0
END
else
    skip "lists that were changed" "Python lacks h5py, pandas or xxhash"
fi
done_testing
