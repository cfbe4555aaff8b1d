#!/bin/sh
# Exchanges that send one copy to each node, tried on one machine with --ranks-per-node:
# the same trees however ranks are grouped, and as many messages and bytes as the papers'
# formulas say. HW_NODES=RANKS takes so many (a square, such as 256) instead of 16.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
most=${HW_NODES:-16}
side=1
while [ $((side * side)) -lt "$most" ]; do
    side=$((side + 1))
done
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "exchanges between nodes" "no Python has h5py"
    done_testing
fi
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
hopwave-generate -q --model rmat --scale 12 -o g.h5
ranks 1 hopwave-traverse -q g.h5 --layout 1d --roots 2 --canonical-parents -o want.h5

# try RANKS PER-NODE LAYOUT...
try() {
    n=$1 each=$2
    shift 2
    if ! ranks "$n" hopwave-traverse -q --force g.h5 "$@" --ranks-per-node "$each" --roots 2 \
        --canonical-parents --threads 1 -o t.h5 >log 2>&1; then
        verdict 1 "$*, $n ranks, $each a node"
        sed 's/^/# /' log
        return
    fi
    ok "$*, $n ranks, $each a node: the same trees" "$H5DIFF" --exclude-path /run t.h5 want.h5
    ok "and the formulas' messages" "$python" "$top_srcdir/tests/pipeline/nodes.py" t.h5
}

for each in 1 3; do
    try 8 $each --layout 1d --parts 8
    try 6 $each --layout 2d --grid 3x2
done
try "$most" $side --layout 1d --parts "$most"
try "$most" $side --layout 2d --grid ${side}x$side
try "$most" $((side / 2)) --layout 2d --grid ${side}x$side --direction top-down
try 6 2 --layout 2d --grid 2x3 --exchange bitmap
try 4 2 --layout 1d --parts 4 --exchange list --direction bottom-up

hopwave-generate -q --model rmat --scale 10 --weights integer:1:99 -o w.h5
ranks 1 hopwave-traverse -q --force w.h5 --algorithm sssp --layout 1d --roots 2 \
    --canonical-parents -o want.h5
for method in delta bellman-ford; do
    ranks 6 hopwave-traverse -q --force w.h5 --algorithm sssp --method $method --layout 2d --grid 3x2 \
        --ranks-per-node 4 --roots 2 --canonical-parents -o t.h5
    ok "$method, 4 ranks a node: the same paths" "$H5DIFF" --exclude-path /run t.h5 want.h5
done

refused "nodes of no rank" 2 "--ranks-per-node" hopwave-traverse g.h5 --layout 1d --ranks-per-node 0 \
    -o no.h5
refused "nodes of degree-separated parts" 3 "say themselves" \
    hopwave-traverse g.h5 --layout degree-separated --ranks-per-node 2 -o no.h5
done_testing
