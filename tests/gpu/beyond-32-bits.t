#!/bin/sh
# Graphs of 2^33 vertices on GPUs, which number those that have edges without gaps: a graph with 1024
# of them, all over the ids, has the trees of one CPU, by every method of several GPUs and some of one.
# Only with emulated devices, of which there are as many as wanted. HW_PARTS=124 takes so many parts.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/gpu.sh"

if ! hopwave-traverse --version | grep -q 'emulated devices'; then
    skip "graphs of 2^33 vertices" "there are no emulated devices (--with-cuda=emulated)"
    done_testing
fi
OMP_NUM_THREADS=1 HW_EMULATED_MULTIPROCESSORS=1
export OMP_NUM_THREADS HW_EMULATED_MULTIPROCESSORS HW_EMULATED_DEVICES
hopwave-generate -q --model rmat --scale 9 --weights integer:1:99 -o small.h5
hopwave-export -q small.h5 --format wel -o small.wel
awk 'function id(v) { return sprintf("%.0f", v == 511 ? 8589934591 : v * 16793596) }
    { print id($1), id($2), $3 }' small.wel >wide.wel
ok "a graph of 2^33 vertices" hopwave-import -q wide.wel --undirected --keep-duplicates \
    --vertices 8589934592 --compact never -o wide.h5
for algorithm in bfs sssp; do
    hopwave-traverse -q wide.h5 --algorithm $algorithm --layout 1d --roots 1 --canonical-parents \
        -o $algorithm.h5
done
is "has a root past 2^32, or a neighbor" \
    "$(hopwave-export -q bfs.h5 --format tsv -o bfs.tsv && awk '$2 > 4294967296 { n++ }
        END { print (n > 0) }' bfs.tsv)" 1

# wide PARTS ALGORITHM OPTIONS...: a search on so many parts has the tree of one CPU.
wide() {
    HW_EMULATED_DEVICES=$1
    wide_ranks=$1 wide_algorithm=$2
    shift 2
    ok "$wide_algorithm on $wide_ranks parts: $*" ranks "$wide_ranks" hopwave-traverse -q --force \
        wide.h5 --device cuda --algorithm "$wide_algorithm" --roots 1 --canonical-parents --check \
        "$@" -o gpu.h5
    same "the same tree" "$(hopwave-info gpu.h5 | grep -E '^ *(digest|/parent|/vertex):')" \
        "$(hopwave-info "$wide_algorithm.h5" | grep -E '^ *(digest|/parent|/vertex):')"
    ok "which validates on the host" hopwave-validate -q --force gpu.h5 --graph wide.h5 -o check.h5
    rm -f gpu.h5
}
if [ -n "${HW_PARTS:-}" ]; then
    wide "$HW_PARTS" bfs --layout degree-separated --parts "$HW_PARTS" --method delegates \
        --transport mpi
    wide "$HW_PARTS" sssp --layout degree-separated --parts "$HW_PARTS" --method delta --transport mpi
    done_testing
fi
wide 8 bfs --layout degree-separated --parts 4x2 --method delegates --transport mpi
wide 4 bfs --layout degree-separated --parts 4 --method delegates
wide 4 bfs --layout 2d --grid 2x2 --method scan2d
wide 2 bfs --layout 1d --parts 2 --method fused
wide 1 bfs --layout 1d --method adaptive
wide 8 sssp --layout degree-separated --parts 8 --method delta --transport mpi
wide 4 sssp --layout degree-separated --parts 4 --method bellman-ford
wide 2 sssp --layout 1d --parts 2 --method delta
wide 1 sssp --layout 1d --method bellman-ford
done_testing
