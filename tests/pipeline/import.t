#!/bin/sh
# hopwave-import of texts: the same graph from any number of ranks and threads, in
# the order of the file; the first wrong line of the file is blamed, whoever reads it.
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
cd "$work" || exit 99

# alike NAME FILE [OPTION...]: one digest at several numbers of ranks and threads.
alike() {
    alike_name=$1 alike_file=$2
    shift 2
    ok "$alike_name: one rank" hopwave-import "$alike_file" "$@" --threads 1 --quiet --force -o 1.h5
    alike_digest=$(digest 1.h5)
    for shape in 1.4 2.2 3.1 6.1; do
        rm -f 2.h5
        ok "$alike_name: by ranks.threads $shape" ranks "${shape%.*}" hopwave-import "$alike_file" \
            "$@" --threads "${shape#*.}" --quiet -o 2.h5 </dev/null
        same "$alike_name: the digest of ranks.threads $shape" "$(digest 2.h5)" "$alike_digest"
    done
    ok "$alike_name: the files differ in /run alone" "$H5DIFF" --exclude-path /run 1.h5 2.h5
}

# ---- generated graphs come back as they were ----
hopwave-generate --model rmat --scale 12 --edge-factor 12 --weights integer:-9:99 --directed --quiet -o g.h5
hopwave-export g.h5 --format mtx --quiet -o g.mtx
hopwave-export g.h5 --format wel --quiet -o g.wel
alike "Matrix Market" g.mtx
same "Matrix Market: the graph that was exported" "$(digest 1.h5)" "$(digest g.h5)"
alike "an edge list" g.wel --vertices 4096
same "an edge list: the graph that was exported" "$(digest 1.h5)" "$(digest g.h5)"
alike "ids that do not all occur" g.wel
is "ids that do not all occur: compacted" "$(info 1.h5 compacted)" 1
hopwave-generate --model graph500 --scale 11 --weights uniform --quiet -o u.h5
hopwave-export u.h5 --format wel --quiet -o u.wel
ranks 3 hopwave-import u.wel --vertices 2048 --undirected --keep-duplicates --quiet -o 3.h5 </dev/null
same "real weights, undirected: the graph that was exported" "$(digest 3.h5)" "$(digest u.h5)"
# Weights are drawn as those of generated graphs, by the place of the tuple.
hopwave-export g.h5 --format el --quiet -o g.el
alike "drawn weights" g.el --vertices 4096 --directed --weights integer:-9:99
same "drawn weights: those that are generated" "$(digest 1.h5)" "$(digest g.h5)"
alike "drawn weights, folded" g.wel --vertices 4096 --undirected --weights uniform --seed 7
is "drawn weights say how" "$(info 1.h5 weighting) $(info 1.h5 seed)" "uniform 7"
refused "a range upside down" 2 "5 to 1 is no range" hopwave-import g.el --weights integer:5:1 -o no.h5
refused "weights of no known kind" 2 "none of auto, .*integer:LOW:HIGH" \
    hopwave-import g.el --weights whole -o no.h5
alike "real weights, folded" u.wel --undirected

# ---- sparse and huge ids ----
awk 'BEGIN { srand(7); for (i = 0; i < 40000; i++)
    printf "%d%09d %d%09d\n", rand() * 900, int(rand() * 30) * 33333333,
        rand() * 900, int(rand() * 30) * 33333333 }' >sparse
alike "sparse ids" sparse
if "$PYTHON3" -c 'import h5py' 2>/dev/null; then
    ok "sparse ids: labels give back the file" "$PYTHON3" - <<'END'
import h5py
with h5py.File("2.h5") as f:
    label = f["vertices/label"][()].tolist()
    source, target = f["edges/source"][()].tolist(), f["edges/target"][()].tolist()
lines = [tuple(map(int, line.split())) for line in open("sparse")]
assert label == sorted({v for line in lines for v in line})
assert [(label[s], label[t]) for s, t in zip(source, target)] == lines
END
else
    skip "sparse ids: labels give back the file" "$PYTHON3 has no h5py"
fi
alike "sparse ids, folded" sparse --undirected

# ---- lists of neighbours: roads of a grid, and a hub with a line of 300 kB ----
awk 'BEGIN { n = 60000; print n, n - 1 + 1, "001"; for (v = 2; v <= n; v++) printf "%d %d ", v, v % 7
    print ""; print "1 2 3 4"; print "1 3 2 4"; for (v = 4; v <= n; v++) print 1, v % 7 }' >hub.graph
alike "METIS" hub.graph
is "METIS: its edges" "$(info 1.h5 edges)" 60000

# ---- what is recorded ----
is "the format" "$(hopwave-info 1.h5 | sed -n 's/^    format: //p')" metis
is "the first label" "$(info 1.h5 first_label)" 1
is "the input's digest" "$(info 1.h5 input_digest | cut -c 1-9)" xxh3-128:
same "the input's digest, by three ranks" \
    "$(ranks 3 hopwave-import hub.graph --quiet --force -o 3.h5 </dev/null && info 3.h5 input_digest)" \
    "$(info 1.h5 input_digest)"

# ---- the first wrong line ----
{
    echo "# a comment"
    awk 'BEGIN { for (i = 0; i < 200000; i++) print i % 977, i % 1009 }'
} >long
cp long wrong
sed -i '123456s/.*/12 x/; 123457s/.*/y 12/; 190000s/.*/1 2 3/' wrong
for n in 1 2 3 4 6; do
    refused "the first wrong line, $n ranks" 3 "wrong: line 123456: 'x' is not a vertex id" \
        "$MPIEXEC" -n "$n" hopwave-import wrong --threads 2 --quiet --force -o w.h5
done
ok "no file is left" test ! -e w.h5
sed -i '123456,123457d' wrong
refused "the next one" 3 "wrong: line 189998: '3' is one field too many" \
    "$MPIEXEC" -n 3 hopwave-import wrong --quiet --force -o w.h5

# ---- what it takes ----
hopwave-import long --estimate >estimate
ok "an estimate" grep -q '^seconds: ' estimate
disk=$(sed -n 's/^disk: //p' estimate)
hopwave-import long --quiet --force -o w.h5
size=$(wc -c <w.h5)
ok "of the size of the file ($disk, $size)" test "$((disk * 10))" -gt "$((size * 9))" -a \
    "$((disk * 9))" -lt "$((size * 10))"
refused "too little memory" 4 'MiB' env HOPWAVE_MEMORY=1M hopwave-import long --quiet --force -o w.h5
# A beginning that promises little: the memory that is taken counts, not the guess.
awk 'BEGIN { print "0 1"; for (i = 0; i < 6000; i++)
        print "# ..........................................................................."
    for (i = 0; i < 2400000; i++) print i % 7 "\t" i % 5 }' >deep
refused "too little memory, found out late" 4 'holds more than fits' \
    env HOPWAVE_MEMORY=12800K hopwave-import deep --threads 1 --quiet --force -o w.h5

# ---- notes ----
printf '# Nodes: 3 Edges: 5\n0 1\n1 2\n' >note
hopwave-import note --force -o w.h5 2>err
is "a comment that promises more edges" "$(head -n 1 err)" \
    "hopwave-import: note: a comment promises 5 edges, 2 are there"
is "what was read" "$(tail -n +2 err)" \
    "hopwave-import: note: 3 vertices, 2 directed edges from 3 lines, no weights, ids 0..2"
printf '0 1 5\n1 0 4\n' >note
hopwave-import note --undirected --force -o w.h5 2>err
is "unlike weights of a pair" "$(head -n 1 err)" \
    "hopwave-import: note: lists pairs with several weights; the least is kept"
is "and what was read, once" "$(tail -n +2 err)" \
    "hopwave-import: note: 2 vertices, 1 undirected edge from 2 lines, i32 weights, ids 0..1"
# said FILE [OPTION...]: what an import by three ranks says.
said() { ranks 3 hopwave-import "$@" --force -o w.h5 2>&1 </dev/null; }
hint="note: lists 33 % of its pairs of vertices twice or more often; if the graph is undirected, give --undirected"
printf '70 9 0.5\n9 70 1\n9 12 2\n12 70 3\n9 9 1\n9 9 1\n' >note
is "the file's ids, and a hint where pairs stand twice" "$(said note)" \
    "hopwave-import: note: 3 vertices, 6 directed edges from 6 lines, f32 weights, ids 0..2 for the file's 9..70
hopwave-import: $hint"
is "no hint for those who say how it is meant" "$(said note --directed --weights integer:1:2)" \
    "hopwave-import: note: 3 vertices, 6 directed edges from 6 lines, drawn i32 weights, ids 0..2 for the file's 9..70"
is "nor where it is undirected" "$(said note --undirected | grep -c -e '--undirected')" 0
is "none of both under --quiet" "$(said note --quiet)" ""
# More pairs than are compared: the share is that of a sample, in which a fifth stands twice.
awk 'BEGIN { for (i = 0; i < 1200000; i++) print i, i + 1; for (i = 1; i < 1200000; i += 5) print i + 1, i }' >note
case $(said note | sed -n 's/.* lists \([0-9]*\) %.*/\1/p') in
    19 | 20) verdict 0 "a sample of many pairs" ;;
    *) verdict 1 "a sample of many pairs" ;;
esac
awk 'BEGIN { for (i = 0; i < 1000; i++) print i, i + 1; print "1 0" }' >note
is "a few in both directions are no reason for a hint" "$(said note | grep -c twice)" 0
done_testing
