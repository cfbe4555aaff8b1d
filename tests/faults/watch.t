#!/bin/sh
# A rank that is killed or stopped while the others wait for it in MPI ends all of them,
# with a line that names it; one that is slow, held by a debugger, or stopped with all the
# others, does not. Searches watch their ranks with --watch; elsewhere a rank that is killed ends
# the run by the launcher's own rule.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
case ${top_builddir:=.} in
/*) build=$top_builddir ;;
*) build=$OLDPWD/$top_builddir PATH=$OLDPWD/$top_builddir:$PATH ;;
esac
lose_rank=$build/lib/comm/watch/lose_rank
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

ok "a watch that sees nothing wrong ends in order" ranks 3 "$lose_rank" 0 1
for signal in KILL:9 STOP:19; do
    for launcher in '' "$top_srcdir/tests/faults/unseen"; do
        rm -f over.*
        # shellcheck disable=SC2086 # a word, or none
        UNSEEN=3 timeout 20 "$MPIEXEC" -n 3 $launcher "$lose_rank" "${signal#*:}" 1 2>err
        status=$?
        ok "SIG${signal%:*} ends the run" test "$status" -ne 0 -a "$status" -ne 124
        [ "$signal$launcher" = KILL:9 ] || # the launcher saw it first
            is "and the lost rank is named once" \
                "$(grep -c 'lose_rank: rank 2 (process [0-9]*) was .*, so all end$' err)" 1
    done
done
timeout 40 "$MPIEXEC" -n 3 "$lose_rank" -1 1 2>err
status=$?
ok "a rank that fails and leaves the others waiting ends them" \
    test "$status" -ne 0 -a "$status" -ne 124
is "with its sentence" "$(grep -c 'rank 2 fails on request' err)" 1

# numbers COMMAND: the processes of that command line.
numbers() {
    pgrep -f "^$1\$"
}

# await COUNT COMMAND: until there are so many of them that are past their start.
await() {
    turns=0
    until [ "$(numbers "$2" | wc -l)" -ge "$1" ] || [ $turns -gt 100 ]; do
        sleep 0.1
        turns=$((turns + 1))
    done
    sleep 1
}

# A slow rank is not lost, nor are ranks that all are stopped for longer than that.
"$MPIEXEC" -n 2 "$lose_rank" 0 0.5 3 2>err &
run=$!
await 2 "$lose_rank 0 0.5 3"
# shellcheck disable=SC2046 # words
kill -STOP $(numbers "$lose_rank 0 0.5 3")
sleep 1.5
# shellcheck disable=SC2046
kill -CONT $(numbers "$lose_rank 0 0.5 3")
wait $run
is "a slow rank, and all stopped and gone on, end nothing" "$?$(cat err)" 0

# Nor is a rank that a debugger holds.
cat >hold.py <<'END'
import ctypes, os, sys, time
SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
number = int(sys.argv[1])
for request in SEIZE, INTERRUPT:
    if libc.ptrace(request, number, None, None) != 0:
        sys.exit(77)
os.waitpid(number, WALL)
time.sleep(1.5)
print(open(f"/proc/{number}/stat").read().rsplit(")")[1].split()[0])
libc.ptrace(DETACH, number, None, None)
END
"$MPIEXEC" -n 2 "$lose_rank" 0 0.5 3.1 2>err &
run=$!
await 2 "$lose_rank 0 0.5 3.1"
held=$("${PYTHON3:-python3}" hold.py "$(numbers "$lose_rank 0 0.5 3.1" | head -n 1)")
seized=$?
wait $run
status=$?
if [ $seized -eq 77 ]; then
    skip "a debugger holds a rank" "no process may be traced here"
else
    is "a rank that a debugger holds ends nothing" "$held$status$(cat err)" t0
fi

# Ranks that were asked to stop, and do not come to a point where they can: a long step of a run.
"$MPIEXEC" -n 2 "$lose_rank" 0 20 40 catch 2>err &
run=$!
await 2 "$lose_rank 0 20 40 catch"
began=$(date +%s)
# shellcheck disable=SC2046 # words
kill -TERM $(numbers "$lose_rank 0 20 40 catch")
wait $run
status=$?
took=$(($(date +%s) - began))
ok "a long step is ended $took s after SIGTERM" test "$status" -ne 0 -a "$took" -le 10
is "with a sentence, and no other" "$(grep '^lose_rank' err)" 'lose_rank: stopped by SIGTERM'

# begin NAME COMMAND...: two ranks of it beside this shell, that write NAME.h5.
begin() {
    name=$1
    shift
    timeout 60 "$MPIEXEC" -n 2 "$@" -o "$work/$name.h5" >/dev/null 2>"$name.err" &
    echo $! >"$name.run"
}

# lose NAME PROGRAM SIGNAL head|tail: sends the signal to one of its ranks.
lose() {
    kill "-$3" "$(pgrep -f "^hopwave-$2 .* $work/$1\\.h5" | "$4" -n 1)" || : >"$1.over"
}

# ends NAME: it failed within ten seconds of $before, without a file under the final name.
ends() {
    wait "$(cat "$1.run")"
    status=$?
    took=$(($(date +%s) - before))
    ok "$1: a lost rank ends it ($status, $took s), no file" \
        test "$status" -ne 0 -a "$status" -ne 124 -a "$took" -le 10 -a ! -e "$1.over" -a ! -e "$1.h5"
}

ok "a graph" hopwave-generate -q --model rmat --scale 22 --recipe -o recipe.h5
begin watched hopwave-traverse -q recipe.h5 --layout 1d --parts 2 --roots 64 --check --watch
sleep 2
lose watched traverse STOP head
before=$(date +%s)
ends watched
is "one line names it" \
    "$(grep -c "^hopwave-traverse: rank [01] (process [0-9]*) was stopped" watched.err)" 1
is "and nothing else is left" "$(find . -name '*.h5*' ! -name recipe.h5)" ""

begin generate hopwave-generate -q --model rmat --scale 25
begin partition hopwave-partition -q recipe.h5 --layout 1d --parts 2
begin traverse hopwave-traverse -q recipe.h5 --layout 1d --parts 2 --roots 64 --check
sleep 2
which='head'
for name in generate partition traverse; do
    lose $name $name KILL $which
    if [ "$which" = head ]; then which='tail'; else which='head'; fi
done
before=$(date +%s)
for name in generate partition traverse; do
    ends $name
    is "$name: by the launcher's rule" "$(grep -c "^hopwave-$name: rank" "$name.err")" 0
done
done_testing
