#!/bin/sh
# A rank that is killed or stopped while the others wait for it in MPI ends all of them,
# with a line that names it.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
lose_rank=$top_builddir/lib/comm/lose_rank

ok "a watch that sees nothing wrong ends in order" ranks 3 "$lose_rank" 0 1
"$MPIEXEC" -disable-auto-cleanup -n 1 true 2>/dev/null && keep=-disable-auto-cleanup || keep=
for signal in KILL:9 STOP:19; do
    # shellcheck disable=SC2086 # an option, or none
    timeout -s KILL 20 "$MPIEXEC" $keep -n 3 "$lose_rank" "${signal#*:}" 1 2>"$work/err"
    status=$?
    ok "SIG${signal%:*} ends the run" test "$status" -ne 0 -a "$status" -ne 137
    [ "$signal" = KILL:9 ] || # the launcher may have seen it first
        is "and the lost rank is named once" "$(grep -c 'rank 2 has not' "$work/err")" 1
done
timeout -s KILL 40 "$MPIEXEC" -n 3 "$lose_rank" -1 1 2>"$work/err"
status=$?
ok "a rank that fails and leaves the others waiting ends them" \
    test "$status" -ne 0 -a "$status" -ne 137
is "with its sentence" "$(grep -c 'rank 2 was told to fail' "$work/err")" 1
done_testing
