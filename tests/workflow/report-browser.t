#!/bin/sh
# The report and the page of a study in a browser, where everything is clicked. What breaks there is
# not seen in the files: a report goes blank when it is clicked. HW_PICTURES is a folder for pictures.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

if ! chromium=$(command -v chromium); then
    echo "1..0 # SKIP chromium is not installed"
    exit 0
fi
if [ "$(basename "$(readlink -f "$chromium")")" = snap ]; then
    echo "1..0 # SKIP chromium is a snap, which sees no files below /tmp"
    exit 0
fi

# Two graphs and the two forms of a figure: the report makes toggles of what there is two of.
cat >study.yaml <<'END'
title: 'Clicked & <script>alert(1)</script> $x_1$ "quoted" `id`'
graphs: [{model: rmat, scales: [5]}, {model: erdos-renyi, scales: [5], edge_factor: 4}]
layouts: [{layout: 1d}]
parts: [1, 2]
roots: {count: 1}
figures: [{name: speed, title: 'Speed <b>$x_1$</b>', x: graph, y: harmonic_mean_TEPS}]
END
ok "a study runs" run_study study.yaml

# browse SCRIPT FILE: a script of Python drives a browser, which shows the file. The browser is told
# what to do through pipes, and ends when they are closed. Its sandbox refuses root; the shared memory
# of containers is often too small for it.
browse() {
    rm -rf to from profile
    mkfifo to from
    "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --remote-debugging-pipe 3<to 4>from \
        </dev/null >chromium.log 2>&1 &
    browser=$!
    timeout 120 "$PYTHON3" "$top_srcdir/tests/workflow/$1" "$2" to from
    browsed=$?
    [ "$browsed" -eq 0 ] || tail -n 5 chromium.log
    # Where nothing has opened the pipes, it still waits for them.
    kill "$browser" 2>/dev/null
    wait "$browser"
    return "$browsed"
}
ok "its report shows every result that is clicked, without errors" \
    browse click-report.py results/report.html

# The page of the study, which needs itables to be sorted.
if "$PYTHON3" -c 'import itables' 2>/dev/null; then
    ok "its page has no broken link or picture, fits small windows, and sorts" \
        browse look-at-page.py results/index.html
    # Ten thousand runs, half of them on more ranks than cores.
    mkdir many
    "$PYTHON3" - results/results.csv many/results.csv <<'END'
import sys
import pandas
row = pandas.read_csv(sys.argv[1]).iloc[:1]
table = pandas.concat([row] * 10000, ignore_index=True)
table["graph"] = [f"graph-{n % 500}" for n in range(10000)]
table["parts"] = [1 + n // 500 for n in range(10000)]
table["oversubscribed"] = table["parts"] > 10
table["harmonic_mean_TEPS"] *= table["parts"]
table.to_csv(sys.argv[2], index=False)
END
    cp results/gate.csv results/study.yaml many
    ok "a page of ten thousand runs is made" env PYTHONPATH="$top_srcdir/python" \
        "$PYTHON3" -m hopwave.page.index many
    ok "and sorts" browse look-at-page.py many/index.html
else
    skip "the page of the study sorts" "$PYTHON3 has no itables"
fi
done_testing
