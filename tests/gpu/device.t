#!/bin/sh
# --device cuda: a sentence where there is no device, the CPU's levels where there is
# one. tests/gpu/traverse.sh tries every method at length.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --edge-factor 6 -o g.h5
hopwave-traverse -q g.h5 --layout 1d --device cuda --roots 4 -o gpu.h5 2>err
status=$?
case $status in
4)
    if grep -q 'this build has no CUDA' err; then
        refused "a build without CUDA says so of the method" 4 \
            'method merge: this build has no CUDA' \
            hopwave-traverse -q g.h5 --layout 1d --device cuda --method merge -o gpu.h5
        ok "before any file is left" test ! -e gpu.h5
        skip "searches on a GPU" "built without CUDA"
        done_testing
        exit
    fi
    ok "no device is said so" grep -q 'there is no CUDA device' err
    ok "before any file is left" test ! -e gpu.h5
    refused "nor is a graph laid out there" 4 'there is no CUDA device' \
        hopwave-partition -q g.h5 --layout 1d --parts 2 --device cuda -o p.h5
    hopwave-partition -q g.h5 --layout 1d --parts 2 -o two.h5
    refused "nor is a partition of two parts searched" 4 'there is no CUDA device' \
        "$MPIEXEC" -n 2 hopwave-traverse -q two.h5 --device cuda -o gpu.h5
    echo 512 >beyond
    refused "what is wrong anywhere is said first: roots" 3 'root 512 is out of range' \
        hopwave-traverse -q g.h5 --layout 1d --device cuda --root-list beyond -o gpu.h5
    refused "and options of another method" 3 '--coupling is for method merge' \
        hopwave-traverse -q g.h5 --layout 1d --device cuda --method scan2d --coupling gather -o gpu.h5
    ok "estimates need none" hopwave-traverse -q g.h5 --layout 1d --device cuda --estimate
    is "the long test says why it skips" "$(sh "$top_srcdir/tests/gpu/traverse.sh" | grep -c SKIP)" 1
    is "and that of paths" "$(sh "$top_srcdir/tests/gpu/paths.sh" | grep -c SKIP)" 1
    skip "searches on a GPU" "there is no GPU here"
    ;;
*)
    is "searches on a GPU" "$status" 0
    hopwave-traverse -q g.h5 --layout 1d --roots 4 -o cpu.h5
    ok "validate, with the CPU's levels" hopwave-validate -q gpu.h5 --graph g.h5 --against cpu.h5
    # Without --order, vertices keep their numbers where degrees hardly vary.
    hopwave-generate -q --model erdos-renyi --scale 10 --edges 4096 -o random.h5
    hopwave-traverse -q random.h5 --layout 1d --roots 4 -o random-cpu.h5
    for order in "" none hash degree; do
        ok "a random graph, order ${order:-not said}" hopwave-traverse -q --force random.h5 \
            --layout 1d --device cuda --method fused ${order:+--order $order} --roots 4 -o gpu.h5
        ok "validates, with the CPU's levels" hopwave-validate -q --force gpu.h5 --graph random.h5 \
            --against random-cpu.h5
        is "and says the order" "$(hopwave-info gpu.h5 | sed -n 's/^ *order: //p')" "${order:-none}"
    done
    # A large level of a random graph queues nothing. Where devices are emulated, it is large enough
    # for its edges to go by bins: with more edges than bins have room for; with lists that are read
    # inline; with lists that are not.
    for graph in "15 16 5" "17 3 1" "17 4 1"; do
        scale=${graph%% *} weight=${graph##* } factor=${graph#* }
        factor=${factor% *}
        hopwave-generate -q --force --model erdos-renyi --scale "$scale" --edge-factor "$factor" -o larger.h5
        ok "a random graph of $factor 2^$scale edges" hopwave-traverse -q --force larger.h5 \
            --layout 1d --device cuda --method fused --pull-weight "$weight" --roots 2 --check -o gpu.h5
        ok "has a level without a queue" sh -c "tr '\0' '\n' <gpu.h5 | grep -aq '^push only\$'"
    done
    # In 144 KiB (where devices are emulated) the bitmap of so many vertices does not fit next to the rest.
    hopwave-generate -q --force --model erdos-renyi --scale 20 --edge-factor 4 -o larger.h5
    ok "a random graph of 2^20 vertices" env HW_EMULATED_SHARED=144 hopwave-traverse -q --force \
        larger.h5 --layout 1d --device cuda --method fused --roots 1 --check -o gpu.h5
    # Levels by bins are queued afterwards where the next one is not pulled: here never.
    for factor in 3 16; do
        hopwave-generate -q --force --model erdos-renyi --scale 16 --edge-factor "$factor" -o larger.h5
        ok "top-down alone, edge factor $factor" hopwave-traverse -q --force larger.h5 --layout 1d \
            --device cuda --method fused --direction top-down --roots 2 --check -o gpu.h5
        ok "which pulls nothing" sh -c "! tr '\0' '\n' <gpu.h5 | grep -aq '^pull$'"
    done
    ok "and has levels by bins" sh -c "tr '\0' '\n' <gpu.h5 | grep -aq '^push only$'"
    # Where devices are emulated, one whose blocks have no room for tiles and bins: 64 KiB.
    ok "or does without bins" env HW_EMULATED_SHARED=64 hopwave-traverse -q --force larger.h5 \
        --layout 1d --device cuda --method fused --roots 2 --check -o gpu.h5
    # A kernel of graphs without hubs. Bottom-up few vertices are visited before the first level, which
    # tests a summary of the bitmap first where that does not fit in the shared memory of a block: in
    # 72 KiB (where devices are emulated) there is room for groups of 32 vertices.
    hopwave-generate -q --force --model rmat --abcd .45,.15,.15,.25 --scale 19 --edge-factor 8 -o flat.h5
    hopwave-generate -q --force --model rmat --abcd .45,.15,.15,.25 --scale 14 --directed -o flat-directed.h5
    ok "R-MAT without hubs, bottom-up" env HW_EMULATED_SHARED=72 hopwave-traverse -q --force flat.h5 \
        --layout 1d --device cuda --method fused --direction bottom-up --roots 1 --check -o gpu.h5
    for graph in flat flat-directed; do
        ok "$graph, any direction" hopwave-traverse -q --force $graph.h5 --layout 1d --device cuda \
            --method fused --roots 2 --check -o gpu.h5
    done
    # Where the bitmap does not fit its levels go by bins, but for edges to vertices of one edge.
    hopwave-generate -q --force --model rmat --abcd .45,.15,.15,.25 --scale 21 --edge-factor 3 -o flat.h5
    ok "top-down alone" hopwave-traverse -q --force flat.h5 --layout 1d --device cuda \
        --method fused --direction top-down --roots 1 --check -o gpu.h5
    ok "it has levels by bins" sh -c "tr '\0' '\n' <gpu.h5 | grep -aq '^push only$'"
    ok "R-MAT graphs are ordered by degree" hopwave-traverse -q --force g.h5 --layout 1d \
        --device cuda --method fused --roots 4 -o gpu.h5
    is "which the file says" "$(hopwave-info gpu.h5 | sed -n 's/^ *order: //p')" degree
    # The steps name the direction of each level.
    hopwave-generate -q --model rmat --scale 12 --edge-factor 64 -o dense.h5
    for weight in 1 1000; do
        hopwave-traverse -q --force dense.h5 --layout 1d --device cuda --method fused --roots 4 \
            --pull-weight $weight --check -o gpu.h5
        echo "$weight $(tr '\0' '\n' <gpu.h5 | grep -ac '^bottom-up$')"
    done >pulled
    ok "levels are pulled" grep -Eq '^1 [1-9]' pulled
    ok "but none where that is said to cost a thousand times as much" grep -q '^1000 0$' pulled
    hopwave-generate -q --model rmat --scale 9 --edge-factor 6 --weights uniform -o w.h5
    ok "shortest paths too" hopwave-traverse -q w.h5 --layout 1d --algorithm sssp --device cuda \
        --roots 4 --check -o paths.h5
    # Graphs without hubs whose vertices exceed the second-level cache: the nearest vertices push
    # their heavy edges before the first pull, so that it ends earlier in each list.
    scale=22
    if is_emulated; then
        scale=12
    fi
    for weights in uniform integer:0:9; do
        hopwave-generate -q --force --model rmat --abcd .45,.15,.15,.25 --scale $scale \
            --edge-factor 16 --weights $weights -o flat.h5
        ok "graphs without hubs, weights $weights" hopwave-traverse -q --force flat.h5 --layout 1d \
            --algorithm sssp --method delta --device cuda --roots 8 --check -o flat-$weights.h5
    done
    tr '\0' '\n' <flat-uniform.h5 | grep -a '^long\.pu' >long
    ok "heavy edges of the nearest vertices are pushed" grep -q push long
    ok "those of the others are pulled" grep -q pull long
    # Blocks that are late decide by the same counters: searches that disturb each other, of many steps.
    hopwave-generate -q --model erdos-renyi --scale 12 --edge-factor 8 --weights uniform -o steps.h5
    echo 2463 >late-root
    : >late
    for _ in 1 2 3 4; do
        for k in 1 2 3; do
            hopwave-traverse -q --force steps.h5 --layout 1d --algorithm sssp --method delta --device cuda \
                --root-list late-root --ids --check -o late$k.h5 2>>late &
        done
        wait
    done
    is "blocks that are late decide as the others do" "$(cat late)" ""
    ;;
esac
done_testing
