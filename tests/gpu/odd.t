#!/bin/sh
# Graphs with next to nothing in them: one vertex, no edges, loops alone.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 8 --recipe -o recipe.h5
needs_gpu "odd graphs on GPUs" 1 recipe.h5 --layout 1d

hopwave-generate -q --model erdos-renyi --vertices 1 --edges 0 -o one.h5
hopwave-generate -q --model erdos-renyi --vertices 5 --edges 0 -o none.h5
printf '0 0 1\n0 1 0\n1 1 2\n2 2 1\n5 5 3\n' >loops.txt
hopwave-import -q --undirected --weights integer loops.txt -o loops.h5
for graph in one none loops; do
    hopwave-traverse -q --force $graph.h5 --layout 1d --root-list 0 -o cpu.h5
    for layout in 1d 2d degree-separated; do
        like_cpu "$graph, $layout" 1 $graph.h5 --layout $layout --root-list 0
    done
done
hopwave-traverse -q --force loops.h5 --layout 1d --algorithm sssp --root-list 0 -o cpu.h5
like_cpu "shortest paths of loops" 1 loops.h5 --layout 1d --algorithm sssp --root-list 0
refused "no root without an edge" 3 'no vertex has an edge' \
    hopwave-traverse -q none.h5 --layout 1d --device cuda -o gone.h5
ok "no file is left of that" test ! -e gone.h5
done_testing
