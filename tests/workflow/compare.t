#!/bin/sh
# Comparisons of two studies: the same twice, one that is slower, one with other results.
# The times are made up, so that it is known what must be found.
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
graphs: [{ model: rmat, scales: [5, 6] }]
layouts: [{ layout: 1d }, { layout: 2d }]
parts: [1]
roots: { count: 4 }
repeats: 3
END
run_study study.yaml -- results/results.csv results/gate.csv >run.log 2>&1 ||
    sed 's/^/# /' run.log | tail -n 20
for name in a b slow one; do mkdir "$name" && cp -r results "$name"; done
retime() { "$PYTHON3" "$top_srcdir/tests/workflow/retime.py" "$@"; }
retime a 1 1 && retime b 1 2 && retime slow 1.3 3 && retime one 1.3 4:rmat-s6/2d

# compared A B: the status and the last words of a comparison.
compared() {
    "$PYTHON3" "$study" compare "$1" "$2" --force -o "$(basename "$1")-$(basename "$2").html" >compare.out 2>&1
    echo "$? $(sed -n 's/^speed: \([a-zA-Z]*\).*/\1/p' compare.out)"
}
is "two runs of a study differ by noise" "$(compared a b)" "0 noise"
ok "and have the same results" grep -q '^results: the same (4 equal)' compare.out
is "a search 1.3 times slower is found" "$(compared a slow)" "1 DIFFERENT"
ok "with the right ratio" grep -q 'B is slower.*B takes 1\.[23][0-9]* times as long as A' compare.out
is "and one faster" "$(compared slow a)" "1 DIFFERENT"
ok "as such" grep -q 'B is faster' compare.out
is "one job that is slower is found" "$(compared a one)" "1 DIFFERENT"
is "and named" "$(grep -c ' slower$' compare.out) $(grep 'slower$' compare.out | grep -c '2d-1x1')" "1 1"
ok "the report is one page that needs nothing else" sh -c \
    'grep -q "<svg" a-slow.html && ! grep -q -E "(src|href)=.http" a-slow.html'

cp -r a written && (cd written && "$PYTHON3" "$study" compare ../a ../b) >quiet.out 2>&1
is "without -o only the terminal hears of it" \
    "$? $(grep -c '^report:' quiet.out) $(find written -name 'compare*')" "0 0 "

# ---- archives, and results that differ ----
echo source >source.tar.gz
"$PYTHON3" "$study" archive -o A.tar --directory a --source source.tar.gz >archive.out 2>&1
is "an archive is compared as its study" "$(compared A.tar b)" "0 noise"
"$PYTHON3" "$study" archive -o L.tar --directory slow --without-large --source source.tar.gz >>archive.out 2>&1
is "and one without trees" "$(compared A.tar L.tar)" "1 DIFFERENT"
"$PYTHON3" - b/results/trees/rmat-s5/1d-1/auto-k4-r1.h5 <<'END'
import sys, h5py, numpy
h5py.File(sys.argv[1], "r+").attrs.modify("digest", numpy.bytes_("xxh3-128:" + "0" * 32))
END
is "other results are reported" "$(compared a b) $(grep -c 'rmat-s5 .* different ' compare.out)" "1 noise 1"

# ---- refused ----
refused "a report that exists stays" 2 "a-b.html: exists already" "$PYTHON3" "$study" compare a b -o a-b.html
mkdir empty
refused "no study" 3 "empty: not an archive" "$PYTHON3" "$study" compare a empty -o e.html
rm -r one/results/trees/rmat-s5 && mkdir other && cp -r results other && rm -r other/results/trees/rmat-s6
refused "nothing in common" 3 "no search of the same graph" "$PYTHON3" "$study" compare one other -o e.html
head -c 90000 A.tar >cut.tar
refused "a damaged archive" 1 "damaged" "$PYTHON3" "$study" compare cut.tar a -o e.html
done_testing
