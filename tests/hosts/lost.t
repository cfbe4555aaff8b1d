#!/bin/sh
# Hosts that are lost: one whose link is cut, or whose ranks are killed, ends the run everywhere, with
# one sentence and without a file; one that is slow or stopped does not.
# shellcheck disable=SC2016,SC2317 # shells of their own expand it; functions that ok calls
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
# shellcheck source=tests/hosts/hosts.sh
. "$top_srcdir/tests/hosts/hosts.sh"
cd "$work" || exit 99
hosts_test 4
export top_srcdir MPIEXEC
hopwave-generate -q --model rmat --scale 14 -o g.h5

# lost HOSTS NAME SENTENCE COMMAND...: a long search of so many hosts, which something happens to once
# it runs, ends within 10 s with that one sentence (-: the launcher may have ended all before).
lost() {
    lost_hosts=$1 lost_name="$2, of $1" lost_sentence=$3
    shift 3
    rm -f t.h5* over.*
    # shellcheck disable=SC2086 # a word, or none
    UNSEEN=$lost_hosts timeout 100 sh -c '. "$top_srcdir/tests/hosts/hosts.sh" && hosts_run "$@"' sh \
        "$lost_hosts" "$lost_hosts" $launcher hopwave-traverse g.h5 --layout 1d --parts "$lost_hosts" --roots 100000 \
        --store none -q -o t.h5 >log 2>&1 &
    lost_job=$!
    sleep 4
    if ! kill -0 $lost_job 2>/dev/null; then
        verdict 1 "$lost_name: the search was still running"
        sed 's/^/# /' log | head -n 10
        return
    fi
    "$@"
    lost_began=$(date +%s)
    wait $lost_job
    lost_status=$?
    lost_took=$(($(date +%s) - lost_began))
    echo "# ended with $lost_status after $lost_took s"
    ok "$lost_name ends the run" \
        test $lost_status -ne 0 -a $lost_status -ne 124 -a $lost_took -le 10
    is "$lost_name: no file" "$(ls t.h5 2>/dev/null)" ""
    # shellcheck disable=SC2046 # numbers
    ok "$lost_name: nobody is left on the others" no_search_on $(seq $((lost_hosts - 1)))
    [ "$lost_sentence" = - ] ||
        is "$lost_name: one sentence" "$(sed -n 's/process [0-9]*/process N/; s/^hopwave-traverse: //p' log)" \
            "rank $((lost_hosts - 1)) $lost_sentence, so all end"
    sed 's/^/# /' log | grep -v mpiexec@ | tail -n 12
}
# no_search_on HOST...: within 20 s.
no_search_on() {
    for on_try in $(seq 100); do
        on_found=
        for on_host; do
            # Nobody waits for what has lost its parent there.
            hosts_enter "h$on_host" sh -c 'cat /proc/[0-9]*/stat' 2>/dev/null |
                grep -q '(hopwave[^)]*) [^ZX]' && on_found=$on_host
        done
        [ -n "$on_found" ] || return 0
        sleep 0.2
    done
    echo "after $on_try looks"
    return 1
}
# kill_ranks HOST, and not what the launcher has there.
kill_ranks() {
    hosts_enter "h$1" sh -c 'kill -9 $(sed -n "s/^\([0-9]*\) (hopwave.*/\1/p" /proc/[0-9]*/stat)'
}
launcher=
for n in 2 4; do
    lost $n "a host whose link is cut" \
        "on host h$n has not answered for 8 s: its host or the network to it is down" hosts_cut $n
    ok "nor on it" no_search_on $n
    hosts_uncut $n
    # hydra may end all ranks before one of them has said why.
    launcher=$top_srcdir/tests/faults/unseen
    lost $n "a host whose ranks are killed" "(process N) on host h$n was killed or crashed" \
        kill_ranks $n
    launcher=
done

# A host that is slow, or whose processes are stopped, is not lost.
hosts_run 2 2 hopwave-traverse g.h5 --layout 1d --parts 2 --roots 400 --store none -q --force -o t.h5 \
    >log 2>&1 &
job=$!
sleep 3
for signal in STOP CONT; do
    hosts_enter h2 sh -c \
        'kill -'$signal' $(sed -n "s/^\([0-9]*\) (hopwave.*/\1/p" /proc/[0-9]*/stat)'
    [ $signal = CONT ] || sleep 10
done
wait $job
is "a host whose processes are stopped for 10 s ends nothing" "$?$(grep -c ^hopwave log)" 00

# The time is an option; hosts that do not reach each other run without.
HOPWAVE_HOST_TIMEOUT=4 lost 2 "a host whose link is cut, 4 s" \
    "on host h2 has not answered for 4 s: its host or the network to it is down" hosts_cut 2
hosts_uncut 2
HOPWAVE_HOST_TIMEOUT=3 hosts_run 2 2 hopwave-generate --model rmat --scale 8 --force -o t.h5 >log 2>&1
ok "a time that is none is refused" grep -q "HOPWAVE_HOST_TIMEOUT: '3' is neither 0 nor" log
HOPWAVE_HOST_INTERFACE=none0 \
    hosts_run 2 2 hopwave-generate --model rmat --scale 8 --force -o t.h5 >log 2>&1
is "hosts that do not reach each other are not watched" \
    "$?$(grep -c 'hosts do not watch each other: rank 0 on host h1 cannot reach host h2' log)" 01
HOPWAVE_HOST_TIMEOUT=0 HOPWAVE_HOST_INTERFACE=none0 \
    hosts_run 2 2 hopwave-generate --model rmat --scale 8 --force -o t.h5 >log 2>&1
is "nor are they where that is switched off" "$?$(grep -c 'watch' log)" 00
HOPWAVE_HOST_TIMEOUT=3 \
    ok "ranks of one host need no such watch" ranks 2 hopwave-generate -q --model rmat --scale 8 --force -o t.h5

# Last, since the host is gone. The launcher ends all when its own process there is killed, too.
lost 4 "a host whose processes are all killed" - hosts_kill 4
done_testing
