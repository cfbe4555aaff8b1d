#!/bin/sh
# Method sequential, the textbook search: the answer of the other methods, one row a
# level, and the options that only other methods have.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
t="hopwave-traverse -q --force -o t.h5"

for kind in undirected directed; do
    [ $kind = directed ] && option=--directed || option=
    hopwave-generate -q --model rmat --scale 9 --edge-factor 6 $option -o $kind.h5
    for order in degree hash none; do
        hopwave-partition -q --force $kind.h5 --layout 1d --parts 1 --order $order -o p.h5
        ok "$kind, $order: searches of method auto" $t p.h5 --roots 8 --canonical-parents
        mv t.h5 want.h5
        ok "$kind, $order: searches" $t p.h5 --roots 8 --method sequential --check --graph $kind.h5
        same "$kind, $order: the same levels" "$(digest t.h5)" "$(digest want.h5)"
        $t p.h5 --roots 8 --method sequential --canonical-parents
        ok "$kind, $order: the same canonical parents" "$H5DIFF" --exclude-path /run t.h5 want.h5
    done
done
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3
if "$python" -c 'import h5py' 2>/dev/null; then
    $t undirected.h5 --layout 1d --roots 1 --method sequential
    is "a row a level, and one for parents" \
        "$("$python" -c 'import h5py
f = h5py.File("t.h5"); s = f["run/search"][0]; t = f["run/steps"]
print(len(t) == s["levels"] + 1 and t["discovered"].sum() + 1 == s["reached"] and s["scans"] > 0,
      *sorted(set(bytes(name).decode() for name in t["routine"])))')" "True parents sequential"
    lone=$("$python" -c 'import h5py, numpy as np
f = h5py.File("undirected.h5"); e = f["edges"]
d = np.bincount(np.r_[e["source"][:], e["target"][:]], minlength=f.attrs["vertices"])
print(np.flatnonzero(d == 0)[0])')
    ok "an isolated root is its own tree" \
        $t undirected.h5 --layout 1d --root-list "$lone" --method sequential --check
else
    skip "a row a level, and one for parents" "no h5py"
    skip "an isolated root is its own tree" "no h5py"
fi

refused "two parts" 3 "method sequential does not do bfs" \
    "$MPIEXEC" -n 2 $t undirected.h5 --layout 1d --method sequential
refused "bottom-up" 3 "searches top-down alone" $t undirected.h5 --layout 1d --method sequential \
    --direction bottom-up
refused "an exchange" 3 "--exchange is for methods grid and scan2d, and the method is sequential" $t undirected.h5 --layout 1d --method sequential \
    --exchange list
refused "options of other methods" 3 "--coupling is for method merge, and the method is grid" \
    $t undirected.h5 --layout 1d --coupling gather
refused "and of scan2d" 3 "--edges-per-thread is for method scan2d" \
    $t undirected.h5 --layout 1d --method sequential --edges-per-thread 2
refused "no such coupling" 2 "coupling" $t undirected.h5 --layout 1d --coupling tight
refused "no factor" 2 "--expand-factor: 0 is no factor" $t undirected.h5 --layout 1d \
    --expand-factor 0
refused "a factor of another coupling" 2 "is for --coupling hybrid" $t undirected.h5 --layout 1d \
    --coupling gather --expand-factor 4
refused "a factor of another method" 3 "--forward-factor is for method delegates" $t undirected.h5 \
    --layout 1d --forward-factor 0.1
refused "no factor to go back" 2 "--backward-factor: 0 is no factor" $t undirected.h5 --layout 1d \
    --backward-factor 0
refused "nine edges" 2 "--edges-per-thread" $t undirected.h5 --layout 1d --edges-per-thread 9
done_testing
