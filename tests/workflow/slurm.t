#!/bin/sh
# Studies on a real Slurm, by both of its profiles: what is submitted, with how many
# ranks, GPUs, modules and containers; a job that is cancelled, one that fails, and
# the study resumed.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
# shellcheck source=tests/workflow/slurm.sh
. "$top_srcdir/tests/workflow/slurm.sh"
cd "$work" || exit 99

missing=$(slurm_missing)
[ -n "$missing" ] || "$PYTHON3" -c 'import snakemake_executor_plugin_slurm' 2>/dev/null ||
    missing="$PYTHON3 has no snakemake-executor-plugin-slurm"
slurm_require "$missing"

cat >ranks.yaml <<'END'
title: ranks
graphs: [{model: rmat, scales: [8]}]
layouts: [{layout: 1d}]
parts: [1, 2, 4]
roots: {count: 2}
END
sed -e 's/^parts:.*/parts: [4]/' -e '$a methods: [{method: auto, device: cuda}]' ranks.yaml >gpus.yaml

# ---- what stands between the study and Slurm ----
# sbatch and srun note what they were given. The executor drops the variable that
# says where Slurm's configuration is.
mkdir bin
for program in sbatch srun; do
    real=$(command -v $program)
    cat >bin/$program <<END
#!/bin/sh
printf '%s\n' "\$*" | sed 's/--wrap.*//' >>$work/$program.log
SLURM_CONF=$SLURM_CONF exec $real "\$@"
END
done
# A container that is none: it notes the rank, its GPUs and modules, and runs searches
# on processors; it fails, or never ends, where the file of that name says so.
cat >bin/contain <<END
#!/bin/sh
words=\$*
echo "\${SLURM_PROCID:-none} gpus=\${CUDA_VISIBLE_DEVICES-all} \$MODULES \$words" >>$work/contain.log
for file in fail stall; do
    [ -s $work/\$file ] || continue
    case \$words in
    *"\$(cat $work/\$file)"*)
        [ \$file = stall ] || exit 5
        sleep 120
        ;;
    esac
done
# shellcheck disable=SC2046
exec \$(echo "\$words" | sed 's/--device cuda//')
END
chmod +x bin/*
PATH=$work/bin:$PATH
# What a site has for environment modules: a shell function.
cat >modules.sh <<'END'
module() {
    [ "$1" != load ] || export MODULES="modules=$2"
}
END
export BASH_ENV="$work/modules.sh"

machine="machine={estimates: true, gpus_per_node: 4, modules: [hopwave-1], container: contain}"
# by_jobs CONFIG TARGET...: a job for each stage.
by_jobs() {
    config=$work/$1
    shift
    run_study "$config" --verbose --profile slurm -- --config "$machine" --sdm env-modules \
        --set-threads generate=1 partition=1 traverse=2 traverse_alone=2 validate=1 \
        --latency-wait 5 --retries 0 --slurm-status-command squeue \
        --slurm-init-seconds-before-status-checks 8 "$@"
}
# digests FILE...: what defines the results.
digests() {
    "$PYTHON3" -c 'import h5py, sys
for path in sys.argv[1:]:
    print(path, h5py.File(path).attrs["digest"])' "$@"
}

# ---- the same study without Slurm, to compare with ----
mkdir alone
(cd alone && run_study ../ranks.yaml -- results/gate.csv >run.log 2>&1)
is "the study runs without Slurm" "$?" 0
mkdir -p results gpus/results
cp -rp alone/results/graphs alone/results/partitions results/
cp -rp alone/results/graphs alone/results/partitions gpus/results/
expected=$(cd alone && digests results/trees/*/*/*.h5)

# ---- a job for each stage: one fails, one is cancelled ----
trees=$(cd alone && echo results/trees/*/*/*.h5)
echo results/partitions/rmat-s8/1d-2.h5 >fail
echo results/partitions/rmat-s8/1d-4.h5 >stall
# shellcheck disable=SC2086
by_jobs ranks.yaml $trees >failing.log 2>&1 &
running=$!
stalled=
for try in $(seq 100); do
    stalled=$(squeue -h -t R -o '%i %k' | sed -n 's/ rule_traverse_.*1d-4.*//p')
    [ -n "$stalled" ] && break
    sleep 0.3
done
ok "the job that stalls is found (at look $try) and cancelled" scancel "$stalled"
wait "$running"
is "the study fails" "$?" 1
ok "it names the job that failed" grep -q "rule_traverse/rmat-s8_1d-2_auto-k2_1" failing.log
ok "it says that one was cancelled" \
    grep -q "SLURM-job '$stalled' failed, SLURM status is: 'CANCELLED'" failing.log
one=results/trees/rmat-s8/1d-1/auto-k2-r1.h5
is "only the third tree is there" "$(echo results/trees/*/*/*.h5)" $one
is "nothing is left in the queue" "$(squeue -h)" ""

# ---- and resumed ----
rm fail stall sbatch.log srun.log contain.log
before=$(digests $one && ls -i $one)
(cd gpus && by_jobs gpus.yaml results/trees/rmat-s8/1d-4/auto-device-cuda-k2-r1.h5 >run.log 2>&1) &
gpus=$!
by_jobs ranks.yaml results/gate.csv >jobs.log 2>&1
is "a study of 1, 2 and 4 ranks a job is resumed" "$?" 0
# shellcheck disable=SC2086
is "with the digests of one machine" "$(digests $trees)" "$expected"
is "what was there was not made again" "$(digests $one && ls -i $one)" "$before"
wait "$gpus"
is "one on GPUs runs beside it" "$?" 0
is "a job is submitted for each search and check" "$(grep -c . sbatch.log)" 6

# submitted RULE TREE: the options of a job.
submitted() {
    sed -n "s/.*--comment rule_$1_wildcards_rmat-s8_$2_1 //p" sbatch.log
}
memory='-t 11 --mem-per-cpu [0-9]*'
ok "four ranks of two threads, memory and time as estimated" expr \
    "$(submitted traverse 1d-4_auto-k2)" : ".*$memory .*--ntasks=4 --cpus-per-task=2"
ok "two ranks" expr \
    "$(submitted traverse 1d-2_auto-k2)" : ".*$memory .*--ntasks=2 --cpus-per-task=2"
ok "one rank" expr \
    "$(submitted validate 1d-1_auto-k2)" : ".*$memory .*--ntasks=1 --cpus-per-task=1"
estimate=$(hopwave-traverse results/partitions/rmat-s8/1d-4.h5 --roots 2 --threads 2 --estimate=4 |
    sed -n 's/^memory_per_rank: //p')
same "the memory is a quarter more than the estimate, and some" \
    "$(submitted traverse 1d-4_auto-k2 | sed 's/.*--mem-per-cpu \([0-9]*\).*/\1/')" \
    "$(((estimate * 5 / 4 + 400000000 + 1999999) / 2000000))"
ok "a GPU a rank, not bound to it" expr \
    "$(submitted traverse 1d-4_auto-device-cuda-k2)" : \
    ".*--nodes=1 .*--ntasks=4 --cpus-per-task=2.*--gres=gpu:4"
is "Slurm is not told to bind" "$(grep -c -e --ntasks-per-gpu sbatch.log)" 0
ok "one launcher for the ranks" \
    grep -q '^-n 4 --kill-on-bad-exit=1 --cpus-per-task=2 contain hopwave-traverse' srun.log
ok "which leaves the GPUs unbound" \
    grep -q '^-n 4 --kill-on-bad-exit=1 --cpus-per-task=2 --gpu-bind=none contain .*--device cuda' srun.log
is "none for one rank" "$(grep -c 'hopwave-validate' srun.log)" 0
same "each rank of a search runs in a container, in its modules" \
    "$(sed -n 's/ hopwave-traverse .*1d-4.h5 .*--method auto --roots.*//p' contain.log | sort)" \
    "$(for rank in 0 1 2 3; do echo "$rank gpus=all modules=hopwave-1"; done)"
is "no rank sees a single GPU" "$(grep -c 'device cuda' contain.log) $(grep 'device cuda' contain.log |
    grep -c 'gpus=[0-9] ')" "4 0"

# ---- all in one allocation ----
rm srun.log sbatch.log
mkdir once
cd once || exit 99
cat >study <<END
#!/bin/sh
exec "$PYTHON3" "$study" "\$@" --cores 8 -- results/gate.csv --latency-wait 5 --set-threads \
    generate=1 partition=1 traverse=2 traverse_alone=2 validate=1
END
chmod +x study
in_one() {
    HOPWAVE_STUDY=$work/once/study sbatch "$@" --output=run.log --mem=15000 --time=5 \
        "$top_srcdir/workflow/profiles/allocation/study.sbatch" ../ranks.yaml
}
# Killed in its middle, with all that it runs, and submitted again.
job=$(in_one --parsable)
for try in $(seq 300); do
    ls results/trees/*/*/*.h5 >/dev/null 2>&1 && break
    sleep 0.1
done
scancel --signal=KILL --full "$job"
while [ -n "$(squeue -h)" ]; do
    sleep 0.1
done
before=$(find results -name "*.h5" ! -name ".*" -exec ls -i {} + | sort)
ok "a study in one allocation is killed (at look $try)" test -n "$before" -a ! -e results/gate.csv
in_one --wait --quiet >/dev/null
is "submitted again it ends" "$?" 0
# shellcheck disable=SC2046,SC2012
is "and what was there was not made again" "$(ls -i $(echo "$before" | awk '{ print $2 }') | sort)" "$before"
is "one job is submitted each time" "$(grep -c . ../sbatch.log)" 2
is "each of its ten stages is one step" \
    "$(sed -n 's/^--exact -n .* hopwave-.* -o \([^ ]*\).*/\1/p' ../srun.log | sort -u | wc -l)" 10
for ranks in 1 2 4; do
    ok "with a search on $ranks of its processors, and the memory of one" grep -q \
        "^--exact -n $ranks --kill-on-bad-exit=1 --cpus-per-task=2 --mem-per-cpu=[0-9]* hopwave-traverse .*1d-$ranks.h5" \
        ../srun.log
done
is "and the digests are the same" "$(digests results/trees/*/*/*.h5)" "$expected"
cd "$work" || exit 99
done_testing
