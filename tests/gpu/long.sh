# shellcheck shell=sh
# What the long tests of GPU methods share; source it. They run from the source or from a
# bundle, in a folder of their own ($work), and skip without a GPU. End with `finish`.
here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd)
[ -d "$here/libexec" ] && PATH=$here/bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/hopwave-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99
failures=0 cases=0 own=''
jobs=${HW_GPU_JOBS:-$((($(nproc) + 1) / 2))} # cases at a time, of those that may run side by side

if ! hopwave-info --version | grep -q emulated && ! nvidia-smi -L >/dev/null 2>&1; then
    echo "1..0 # SKIP there is no GPU here"
    exit 0
fi

# A line comes out of this pipe for each case that ended.
mkfifo ended && exec 9<>ended || exit 99

# verdict STATUS NAME: one line, holding when STATUS is 0.
verdict() {
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failures=$((failures + 1))
    fi
}

# try NAME COMMAND...: one line, with the command's output if it fails.
try() {
    label=$1
    shift
    "$@" >"${own}out" 2>&1 </dev/null
    tried=$?
    verdict "$tried" "$label"
    [ "$tried" -eq 0 ] || sed 's/^/# /' "${own}out" | tail -n 12
    return "$tried"
}

# later COMMAND...: a case beside others, as soon as fewer than $jobs are under way; what it
# names after $own is its own. Starting a process on a GPU takes a second or more, most of
# which is not the GPU's.
later() {
    cases=$((cases + 1))
    [ "$cases" -le "$jobs" ] || read -r _ <&9
    own=case-$cases-
    {
        OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
        export OMP_NUM_THREADS OMP_WAIT_POLICY
        "$@" >"${own}log" 2>&1
        echo >&9
    } &
    own=''
}

# gather: waits for all cases, and prints them in their order.
gather() {
    for one in $(seq $((cases < jobs ? cases : jobs))); do
        read -r _ <&9
    done
    for one in $(seq "$cases"); do
        cat "case-$one-log"
        failures=$((failures + $(grep -c '^not ok' "case-$one-log")))
    done
    rm -f case-*
    cases=0
}

# ---- cases that have GPUs of their own ----

# devices: the numbers of the GPUs that are to be seen.
devices() {
    if [ -n "${CUDA_VISIBLE_DEVICES-}" ]; then
        echo "$CUDA_VISIBLE_DEVICES" | tr , ' '
    elif hopwave-info --version | grep -q emulated; then
        seq -s ' ' 0 $((${HW_EMULATED_DEVICES:-4} - 1))
    else
        seq -s ' ' 0 $(($(nvidia-smi -L | wc -l) - 1))
    fi
}

# on COUNT COMMAND...: a case as soon as so many GPUs are free, which it alone has until it
# says `free_gpus`. $gpus must hold all of them at first. The command prints what it finds.
on() {
    wanted=$1
    shift
    until [ "$(echo "$gpus" | wc -w)" -ge "$wanted" ]; do
        read -r freed <&9
        gpus=$(echo "$gpus $freed" | tr ' ' '\n' | sort -n | xargs)
    done
    mine=$(echo "$gpus" | cut -d ' ' -f "1-$wanted")
    gpus=$(echo "$gpus " | cut -d ' ' -f "$((wanted + 1))-")
    cases=$((cases + 1))
    own=case-$cases-
    {
        failures=0
        CUDA_VISIBLE_DEVICES=$(echo "$mine" | tr ' ' ,)
        export CUDA_VISIBLE_DEVICES
        "$@"
        free_gpus
    } &
    own=''
}

# free_gpus: says that a case has done with its GPUs.
free_gpus() {
    [ -z "$mine" ] || echo "$mine" >&9
    mine=''
}

finish() {
    echo "# $failures failures"
    exit $((failures > 0))
}
