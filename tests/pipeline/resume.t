#!/bin/sh
# Traversals that are stopped or killed half-way go on where they ended: no
# finished search runs again, and the file is that of a run left alone.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
g=$top_builddir/hopwave-generate
p=$top_builddir/hopwave-partition
t=$top_builddir/hopwave-traverse
v=$top_builddir/hopwave-validate

lasting() { find . -name '*.partial*' -o -name '.*tmp*' | sort | tr '\n' ' '; }

"$g" --model rmat --scale 15 --weights uniform -o g.h5 --quiet
"$p" g.h5 --layout 1d --parts 2 -o p.h5 --quiet

# Both ranks on one processor, and searches that do not turn: slow enough for the signals.
one=$(taskset -pc $$ 2>/dev/null | sed 's/.*: *\([0-9]*\).*/taskset -c \1/')

# start OUTPUT OPTION...: 300 searches on two ranks, in the background.
start() {
    start_output=$1
    shift
    # shellcheck disable=SC2086 # words
    $one "$MPIEXEC" -n 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down \
        -o "$start_output" "$@" >start.log 2>&1 &
    started=$!
}

# processes OUTPUT: the ranks that write it.
processes() { pgrep -f "hopwave-traverse p.h5 .*-o $1( |\$)" | grep -v -x "$started"; }

# reach OUTPUT BYTES: waits until the journal has that many bytes, or the run ended. The two
# ranks are $ranks_there: looked for beforehand, so that a signal comes at once.
reach() {
    ranks_there=
    for _ in $(seq 1000); do
        [ "$(echo "$ranks_there" | wc -w)" -eq 2 ] || ranks_there=$(processes "$1" | xargs)
        [ "$(stat -c %s "$1.partial.searches" 2>/dev/null || echo 0)" -ge "$2" ] && return
        kill -0 "$started" 2>/dev/null || return
        sleep 0.01
    done
}

ok "a run left alone" ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o whole.h5 --quiet
is "nothing lasts beside it" "$(lasting)" ""
whole=$(info whole.h5 digest)

# ---- killed ----
start killed.h5
reach killed.h5 20000
# shellcheck disable=SC2086 # words
kill -KILL $ranks_there 2>/dev/null
wait "$started"
ok "a killed run leaves no file" test ! -e killed.h5
ok "but what it finished" test -s killed.h5.partial.searches -a -s killed.h5.partial
ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o killed.h5 >again.log 2>&1
ok "the next start says what is there" grep -q "searches are there from a run that was stopped" again.log
same "and ends with the same file" "$(info killed.h5 digest)" "$whole"
ok "some searches were taken over" test "$(info killed.h5 searches_resumed)" -gt 0
ok "not all" test "$(info killed.h5 searches_resumed)" -lt 300
is "nothing lasts" "$(lasting)" ""
ok "the trees are right" "$v" killed.h5 --graph g.h5 --quiet
if "$PYTHON3" -c 'import h5py' 2>/dev/null; then
    ok "each search has its row" "$PYTHON3" - <<'END'
import h5py
with h5py.File("killed.h5") as f, h5py.File("whole.h5") as w:
    run, steps = f["run/search"][()], f["run/steps"][()]
    assert (run["root"] == w["run/search"][()]["root"]).all()
    assert (run["edges"] == w["run/search"][()]["edges"]).all()
    assert sorted(set(steps["search"])) == list(range(300))
    assert len(steps) == len(w["run/steps"])
END
else
    skip "each search has its row" "$PYTHON3 has no h5py"
fi

# ---- all done, but the file cannot be put in its place ----
start blocked.h5
reach blocked.h5 20000
mkdir blocked.h5
wait "$started"
is "a file that cannot be put in its place" "$?" 4
ok "stays, with what was finished" test -s blocked.h5.partial.searches -a -s blocked.h5.partial
rmdir blocked.h5
ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o blocked.h5 >again.log 2>&1
ok "no search runs again" grep -q "300 of 300 searches are there" again.log
same "and it is the same file" "$(info blocked.h5 digest)" "$whole"
is "nothing lasts" "$(lasting)" ""

# ---- asked to stop ----
start asked.h5
reach asked.h5 20000
# shellcheck disable=SC2086 # words
kill -TERM $ranks_there 2>/dev/null
wait "$started"
is "SIGTERM ends it with status 4" "$?" 4
ok "with a sentence" grep -q "stopped by SIGTERM after [0-9]* of 300 searches" start.log
done=$(sed -n 's/.*SIGTERM after \([0-9]*\) of.*/\1/p' start.log)
ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o asked.h5 --quiet
is "what was finished does not run again" "$(info asked.h5 searches_resumed)" "$done"
same "the same file" "$(info asked.h5 digest)" "$whole"

# ---- with validation, without trees, shortest paths ----
start checked.h5 --store none --check --graph g.h5
reach checked.h5 20000
# shellcheck disable=SC2086 # words
kill -KILL $ranks_there 2>/dev/null
wait "$started"
ok "searches that are checked on the spot" \
    ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o checked.h5 --store none --check --graph g.h5 --quiet
is "are all checked" "$(info checked.h5 checked)" 300

# ---- what is left is of another run, or broken ----
# leave OUTPUT: a run that is killed leaves what it finished.
leave() {
    start "$1"
    reach "$1" 20000
    # shellcheck disable=SC2086 # words
    kill -KILL $ranks_there 2>/dev/null
    wait "$started"
}
leave other.h5
ranks 2 "$t" p.h5 --roots 300 --root-seed 2 --threads 1 --direction top-down -o other.h5 >other.log 2>&1
ok "other roots begin anew" grep -q "is of another run, and is begun anew" other.log
is "with no search of the former" "$(info other.h5 searches_resumed)" 0

leave torn.h5
truncate -s -5 torn.h5.partial.searches
ok "a record cut off" ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o torn.h5 --quiet
same "runs again" "$(info torn.h5 digest)" "$whole"

leave flipped.h5
"$PYTHON3" -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(200000); b = f.read(64); f.seek(200000); f.write(bytes(x ^ 255 for x in b))' flipped.h5.partial
ok "a tree that was spoilt" ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o flipped.h5 --quiet
same "is searched again" "$(info flipped.h5 digest)" "$whole"

leave short.h5
truncate -s 150000 short.h5.partial
ok "a tree that a crash of the machine cut off" \
    ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o short.h5 --quiet
same "is searched again, too" "$(info short.h5 digest)" "$whole"

# Of another version: the journal's key names the program, "hopwave VERSION, journal N, ...;".
leave old.h5
"$PYTHON3" -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(8); f.write(b"hopwave 9")' old.h5.partial.searches
cp old.h5.partial.searches former.searches
again="$MPIEXEC -n 2 $t p.h5 --roots 300 --threads 1 --direction top-down"
# shellcheck disable=SC2086 # words
refused "a run of another version" 2 \
    "old.h5.partial was begun by hopwave 9.* and cannot be resumed by hopwave .* --force" \
    $again -o old.h5
ok "stays as it was" cmp old.h5.partial.searches former.searches
ok "with its trees" test -s old.h5.partial -a ! -e old.h5
# shellcheck disable=SC2086
$again -o old.h5 --force >old.log 2>&1
is "--force begins anew" "$?" 0
is "and says so" "$(grep -c 'old.h5.partial was begun by hopwave 9.*, and is begun anew' old.log)" 1
is "with no search of the former" "$(info old.h5 searches_resumed)" 0

leave unread.h5
mv unread.h5.partial.searches former.searches && mkfifo unread.h5.partial.searches
# shellcheck disable=SC2086
refused "a journal that cannot be read" 4 'unread.h5.partial.searches is no plain file' $again -o unread.h5
ok "ends no run" test -s unread.h5.partial -a -p unread.h5.partial.searches
mv former.searches unread.h5.partial.searches
# shellcheck disable=SC2086
$again -o unread.h5 --quiet
ok "which goes on" test "$(info unread.h5 searches_resumed)" -gt 0

leave format.h5
sed -i 's/, journal 2, /, journal 1, /' format.h5.partial.searches
# shellcheck disable=SC2086
refused "a run whose journal is of another format" 2 "was begun by another build of hopwave" \
    $again -o format.h5
rm format.h5.partial format.h5.partial.searches

leave text.h5
echo "no journal" >text.h5.partial.searches
ok "a journal that is none" ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o text.h5 --quiet
is "begins anew" "$(info text.h5 searches_resumed) $(info text.h5 digest)" "0 $whole"

leave alone.h5
rm alone.h5.partial
ok "a journal without trees" ranks 2 "$t" p.h5 --roots 300 --threads 1 --direction top-down -o alone.h5 --quiet
is "begins anew too" "$(info alone.h5 searches_resumed) $(info alone.h5 digest)" "0 $whole"

start busy.h5
reach busy.h5 20000
refused "two runs of one name" 4 "another process is writing it" \
    "$t" g.h5 --layout 1d --root-list 1 -o busy.h5
wait "$started"
same "the first ends" "$(info busy.h5 digest)" "$whole"
is "nothing lasts in the end" "$(lasting)" ""
done_testing
