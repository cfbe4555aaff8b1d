#!/bin/sh
# Shortest paths end to end: tree files of different methods, layouts, part and
# thread counts have one digest, pass validation and equal the serial reference.
# (lib/engine/sssp/test_methods_agree.c tries all of them, without files.)
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99

# agree NAME GRAPH ROOTS METHODS: METHODS are taken in turn, and of the layouts the first
# and every third, another third for the next graph.
agree_turn=0
agree() {
    agree_name=$1 agree_graph=$2 agree_roots=$3
    agree_wrong='' agree_first='' agree_runs=0 agree_line=0
    agree_turn=$((agree_turn + 1))
    rm -f tree.h5 first.h5
    # shellcheck disable=SC2086 # words
    set -- $4
    while read -r parts threads layout; do
        agree_line=$((agree_line + 1))
        [ "$agree_line" -eq 1 ] || [ $(((agree_line + agree_turn) % 3)) -eq 0 ] || continue
        method=$1
        shift
        set -- "$@" "$method"
        agree_runs=$((agree_runs + 1))
        # shellcheck disable=SC2086 # words
        ranks "$parts" hopwave-traverse "$agree_graph" --layout $layout --algorithm sssp \
            --method "$method" --root-list "$agree_roots" --threads "$threads" --quiet \
            --force -o tree.h5 >run.log 2>&1 </dev/null
        agree_digest=$(digest tree.h5)
        [ -n "$agree_first" ] || {
            agree_first=$agree_digest
            cp tree.h5 first.h5
        }
        [ -n "$agree_digest" ] && [ "$agree_digest" = "$agree_first" ] && continue
        agree_wrong="$agree_wrong; $method, $layout, $threads threads: $agree_digest $(head -c 300 run.log)"
        rm -f tree.h5
    done <<LIST
1 1 1d --parts 1
2 2 degree-separated --parts 2
3 1 1d --parts 3
4 1 2d --grid 2x2
5 1 degree-separated --parts 5
1 2 degree-separated --parts 1
6 1 2d --grid 3x2
8 1 degree-separated --parts 2x4
7 1 1d --parts 7
9 1 1d --parts 9
LIST
    is "$agree_name: $agree_runs runs, one digest" "$agree_wrong" ""
    ok "$agree_name: right, as the serial reference, the first as the last" \
        hopwave-validate first.h5 --graph "$agree_graph" --reference --against tree.h5 --quiet
}

hopwave-generate --model rmat --scale 9 --weights uniform --quiet -o rmat.h5
agree "R-MAT" rmat.h5 0,5,77 "delta bellman-ford auto"
hopwave-generate --model erdos-renyi --vertices 700 --edges 2500 --weights integer:0:255 --quiet \
    -o er.h5
agree "Erdos-Renyi, whole weights" er.h5 0,5,77 "bellman-ford delta"
hopwave-generate --model rmat --scale 9 --directed --weights signed --quiet -o signed.h5
agree "signed weights" signed.h5 0,5,77 "bellman-ford auto"

# A road network as DIMACS has them: a mesh of 30 by 30 with gaps, both ways listed.
awk 'BEGIN {
    n = 30; srand(3)
    for (v = 1; v <= n * n; v++) for (down = 0; down < 2; down++) {
        u = v + (down ? n : 1)
        if ((down ? u > n * n : v % n == 0) || rand() < .1) continue
        w = int(1 + rand() * 5000); text = text "a " v " " u " " w "\na " u " " v " " w "\n"; m += 2
    }
    printf "p sp %d %d\n%s", n * n, m, text
}' >road.gr
hopwave-import road.gr --quiet -o road.h5
agree "a road network" road.h5 1,451,900 "delta bellman-ford"
# Whether threads wait for each other at buckets: asked for, chosen, and not for several parts.
for way in synchronous asynchronous auto; do
    ok "roads, $way" hopwave-traverse road.h5 --layout 1d --algorithm sssp --roots 4 --threads 3 \
        --schedule $way --check --quiet -o $way.h5
done
is "a schedule that was asked for is recorded" "$(info synchronous.h5 schedule)" synchronous
is "and so is the one that was chosen" "$(info auto.h5 schedule)" asynchronous
same "distances do not depend on it" "$(info synchronous.h5 /distance)" \
    "$(info asynchronous.h5 /distance)"
refused "an asynchronous schedule of several parts" 3 "threads of one rank.* 2 parts" \
    "$MPIEXEC" -n 2 hopwave-traverse road.h5 --layout 1d --algorithm sssp --roots 1 \
    --schedule asynchronous --quiet -o refused.h5

# A cycle of -1 that 0 and 3 reach; 6 does not.
printf '0 1 1\n1 2 -3\n2 0 1\n3 0 5\n6 7 2\n7 8 2\n8 9 -1\n' >cycle.el
hopwave-import cycle.el --directed --quiet -o cycle.h5
agree "a negative cycle" cycle.h5 0,3,6 "bellman-ford"
# Of an undirected graph a negative edge is one, gone along and back.
printf '0 1 1.5\n1 2 -0.5\n6 7 2\n7 8 2\n' >pair.el
hopwave-import pair.el --undirected --quiet -o pair.h5
agree "a negative edge" pair.h5 0,6 "bellman-ford"

done_testing
