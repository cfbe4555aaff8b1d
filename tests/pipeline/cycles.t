#!/bin/sh
# Negative cycles among weights that round: every cycle that is given as an answer
# is one of the graph, of the weight stated, in every layout.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
t=$top_builddir/hopwave-traverse
v=$top_builddir/hopwave-validate

# Differences of potentials: every cycle weighs about nothing, some a little less.
awk 'function draw(n) { state = (state * 1103515245 + 12345) % 2147483648; return int(state / 65536) % n }
    BEGIN {
        state = 7
        for (u = 0; u < 300; u++) potential[u] = draw(40) - 20
        for (e = 0; e < 1500; e++) {
            u = draw(300); w = draw(300)
            printf "%d %d %.1f\n", u, w, (potential[u] - potential[w]) / 10
        }
    }' >potentials.el
"$top_builddir/hopwave-import" potentials.el -o potentials.h5 --quiet

for layout in "1d 1" "1d 3" "2d 4" "degree-separated 2"; do
    # shellcheck disable=SC2086
    set -- $layout
    ok "$layout: searches end" ranks "$2" "$t" potentials.h5 --layout "$1" --algorithm sssp \
        --method bellman-ford --roots 8 --threads 1 -o "$1-$2.h5" --quiet
    ok "$layout: with trees or cycles that are right" \
        "$v" "$1-$2.h5" --graph potentials.h5 --reference --quiet
done
"$top_builddir/hopwave-info" 1d-3.h5 >info
ok "some are cycles" grep -q cycle info
done_testing
