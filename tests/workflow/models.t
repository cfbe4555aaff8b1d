#!/bin/sh
# A small study of spatial models, as files and recipes.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

cat >study.yaml <<'END'
title: models
graphs:
  - {model: grid, scales: [6], dimensions: 3}
  - {model: road, scales: [7], recipe: true}
  - {model: small-world, scales: [6], degree: 4, probability: 0.25, scramble: false}
  - {model: geometric, scales: [7], degree: 6}
  - {name: flat, model: rmat, scales: [6], edge_factor: 8, skew: flat}
layouts: [{layout: 1d}]
parts: [2]
methods: [{method: auto}, {algorithm: sssp, method: auto}]
roots: {count: 2}
END
ok "the study runs" run_study study.yaml -- results/results.csv results/gate.csv
is "each search has its row" "$(wc -l <results/results.csv)" 7
is "and was validated" "$(find results/checks -name '*.h5' | wc -l)" 6
is "the graphs' files" "$(cd results/graphs && echo *)" \
    "flat-s6-edgefactor8-skew-flat.h5 geometric-s7-degree6.h5 grid-s6-dimensions3.h5 road-s7-recipe.h5 small-world-s6-degree4-probability0.25-no-scramble.h5"
same "a grid of 4 x 4 x 4" "$(info results/graphs/grid-s6-dimensions3.h5 edges)" 144
same "whole lengths" "$(info results/graphs/road-s7-recipe.h5 weights)" i32
is "nothing is made again" "$(would_make study.yaml | grep '\.h5$')" ""
done_testing
