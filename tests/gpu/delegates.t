#!/bin/sh
# Method delegates on GPUs, one rank a part (ranks share GPUs where there are fewer): the
# CPU's levels over each transport, with every option, on graphs that leave parts nearly
# empty too; each switch changes what the steps say.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
needs_gpu "searches on GPUs" 1 recipe.h5 --layout degree-separated
ok "by this method" sh -c 'hopwave-info first.h5 | grep -q "method: delegates"'

# search RANKS PARTS GRAPH OUT OPTIONS...
search() {
    count=$1 parts=$2 graph=$3 out=$4
    shift 4
    ranks "$count" hopwave-traverse -q --force "$graph" --layout degree-separated \
        --parts "$parts" --device cuda --roots 5 "$@" -o "$out"
}

# compare NAME RANKS PARTS OPTIONS...: the levels of the CPU on NAME.h5.
compare() {
    name=$1 wanted=$2 shape=$3
    shift 3
    hopwave-traverse -q --force "$name.h5" --layout 1d --roots 5 -o cpu.h5
    like_cpu "$name on $shape parts $*" "$wanted" "$name.h5" --layout degree-separated \
        --parts "$shape" --roots 5 "$@"
}
hopwave-generate -q --model rmat --scale 11 -o rmat.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
hopwave-generate -q --model rmat --scale 3 -o tiny.h5
compare rmat 1 1
compare rmat 1 1 --degree-threshold 3 --direction top-down
compare rmat 1 1 --degree-threshold 500 --direction bottom-up --order hash
compare rmat 2 2 --degree-threshold 40 --uniquify
compare rmat 3 3 --transport mpi --degree-threshold 40
compare rmat 2 2 --transport mpi --reduce nonblocking
compare rmat 4 2x2 --degree-threshold 100
compare rmat 4 2x2 --degree-threshold 100 --local-all2all --uniquify --transport mpi
compare directed 1 1 --degree-threshold 20
compare directed 2 2 --degree-threshold 20
compare tiny 4 4
compare recipe 2 2

# Masks of which parts are sent; delegates that are looked for twice.
hopwave-generate -q --model rmat --scale 14 -o large.h5
compare large 4 4 --degree-threshold 2

# canonical RANKS PARTS: the CPU's parents too.
canonical() {
    search "$1" "$2" rmat.h5 gpu.h5 --canonical-parents --degree-threshold 60
    ok "canonical parents on $2 parts" "$PYTHON3" -c 'import h5py, sys
a, b = (h5py.File(name)["parent"][()] for name in sys.argv[1:])
sys.exit(0 if (a == b).all() else 1)' gpu.h5 least.h5
}
hopwave-traverse -q rmat.h5 --layout 1d --roots 5 --canonical-parents -o least.h5
canonical 1 1
canonical 2 2
canonical 4 2x2

# total FILE COLUMN: its sum over all steps.
total() {
    "$PYTHON3" -c 'import h5py, sys
print(int(h5py.File(sys.argv[1])["run/steps"][sys.argv[2]].sum()))' "$1" "$2"
}
# directions FILE: those that the steps name, sorted.
directions() {
    "$PYTHON3" -c 'import h5py, sys
rows = h5py.File(sys.argv[1])["run/steps"]["routine"]
print(*sorted({word[-2:] for row in rows for word in row.decode().split() if ":" in word}))' "$1"
}
many="--degree-threshold 200 --store none"
search 1 1 rmat.h5 auto.h5 --store none
search 1 1 rmat.h5 down.h5 --store none --direction top-down
is "both ways are taken" "$(directions auto.h5)" "-- bu td"
is "or one" "$(directions down.h5)" "-- td"
ok "and backward visits save edges" test "$(total auto.h5 edges_examined)" -lt \
    "$(total down.h5 edges_examined)"
ok "small steps are taken in one kernel" "$PYTHON3" -c 'import h5py, sys
rows = h5py.File(sys.argv[1])["run/steps"]["routine"]
sys.exit(0 if 0 < sum(row.endswith(b" small") for row in rows) < len(rows) else 1)' auto.h5
search 4 4 large.h5 sparse.h5 --degree-threshold 2 --store none
ok "few delegates are told of in few bytes" "$PYTHON3" -c 'import h5py, sys
rows = h5py.File(sys.argv[1])["run/steps"][:]
sent = rows["bytes_sent"]
sys.exit(0 if 0 < 2 * sent[rows["step"] == 0].max() < sent.max() else 1)' sparse.h5
search 4 2x2 rmat.h5 plain.h5 $many
search 4 2x2 rmat.h5 unique.h5 $many --uniquify
search 4 2x2 rmat.h5 all2all.h5 $many --local-all2all
ok "--uniquify sends less" test "$(total unique.h5 bytes_sent)" -lt "$(total plain.h5 bytes_sent)"
ok "--local-all2all sends otherwise" test "$(total all2all.h5 bytes_sent)" -ne \
    "$(total plain.h5 bytes_sent)"
hopwave-traverse rmat.h5 --layout degree-separated --device cuda --roots 1 --store none \
    -o memory.h5 2>err
ok "the memory of a stored edge is stated" grep -q 'bytes for each of .* stored edges' err
refused "too little memory is said so" 4 'GiB of the device' \
    env HOPWAVE_DEVICE_MEMORY=1M hopwave-traverse -q rmat.h5 --layout degree-separated \
    --method delegates --device cuda --roots 1 --store none -o small.h5
done_testing
