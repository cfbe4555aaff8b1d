#!/bin/sh
# Method adaptive on a GPU: every switch gives the CPU's levels, and changes what the rows of
# the steps say.
#
#   adaptive.sh [undirected|directed]...    (both)
#
# Skips without a GPU, or a python3 with h5py to read the rows with.
set -u
# shellcheck source=tests/gpu/long.sh
. "$(dirname -- "$(readlink -f -- "$0")")/long.sh"
python=${PYTHON3:-python3}
if ! "$python" -c 'import h5py' 2>/dev/null; then
    echo "1..0 # SKIP there is no h5py here to read steps with"
    exit 0
fi
# row NAME.h5 EXPRESSION: of the steps s, with r(PREFIX) those whose routine begins so.
row() {
    "$python" -c "
import h5py, numpy as np
s = h5py.File('$1')['run/steps'][:]
r = lambda prefix: s[np.char.startswith(s['routine'], prefix.encode())]
raise SystemExit(not ($2))"
}

# search NAME OPTIONS...: levels like the CPU's, into NAME.h5.
search_one() {
    name=$1
    shift
    try "$graph $name: $*" hopwave-traverse -q --force "$graph" --layout 1d --device cuda \
        --method adaptive --roots 16 "$@" -o "$name.h5" &&
        try "$graph $name: validates, levels of the CPU" \
            hopwave-validate -q --force "$name.h5" --graph "$graph" --against cpu.h5
}
search() {
    later search_one "$@"
}

# has NAME WHAT EXPRESSION
has() {
    row "$1.h5" "$3"
    verdict $? "$graph $1: $2"
}

[ $# -gt 0 ] || set -- undirected directed
for kind in "$@"; do
    graph=$kind.h5
    case $kind in
    directed) hopwave-generate -q --model rmat --scale 14 --directed -o "$graph" ;;
    *) hopwave-generate -q --model rmat --scale 14 -o "$graph" ;;
    esac
    hopwave-traverse -q --force "$graph" --layout 1d --roots 16 --no-steps -o cpu.h5
    search auto
    search sync --async-bottom-up off
    for way in scan-free single-scan double-scan strided; do
        search $way --queue $way
    done
    search single --queue scan-free,single-scan --alpha 0.5
    search back --queue scan-free,none,double-scan --alpha 0.4
    search back-scanned --queue scan-free,double-scan --alpha 0.4
    for way in static thread donate; do
        search $way --balance $way
    done
    search hash-donate --order hash --balance donate
    search down --direction top-down
    search up --direction bottom-up
    search low --alpha 0.001
    search profile --degree-profile
    search canonical --canonical-parents --order none
    search classes --queue degree-classes
    gather
    has auto "starts scan-free" "len(r('push scan-free')) >= 16"
    has auto "pulls from sorted queues, asynchronously" "len(r('pull double-scan warp async'))"
    has auto "finds vertices early" "s['discovered_next'].sum() > 0"
    has auto "finds each once" "((s['discovered'] + s['discovered_next'])[s['direction'] != b'none'].sum() \
== h5py.File('auto.h5')['run/search']['reached'].sum() - 16)"
    has sync "finds none early" "s['discovered_next'].sum() == 0 and len(r('pull double-scan warp'))"
    has sync "and checks more edges" "r('pull')['edges_examined'].sum() > \
h5py.File('auto.h5')['run/steps']['edges_examined']\
[h5py.File('auto.h5')['run/steps']['direction'] == b'bottom-up'].sum()"
    for way in scan-free single-scan double-scan strided; do
        has $way "all top-down" "len(r('push $way')) == (s['direction'] == b'top-down').sum()"
    done
    has double-scan "and bottom-up" "len(r('pull double-scan')) == (s['direction'] == b'bottom-up').sum()"
    has strided "and bottom-up" "len(r('pull strided')) == (s['direction'] == b'bottom-up').sum()"
    has single "lambda brings single scans before going up" "len(r('push single-scan')) > 0"
    has back "goes down again without a queue" "len(r('push none')) > 0"
    has back-scanned "or with one" "len(r('push none')) == 0"
    for way in static thread donate; do
        has $way "deals so" "len(r('pull double-scan $way'))"
    done
    has down "never pulls" "len(r('pull')) == 0"
    has up "never pushes" "len(r('push')) == 0"
    has low "pulls more" "len(r('pull')) > (h5py.File('auto.h5')['run/steps']['direction'] == \
b'bottom-up').sum()"
    has profile "adds up" "r('degree')['edges_examined'].sum() == r('pull')['edges_examined'].sum()"
    has classes "nothing else" "len(r('push degree-classes')) + len(r('pull degree-classes')) == \
len(s) - 16"
done
finish
