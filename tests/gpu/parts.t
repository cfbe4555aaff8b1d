#!/bin/sh
# Searches on several parts, one rank a GPU (ranks share them where there are fewer): the
# CPU's levels over each transport, on graphs that leave parts nearly empty too.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
needs_gpu "searches on several parts" 2 recipe.h5 --layout 1d --parts 2

emulated=
is_emulated && emulated=yes
gpus=$(gpus)

# compare NAME GRAPH PARTS OPTIONS...: the levels of the CPU.
compare() {
    name=$1 graph=$2 parts=$3
    shift 3
    hopwave-traverse -q --force "$graph" --layout 1d --roots 6 -o cpu.h5
    like_cpu "$name on $parts parts $*" "$parts" "$graph" --layout 1d --parts "$parts" --roots 6 "$@"
}
hopwave-generate -q --model rmat --scale 10 -o rmat.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
hopwave-generate -q --model rmat --scale 3 -o tiny.h5
compare rmat rmat.h5 2
compare rmat rmat.h5 3 --transport mpi
compare rmat rmat.h5 2 --direction bottom-up --order none
compare rmat rmat.h5 2 --canonical-parents --order hash
compare directed directed.h5 2
# In-lists of directed recipes are made on the devices, as out-lists are.
hopwave-generate -q --model rmat --scale 10 --directed --recipe -o away.h5
ranks 2 hopwave-traverse --force away.h5 --layout 1d --parts 2 --device cuda --roots 1 --store none \
    -o gpu.h5 2>notes
ok "a directed graph is partitioned on the devices" grep -q "edges built on 2 devices" notes
compare "directed recipe" away.h5 2
compare "directed recipe" away.h5 3 --canonical-parents
compare "directed recipe" away.h5 4 --transport mpi
compare "directed recipe" away.h5 2 --direction bottom-up
compare "directed recipe" away.h5 2 --direction top-down
compare tiny tiny.h5 4
compare tiny tiny.h5 4 --transport mpi
if ranks 2 hopwave-traverse -q rmat.h5 --layout 1d --parts 2 --device cuda --roots 1 --store none \
    --mpi-buffers device --transport mpi -o device.h5 2>err; then
    is "and the file says so" "$(hopwave-info device.h5 | sed -n 's/^ *mpi_buffers: //p')" device
    compare rmat rmat.h5 3 --transport mpi --mpi-buffers device
    compare tiny tiny.h5 4 --transport mpi --mpi-buffers device
    compare rmat rmat.h5 2 --transport mpi --mpi-buffers device --canonical-parents
else
    ok "an MPI without them takes no pointers to memory of GPUs" \
        grep -q 'mpi-buffers device: this MPI takes no' err
fi
compare rmat rmat.h5 2 --transport mpi --mpi-buffers host
is "and the file says so" "$(hopwave-info gpu.h5 | sed -n 's/^ *mpi_buffers: //p')" host
compare recipe recipe.h5 4
compare recipe recipe.h5 4 --transport peer
ranks 2 hopwave-partition -q rmat.h5 --layout 1d --parts 2 -o two.h5
hopwave-traverse -q --force rmat.h5 --layout 1d --roots 6 -o cpu.h5
ok "a partition of two parts" ranks 2 hopwave-traverse -q --force two.h5 --device cuda --roots 6 \
    -o gpu.h5
ok "validates, with the CPU's levels" hopwave-validate -q --force gpu.h5 --graph rmat.h5 \
    --against cpu.h5
printf '%s\n' '0 1' '1 2' '2 3' '3 4' >five.txt
hopwave-import -q five.txt --undirected -o five.h5
compare "a path of five" five.h5 4
# High diameter: levels in one block of each GPU. Random graphs: pulled late.
awk 'BEGIN { for (i = 0; i < 900; i++) { if (i % 30 < 29) print i, i + 1; if (i < 870) print i, i + 30 } }' \
    >grid.txt
hopwave-import -q grid.txt --undirected -o grid.h5
compare "a grid" grid.h5 2
compare "a grid" grid.h5 3 --direction top-down --order none
hopwave-generate -q --model erdos-renyi --scale 10 --edges 8192 -o random.h5
compare random random.h5 2
compare random random.h5 3 --pull-weight 100
# Recipes of random graphs keep their order, unless another one is asked for.
hopwave-generate -q --model erdos-renyi --scale 11 --edges 20000 --recipe -o even.h5
compare "a random recipe" even.h5 2
is "in its own order" "$(hopwave-info gpu.h5 | sed -n 's/^ *order: //p')" none
compare "a random recipe" even.h5 3 --canonical-parents
compare "a random recipe" even.h5 2 --order degree
is "by degree" "$(hopwave-info gpu.h5 | sed -n 's/^ *order: //p')" degree
ranks 2 hopwave-traverse -q recipe.h5 --layout 1d --parts 2 --device cuda --transport nccl --roots 2 \
    --store none -o nccl.h5 2>err
case $? in
0) compare rmat rmat.h5 2 --transport nccl ;;
*) ok "nccl wants its library and a GPU for each rank" grep -q -i nccl err ;;
esac
ok "a hundred searches in a row" ranks 2 hopwave-traverse -q --force rmat.h5 --layout 1d --parts 2 \
    --device cuda --roots 100 --check --store none -o gpu.h5
is "auto says that one GPU is faster on so small a graph" \
    "$(hopwave-info gpu.h5 | sed -n 's/^ *auto_advice: \([^:]*\):.*/\1/p')" \
    "one GPU is likely to be faster than 2"
hopwave-import -q five.txt --undirected --weights integer:1:9 -o weighted.h5
ok "shortest paths on one GPU" hopwave-traverse -q --force weighted.h5 --layout 1d --device cuda \
    --algorithm sssp --check -o gpu.h5
is "and auto says which kernel it took" \
    "$(hopwave-info gpu.h5 | sed -n 's/^ *auto_choice: \(.*\), buckets.*/\1/p')" \
    "delta, kernel small-frontier"
# A hub makes buckets narrow, whichever way its edges lead.
awk 'BEGIN { srand(3); for (i = 1; i < 900; i++) { print i, 0, 0.5
    for (k = 0; k < 10; k++) print i, int(900 * rand()), 0.1 * (1 + k) } }' >in.wel
awk '{ print $2, $1, $3 }' in.wel >out.wel
for way in in out; do
    hopwave-import -q $way.wel --directed --vertices 900 -o $way.h5
    ok "a hub, edges lead $way" hopwave-traverse -q --force $way.h5 --layout 1d --device cuda \
        --algorithm sssp --check -o gpu.h5
    hopwave-info gpu.h5 | sed -n 's/^ *auto_choice: //p' >$way.choice
done
ok "their buckets are equally wide" cmp in.choice out.choice
ok "in the kernel for long lists" grep -q '^delta, kernel balanced, buckets from' in.choice
# Where each rank is shown one GPU alone, some drivers open the others' memory all the same.
# shellcheck disable=SC2016 # each rank's shell expands it
hidden='CUDA_VISIBLE_DEVICES=${PMI_RANK:-0} exec "$0" "$@"'
# show TRANSPORT: a search where GPUs are hidden.
show() {
    ranks 2 sh -c "$hidden" hopwave-traverse --force rmat.h5 --layout 1d --parts 2 --device cuda \
        --transport "$1" --roots 6 -o hidden.h5 2>err
}
hopwave-traverse -q --force rmat.h5 --layout 1d --roots 6 -o cpu.h5
if [ "$gpus" -lt 2 ]; then
    skip "hidden GPUs" "there is but one"
elif show peer; then
    ok "hidden GPUs are reached over peer" hopwave-validate -q --force hidden.h5 --graph rmat.h5 \
        --against cpu.h5
    show auto
    is "and auto takes that" "$(grep -c 'transport mpi' err)" 0
fi
# Other drivers do not, as emulated devices can do too.
[ -z "$emulated" ] || export HW_EMULATED_HIDDEN=1
if [ "$gpus" -ge 2 ] && ! show peer; then
    show peer
    is "where GPUs are hidden, peer is exit 4" "$?" 4
    is "with one line that says what to ask of Slurm" "$(grep -c -- --gpu-bind=none err)" 1
    ok "auto takes mpi" show auto
    is "and says the same" "$(grep -c -- 'transport mpi.*--gpu-bind=none' err)" 1
    ok "with the same answer" hopwave-validate -q --force hidden.h5 --graph rmat.h5 --against cpu.h5
fi
unset HW_EMULATED_HIDDEN
if [ "$gpus" -lt 4 ]; then
    ranks 4 hopwave-traverse recipe.h5 --layout 1d --parts 4 --device cuda --roots 2 --store none \
        -o shared.h5 2>err
    is "ranks that share GPUs talk over mpi, and one line says so" \
        "$(grep -c "4 ranks share $gpus GPU.*mpi" err)" 1
    refused "nccl needs a GPU for each" 4 'nccl' "$MPIEXEC" -n 4 hopwave-traverse -q recipe.h5 \
        --layout 1d --parts 4 --device cuda --transport nccl --roots 2 -o no.h5
fi
done_testing
