#!/bin/sh
# Labels: roots named by them, and results and graphs written under them.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
cd "$work" || exit 99

# table FILE...: the table is what h5py finds, see table.py.
table() {
    "$PYTHON3" "$top_srcdir/tests/pipeline/table.py" "$@"
}

hopwave-generate --model rmat --scale 8 --edge-factor 2 -o g.h5 --quiet || exit 99
hopwave-generate --model rmat --scale 8 --edge-factor 3 -o other.h5 --quiet || exit 99
hopwave-partition g.h5 --layout 1d --parts 2 -o p.h5 --quiet || exit 99
ranks 2 hopwave-traverse p.h5 --roots 3 -o t.h5 --quiet || exit 99
ranks 2 hopwave-traverse p.h5 --roots 3 --store none -o none.h5 --quiet || exit 99

# ---- without labels: ids ----
if "$PYTHON3" -c 'import h5py' 2>/dev/null; then
    ok "all searches as a table" hopwave-export t.h5 --format tsv -o t.tsv --quiet
    ok "which is right" table t.tsv t.h5
    ok "the same by three ranks" ranks 3 hopwave-export t.h5 --format tsv -o t3.tsv --quiet
    ok "bit for bit" cmp t.tsv t3.tsv
    ok "one search" hopwave-export t.h5 --format tsv --search 2 -o one.tsv --quiet
    ok "which is right too" table one.tsv t.h5 --search 2
else
    skip "tables" "$PYTHON3 has no h5py"
fi
ok "of a graph without labels they are the ids" ranks 2 hopwave-traverse p.h5 --root-list 5,9 \
    --labels --graph g.h5 -o ids.h5 --quiet
refused "no such vertex" 3 'g.h5: no vertex has the label 256' "$MPIEXEC" -n 2 hopwave-traverse \
    p.h5 --root-list 5,256 --labels --graph g.h5 -o x.h5

# ---- refused ----
refused "labels without a list" 2 'labels: is about --root-list' \
    hopwave-traverse g.h5 --layout 1d --labels -o x.h5
refused "labels of a partition alone" 3 'p.h5: .* give --graph G.h5' \
    "$MPIEXEC" -n 2 hopwave-traverse p.h5 --root-list 5 --labels -o x.h5
refused "labels of another graph" 3 'was not made from other.h5' \
    "$MPIEXEC" -n 2 hopwave-traverse p.h5 --root-list 5 --labels --graph other.h5 -o x.h5
refused "a table of a graph" 3 'g.h5: ' hopwave-export g.h5 --format tsv -o x.tsv
refused "an edge list of a tree" 3 't.h5: ' hopwave-export t.h5 --format el -o x.el
refused "a table of no trees" 3 'none.h5: holds no trees' \
    hopwave-export none.h5 --format tsv -o x.tsv
refused "a search that is not there" 3 'no search 3, only 0 to 2' \
    hopwave-export t.h5 --format tsv --search 3 -o x.tsv
refused "a table under the labels of another graph" 3 'is not of other.h5' \
    hopwave-export t.h5 --format tsv --labels --graph other.h5 -o x.tsv
refused "a table under no labels" 2 'a tree has none; give --graph' \
    hopwave-export t.h5 --format tsv --labels -o x.tsv
refused "a graph that nothing reads" 2 'only --labels reads it' \
    hopwave-export t.h5 --format tsv --graph g.h5 -o x.tsv
refused "one search of a graph" 2 'search: is for trees' \
    hopwave-export g.h5 --format el --search 0 -o x.el
refused "labels in Matrix Market" 3 'labels is for el and wel' \
    hopwave-export g.h5 --format mtx --labels -o x.mtx
ok "nothing is left behind" test -z "$(ls -A | grep -E '^x|tmp-')"
done_testing
