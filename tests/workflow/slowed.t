#!/bin/sh
# Two runs of one study, and one whose searches really take 1.3 times as long: the first two
# differ by noise, and the third is found.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
if ! "$PYTHON3" -c 'import scipy' 2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has not the packages of workflow/envs/requirements.txt"
    exit 0
fi
cd "$work" || exit 99
cat >study.yaml <<'END'
title: timed
graphs: [{model: rmat, scales: [12, 14]}]
layouts: [{layout: 1d}, {layout: degree-separated}]
parts: [1]
methods: [{method: auto}]
roots: {count: 16}
repeats: 5
store: none
END
# The same programs, but for searches that wait.
mkdir slow && ln -s "$top_builddir"/hopwave-[a-s]* "$top_builddir"/hopwave-validate slow &&
    ln -s "$top_builddir/tests/pmpi/slowed-traverse" slow/hopwave-traverse

# timed FOLDER [OPTION...]: the study, on graphs and partitions that are there.
timed() {
    timed_folder=$1
    shift
    rm -rf "$timed_folder" && mkdir "$timed_folder"
    [ ! -d a/results ] || [ "$timed_folder" = a ] || {
        mkdir "$timed_folder/results" &&
            cp -rp a/results/graphs a/results/partitions "$timed_folder/results"
    }
    run_study study.yaml --directory "$timed_folder" "$@" -- results/gate.csv >"$timed_folder.log" 2>&1
}
# compared A B: the status and the verdict on speed.
compared() {
    "$PYTHON3" "$study" compare "$1" "$2" --force -o "$1-$2.html" >compare.out 2>&1
    echo "$? $(sed -n 's/^speed: \([a-zA-Z ]*\).*/\1/p' compare.out)"
}

# timed_slowly: the study of the searches that wait, in s.
# shellcheck disable=SC2317
timed_slowly() {
    HW_SLOW=1.3 timed s --bin slow
}

# What else runs on the machine may change from one study to the next: then the two differ
# indeed, and are timed again.
for try in 1 2 3; do
    ok "the study is timed" timed a
    ok "and once more" timed b
    equal=$(compared a b)
    cp compare.out equal.out
    ok "and with slower searches" timed_slowly
    slower=$(compared a s)
    [ "$equal, $slower" != "0 noise, 1 DIFFERENT" ] || break
    sed 's/^/# /' equal.out compare.out
done
ok "two runs have the same results" grep -q '^results: the same' equal.out
ok "and slower searches too" grep -q '^results: the same' compare.out
# On a machine that is never quiet equal runs may differ indeed, nothing can be said of them, or all
# rows are too noisy to show that searches are slower: three times in a row, each time reported by
# the program. Nothing else is skipped. What makes which verdict is tested by compare.t, with times
# that are written into files.
case "$equal, $slower$(sed -n 's/^note: 4 rows are too noisy to tell .*/, too noisy/p' compare.out)" in
"1 DIFFERENT"* | "0 not known"* | "0 noise, 0 noise, too noisy" | "0 noise, 0 not known, too noisy")
    skip "two runs differ by noise" "the machine is too restless: $equal"
    skip "searches that take 1.3 times as long are found" "the machine is too restless: $slower"
    skip "as slower" "the machine is too restless: $slower"
    ;;
*)
    is "two runs differ by noise (try $try)" "$equal" "0 noise"
    is "searches that take 1.3 times as long are found" "$slower" "1 DIFFERENT"
    ok "as slower" grep -q 'DIFFERENT, B is slower' compare.out
    ;;
esac
grep -h '^speed' equal.out compare.out | sed 's/^/# /'
done_testing
