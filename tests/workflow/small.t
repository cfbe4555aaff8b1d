#!/bin/sh
# A small study from its configuration to its results, and nothing to do when it is run again.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

cat >study.yaml <<'END'
title: small
graphs: [{model: rmat, scales: [6], weights: uniform}]
layouts: [{layout: 1d}, {layout: 2d}]
parts: [1, 2]
methods: [{method: auto}, {algorithm: sssp, method: auto}]
roots: {count: 2}
END
ok "the study runs" run_study study.yaml -- results/results.csv results/gate.csv
is "each search has its row" "$(wc -l <results/results.csv)" 9
is "and was validated" "$(find results/checks -name '*.h5' | wc -l)" 8
is "nothing is made again" "$(would_make study.yaml | grep '\.h5$')" ""
done_testing
