# shellcheck shell=sh
# What the long tests of GPU methods share; source it. They run from the source or from a
# bundle, in a folder of their own ($work), and skip without a GPU. End with `finish`.
here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd)
[ -d "$here/bin" ] && PATH=$here/bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/hopwave-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99
failures=0 cases=0 own=''
jobs=${HW_GPU_JOBS:-4} # cases at a time, of those that may run side by side

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
    echo "1..0 # SKIP there is no GPU here"
    exit 0
fi

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

# later COMMAND...: a case beside others; what it names after $own is its own. Starting a
# process on a GPU takes a second or more, most of which is not the GPU's.
later() {
    cases=$((cases + 1))
    own=case-$cases-
    "$@" >"${own}log" 2>&1 &
    own=''
    [ $((cases % jobs)) -ne 0 ] || wait
}

# gather: waits for all cases, and prints them in their order.
gather() {
    wait
    for one in $(seq "$cases"); do
        cat "case-$one-log"
        failures=$((failures + $(grep -c '^not ok' "case-$one-log")))
    done
    rm -f case-*
    cases=0
}

finish() {
    echo "# $failures failures"
    exit $((failures > 0))
}
