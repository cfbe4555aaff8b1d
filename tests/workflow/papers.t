#!/bin/sh
# The five papers, cut small, on emulated devices and processors: pictures, verdicts, and what a required claim
# that does not hold does.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

if ! hopwave-traverse --version | grep -q emulated; then
    echo "1..0 # SKIP devices are not emulated"
    exit 0
fi
cp "$top_srcdir/config/papers/small.yaml" . || exit 99
ok "the study runs" run_study small.yaml
# claims COLUMN=VALUE...: how many claims there are with these values.
claims() { "$PYTHON3" -c 'if True:
    import csv, sys
    measured = list(csv.DictReader(open("results/claims.csv")))
    wanted = dict(pair.split("=") for pair in sys.argv[1:])
    print(sum(all(claim[k] == v for k, v in wanted.items()) for claim in measured))' "$@"; }
figures=$(grep -c '^  - name: ' small.yaml)
is "each figure has a plot" "$(find results/plots -name 'figure-*.svg' | wc -l)" "$figures"
is "and a table" "$(find results/tables -name 'figure-*.html' | wc -l)" "$figures"
is "each required claim has a verdict" "$(claims required=True)" "$(grep -c 'required: true' small.yaml)"
is "none of these differs" "$(claims required=True verdict=differs)" 0
is "nor is one not tested" "$(claims required=True 'verdict=not testable here')" 0
ok "the numbers behind them are there" grep -q '"points": \[' results/claims.json
ok "a table has paper, here and ratio" grep -q '<th>ratio</th>' results/tables/figure-early.html
ok "the paper's line is dashed" grep -q 'stroke-dasharray' results/plots/figure-weak.svg

# A claim that does not hold.
sed 's/merge-coupling-separate over merge-coupling-gather between 1 and 1/merge-coupling-separate over merge-coupling-gather at least 2/' \
    small.yaml >broken.yaml
run_study broken.yaml >broken.out 2>broken.err
is "a required claim that does not hold makes the study fail" "$?" 1
is "with one sentence" "$(sed -n 's/^ *\(.*required claim.*\): 1 at.*/\1/p' broken.err)" \
    'Figure 6 (couplings): the required claim "merge-coupling-separate over merge-coupling-gather at least 2" differs'
is "which the verdicts have" "$(claims required=True verdict=differs)" 1
ok "no search is made again" grep -q '^[0-9]* jobs: [0-9]* tables and plots$' broken.err
# One that is not required is a result.
sed '/at least 2/{n;s/required: true/required: false/}' broken.yaml >differs.yaml
ok "one that is not required is a result" run_study differs.yaml
is "all the same" "$(claims name=couplings required=False verdict=differs)" 1
done_testing
