# shellcheck shell=sh
# A Slurm of one node on this machine, for tests; source it after tap.sh.
# Everything of it lies in $work/slurm, its daemons included, which end with the test.

# The packages that bring Slurm to Debian: slurm-wlm munge.
slurm_missing() {
    for slurm_program in munged slurmctld slurmd sbatch srun squeue scancel scontrol; do
        PATH=$PATH:/usr/sbin command -v "$slurm_program" >/dev/null ||
            { echo "$slurm_program is not installed" && return; }
    done
    [ "$(id -u)" -eq 0 ] || echo "Slurm's daemons need root"
}

# slurm_configure FOLDER PORT PORT
slurm_configure() {
    cat >"$1/slurm.conf" <<END
ClusterName=hopwave
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
MpiDefault=pmi2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge=600
SwitchType=switch/none
GresTypes=gpu
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
SlurmctldPort=$2
SlurmdPort=$3
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=64 RealMemory=16000 Gres=gpu:4
PartitionName=all Nodes=node1 Default=YES MaxTime=INFINITE State=UP
END
    # Four files of the kernel stand for GPUs.
    echo "Name=gpu File=/dev/tty[1-4]" >"$1/gres.conf"
    echo "CgroupPlugin=cgroup/v1" >"$1/cgroup.conf"
}

# slurm_start: the daemons, waiting until the node is idle. Sets SLURM_CONF.
slurm_start() {
    slurm=$work/slurm
    mkdir -p "$slurm/state" "$slurm/spool"
    chmod 755 "$work" "$slurm"
    PATH=$PATH:/usr/sbin:/sbin
    slurm_ports=$("$PYTHON3" -c '
import socket
holders = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[holder.getsockname()[1] for holder in holders])')
    # shellcheck disable=SC2086
    slurm_configure "$slurm" $slurm_ports
    SLURM_CONF=$slurm/slurm.conf
    export SLURM_CONF PATH
    dd if=/dev/urandom of="$slurm/munge.key" bs=128 count=1 2>/dev/null
    chmod 400 "$slurm/munge.key"
    trap slurm_stop EXIT
    munged --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" \
        --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" \
        --seed-file="$slurm/munged.seed" 2>"$slurm/munged.err" &&
        slurmctld 2>"$slurm/slurmctld.err" && slurmd -N node1 2>"$slurm/slurmd.err" || return 1
    for slurm_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sinfo -h -o %t 2>/dev/null | grep -q '^idle' && return 0
        [ "$slurm_try" -ne 10 ] || scontrol update nodename=node1 state=resume 2>/dev/null
        sleep 0.5
    done
    return 1
}

# slurm_require MISSING: starts the daemons. Ends the test where something is missing, or they do
# not start.
slurm_require() {
    if [ -n "$1" ]; then
        echo "1..0 # SKIP $1"
        exit 0
    fi
    slurm_start && return
    echo "# the daemons of Slurm did not start:"
    tail -n 5 "$slurm"/*.err "$slurm"/*.log | sed 's/^/# /'
    verdict 1 "Slurm starts"
    done_testing
}

# slurm_alive PID: runs, and is more than an entry that nobody has waited for.
slurm_alive() {
    grep -q '^State:[[:blank:]]*[^ZX[:blank:]]' "/proc/$1/status" 2>/dev/null
}

# slurm_stop: ends jobs and daemons, by their pid files, and the test's folder.
slurm_stop() {
    [ ! -s "$slurm/slurmctld.pid" ] ||
        timeout 5 scancel --quiet --user="$(id -un)" 2>/dev/null
    slurm_pids=$(cat "$slurm/slurmd.pid" "$slurm/slurmctld.pid" "$slurm/munged.pid" 2>/dev/null)
    for slurm_pid in $slurm_pids; do
        kill "$slurm_pid" 2>/dev/null
        for slurm_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            slurm_alive "$slurm_pid" || break
            sleep 0.2
        done
        ! slurm_alive "$slurm_pid" || kill -9 "$slurm_pid"
    done
    chmod -R u+w "$work"
    rm -rf "$work"
}
