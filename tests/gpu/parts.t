#!/bin/sh
# Searches on several parts, one rank a GPU (ranks share them where there are fewer): the
# CPU's levels over each transport, on graphs that leave parts nearly empty too; a rank
# that is stopped ends the run.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99

hopwave-generate -q --model rmat --scale 9 --recipe -o recipe.h5
ranks 2 hopwave-traverse -q recipe.h5 --layout 1d --parts 2 --device cuda --roots 2 --store none \
    -o first.h5 2>err
case $? in
0) ok "two parts are searched" true ;;
3)
    ok "a build without CUDA names those methods that do: none" grep -q 'those that do: none' err
    skip "searches on several parts" "built without CUDA"
    done_testing
    exit 0
    ;;
*)
    ok "no device is said so" grep -q 'there is no CUDA device' err
    skip "searches on several parts" "there is no GPU here"
    done_testing
    exit 0
    ;;
esac

# compare NAME GRAPH PARTS OPTIONS...: the levels of the CPU.
compare() {
    name=$1 graph=$2 parts=$3
    shift 3
    hopwave-traverse -q --force "$graph" --layout 1d --roots 6 -o cpu.h5
    ok "$name on $parts parts $*" ranks "$parts" hopwave-traverse -q --force "$graph" \
        --layout 1d --parts "$parts" --device cuda --roots 6 "$@" -o gpu.h5
    ok "validates, with the CPU's levels" hopwave-validate -q --force gpu.h5 --graph "$graph" \
        --against cpu.h5
}
hopwave-generate -q --model rmat --scale 10 -o rmat.h5
hopwave-generate -q --model rmat --scale 10 --directed -o directed.h5
hopwave-generate -q --model rmat --scale 3 -o tiny.h5
compare rmat rmat.h5 2
compare rmat rmat.h5 3 --transport mpi
compare rmat rmat.h5 2 --direction bottom-up --order none
compare rmat rmat.h5 2 --canonical-parents --order hash
compare directed directed.h5 2
compare tiny tiny.h5 4
compare recipe recipe.h5 4
ranks 2 hopwave-partition -q rmat.h5 --layout 1d --parts 2 -o two.h5
hopwave-traverse -q --force rmat.h5 --layout 1d --roots 6 -o cpu.h5
ok "a partition of two parts" ranks 2 hopwave-traverse -q --force two.h5 --device cuda --roots 6 \
    -o gpu.h5
ok "validates, with the CPU's levels" hopwave-validate -q --force gpu.h5 --graph rmat.h5 \
    --against cpu.h5
refused "peer is refused where ranks see one GPU each, or works" 4 'peer: .*--gpu-bind=none' \
    "$MPIEXEC" -n 2 sh -c 'CUDA_VISIBLE_DEVICES=${PMI_RANK:-0} exec "$0" "$@"' hopwave-traverse \
    recipe.h5 --layout 1d --parts 2 --device cuda --transport peer -o hidden.h5

hopwave-generate -q --model rmat --scale 14 -o large.h5
timeout -s KILL 60 "$MPIEXEC" -n 2 hopwave-traverse large.h5 --layout 1d --parts 2 --device cuda \
    --roots 15000 --store none -o lost.h5 2>err &
run=$!
sleep 4
stopped=$(pgrep -f "hopwave-traverse large.h5" | tail -n 1)
kill -STOP "$stopped"
before=$(date +%s)
wait "$run"
status=$?
ok "a rank that is stopped ends the run" test "$status" -ne 0 -a "$status" -ne 137
ok "within ten seconds" test $(($(date +%s) - before)) -le 10
is "with a line that names it" "$(grep -c 'has not answered' err)" 1
ok "and no file" test ! -e lost.h5
done_testing
