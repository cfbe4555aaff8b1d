#!/bin/sh
# A study on a file system that fails late, as NFS does: no file whose bytes it has lost gets its name,
# and the next run ends with files that verify.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
if [ -n "$HW_SANITIZER" ]; then
    echo "1..0 # SKIP sanitizers must come before anything preloaded"
    exit 0
fi
cd "$work" || exit 99
cat >study.yaml <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
parts: [1, 2]
roots: {count: 2}
END

# Each program on a disk that fails while the file `broken` is there: how, for which program.
mkdir bin
for program in generate import partition traverse validate info; do
    cat >bin/hopwave-$program <<END
#!/bin/sh
if [ -e "$work/broken" ] && read -r program call at <"$work/broken" && [ "\$program" = $program ]; then
    export HW_BROKEN_FOLDER="$(pwd -P)/results" HW_BROKEN_CALL=\$call HW_BROKEN_AT=\$at HW_BROKEN_ERROR=EDQUOT
    export LD_PRELOAD="$top_builddir/tests/faults/libbroken-disk.so\${LD_PRELOAD:+:\$LD_PRELOAD}"
fi
exec "$top_builddir/hopwave-$program" "\$@"
END
    chmod +x "bin/hopwave-$program"
done

# fails PROGRAM CALL AT FOLDER: the study ends with a failure and no such file.
fails() {
    echo "$1 $2 $3" >broken
    run_study study.yaml --bin bin -- results/results.csv results/gate.csv >run.log 2>&1
    rc=$?
    ok "$1 on a disk where $2 fails ends the study" test "$rc" -ne 0
    ok "which says so" grep -q "^ *hopwave-$1: .*[Qq]uota" run.log
    is "and no file has its name" "$(find "results/$4" -name '*.h5' 2>/dev/null)" ""
    rm broken
}

fails generate close 1 graphs
fails partition sync 2 partitions
fails traverse close 1 trees
fails validate sync 3 checks
run_study study.yaml --bin bin -- results/results.csv results/gate.csv >run.log 2>&1
is "the next run ends well" "$?" 0
for file in $(find results -name '*.h5' | sort); do
    ok "$file verifies" hopwave-info --quiet "$file"
done
is "all files are there, and nothing else" "$(find results -name '*.h5*' -o -name '*tmp-*' | wc -l)" 7
is "all trees are right" "$(cut -d, -f 2 results/gate.csv | sort -u | tr "\n" " ")" "1 passed "
done_testing
