#!/bin/sh
# Recipes whose tuples no kernel makes: the host makes them, for searches and for validation.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model road --scale 8 --recipe -o road.h5
needs_gpu "spatial recipes on GPUs" 1 road.h5 --layout 1d
hopwave-generate -q --model torus --scale 8 --dimensions 3 --recipe -o torus.h5
hopwave-generate -q --model small-world --scale 8 --recipe -o small-world.h5
hopwave-generate -q --model geometric --scale 8 --degree 8 --recipe -o geometric.h5

for graph in road torus small-world geometric; do
    hopwave-traverse -q --force $graph.h5 --layout 1d --roots 2 -o cpu.h5
    like_cpu "$graph" 1 $graph.h5 --layout 1d --roots 2 --check
    like_cpu "$graph on two GPUs" 2 $graph.h5 --layout 1d --parts 2 --roots 2 --check
done
hopwave-traverse -q --force torus.h5 --layout 1d --roots 2 -o cpu.h5
like_cpu "torus in 2d" 2 torus.h5 --layout 2d --grid 2x1 --roots 2 --check
like_cpu "torus, degree-separated" 2 torus.h5 --layout degree-separated --parts 2 --roots 2 --check
hopwave-traverse -q --force road.h5 --layout 1d --algorithm sssp --roots 2 -o cpu.h5
like_cpu "lengths of roads" 1 road.h5 --layout 1d --algorithm sssp --roots 2 --check
like_cpu "lengths of roads on two GPUs" 2 road.h5 --layout 1d --parts 2 --algorithm sssp --roots 2 \
    --check
done_testing
