#!/bin/sh
# What MPI needs to start and has not, and signals that come before it has started: one sentence and
# status 4, where MPI would crash or say pages.
#
# shellcheck disable=SC2086

# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
generate="hopwave-generate --model rmat --scale 8 --quiet"
if ! hopwave-generate --version >/dev/null; then
    echo "1..0 # SKIP programs cannot be started"
    exit 0
fi

# ---- limits ----
for n in 0 2; do
    launch=
    [ "$n" -eq 0 ] || launch="$MPIEXEC -n $n"
    refused "too few open files, $n ranks" 4 'MPI needs 48 open files, and the limit is 20; see ulimit -n' \
        $launch sh -c "ulimit -n 20; exec $generate -o $work/g.h5"
    refused "too little address space, $n ranks" 4 'MPI needs 128 MiB of memory, .* see ulimit -v' \
        $launch sh -c "ulimit -v 120000; exec $generate -o $work/g.h5"
done
ok "a low limit that may be raised is" sh -c "ulimit -S -n 20; exec $generate -o $work/raised.h5"
if ! "$MPIEXEC" --version 2>&1 | grep -q -i hydra; then
    skip "shared memory" "only MPICH cannot do without it"
elif ! unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
    skip "shared memory" "a /dev/shm of one's own needs root"
else
    refused "a small /dev/shm" 4 'MPI needs 5242 kB of /dev/shm, which has 66 kB left' \
        unshare -m sh -c "mount -t tmpfs -o size=64k tmpfs /dev/shm && $MPIEXEC -n 2 $generate -o $work/g.h5"
    refused "one that is read only" 4 'MPI needs /dev/shm, which cannot be written: Read-only' \
        unshare -m sh -c "mount -t tmpfs -o ro tmpfs /dev/shm && $generate -o $work/g.h5"
fi
is "nothing is written" "$(find "$work" -name '*g.h5*')" ""

# ---- signals while MPI starts: its process manager does not answer ----
cat >"$work/early.py" <<'END'
import os, signal, socket, subprocess, sys

number, rank, command = getattr(signal, sys.argv[1]), sys.argv[2], sys.argv[3:]
ours, its = socket.socketpair()
environment = {**os.environ, "PMI_FD": str(its.fileno()), "PMI_RANK": rank, "PMI_SIZE": "2"}
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen(command, env=environment, pass_fds=[its.fileno()],
                           stderr=subprocess.PIPE, text=True)
ours.settimeout(20)
ours.recv(1)  # MPI_Init() asks
process.send_signal(number)
said = process.communicate(timeout=20)[1].splitlines()
print(process.returncode, "; ".join(line for line in said if line.startswith("hopwave-")))
END
asks=
for name in SIGINT SIGTERM; do
    for rank in 0 1; do
        line="hopwave-generate: stopped by $name"
        [ "$rank" -eq 0 ] || line=
        if "$PYTHON3" "$work/early.py" "$name" "$rank" $generate -o "$work/g.h5" >"$work/early.out" 2>&1; then
            asks=yes
            is "$name in MPI_Init(), rank $rank" "$(cat "$work/early.out")" "4 $line"
        else
            skip "$name in MPI_Init(), rank $rank" "MPI asks no process manager by PMI"
        fi
    done
done

# ---- launchers that give no answer: stopped as they start the program, or gone ----
# What stands for MPICH's proxy has its name and never answers; "waits": for the program to end, as
# the proxy does after some signals; "sleeps": until the test has ended. The first line is what
# leaves it its name.
"$PYTHON3" -c 'import sys; print("#!" + sys.executable)' >"$work/hydra_pmi_proxy"
cat >>"$work/hydra_pmi_proxy" <<'END'
import os, socket, subprocess, sys, time

ours, its = socket.socketpair()
environment = {**os.environ, "PMI_FD": str(its.fileno()), "PMI_RANK": sys.argv[2], "PMI_SIZE": "2"}
process = subprocess.Popen(sys.argv[3:], env=environment, pass_fds=[its.fileno()])
ours.settimeout(20)
ours.recv(1)  # MPI_Init() asks
print(process.pid, flush=True)
if sys.argv[1] == "waits":
    print(os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1]))
else:
    time.sleep(60)
END
chmod +x "$work/hydra_pmi_proxy"
cat >"$work/launcher.py" <<'END'
import os, subprocess, sys, time

def runs(number):  # not so a zombie
    return open(f"/proc/{number}/stat").read().rpartition(")")[2].split()[0] != "Z"

proxy = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
number = int(proxy.stdout.readline())
if sys.argv[1] == "gone":
    if os.fork() == 0:  # which reports after the launcher's end
        begun = time.monotonic()
        while runs(number) and time.monotonic() - begun < 20:
            time.sleep(0.1)
        told = "runs on" if runs(number) else ""
        proxy.kill()
        print(told or proxy.stdout.readline().strip(), flush=True)
    sys.stdout.flush()
    os._exit(0)
print("; ".join(line.strip() for line in proxy.stdout))
END
if [ -z "$asks" ]; then
    skip "launchers without an answer" "MPI asks no process manager by PMI"
else
    for rank in 0 1; do
        line="hopwave-generate: the launcher was stopped before MPI had started; "
        [ "$rank" -eq 0 ] || line=
        is "a launcher that waits for the program, rank $rank" \
            "$(timeout 30 "$PYTHON3" "$work/launcher.py" stays "$work/hydra_pmi_proxy" waits "$rank" $generate -o "$work/g.h5" 2>&1)" \
            "${line}4"
        line="hopwave-generate: the launcher ended before MPI had started"
        [ "$rank" -eq 0 ] || line=
        is "one that is gone, rank $rank" \
            "$(timeout 30 "$PYTHON3" "$work/launcher.py" gone "$work/hydra_pmi_proxy" sleeps "$rank" $generate -o "$work/g.h5" 2>&1)" \
            "$line"
    done
    is "no file is left" "$(find "$work" -name '*g.h5*')" ""
fi

# ---- standard files that are closed ----
$generate -o "$work/closed.h5" <&- >&- 2>&-
is "nothing is open" "$?" 0
ok "and no message is in the file" hopwave-info --quiet "$work/closed.h5"
$generate -o "$work/closed.h5" <&- >&- 2>&-
is "nor is that it exists" "$?" 2
ok "which stays whole" hopwave-info --quiet "$work/closed.h5"
done_testing
