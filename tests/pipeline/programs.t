#!/bin/sh
# Each program once, on small graphs, from one file to the next; and how each refuses what is wrong.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

for program in generate import search export partition traverse validate info; do
    ok "hopwave-$program --help" sh -c "hopwave-$program --help | grep -q '^Usage: hopwave-$program'"
    refused "hopwave-$program: an unknown option" 2 'not an option' hopwave-$program --nope
done

ok "generate" ranks 2 hopwave-generate -q --model rmat --scale 9 --weights uniform -o g.h5
ok "export" hopwave-export -q g.h5 --format wel -o g.wel
ok "import" ranks 2 hopwave-import -q g.wel --vertices 512 --undirected \
    --keep-duplicates -o i.h5
same "the same graph again" "$(digest i.h5)" "$(digest g.h5)"
for layout in "1d --parts 4" "2d --grid 2x2" "degree-separated --parts 4"; do
    kind=${layout%% *}
    # shellcheck disable=SC2086 # words
    ok "partition: $kind" ranks 2 hopwave-partition -q g.h5 --layout $layout -o $kind.h5
    for algorithm in bfs sssp; do
        ok "traverse: $algorithm, $kind" ranks 4 hopwave-traverse -q $kind.h5 \
            --algorithm $algorithm --roots 4 -o $kind-$algorithm.h5
        ok "validate: $algorithm, $kind" ranks 2 hopwave-validate -q $kind-$algorithm.h5 \
            --graph g.h5 --reference -o $kind-$algorithm-check.h5
        is "info: $algorithm, $kind" "$(info $kind-$algorithm-check.h5 passed)" 1
        same "the results of every layout: $algorithm, $kind" \
            "$(digest $kind-$algorithm.h5)" "$(digest 1d-$algorithm.h5)"
    done
done

# Only the first thread is bound to a place before the program asks how many cores it has.
for bind in false true; do
    ok "OMP_PROC_BIND=$bind" env -u OMP_NUM_THREADS OMP_PROC_BIND=$bind \
        hopwave-generate -q --model rmat --scale 5 -o bind-$bind.h5
done
same "bound threads have the same cores" \
    "$(info bind-true.h5 cores_of_rank_0) $(info bind-true.h5 threads)" \
    "$(info bind-false.h5 cores_of_rank_0) $(info bind-false.h5 threads)"
is "files say how many cores their machine has" "$(info bind-true.h5 cores)" \
    "$(getconf _NPROCESSORS_ONLN)"
ok "and by which compiler the program was made" test -n "$(info bind-true.h5 compiler)"

printf 'X' | dd of=1d.h5 bs=1 seek=30000 conv=notrunc 2>dd.err
refused "a damaged partition" 3 '1d.h5: .*damaged' "$MPIEXEC" -n 4 hopwave-traverse 1d.h5 -o x.h5
refused "an output that exists" 2 'g.h5: exists already; --force' \
    hopwave-generate --model rmat --scale 5 -o g.h5
refused "a folder that is not there" 4 'nowhere' \
    hopwave-generate --model rmat --scale 5 -o nowhere/g.h5
ok "and no file is left" sh -c '! ls x.h5* .x.h5* 2>/dev/null'
done_testing
