#!/bin/sh
# Files of format version 1, made by the programs of commit 238c313 (tests/pipeline/version-1):
# every program reads them, and what is made from them or anew is the same but for the version.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
: "${PYTHON3:=python3}"
old=$top_srcdir/tests/pipeline/version-1

# shellcheck disable=SC2016
ok "the old files are those that were written then" \
    sh -c 'cd "$1" && sha256sum -c SHA256SUMS' sh "$old"
# As they were made (README.md there).
hopwave-generate -q --model rmat --scale 4 --edge-factor 3 --weights integer:1:9 -o graph.h5 || exit 99
hopwave-partition -q graph.h5 --layout 2d --grid 1x2 -o partition.h5 || exit 99
ranks 2 hopwave-traverse -q partition.h5 --roots 2 -o bfs.h5 || exit 99
ranks 2 hopwave-traverse -q partition.h5 --algorithm sssp --roots 2 -o sssp.h5 || exit 99
hopwave-validate -q bfs.h5 --graph graph.h5 -o check.h5 || exit 99

for kind in graph partition bfs sssp check; do
    is "$kind: the old file is of version 1, and verifies" \
        "$(info "$old/$kind.h5" format_version) $(info "$old/$kind.h5" verifies)" "1 yes"
    is "$kind: the new one is of version 2" "$(info "$kind.h5" format_version)" 2
    same "$kind: their contents have one digest" "$(digest "$old/$kind.h5")" "$(digest "$kind.h5")"
done
for name in method_requested roots_requested; do
    same "an attribute has the name of today: $name" "$(info "$old/bfs.h5" $name)" "$(info bfs.h5 $name)"
done
is "and no other" "$(hopwave-info "$old/bfs.h5" | grep -c '_asked: ')" 0

# Each program reads old files: again NAME COMMAND...: the command makes again.h5 of one of them,
# which has the digest of the new file NAME.
again() {
    again_name=$1
    shift
    rm -f again.h5
    "$@" -q -o again.h5 2>again.err || sed 's/^/# /' again.err
    same "$again_name of an old file" "$(digest again.h5)" "$(digest "$again_name.h5")"
}
again partition hopwave-partition "$old/graph.h5" --layout 2d --grid 1x2
again bfs ranks 2 hopwave-traverse "$old/partition.h5" --roots 2 --check --graph "$old/graph.h5"
again bfs hopwave-traverse "$old/graph.h5" --layout 1d --roots 2
again sssp ranks 2 hopwave-traverse "$old/partition.h5" --algorithm sssp --roots 2
again check hopwave-validate "$old/bfs.h5" --graph graph.h5
again check hopwave-validate bfs.h5 --graph "$old/graph.h5"
for format in el wel; do
    hopwave-export -q "$old/graph.h5" --format $format -o "old.$format" &&
        hopwave-export -q graph.h5 --format $format -o "new.$format"
    ok "edges of both as $format" cmp "old.$format" "new.$format"
done
for tree in bfs sssp; do
    hopwave-export -q "$old/$tree.h5" --format tsv -o "old.tsv" --force &&
        hopwave-export -q $tree.h5 --format tsv -o "new.tsv" --force
    ok "searches of both as a table: $tree" cmp old.tsv new.tsv
done
# The times are those of the file.
hopwave-info --graph500 "$old/bfs.h5" >graph500
is "statistics of the old file" "$(sed -n 's/^bfs_min_time: //p' graph500)" \
    "$(info "$old/bfs.h5" bfs_min_time)"

# ---- Python: columns ----
if ! "$PYTHON3" -c 'import h5py, pandas' 2>/dev/null; then
    skip "columns" "no Python with h5py and pandas"
    done_testing
fi
PYTHONPATH=$top_srcdir/python
export PYTHONPATH
# Ranks sent messages then, which those of different nodes do.
for tree in bfs sssp; do
    ranks 2 hopwave-traverse -q --force partition.h5 --algorithm $tree --roots 2 --ranks-per-node 1 \
        -o $tree.h5 || exit 99
    ok "$tree: an old table of steps has the columns of a new one" \
        "$PYTHON3" "$top_srcdir/tests/pipeline/old_files.py" "$old/$tree.h5" $tree.h5
done
ok "columns of a study's old CSV files have the names of today" \
    "$PYTHON3" "$top_srcdir/tests/pipeline/old_files.py"

# A version that nobody knows.
for file in graph partition bfs; do
    cp $file.h5 newer-$file.h5
    "$PYTHON3" -c 'import h5py, sys
h5py.File(sys.argv[1], "r+").attrs.modify("format_version", 3)' newer-$file.h5 || exit 99
done
newer='made by a newer Hopwave: format version 3, known here up to 2'
refused "info refuses a newer file" 3 "newer-graph.h5: was $newer" hopwave-info newer-graph.h5
refused "partition refuses it" 3 "$newer" hopwave-partition -q newer-graph.h5 --layout 1d --parts 1 -o no.h5
refused "traverse refuses it" 3 "$newer" hopwave-traverse -q newer-partition.h5 --roots 1 -o no.h5
refused "validate refuses it" 3 "$newer" hopwave-validate -q newer-bfs.h5 --graph graph.h5 -o no.h5
refused "export refuses it" 3 "$newer" hopwave-export -q newer-graph.h5 --format el -o no.el

# ---- compare ----
if ! "$PYTHON3" -c 'import scipy, matplotlib, jsonschema' 2>/dev/null; then
    skip "compare" "$PYTHON3 has not the packages of workflow/envs/requirements.txt"
    done_testing
fi
for study in old new; do
    for tree in bfs sssp; do
        mkdir -p "$study/results/trees/g/2d-1x2"
        from=$tree.h5
        [ $study = new ] || from=$old/$tree.h5
        cp "$from" "$study/results/trees/g/2d-1x2/$tree-k2-r1.h5"
    done
done
compared() {
    "$PYTHON3" "$top_builddir/hopwave-study" compare "$1" "$2" --force -o compare.html >compare.out 2>&1
    sed -n 's/^results: //p' compare.out
}
export HOME="$work" MPLCONFIGDIR="$work/matplotlib"
is "compare finds old and new results equal" "$(compared old new)" "the same (2 equal)"
is "and the other way round" "$(compared new old)" "the same (2 equal)"
hopwave-traverse -q graph.h5 --layout 1d --roots 2 --root-seed 5 --force \
    -o new/results/trees/g/2d-1x2/bfs-k2-r1.h5 || exit 99
case $(compared old new) in
"DIFFERENT (1 equal, 1 different)") different=0 ;;
*) different=1 ;;
esac
[ "$different" -eq 0 ] || sed 's/^/# /' compare.out
ok "other results differ from old ones" [ "$different" -eq 0 ]
done_testing
