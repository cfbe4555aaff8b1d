#!/bin/sh
# --estimate=RANKS: one rank answers for many, before anything runs.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99

# memory COMMAND...: the line of an estimate that says it; nothing where the command fails.
memory() {
    "$@" >estimate && sed -n 's/^memory_per_rank: //p' estimate
}

ok "a recipe" hopwave-generate --model rmat --scale 14 --recipe --digest -o g.h5 -q
ok "a partition" hopwave-partition g.h5 --layout 2d --grid 2x2 -o p.h5 -q
ok "trees" ranks 4 hopwave-traverse p.h5 --roots 2 -o t.h5 -q
ok "an estimate is three lines" test "$(hopwave-partition g.h5 --layout 1d --parts 8 \
    --estimate=4 | sed 's/: [0-9.e+-]*$//' | xargs)" = "seconds memory_per_rank disk"
for what in "hopwave-generate --model rmat --scale 14" \
    "hopwave-partition g.h5 --layout 2d --grid 2x2" "hopwave-traverse p.h5"; do
    # shellcheck disable=SC2086
    same "one rank estimates for four: $what" "$(memory $what --threads 1 --estimate=4)" \
        "$(memory ranks 4 $what --threads 1 --estimate)"
done
ok "validation too" test "$(memory hopwave-validate t.h5 --graph g.h5 --estimate=4)" -gt 0
refused "parts of another number" 3 "has 4 parts, but there are 3 ranks: run .mpiexec -n 4 hopwave-traverse" \
    hopwave-traverse p.h5 --estimate=3
refused "for many, asked by many" 2 "estimate=3 is asked by 2 ranks; ask by one" \
    "$MPIEXEC" -n 2 hopwave-traverse p.h5 --estimate=3
refused "no rank" 2 "estimate: 0 is outside 1 to" hopwave-traverse p.h5 --estimate=0
ok "nothing was made" test "$(echo ./*.h5)" = "./g.h5 ./p.h5 ./t.h5"
done_testing
