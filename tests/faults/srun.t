#!/bin/sh
# Lost ranks under srun of a real Slurm: a rank that is killed ends the run within ten seconds, with
# a status that is not 0 and no file; by srun's own rule with --kill-on-bad-exit, without it where
# the ranks watch each other: with --watch, and on GPUs.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/slurm.sh
. "$top_srcdir/tests/workflow/slurm.sh"
cd "$work" || exit 99

slurm_require "$(slurm_missing)"
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
ok "a graph" hopwave-generate -q --model rmat --scale 16 --recipe -o graph.h5

# processes NAME: the ranks that write NAME.h5.
processes() {
    pgrep -f "^([^ ]*/)?hopwave-traverse .* $work/$1\\.h5"
}

# lose NAME SIGNAL SRUN'S-OPTIONS OPTION...: two ranks, one of which gets the signal once searches
# have finished, as the journal shows.
lose() {
    name=$1 signal=$2 launcher=$3
    shift 3
    # shellcheck disable=SC2086 # words
    timeout -s KILL 60 srun $launcher -n 2 hopwave-traverse -q graph.h5 --layout 1d --parts 2 \
        --roots 30000 --store none "$@" -o "$work/$name.h5" 2>"$name.err" &
    run=$!
    for _ in $(seq 300); do
        [ ! -s "$name.h5.partial.searches" ] || break
        sleep 0.1
    done
    is "$name: two ranks search" \
        "$(processes "$name" | wc -l) $(test -s "$name.h5.partial.searches" && echo yes)" "2 yes"
    before=$(date +%s)
    kill "-$signal" "$(processes "$name" | tail -n 1)"
    wait "$run"
    status=$?
    took=$(($(date +%s) - before))
    # 137 is both what srun says of a killed rank and the end of `timeout`, which comes later.
    ok "$name: SIG$signal to a rank ends it with status $status after $took s, no file" \
        test "$status" -ne 0 -a "$took" -le 10 -a ! -e "$name.h5"
    is "$name: no rank is left" "$(processes "$name")" ""
}

lose rule KILL --kill-on-bad-exit=1
lose watched KILL '' --watch
lose stopped STOP '' --watch
is "a line names the stopped rank" "$(grep -c 'was stopped and has not gone on' stopped.err)" 1
hopwave-traverse -q graph.h5 --layout 1d --device cuda --roots 1 --store none -o one.h5 2>one.err
if [ $? -eq 4 ]; then
    skip "ranks of GPUs" "$(tail -n 1 one.err)"
else
    lose gpus KILL '' --device cuda --transport mpi
fi
done_testing
