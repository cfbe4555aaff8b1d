#!/bin/sh
# Vertices beyond 2^32 through the programs: ids in files, names, roots, sizes, estimates. Graphs have
# a few edges only; searches number the vertices that have some without gaps, so that no machine
# needs to hold as many as there are ids. HW_LARGE=1 searches without that numbering a graph of more
# than 2^32 vertices, on machines with 500 GB of memory.
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
printf '%s 0\n4294967297 4294967295\n0 %s\n' $last $last | cat e.el - >twice.el
for n in 1 3; do
    ok "tuples are folded ($n ranks)" ranks $n hopwave-import -q --force twice.el --undirected \
        --vertices $((last + 1)) --compact never -o fold.h5
    hopwave-export -q --force fold.h5 --format el -o fold.el
    same "into pairs, sorted" "$(cat fold.el)" "$(sort -n -k 1,1 -k 2,2 e.el)"
done
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
is "has the size on disk of trees of the vertices with edges, 37%" \
    "$(awk '$1 == "disk:" { printf "%.2f", $2 / (64 * 12 * 8589934592) }' estimate)" 0.37
memory=$(awk '$1 == "memory_per_rank:" { print $2 }' estimate)
hopwave-traverse r33.h5 --layout degree-separated --parts 124 --estimate=124 --compact never >estimate
is "or of all vertices" "$(awk '$1 == "disk:" { print $2 }' estimate)" \
    $((64 * (last + 1) * 12 + 64 * 8))
is "and takes more memory then" "$(awk -v less="$memory" \
    '$1 == "memory_per_rank:" { print (less < $2 && $2 < 90e9) }' estimate)" 1
ok "layout 1d is not refused" hopwave-traverse r33.h5 --layout 1d --parts 124 --estimate=124

# wide SMALL.tsv: a table of searches in a graph of 1024 vertices with its ids moved apart.
wide() {
    awk -v last=$last 'function id(v) { return sprintf("%.0f", v == 1023 ? last : v * 8396798) }
        NR > 1 { print id($1) "\t" id($2) "\t" $3 "\t" id($4) }' "$1" | sort
}
hopwave-generate -q --model rmat --scale 10 --weights integer:1:99 -o small.h5
hopwave-export -q small.h5 --format wel -o small.wel
awk -v last=$last 'function id(v) { return sprintf("%.0f", v == 1023 ? last : v * 8396798) }
    { print id($1), id($2), $3 }' small.wel >wide.wel
ok "a graph with ids all over 2^33" hopwave-import -q wide.wel --undirected --keep-duplicates \
    --vertices $((last + 1)) --compact never -o wide.h5
root=$(awk 'NR == 1 { print $1 }' small.wel)
for how in "1 bfs 1d" "4 bfs 2d --grid 2x2" "8 bfs degree-separated --parts 4x2" \
    "1 sssp 1d" "4 sssp 2d --grid 2x2" "4 sssp degree-separated --parts 2x2"; do
    # shellcheck disable=SC2086 # words
    set -- $how
    ranks=$1 algorithm=$2
    shift 2
    hopwave-traverse -q --force small.h5 --layout 1d --algorithm "$algorithm" --canonical-parents \
        --root-list "$root" -o small-tree.h5
    ok "is searched: $how" ranks "$ranks" hopwave-traverse -q --force wide.h5 --layout "$@" \
        --algorithm "$algorithm" --canonical-parents --check \
        --root-list "$(awk 'NR == 1 { print $1 }' wide.wel)" -o wide-tree.h5
    hopwave-export -q --force small-tree.h5 --format tsv -o small.tsv
    hopwave-export -q --force wide-tree.h5 --format tsv -o wide.tsv
    same "as with small ids" "$(sed 1d wide.tsv | sort)" "$(wide small.tsv)"
    ok "and validates" ranks 2 hopwave-validate -q --force wide-tree.h5 --graph wide.h5 -o check.h5
done
ok "roots are sampled" hopwave-traverse -q --force wide.h5 --layout 1d --roots 4 --check -o t.h5
ok "a vertex without edges is a root" hopwave-traverse -q --force wide.h5 --layout 1d --check \
    --root-list 77,$((last - 1)) -o t.h5
ok "whose tree validates" hopwave-validate -q --force t.h5 --graph wide.h5 -o check.h5
hopwave-export -q --force t.h5 --format tsv -o t.tsv
same "and has nothing else" "$(sed 1d t.tsv)" "$(printf '%s\t%s\t0\t%s\n' 77 77 77 \
    $((last - 1)) $((last - 1)) $((last - 1)))"
hopwave-traverse -q --force wide.h5 --layout 1d --canonical-parents \
    --root-list "$(awk 'NR == 1 { print $1 }' wide.wel)" -o t.h5
hopwave-export -q --force t.h5 --format tsv -o t.tsv
same "hopwave-search prints the same" \
    "$(hopwave-search -q wide.h5 --from "$(awk 'NR == 1 { print $1 }' wide.wel)" | sed 1d)" \
    "$(sed 1d t.tsv | cut -f 2-)"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n8589934592 8589934592 2\n1 8589934592\n1 5\n' |
    sed 's/%%%%/%%/' >counted.mtx
hopwave-import -q counted.mtx -o counted.h5
ok "names counted from 1 are roots" hopwave-traverse -q --force counted.h5 --layout 1d \
    --root-list 8589934592 -o t.h5
hopwave-export -q --force t.h5 --graph counted.h5 --format tsv -o t.tsv
same "and names in tables" "$(awk '$3 == 2' t.tsv)" \
    "$(printf '%s\t5\t2\t1' 8589934592)"
same "and in paths" "$(hopwave-search -q counted.h5 --from 5 --to 8589934592 | cut -f 1 | xargs)" \
    "vertex 5 1 8589934592"
refused "a name that is none" 3 'no vertex has the label 8589934593' \
    hopwave-search -q counted.h5 --from 8589934593
if [ -n "${HW_PARTS:-}" ]; then
    ok "on $HW_PARTS parts" ranks "$HW_PARTS" hopwave-traverse -q --force wide.h5 --check \
        --layout degree-separated --parts "$HW_PARTS" --roots 2 -o t.h5
fi

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
        --order none --compact never "$@" -o t.h5 >large.out 2>&1
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
    skip "searches of more than 2^32 vertices by their own ids" \
        "they need 500 GB of memory; HW_LARGE=1 tries them"
fi
done_testing
