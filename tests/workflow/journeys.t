#!/bin/sh
# The journeys of doc/tutorial: what a reader types works, and prints what the page says.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1 PYTHONPATH=$top_srcdir/python PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS PYTHONPATH PYTHONDONTWRITEBYTECODE

# What a reader has installed.
mkdir bin
for program in "$top_builddir"/hopwave-*; do
    case ${program##*/} in
    *.* | hopwave-study | *bundle*) ;;
    *) ln -s "$program" bin ;;
    esac
done
cp "$top_builddir/hopwave" bin
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$PYTHON3" "$study" >bin/hopwave-study
printf '#!/bin/sh\nexec "%s" "$@"\n' "$MPIEXEC" >bin/mpiexec
chmod +x bin/hopwave-study bin/mpiexec
PATH=$work/bin:$PATH

for page in student engineer researcher; do
    mkdir "$page"
    (cd "$page" && "$PYTHON3" "$top_srcdir/tests/workflow/run-page.py" \
        "$top_srcdir/doc/tutorial/$page.md") >page.out 2>&1
    while IFS= read -r line; do
        case $line in
        "ok - "*) verdict 0 "${line#ok - }" ;;
        "not ok - "*) verdict 1 "${line#not ok - }" ;;
        *) echo "$line" ;;
        esac
    done <page.out
    ok "$page: blocks were run" grep -q '^ok' page.out
done
done_testing
