#!/bin/sh
# A study killed at random moments (HW_KILLS of them, 2 unless set) and resumed each
# time ends with the digests of one that was left alone; no file is made twice, and no
# search that was finished runs again.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

cat >study.yaml <<'END'
title: killed
graphs:
  - {model: rmat, scales: [6]}
  - {name: long, model: rmat, scales: [12], weights: uniform, parts: [2], roots: {count: 500}}
layouts: [{layout: 1d}]
methods: [{method: auto}, {algorithm: sssp, method: auto, graphs: [long]}]
parts: [1, 2]
roots: {count: 8}
END
# run_in FOLDER [OPTION...]: the study up to its gate.
run_in() {
    folder=$1
    shift
    run_study study.yaml --directory "$folder" "$@" -- results/gate.csv
}
# digests FOLDER: the files of a study and what defines each; nothing where one has no digest.
digests() {
    find "$1/results" -name '*.h5' >names && "$PYTHON3" -c 'import h5py, os, sys
for path in sorted(sys.stdin.read().split()):
    print(os.path.relpath(path, sys.argv[1]), h5py.File(path).attrs["digest"])' "$1" \
        <names >digests.out && cat digests.out
}

mkdir alone killed
run_in alone >alone.log 2>&1
is "the study runs when it is left alone" "$?" 0
files=$(find alone/results -name '*.h5' | wc -l)
seed=${HW_SEED:-$(date +%s)}
echo "# HW_SEED=$seed HW_KILLS=${HW_KILLS:-2}"
"$PYTHON3" "$top_srcdir/tests/workflow/kill-study.py" "$seed" "${HW_KILLS:-2}" "$files" killed \
    "$PYTHON3" "$study" run --config study.yaml --directory killed --cores 2 -- \
    results/gate.csv >lost 2>moments
is "it ends when it is not killed" "$?" 0
cat moments
same "with the same digests" "$(digests killed)" "$(digests alone)"
is "no file was made twice and no finished search again" "$(cat lost)" ""
is "nothing half-made is left" "$(find killed/results -name '*.partial*' -o -name '.*')" ""

# ---- two at a time, and a request to end ----
mkdir bin
for program in generate import partition validate; do
    ln -s "$top_builddir/hopwave-$program" bin/
done
# Plans ask the program for its methods; searches do not end.
cat >bin/hopwave-traverse <<END
#!/bin/sh
case " \$* " in
*" --list-methods=json "*) exec "$top_builddir/hopwave-traverse" "\$@" ;;
esac
sleep 100
END
chmod +x bin/hopwave-traverse
rm -r killed/results/trees killed/results/checks killed/results/logs killed/results/gate.csv
# Its own process, to be told to end.
# shellcheck disable=SC2016
setsid sh -c 'echo $$ >pid; exec "$@"' sh "$PYTHON3" "$study" run --cores 2 --bin bin \
    --config study.yaml --directory killed -- results/gate.csv >ended.log 2>&1 </dev/null &
running=$!
sed 's/^title:.*/title: another/' study.yaml >other.yaml
for try in $(seq 500); do
    [ -d killed/results/logs/traverse ] && [ -s pid ] && break
    sleep 0.1
done
refused "a second run beside the first (seen at look $try)" 4 \
    "another run of the study is at work" \
    "$PYTHON3" "$study" run --config other.yaml --directory killed --cores 2
ok "which leaves the configuration of the first" cmp study.yaml killed/results/study.yaml
kill -TERM "$(cat pid)"
wait "$running"
ok "a study that is told to end does, with a failure" test "$?" -ne 0
# They are sent SIGTERM, and take a moment.
for _ in $(seq 100); do
    left=$(grep -l -a -F "HOPWAVE_RUN=$work/killed" /proc/[0-9]*/environ 2>/dev/null)
    [ -n "$left" ] || break
    sleep 0.1
done
is "and its jobs with it" "$left" ""
done_testing
