#!/bin/sh
# The test study from beginning to end; what is remade after a change; and a
# wrong tree, which stops the study and leaves its evidence.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" && cp -r "$top_srcdir/.test/data" . && chmod -R u+w data || exit 99

ok "snakemake --lint finds nothing" \
    "$PYTHON3" -m snakemake --snakefile "$top_srcdir/workflow/Snakefile" \
    --configfile "$test_config" --lint

if "$PYTHON3" -c 'import snakefmt' 2>/dev/null; then
    ok "snakefmt would change nothing" "$PYTHON3" -m snakefmt --check "$top_srcdir/workflow"
else
    skip "snakefmt would change nothing" "$PYTHON3 has no snakefmt"
fi
# As users of the catalogue of workflows do: with a Snakefile of their own.
mkdir -p module/workflow module/config
cat >module/workflow/Snakefile <<END
configfile: "config/study.yaml"
module hopwave:
    snakefile: "$top_srcdir/workflow/Snakefile"
    config: config
use rule * from hopwave
END
cat >module/config/study.yaml <<'END'
graphs: [{model: rmat, scales: [5]}]
layouts: [{layout: 1d}]
parts: [1]
roots: {count: 1}
END
ok "the workflow is a module of another one" sh -c \
    "cd module && '$PYTHON3' -m snakemake --cores 2 results/tables/results.html"

# ---- the whole study ----
if ! run_study "$test_config" >run.log 2>&1; then
    verdict 1 "the study runs"
    tail -n 40 run.log | sed 's/^/# /'
    done_testing
fi
verdict 0 "the study runs"
is "it says what it leaves out, in one line" "$(grep -c 'left out.*: elsewhere (data/elsewhere.gr)$' run.log)" 1
ok "it says where the report is" grep -q "^report: $work/results/report.html" run.log
ok "and the page" grep -q "^page: $work/results/index.html" run.log
is "which says that all is valid" "$(grep -c '<p class="valid">30 of 30 searches are valid' results/index.html)" 1
ok "the report holds the tables and plots" \
    "$PYTHON3" "$top_srcdir/tests/workflow/in-report.py" results/report.html \
    results.csv results.html teps-rmat.svg time-rmat.svg steps-1d.svg steps-2d.svg \
    steps-degree-separated.svg steps-sssp-1d.svg degrees-rmat.svg volume-rmat.svg \
    teps-random.svg teps-ring.svg figure-layouts.svg figure-layouts.html \
    figure-phases.svg figure-phases.html figure-shares.svg
ok "edges of subgraphs are all edges" "$PYTHON3" -c 'if True:
    import pandas
    shares = pandas.read_csv("results/results.csv").filter(regex="^(nn|nd|dn|dd)_share$").dropna()
    assert len(shares) and abs(shares.sum(axis=1) - 1).max() < 1e-9'
is "a figure takes the runs that it asks for" \
    "$(grep -o '<th>[a-z0-9-]*d</th>' results/tables/figure-phases.html | sort -u | tr '\n' ' ')" "<th>1d</th> <th>2d</th> "
is "results.csv has a row for each run" "$(tail -n +2 results/results.csv | wc -l)" 15
is "every check passed" "$(grep -c ',1,0,xxh3-128:' results/gate.csv)" 15
ok "every program has a log" test -f results/logs/traverse/rmat-s6/2d-2x1/auto-k2-r1.log
is "the file's graph has a row for each layout" "$(grep -c '^ring,5,' results/results.csv)" 3
is "a second run would make nothing" "$(would_make "$test_config")" ""

# ---- partitions in memory ----
cat >memory.yaml <<'END'
graphs: [{model: rmat, scales: [6], recipe: true, parts: [2]}]
layouts: [{layout: 2d}, {layout: degree-separated}]
partitions: memory
roots: {count: 2}
store: none
END
mkdir memory
ok "a study without partition files runs" run_study memory.yaml --directory memory
ok "it made none" test ! -e memory/results/partitions
ok "its report has what that from files has of bytes and edges" "$PYTHON3" -c 'if True:
    import pandas
    tables = [pandas.read_csv(f"{at}results/results.csv") for at in ("", "memory/")]
    columns = ["layout", "degree_threshold", "nn_share", "dd_share", "delegates_share",
               "model_bytes_per_rank"]
    rows = tables[0].query("graph == \"rmat\" and parts == 2 and algorithm == \"bfs\" and layout != \"1d\"")
    pandas.testing.assert_frame_equal(rows[columns].reset_index(drop=True),
                                      tables[1][columns].reset_index(drop=True))'

# ---- what is remade ----
all="results/gate.csv
results/results.csv"
tree=results/trees/rmat-s6/2d-2x1/auto-k2-r1.h5
check=results/checks/rmat-s6/2d-2x1/auto-k2-r1.h5

mv "$tree" kept.h5
same "without one tree: the tree and what follows" "$(would_make "$test_config")" \
    "$(printf '%s\n' "$all" "$tree" "$check" | sort)"
mv kept.h5 "$tree"
mv "$check" kept.h5
same "without one check: the check and what follows" "$(would_make "$test_config")" \
    "$(printf '%s\n' "$all" "$check" | sort)"
mv kept.h5 "$check"
is "with both back: nothing" "$(would_make "$test_config")" ""

sed 's/edge_factor: 4/edge_factor: 5/' "$test_config" >changed.yaml
would_make changed.yaml >made
ok "another edge factor remakes its graph" grep -q '^results/graphs/random' made
is "and nothing of the others" "$(grep -c /rmat made)" 0
echo "10 16" >>data/ring.txt
would_make "$test_config" >made
ok "a file that changed is imported again" grep -q '^results/graphs/ring' made
is "and no other graph" "$(grep -c '^results/graphs/[^r]' made)" 0
sed '$d' data/ring.txt >kept && touch -r results/graphs/ring-undirected.h5 kept &&
    mv kept data/ring.txt
sed 's/^reference: true/reference: false/' "$test_config" >changed.yaml
is "another way to validate remakes checks only" \
    "$(would_make changed.yaml | grep -v '^results/checks/')" "$all"
sed 's/count: 2/count: 3/' "$test_config" >changed.yaml
would_make changed.yaml >made
is "other roots remake no graph and no partition" "$(grep -E '^results/(graphs|partitions)/' made)" ""
is "and keep the trees that there are" "$(grep -e -k2 made)" ""
# What is added to a study makes what is new, and nothing that was there.
sed -e 's/scales: \[6\]/scales: [6, 7]/' -e 's/^parts: .*/parts: [1, 2, 3]/' -e 's/^repeats: 1/repeats: 2/' \
    -e 's/^  - method: auto$/&\n  - { method: grid, direction: top-down }/' "$test_config" >changed.yaml
would_make changed.yaml >made
scale='-s7[./-]' method=/grid-direction-top-down- parts='/(1d-3|2d-3x1|degree-separated-3)[./]' repeat='-r2\.h5'
is "another scale, method, number of parts and a repeat make nothing that was there" \
    "$(grep -v -x -F "$all" made | grep -v -E -e "$scale|$method|$parts|$repeat")" ""
# Each in the graph, by the method, on the parts and in the run that there were.
ok "but the scale" sh -c "grep -E -e '$scale' made | grep -v -E -e '$method|$parts|$repeat' | grep -q trees/"
ok "the method" sh -c "grep -E -e '$method' made | grep -v -E -e '$scale|$parts|$repeat' | grep -q trees/"
ok "the number of parts" sh -c "grep -E -e '$parts' made | grep -v -E -e '$scale|$method|$repeat' | grep -q trees/"
ok "and the repeat" sh -c "grep -E -e '$repeat' made | grep -v -E -e '$scale|$method|$parts' | grep -q trees/"

# Every first run is timed before any second one. Without trees to validate, searches
# are checked as they are made.
sed -e 's/^repeats: 1/repeats: 2/' -e 's/scales: .*/scales: [5]/' -e 's/^parts: .*/parts: [1]/' \
    "$test_config" >changed.yaml
echo "store: none" >>changed.yaml
run_study changed.yaml --verbose >repeats.log 2>&1
is "without trees every search is checked" \
    "$(grep -c '^results/trees/.*-store-none-r.*,1,0,' results/gate.csv)" 24
is "repeats are timed one after the other" \
    "$(sed -n '/^localrule traverse/,/wildcards/s/.*repeat=\([0-9]*\).*/\1/p' repeats.log | uniq | tr '\n' ' ')" \
    "1 2 "

# ---- a wrong tree ----
"$PYTHON3" "$top_srcdir/tests/workflow/break-tree.py" "$tree"
rm "$check"
run_study "$test_config" >broken.log 2>&1
is "a wrong tree fails the study" "$?" 1
ok "the file is named" grep -q "$check: .* violations" broken.log
ok "its check file stays" test -f "$check"
is "the page says how many searches are valid" \
    "$(grep -c '<p class="wrong">[0-9]* of 30 searches are valid' results/index.html)" 1
ok "and names the file" grep -q "<code>$check</code>" results/index.html
ok "the gate's file does not" test ! -e results/gate.csv
done_testing
