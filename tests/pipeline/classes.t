#!/bin/sh
# bench/classes: a small run of all that it does, and what it says of results that are made up.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS PYTHONDONTWRITEBYTECODE

if ! python=$(python_with "h5py, numpy"); then
    skip "classes" "no Python with h5py and numpy"
    done_testing
fi
ok "judges results" "$python" "$top_srcdir/tests/pipeline/classes.py" "$top_srcdir/bench"

hopwave-generate -q --model erdos-renyi --vertices 50 --edges 90 --weights integer:1:9 -o mine.h5
run() {
    "$python" "$top_srcdir/bench/classes" --scale 6 --roots 2 --repeats 1 --threads 1 "$@"
}
run --classes 'factor 2|signed' mine.h5 -o table.tsv >table 2>&1
is "status of a run without wrong answers" $? 0
is "what ran" "$(cut -f 1-4 table.tsv | grep -c .)" 24
for line in 'G.n,m., edge factor 2, scale 6 +bfs +auto +1d +[0-9.]+ .*took grid: undirected.*no hubs' \
    'G.n,m., edge factor 2, scale 6 +sssp +delta +degree-separated +[0-9.]+ ' \
    'signed weights, directed, scale 4 +sssp +auto .*took bellman-ford: directed.*the negative weights' \
    'mine +bfs +sequential +1d' 'mine +sssp +dijkstra +1d'; do
    ok "a row: $line" grep -Eq "^$line" table
done
verdicts=$(sed '1,/^$/d' table | grep -c .)
ok "one verdict at least" [ "$verdicts" -gt 0 ]
is "each is about auto" "$(sed '1,/^$/d' table | grep -c 'auto')" "$verdicts"

# A search that validation finds wrong, and one that hangs.
mkdir bin
cat >bin/hopwave-traverse <<'END'
#!/bin/sh
case "$*" in
*--method=sequential*) sleep 60 >/dev/null 2>&1 & echo $! >"$SLEEPING"; wait ;;
*--method=delegates*) echo 'hopwave-traverse: 1 of 2 searches is wrong' >&2; exit 1 ;;
esac
exec "$REAL/hopwave-traverse" "$@"
END
chmod +x bin/hopwave-traverse
REAL=$top_builddir PATH=$PWD/bin:$PATH SLEEPING=$PWD/sleeping
export REAL PATH SLEEPING
run --classes - --algorithms bfs --limit 20 mine.h5 >table 2>&1
status=$?
ok "a method that fails" grep -Eq 'delegates +degree-separated +.*1 of 2 searches is wrong' table
ok "a method that hangs" grep -Eq 'sequential +1d +did not end within 20 s' table
# Of what has ended an entry may be left, which nobody has waited for.
running() { grep '^State:[[:blank:]]*[^ZX[:blank:]]' "/proc/$1/status" 2>/dev/null; }
is "which is ended with what it started" "$(running "$(cat sleeping)")" ""
ok "auto all the same" grep -Eq 'mine +bfs +auto +1d +[0-9.]+' table
is "its status" $status 1
run --classes '[' >table 2>&1
is "a pattern that is none" $? 2
done_testing
