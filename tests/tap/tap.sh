# shellcheck shell=sh
# TAP for shell tests. Source it, give verdicts, end with `done_testing`, which prints the plan:
# a test that ends before has none, and fails. Programs of the build are found first on PATH;
# every test works in a folder of its own ($work) that is removed when it ends.

# bash knows from which line a function was called, for the place of a failure.
if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null; then
    exec bash --posix -O xpg_echo -- "$0" "$@"
fi

: "${top_builddir:=$(pwd)}" "${top_srcdir:=$top_builddir}" "${MPIEXEC:=mpiexec}"
PATH=$top_builddir:$PATH
export PATH
tap_count=0
tap_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/hopwave-test.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# python_with MODULES: prints a Python that has these modules, separated by commas: $PYTHON3, or the
# system's. Fails where neither has them.
python_with() {
    for tap_python in "${PYTHON3:-python3}" /usr/bin/python3; do
        "$tap_python" -c "import $1" 2>/dev/null && echo "$tap_python" && return
    done
    return 1
}

# where: the lines of the test that are being run, innermost first; nothing without bash.
where() {
    tap_frame=0
    # shellcheck disable=SC3044
    while tap_caller=$(caller "$tap_frame" 2>/dev/null); do
        case $tap_caller in *" $0") echo "# failed at $0:${tap_caller%% *}" ;; esac
        tap_frame=$((tap_frame + 1))
    done
}

# verdict STATUS NAME: one verdict, holding when STATUS is 0.
verdict() {
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
        where
    fi
}

# ok NAME COMMAND...: holds when the command succeeds; shows its output if not.
ok() {
    tap_name=$1
    shift
    "$@" >"$work/tap.out" 2>&1
    tap_rc=$?
    verdict "$tap_rc" "$tap_name"
    [ "$tap_rc" -eq 0 ] || sed 's/^/# /' "$work/tap.out" | head -n 20
}

# is NAME GOT EXPECTED
is() {
    if [ "$2" = "$3" ]; then
        verdict 0 "$1"
    else
        verdict 1 "$1"
        echo "#      got: $2"
        echo "# expected: $3"
    fi
}

# same NAME GOT EXPECTED: outputs of commands that are alike, and not empty: commands that fail
# print nothing.
same() {
    if [ -n "$2" ]; then
        is "$@"
    else
        verdict 1 "$1"
        echo "# nothing was printed; expected: $3"
    fi
}

# info FILE KEY: the first value that hopwave-info prints for it; nothing where that fails.
info() {
    hopwave-info "$1" >"$work/tap.info" 2>"$work/tap.err" &&
        sed -n "s|^ *$2: ||p" "$work/tap.info" | head -n 1
}

# digest FILE: the file's; nothing where the file is damaged.
digest() {
    info "$1" digest
}

# refused NAME STATUS PATTERN COMMAND...: the command ends within a minute with
# that exit status, and standard error is one line that matches the pattern
# (grep -E).
refused() {
    tap_name=$1 tap_want=$2 tap_pattern=$3
    shift 3
    timeout 60 "$@" >"$work/tap.out" 2>"$work/tap.err" </dev/null
    tap_rc=$?
    # MPICH's launcher adds a banner of its own when a rank exits with a
    # status; only lines of our programs count.
    grep '^hopwave-' "$work/tap.err" >"$work/tap.ours"
    tap_lines=$(wc -l <"$work/tap.ours")
    if [ "$tap_rc" -eq "$tap_want" ] && [ "$tap_lines" -eq 1 ] &&
        grep -q -E -- "$tap_pattern" "$work/tap.ours"; then
        verdict 0 "$tap_name"
    else
        verdict 1 "$tap_name"
        echo "# exit $tap_rc, expected $tap_want; a line matching: $tap_pattern"
        sed 's/^/# /' "$work/tap.err" | head -n 20
    fi
}

# ranks N COMMAND...: runs the command on N ranks.
ranks() {
    tap_n=$1
    shift
    "$MPIEXEC" -n "$tap_n" "$@"
}

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

done_testing() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
