#!/bin/sh
# Wrong command lines, those of wrong-lines.tsv: each answer is one line that says what is wrong and
# what to do.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

for made in "g.h5 --weights none" "other.h5 --seed 2"; do
    # shellcheck disable=SC2086 # words
    hopwave-generate -q --model rmat --scale 6 -o $made || exit 99
done
hopwave-partition -q g.h5 --layout 1d --parts 1 -o p1.h5 || exit 99
hopwave-partition -q g.h5 --layout 2d --grid 2x2 -o p4.h5 || exit 99
hopwave-traverse -q p1.h5 --roots 2 -o t.h5 || exit 99
hopwave-traverse -q p1.h5 --roots 2 --store none -o none.h5 || exit 99
printf '1 2\n2 3\n' >e.txt
printf '1 2 0.5\n2 3 1\n' >ew.txt
printf '1 2\n2 x\n' >bad.txt
printf '10 20\n20 30\n' >names.txt
hopwave-import -q names.txt -o names.h5 || exit 99
hopwave-partition -q names.h5 --layout 1d --parts 1 -o np.h5 || exit 99
head -c 2000 g.h5 >cut.h5
echo 'hello world' >text.h5
printf 'graphs: [{model: rmat, scales: [6]}]\nlayouts: [{layout: 3d}]\nparts: [1]\n' >bad.yaml
printf 'graphs: [{model: rmat, scale: 6}]\nlayouts: [{layout: 1d}]\nparts: [1]\n' >typo.yaml
: >empty.txt
mkdir folder

study=$(python_with snakemake,h5py,jsonschema)
tab=$(printf '\t')
lines=0
while IFS=$tab read -r status command wrong todo; do
    case $command in
    '' | [!h@]*) continue ;;
    @*) launched="$MPIEXEC -n ${command#@}" ;;
    hopwave-study*)
        launched="$study $top_builddir/$command"
        [ -n "$study" ] || continue
        ;;
    *) launched=$command ;;
    esac
    lines=$((lines + 1))
    # shellcheck disable=SC2086 # words
    timeout 60 $launched >out 2>err </dev/null
    got=$?
    grep '^hopwave' err >answer
    if [ "$got" -eq "$status" ] && [ "$(wc -l <answer)" -eq 1 ] && grep -q -E -e "$wrong" answer &&
        grep -q -E -e "$todo" answer; then
        verdict 0 "$command"
    else
        verdict 1 "$command"
        echo "# exit $got, expected $status; one line matching: $wrong; and: $todo"
        sed 's/^/# /' err | head -n 10
    fi
done <"$top_srcdir/tests/pipeline/wrong-lines.tsv"
ok "there are sixty of them at least" test "$lines" -ge 60
ok "no output is left" sh -c '! ls x x.h5 x.tar .x.h5* 2>/dev/null'
done_testing
