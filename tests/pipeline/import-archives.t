#!/bin/sh
# Imports of tar archives, of texts that bzip2 or Zstandard compressed, and of LDBC graphs.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
cd "$work" || exit 99

# has WHAT: whether this build reads it.
has() {
    grep -q "^#define HAVE_$1 1" "$top_builddir/config.h"
}
make_file() {
    "$PYTHON3" "$top_srcdir/tests/pipeline/archives.py" "$@" || exit 99
}

# import N FILE [OPTION...]: by N ranks into x.h5, quietly; prints the graph's digest.
import() {
    import_n=$1 import_file=$2
    shift 2
    ranks "$import_n" hopwave-import "$import_file" "$@" --quiet --force -o x.h5 &&
        digest x.h5
}

# reads WHAT FILE DIGEST [OPTION...]: by 1 and by 3 ranks.
reads() {
    reads_what=$1 reads_file=$2 reads_digest=$3
    shift 3
    for n in 1 3; do
        same "$reads_what, by $n ranks" "$(import $n "$reads_file" "$@")" "$reads_digest"
    done
}

cut_file() {
    head -c "$2" "$1" >"$3"
}

"$PYTHON3" - <<'END2' || exit 99
import random
random.seed(2)
edges = [(random.randrange(900), random.randrange(900)) for _ in range(20000)]
with open("t", "w") as f:
    f.write("# edges\n")
    f.writelines(f"{a}\t{b}\n" for a, b in edges)
with open("m.mtx", "w") as f:
    f.write("%%MatrixMarket matrix coordinate pattern general\n900 900 20000\n")
    f.writelines(f"{a + 1} {b + 1}\n" for a, b in edges)
with open("b.mtx", "w") as f:
    f.write("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
with open("names", "w") as f:
    f.write("1 one\n2 two\n")
END2
edges=$(import 1 t) matrix=$(import 1 m.mtx)

# ---- bzip2 and Zstandard ----
for how in bz2 zst; do
    case $how in bz2) have=BZIP2 name=bzip2 ;; zst) have=ZSTD name=Zstandard ;; esac
    make_file packed t.$how t $how
    if ! has "$have"; then
        refused "$name: not in this build" 3 "t.$how: is compressed with $name, which this build" \
            hopwave-import t.$how -o n.h5
        continue
    fi
    mv t.$how one # not told by its name
    make_file streams two t $how
    reads "$name" one "$edges"
    reads "$name, two streams" two "$edges"
    cut_file one "$(($(wc -c <one) * 2 / 3))" one.cut
    refused "$name: truncated" 3 'one.cut: is truncated' hopwave-import one.cut -o n.h5
    refused "$name: truncated, by 3 ranks" 3 'one.cut: is truncated' \
        "$MPIEXEC" -n 3 hopwave-import one.cut -o n.h5
    (cat one && echo garbage) >one.more
    refused "$name: something follows" 3 'one.more: what .* something else follows' \
        hopwave-import one.more -o n.h5
    (head -c 6 one && head -c 3000 /dev/zero) >one.bad
    refused "$name: damaged" 3 'one.bad: (what .* is damaged|is truncated)' hopwave-import one.bad -o n.h5
done
if has ZSTD; then
    "$PYTHON3" -c 'print("1 2\n" * 3000000, end="")' >flat
    make_file packed flat.zst flat zst
    refused "Zstandard: more than the memory" 4 "flat.zst: .*memory" \
        env HOPWAVE_MEMORY=20M hopwave-import flat.zst --threads 1 -o n.h5
    make_file window window
    refused "a window that is too large" 4 'window: unpacking it takes more' \
        env HOPWAVE_MEMORY=64M hopwave-import window -o n.h5
    refused "one that no file of nine bytes needs" 3 \
        'window: asks for more than 256 MiB to be unpacked, which no file of its size needs' \
        env HOPWAVE_MEMORY=8G hopwave-import window -o n.h5
    make_file window window27 27
    refused "that of the highest level is taken" 3 'window27: is in no format' \
        env HOPWAVE_MEMORY=8G hopwave-import window27 -o n.h5
fi

# ---- archives ----
if ! has LIBARCHIVE; then
    make_file archive a.tar none t
    refused "archives: not in this build" 3 'a.tar: is a tar archive, which this build' \
        hopwave-import a.tar -o n.h5
    done_testing
    # shellcheck disable=SC2317
    exit 0
fi
for how in none gz bz2 xz zst; do
    case $how in bz2) has BZIP2 || continue ;; zst) has ZSTD || continue ;; esac
    make_file archive a $how g/g.mtx=m.mtx g/g_b.mtx=b.mtx g/g_nodename.txt=names README=names
    reads "a matrix of SuiteSparse, tar and $how" a "$matrix"
    cut_file a "$(($(wc -c <a) / 2))" a.cut
    refused "tar and $how: truncated" 3 'a.cut: is (a )?truncated' \
        "$MPIEXEC" -n 2 hopwave-import a.cut -o n.h5
done
make_file archive a gz ./out.k=t meta.k=names README.k=names ent.k.name=names
reads "a graph of KONECT" a "$edges"
make_file archive a none notes=names graph.dat=t
refused "two files that might be graphs" 3 "a: holds several graphs, 'notes' and 'graph.dat'" \
    "$MPIEXEC" -n 2 hopwave-import a -o n.h5
make_file archive a gz g/g.mtx=m.mtx g/h.mtx=m.mtx
refused "two matrices" 3 "a: holds several graphs, 'g/g.mtx' and 'g/h.mtx'" hopwave-import a -o n.h5
make_file archive a gz g.mtx=m.mtx g.mtx=m.mtx
refused "a path that is there twice" 3 'a: holds several graphs' hopwave-import a -o n.h5
make_file archive a gz README=names LICENSE=t
refused "no graph" 3 'a: holds no graph' hopwave-import a -o n.h5
make_file archive a gz g/g.mtx=m.mtx list=names
is "a format that is asked for chooses" "$(import 2 a --format mtx)" "$matrix"
(sed 500q m.mtx && echo "1 x") >wrong.mtx
make_file archive a xz g/g.mtx=wrong.mtx
refused "a wrong line is named, and its file" 3 "a: g/g.mtx: line 501: 'x' is not" \
    "$MPIEXEC" -n 2 hopwave-import a -o n.h5
for kind in absolute:'an absolute path' out:'which leads out' dots:'which leads out' \
    symlink:'a link' hardlink:'a link' fifo:'which is neither' device:'which is neither' \
    control:'which leads out'; do
    make_file hostile a t "${kind%%:*}"
    refused "hostile: ${kind%%:*}" 3 "a: holds '.*', ${kind#*:}" "$MPIEXEC" -n 2 hopwave-import a -o n.h5
    gzip -c a >a.gz
    refused "the same, compressed" 3 "a.gz: holds '.*', ${kind#*:}" hopwave-import a.gz -o n.h5
done
ok "which left nothing" test ! -e /tmp/hopwave-harm
make_file sparse a
refused "a file with holes" 3 "a: holds 'g/graph.txt', a file with holes" hopwave-import a -o n.h5
make_file many a
refused "thousands of files" 3 'a: holds more than 1000 files' hopwave-import a -o n.h5
make_file archive a none graph.dat=t
(cat a && echo "what follows") >a.more
refused "something behind the end" 3 'a.more: is a truncated or damaged tar archive' \
    hopwave-import a.more -o n.h5
make_file archive a.read none README=names
cat a.read a >a.both
reads "archives one behind the other" a.both "$edges"
cat a a >a.twice
refused "the same archive twice" 3 'a.twice: holds several graphs' hopwave-import a.twice -o n.h5
"$PYTHON3" - a <<'END2' >a.flip || exit 99
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.rindex(b"ustar", 0, len(data) - 600)
data[at + 20] ^= 1
sys.stdout.buffer.write(data + bytes(0))
END2
refused "a header whose checksum is wrong" 3 'a.flip: ' hopwave-import a.flip -o n.h5
gzip -c a | head -c 3000 >a.cut
refused "a compressed archive that is cut" 3 'a.cut: is truncated' hopwave-import a.cut -o n.h5
for how in xz bz2; do
    case $how in bz2) has BZIP2 || continue ;; esac
    make_file bomb bomb $how
    refused "a bomb: $how" 3 'bomb: unpacks to more than 2000 times' \
        env HOPWAVE_MEMORY=100M hopwave-import bomb -o n.h5
done

# ---- LDBC ----
mkdir ldbc
"$PYTHON3" - <<'END2' || exit 99
import random
random.seed(3)
ids = sorted(random.sample(range(1, 90000), 700))
chosen = ids[:650]  # 50 have no edges
edges = [(random.choice(chosen), random.choice(chosen), random.random()) for _ in range(4000)]
random.shuffle(ids)
with open("ldbc/g.v", "w") as f:
    f.writelines(f"{v}\n" for v in ids)
with open("ldbc/g.e", "w") as f:
    f.writelines(f"{a} {b} {w:.6f}\n" for a, b, w in edges)
with open("ldbc/g.properties", "w") as f:
    f.write("# Filenames of graph on local filesystem\n"
            "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\n\n"
            "graph.g.meta.vertices = 700\ngraph.g.meta.edges = 4000\n\n"
            "graph.g.directed = false\n"
            "graph.g.edge-properties.names = weight\ngraph.g.edge-properties.types = real\n"
            "graph.g.algorithms = bfs, sssp\n")
END2
ldbc=$(import 1 ldbc/g.properties)
is "all vertices are there" "$(info x.h5 vertices)" 700
is "all edges" "$(info x.h5 edges)" 4000
is "undirected, as the properties say" "$(info x.h5 directed)" 0
for file in g.properties g.e g.v; do
    reads "named by $file" ldbc/$file "$ldbc"
done
echo 5 >ldbc/g-BFS
for how in none gz zst; do
    case $how in zst) has ZSTD || continue ;; esac
    make_file archive a $how g.v=ldbc/g.v g.e=ldbc/g.e g.properties=ldbc/g.properties g-BFS=ldbc/g-BFS
    reads "an archive of LDBC, $how" a "$ldbc"
    reads "the same, asked for, $how" a "$ldbc" --format ldbc
done
echo "A graph of LDBC." >about
make_file archive a none d/g.v=ldbc/g.v d/g.e=ldbc/g.e d/g.properties=ldbc/g.properties d/about=about
reads "an archive of LDBC and of a text" a "$ldbc"
reads "the same, asked for" a "$ldbc" --format ldbc
make_file archive a none g.v=ldbc/g.v g.e=ldbc/g.e g.properties=ldbc/g.properties list=names
reads "the format that is asked for chooses LDBC's" a "$ldbc" --format ldbc
make_file archive a none graph.e=t
refused "an archive without vertices" 3 'a: holds no graph of LDBC: no NAME.e that has its NAME.v' \
    hopwave-import a --format ldbc -o n.h5
sed -n 2,400p ldbc/g.v >ldbc/h.v
cp ldbc/g.e ldbc/h.e
refused "edges of vertices that are not listed" 3 'ldbc/h.e: has edges of a vertex .* ldbc/h.v' \
    "$MPIEXEC" -n 3 hopwave-import ldbc/h.e -o n.h5
(cat ldbc/g.v && head -n 3 ldbc/g.v) >ldbc/h.v
refused "vertices that are listed twice" 3 'ldbc/h.v: lists vertices more than once: 3 of 703' \
    "$MPIEXEC" -n 2 hopwave-import ldbc/h.v -o n.h5
(cat ldbc/g.v && echo 1 2) >ldbc/h.v
refused "a list with two columns" 3 "ldbc/h.v: line 701: '2' is one field too many" \
    "$MPIEXEC" -n 2 hopwave-import ldbc/h.v -o n.h5
cp ldbc/g.v ldbc/h.v
sed 's/= g\.e/= h.e/; s/= g\.v/= h.v/; s/4000/4001/' ldbc/g.properties >ldbc/h.properties
refused "a number of edges that is not the properties'" 3 'ldbc/h.e: has 4000 edges, and 4001' \
    hopwave-import ldbc/h.v -o n.h5
sed 's/= 700/= 701/' ldbc/g.properties >ldbc/h.properties
refused "a number of vertices that is not" 3 'ldbc/g.v: lists 700 vertices, and 701' \
    hopwave-import ldbc/h.properties -o n.h5
sed 's/= g\.e/= ..\/h.e/' ldbc/g.properties >ldbc/h.properties
refused "a file elsewhere" 3 "ldbc/h.properties: '../h.e' is not the name of a file in its folder" \
    hopwave-import ldbc/h.properties -o n.h5
echo nonsense >ldbc/h.properties
refused "properties that are none" 3 "ldbc/h.properties: 'nonsense' is no property" \
    hopwave-import ldbc/h.e -o n.h5
refused "a name that is no pair's" 3 't: is neither NAME.v' hopwave-import t --format ldbc -o n.h5
rm ldbc/h.v ldbc/h.properties
same "a file named so, without its pair, is an edge list" "$(import 1 ldbc/h.e)" \
    "$(import 2 ldbc/h.e --format edges)"
# Folders of the nodes' own: each rank finds the files of one.
# shellcheck disable=SC2016 # each rank's shell expands it
own='cd own"${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" && exec hopwave-import "$1" -o "$2"'
mkdir own0 own1
cp ldbc/g.e own0
cp ldbc/g.e own1
for n in 0 1; do
    cp ldbc/g.v own$n
    refused "vertices on rank $n alone" 3 "g.e: the vertices .* are there on 1 of 2 ranks" \
        "$MPIEXEC" -n 2 sh -c "$own" own g.e "$work/n.h5"
    rm own$n/g.v
done
ok "nothing is left behind" test -z "$(find . -name 'n.*' -o -name '*tmp-*')"
done_testing
