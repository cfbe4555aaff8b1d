#!/bin/sh
# The report of a study in a browser, where everything is clicked. What breaks there is not seen
# in the file: a page goes blank when it is clicked.
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
title: Clicked
graphs: [{model: rmat, scales: [5]}, {model: erdos-renyi, scales: [5], edge_factor: 4}]
layouts: [{layout: 1d}]
parts: [1]
roots: {count: 1}
figures: [{name: speed, title: Speed, x: graph, y: harmonic_mean_TEPS}]
END
ok "a study runs" run_study study.yaml

# The browser is told what to do through pipes, and ends when they are closed. Its sandbox
# refuses root; the shared memory of containers is often too small for it.
mkfifo to from
"$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$work/profile" --remote-debugging-pipe 3<to 4>from \
    </dev/null >chromium.log 2>&1 &
browser=$!
ok "its report shows every result that is clicked, without errors" \
    timeout 120 "$PYTHON3" "$top_srcdir/tests/workflow/click-report.py" results/report.html to from
if grep -q "browser has ended" tap.out; then tail -n 5 chromium.log | sed 's/^/# /'; fi
# Where nothing has opened the pipes, it still waits for them.
kill "$browser" 2>/dev/null
wait "$browser"
done_testing
