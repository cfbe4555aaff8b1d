#!/bin/sh
# The options of method adaptive: what is refused, on any machine; what they change is in
# tests/gpu/adaptive.sh, for machines with a GPU.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99

hopwave-generate -q --model rmat --scale 6 -o g.h5
search="hopwave-traverse -q g.h5 --layout 1d -o t.h5"
refused "a queue of no known way" 2 "--queue: .*scan" $search --queue bfs
refused "a way that stands alone, among others" 2 "strided stands alone" \
    $search --queue scan-free,strided
refused "auto among others" 2 "auto stands alone" $search --queue auto,none
refused "an empty way" 2 "--queue" $search --queue scan-free,
refused "a balance of no known kind" 2 "--balance" $search --balance block
refused "a balance where degrees deal" 2 "degree-classes deals by degree" \
    $search --queue degree-classes --balance warp
refused "a switch of no known position" 2 "--async-bottom-up" $search --async-bottom-up maybe
refused "alpha of nothing" 2 "above 0" $search --alpha 0
refused "alpha of more than all" 2 "--alpha" $search --alpha 1.5
refused "a profile without steps" 2 "no-steps leaves out" $search --degree-profile --no-steps
for option in "--queue none" "--balance warp" "--async-bottom-up off" "--alpha 0.2" \
    "--degree-profile"; do
    refused "method grid has no ${option% *}" 3 "is for method adaptive, and the method is grid" \
        $search $option
done
refused "shortest paths have none" 3 "is for method adaptive|no weights" $search --algorithm sssp \
    --queue none
refused "CPUs have no method adaptive" 3 "those that do: .*grid" $search --method adaptive
hopwave-traverse -q g.h5 --layout 1d --device cuda --method adaptive -o t.h5 2>err
case $? in
4)
    ok "no device or no CUDA is said so" grep -Eq 'there is no CUDA device|this build has no CUDA' err
    is "the long test says why it skips" "$(sh "$top_srcdir/tests/gpu/adaptive.sh" | grep -c SKIP)" 1
    ;;
*)
    ok "searches" hopwave-validate -q t.h5 --graph g.h5
    ;;
esac
done_testing
