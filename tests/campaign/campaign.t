#!/bin/sh
# A thousand cases of inputs and events that are wrong, or look so: none crashes, hangs, or is
# answered wrongly. tests/campaign/campaign.py tries any number of any kind, or one case again.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
python=$(python_with h5py,numpy,xxhash,yaml,jsonschema) || python=${PYTHON3:-python3}
export TMPDIR="$work"
export top_builddir MPIEXEC
top_builddir=$(cd "$top_builddir" && pwd)
kinds='bytes metadata contents imports trees signals disks faults races configurations'
# Sanitizers must come before what is preloaded.
[ -z "$HW_SANITIZER" ] || kinds=$(echo "$kinds" | sed 's/ faults//')
for kind in $kinds; do
    "$python" "$top_srcdir/tests/campaign/campaign.py" "$kind" >"$work/$kind.out" 2>"$work/$kind.err"
    rc=$?
    if grep -q "^# left out.*\b$kind\b" "$work/$kind.out"; then
        skip "$kind" "$(grep "^# left out.*\b$kind\b" "$work/$kind.out")"
    else
        verdict "$rc" "$(grep "^$kind: " "$work/$kind.out" || echo "$kind")"
        [ "$rc" -eq 0 ] || cat "$work/$kind.out" "$work/$kind.err" | sed 's/^/# /' | head -n 20
    fi
done
done_testing
