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
for name in SIGINT SIGTERM; do
    for rank in 0 1; do
        line="hopwave-generate: stopped by $name"
        [ "$rank" -eq 0 ] || line=
        if "$PYTHON3" "$work/early.py" "$name" "$rank" $generate -o "$work/g.h5" >"$work/early.out" 2>&1; then
            is "$name in MPI_Init(), rank $rank" "$(cat "$work/early.out")" "4 $line"
        else
            skip "$name in MPI_Init(), rank $rank" "MPI asks no process manager by PMI"
        fi
    done
done

# ---- standard files that are closed ----
$generate -o "$work/closed.h5" <&- >&- 2>&-
is "nothing is open" "$?" 0
ok "and no message is in the file" hopwave-info --quiet "$work/closed.h5"
$generate -o "$work/closed.h5" <&- >&- 2>&-
is "nor is that it exists" "$?" 2
ok "which stays whole" hopwave-info --quiet "$work/closed.h5"
done_testing
