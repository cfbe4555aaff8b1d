#!/bin/sh
# Labels: roots named by them, and results and graphs written under them.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
cd "$work" || exit 99

# table FILE...: the table is what h5py finds, see table.py.
# shellcheck disable=SC2317 # called by ok
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

# ---- sparse ids, one of them large ----
cat >sparse.txt <<'END'
7 100
100 9223372036854775806
9223372036854775806 3000000000
12 13
END
hopwave-import sparse.txt --undirected -o s.h5 --quiet || exit 99
hopwave-partition s.h5 --layout 1d --parts 2 -o sp.h5 --quiet || exit 99
ok "roots by label" ranks 2 hopwave-traverse sp.h5 --graph s.h5 \
    --root-list 9223372036854775806,12 -o st.h5 --quiet
printf '# labels\n9223372036854775806\n12\n' >roots
ok "from a file, of a graph" ranks 3 hopwave-traverse s.h5 --layout 1d --parts 3 \
    --root-list roots --check -o st3.h5 --quiet
tsv() {
    hopwave-export "$1" --format tsv --graph "$2" -o table.tsv --force --quiet &&
        tail -n +2 table.tsv | sort | tr '\t\n' ' ;'
}
found="12 12 0 12;12 13 1 12;9223372036854775806 100 1 9223372036854775806;\
9223372036854775806 3000000000 1 9223372036854775806;9223372036854775806 7 2 100;\
9223372036854775806 9223372036854775806 0 9223372036854775806;"
is "results under labels" "$(tsv st.h5 s.h5 | sed 's/; *$/;/')" "$found"
is "the same from three parts" "$(tsv st3.h5 s.h5 | sed 's/; *$/;/')" "$found"
ok "edges under labels" hopwave-export s.h5 --format el -o s.el --quiet
ok "asked for, too" hopwave-export s.h5 --format el --labels -o labels.el --quiet
ok "the same" cmp s.el labels.el
ok "edges under ids" hopwave-export s.h5 --format el --ids -o ids.el --quiet
is "which are below the number of vertices" "$(sort ids.el | tr '\n' ';')" "0 3;1 2;3 5;4 5;"
ok "roots by id" ranks 2 hopwave-traverse sp.h5 --ids --root-list 5,1 -o si.h5 --quiet
same "the vertices of these ids" "$(digest si.h5)" "$(digest st.h5)"
ok "a table under ids" hopwave-export si.h5 --format tsv --ids --search 1 -o si.tsv --quiet
is "of them" "$(tail -n +2 si.tsv | tr '\t\n' ' ;')" "1 1 0 1;1 2 1 1;"
refused "roots of a partition whose vertices have names" 3 \
    'sp.h5: its vertices have names .* give --graph G.h5 .* or --ids' \
    "$MPIEXEC" -n 2 hopwave-traverse sp.h5 --root-list 5,1 -o x.h5
refused "a table of trees whose vertices have names" 3 \
    'si.h5: its vertices have names .* give --graph G.h5 .* or --ids' \
    hopwave-export si.h5 --format tsv -o x.tsv
refused "names and ids" 2 'labels and --ids exclude each other' \
    hopwave-traverse s.h5 --layout 1d --root-list 1 --ids --labels -o x.h5
refused "ids without a list" 2 'ids: is about --root-list' hopwave-traverse s.h5 --layout 1d --ids -o x.h5
hopwave-import s.el --undirected -o again.h5 --quiet
same "which make the same graph again" "$(digest again.h5)" \
    "$(digest s.h5)"
refused "an id is no label" 3 's.h5: no vertex has the label 0; --ids takes ids' "$MPIEXEC" -n 2 \
    hopwave-traverse sp.h5 --labels --graph s.h5 --root-list 7,0 -o x.h5

# ---- vertices counted from 1 ----
printf 'p sp 3 2\na 1 2 5\na 2 3 7\n' >three.gr
hopwave-import three.gr -o three.h5 --quiet || exit 99
ok "the first vertex is 1" hopwave-traverse three.h5 --layout 1d --parts 1 \
    --root-list 1 -o tt.h5 --quiet
is "results count from 1 too" "$(tsv tt.h5 three.h5)" "1 1 0 1;1 2 1 1;1 3 2 2;"
ok "shortest paths" hopwave-traverse three.h5 --layout 1d --parts 1 --labels \
    --algorithm sssp --root-list 1 -o ts.h5 --quiet
is "distances under labels" "$(tsv ts.h5 three.h5)" "1 1 0 1;1 2 5 1;1 3 12 2;"
printf '1 2 0.65\n2 3 1.25\n3 4 0.1\n' >short.wel
hopwave-import short.wel --directed -o short.h5 --quiet || exit 99
ok "shortest paths of decimals" hopwave-traverse short.h5 --layout 1d --parts 1 --labels \
    --algorithm sssp --root-list 1 -o tr.h5 --quiet
is "distances as short as can be" "$(tsv tr.h5 short.h5)" "1 1 0 1;1 2 0.65 1;1 3 1.9 2;1 4 2 3;"
ok "weights, too" hopwave-export short.h5 --labels --format wel -o again.wel --quiet
is "as they were given" "$(cat again.wel)" "$(cat short.wel)"
refused "and none is 0" 3 'three.h5: no vertex has the label 0' hopwave-traverse three.h5 \
    --layout 1d --parts 1 --labels --root-list 0 -o x.h5

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
refused "a graph that nothing reads" 2 'has the names of vertices, and --ids wants none' \
    hopwave-export t.h5 --format tsv --graph g.h5 --ids -o x.tsv
refused "one search of a graph" 2 'search: is for trees' \
    hopwave-export g.h5 --format el --search 0 -o x.el
refused "labels in Matrix Market" 3 'labels is for el and wel' \
    hopwave-export g.h5 --format mtx --labels -o x.mtx
ok "nothing is left behind" test -z "$(find . -name 'x.*' -o -name '*tmp-*')"
done_testing
