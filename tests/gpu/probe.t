#!/bin/sh
# hopwave-traverse --probe between GPUs, over each transport that works here.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 8 --recipe -o recipe.h5
needs_gpu "probes of GPUs" 1 recipe.h5 --layout 1d
for n in 1 2 4; do
    ok "$n over mpi" ranks $n hopwave-traverse -q --device cuda --transport mpi --probe=mpi.csv --force
    is "a row for each pair, without puts" \
        "$(awk -F , 'NR > 1 && $5 > 0 && $6 > 0 && $7 == "" && $9 > 0' mpi.csv | wc -l)" \
        $((n * (n - 1)))
    if ranks $n hopwave-traverse -q --device cuda --transport peer --probe=peer.csv --force 2>err; then
        is "$n over peer, with puts" \
            "$(awk -F , 'NR > 1 && $5 > 0 && $6 > 0 && $7 > 0 && $8 > 0' peer.csv | wc -l)" \
            $((n * (n - 1)))
    else
        skip "$n over peer" "$(cat err)"
    fi
done
done_testing
