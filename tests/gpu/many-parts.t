#!/bin/sh
# More parts than a node has GPUs: methods of several GPUs with more parts than the kernels of one node
# (peer) take. Only with emulated devices, of which there are as many as wanted. HW_PARTS=124
# takes so many parts, HW_ROWS=12 HW_COLUMNS=11 such a grid.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 10 -o g.h5
for layout in "1d --parts 1024" "2d --grid 32x32" "degree-separated --parts 256x4"; do
    # shellcheck disable=SC2086 # options
    ok "a partition of 1024 parts: $layout" hopwave-partition -q --force g.h5 --layout $layout -o p.h5
    is "which has them" "$(hopwave-info p.h5 | awk '$1 == "parts:" { print $2; exit }')" 1024
done
if ! hopwave-traverse --version | grep -q 'emulated devices'; then
    skip "many parts" "there are no emulated devices (--with-cuda=emulated)"
    done_testing
fi
OMP_NUM_THREADS=1 HW_EMULATED_MULTIPROCESSORS=1
export OMP_NUM_THREADS HW_EMULATED_MULTIPROCESSORS HW_EMULATED_DEVICES
hopwave-generate -q --force --model rmat --scale 7 --weights integer:1:99 -o g.h5
for algorithm in bfs sssp; do
    hopwave-traverse -q g.h5 --algorithm $algorithm --layout 1d --roots 1 --canonical-parents \
        -o $algorithm.h5
done

# many PARTS ALGORITHM OPTIONS...: a search on so many parts has the tree of one CPU.
many() {
    HW_EMULATED_DEVICES=$1
    many_ranks=$1 many_algorithm=$2
    shift 2
    ok "$many_algorithm on $many_ranks parts: $*" ranks "$many_ranks" hopwave-traverse -q --force g.h5 \
        --device cuda --transport mpi --algorithm "$many_algorithm" --roots 1 --canonical-parents "$@" \
        -o gpu.h5
    same "the same tree" "$(hopwave-info gpu.h5 | grep -E '^ *(digest|/parent):')" \
        "$(hopwave-info "$many_algorithm.h5" | grep -E '^ *(digest|/parent):')"
    rm -f gpu.h5
}
n=${HW_PARTS:-17}
many "$n" sssp --layout 1d --parts "$n" --method delta
many "$n" sssp --layout degree-separated --parts "$n" --method bellman-ford
rows=${HW_ROWS:-3} columns=${HW_COLUMNS:-11}
many $((rows * columns)) bfs --layout 2d --grid "${rows}x$columns" --method scan2d
n=${HW_PARTS:-65}
many "$n" bfs --layout degree-separated --parts "$n" --method delegates
done_testing
