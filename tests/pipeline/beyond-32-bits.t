#!/bin/sh
# Vertices beyond 2^32 through the programs: ids in files, names, roots, sizes, estimates. Graphs have
# a few edges only, so that no machine needs to hold as many vertices; where one would have to, the
# refusal says how much memory is missing. HW_LARGE=1 searches a graph of more than 2^32 vertices, on
# machines with 500 GB of memory.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
last=8589934591

printf '0 %s\n4294967296 %s\n4294967295 4294967297\n' $last $last >e.el
ok "ids are imported as they are" hopwave-import -q e.el --undirected --keep-duplicates --vertices $((last + 1)) \
    --compact never -o e.h5
is "all vertices count" "$(hopwave-info e.h5 | awk '$1 == "vertices:" { print $2 }')" $((last + 1))
refused "tuples that would have to be folded" 3 'more than 2.32 vertices.* --keep-duplicates all' \
    hopwave-import -q e.el --undirected --vertices $((last + 1)) --compact never -o x.h5
ok "an edge list comes out" hopwave-export -q e.h5 --format el -o out.el
same "with the same edges" \
    "$(awk '{ print ($1 < $2) ? $1 " " $2 : $2 " " $1 }' out.el | sort)" "$(sort e.el)"
ok "Matrix Market, too" hopwave-export -q e.h5 --format mtx -o out.mtx
ok "comes back" hopwave-import -q out.mtx -o back.h5
is "with as many vertices" "$(hopwave-info back.h5 | awk '$1 == "vertices:" { print $2 }')" \
    $((last + 1))
refused "a root behind the last" 3 "root $((last + 1)) is out of range.* 0 to $last" \
    hopwave-traverse -q e.h5 --layout 1d --root-list $((last + 1)) -o x.h5
refused "parts whose local ids need more than 32 bits" 3 'more than 32 bits hold; take 2d with several' \
    hopwave-partition -q e.h5 --layout 1d --parts 2 -o x.h5
ok "an estimate for 124 parts" sh -c \
    'hopwave-traverse e.h5 --layout degree-separated --parts 124 --estimate=124 >estimate'
is "which fits a node" "$(awk '$1 == "memory_per_rank:" { print ($2 < 64e9) }' estimate)" 1

ok "a recipe of scale 33" hopwave-generate -q --model rmat --scale 33 --recipe -o r33.h5
ok "on 124 parts" sh -c \
    'hopwave-traverse r33.h5 --layout degree-separated --parts 124 --estimate=124 >estimate'
is "has the tree's size on disk" "$(awk '$1 == "disk:" { print $2 }' estimate)" \
    $((64 * (last + 1) * 12 + 64 * 8))

printf '5000000000 5000000001\n5000000001 9000000000000000000\n' >names.el
ok "names beyond 2^32" hopwave-import -q names.el --undirected -o names.h5
echo 5000000001 >roots
for roots in 5000000000 roots; do
    ok "are roots ($roots)" hopwave-traverse -q --force names.h5 --layout 1d --root-list $roots \
        -o tree.h5
    ok "of trees that validate" hopwave-validate -q --force tree.h5 --graph names.h5 -o check.h5
done
hopwave-export -q tree.h5 --graph names.h5 --format tsv -o tree.tsv
is "and stand in tables" "$(awk '$2 == 9000000000000000000 { print $1, $4 }' tree.tsv)" \
    "5000000001 5000000001"
hopwave-search -q names.el --from 5000000000 >found
is "and in searches" "$(awk '$1 == 9000000000000000000 { print $2, $3 }' found)" "2 5000000001"

# large RANKS OPTIONS...: a search whose every vertex has memory is validated, or there is too little.
large() {
    large_ranks=$1
    shift
    ranks "$large_ranks" hopwave-traverse -q --force large.h5 --root-list 0 --store none --check \
        --order none "$@" -o t.h5 >large.out 2>&1
    large_status=$?
    if [ $large_status -eq 4 ]; then
        skip "more than 2^32 vertices: $*" "$(head -n 1 large.out)"
    else
        is "more than 2^32 vertices: $*" "$large_status$(cat large.out)" 0
        is "three of which are reached, by two edges" \
            "$(hopwave-info t.h5 | awk '$1 ~ /_max_nedge:$/ { print $2 }')" 2
    fi
}
if [ -n "${HW_LARGE:-}" ]; then
    unset OMP_NUM_THREADS
    n=$((4294967296 + 64))
    printf '0 %s 2\n%s 4294967297 3\n5 7 1\n' $((n - 1)) $((n - 1)) >large.wel
    hopwave-import -q large.wel --undirected --keep-duplicates --vertices $n --compact never -o large.h5
    for algorithm in bfs sssp; do
        large 1 --algorithm $algorithm --layout degree-separated
        large 4 --algorithm $algorithm --layout 2d --grid 2x2
    done
else
    skip "searches of more than 2^32 vertices" "they need 500 GB of memory; HW_LARGE=1 tries them"
fi
done_testing
