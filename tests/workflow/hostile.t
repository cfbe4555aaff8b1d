#!/bin/sh
# Archives that mean harm, with manifests that hold: repeat and compare say so in one sentence,
# and open nothing outside.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
if ! "$PYTHON3" -c 'import rocrate, bagit' 2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has not the packages of workflow/envs/requirements.txt"
    exit 0
fi
cd "$work" || exit 99
cat >study.yaml <<'END'
graphs: [{ model: rmat, scales: [6] }]
layouts: [{ layout: 1d }]
parts: [1]
methods: [{ method: auto }]
roots: { count: 2 }
END
run_study study.yaml -- results/results.csv results/gate.csv >run.log 2>&1 ||
    sed 's/^/# /' run.log | tail -n 20
echo "the source" >source.tar.gz
"$PYTHON3" "$study" archive -o S --source source.tar.gz >archive.out 2>&1 || cat archive.out
mkfifo fifo
tree=data/results/trees/rmat-s6/1d-1/auto-k2-r1.h5

tamper() { "$PYTHON3" "$top_srcdir/tests/workflow/tamper.py" "$top_srcdir/workflow" "$@"; }
forged() { rm -rf F && cp -r S F; }
# refuses NAME PATTERN [COMMAND]: repeat (or another command on F) ends with 3 and that sentence.
refuses() {
    tamper bag F
    refused "$1" 3 "$2" "$PYTHON3" "$study" "${3:-repeat}" F ${4:+"$4"}
}
# row COLUMN VALUE: replaces a value of the tree's row of files.csv.
row() { tamper cell F/data/files.csv "${tree#data/}" "$1" "$2"; }

ok "an archive holds together" "$PYTHON3" "$study" repeat S

# ---- HDF5 files that lead elsewhere ----
for kind in external soft storage virtual claim filter; do
    forged && tamper table "$kind" "F/$tree" "$work/fifo"
    refuses "a table of searches elsewhere: $kind" "auto-k2-r1.h5: no file of Hopwave .*(link|other files|are stored|not known)"
done
forged && tamper member external "F/$tree" run "$work/fifo"
refuses "a group elsewhere" "auto-k2-r1.h5: no file of Hopwave .*/run: a link"
forged && tamper member external "F/$tree" parent "$work/fifo"
refuses "parents elsewhere" "auto-k2-r1.h5: no file of Hopwave .*/parent: a link"
forged && tamper member external F/data/results/checks/rmat-s6/1d-1/auto-k2-r1.h5 rules "$work/fifo"
refuses "verdicts elsewhere" "checks.*auto-k2-r1.h5: no file of Hopwave .*/rules: a link"

# ---- what is opened ----
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    mkdir outside && echo secret >outside/secret
    # opened ARCHIVE: files that repeat opens, or tries to, or that programs do which it starts.
    opened() {
        strace -f -qq -s 4096 -e trace=open,openat,openat2,creat,execve,execveat -o trace.out \
            "$PYTHON3" "$study" repeat "$1" >traced.out 2>&1
        echo "$?" >traced.rc
        sed -n 's/^[0-9]* *[a-z0-9]*(\(AT_FDCWD, \)\{0,1\}"\([^"]*\)".*/\2/p' trace.out | sort -u
    }
    own=$("$PYTHON3" -c 'import sys; print("|".join({*filter(None, sys.path), sys.prefix, sys.base_prefix}))')
    bin=$(cd "$top_builddir" && pwd) src=$(cd "$top_srcdir" && pwd)
    own="$own|$bin|$src|/usr|/bin|/lib|/lib64|/etc|/proc|/sys|/dev|/run|[^:]*/hopwave-repeat-[^/]*"
    # What Python, MPI and hwloc look for: a writable folder, a program on PATH, settings, a folder.
    own="$own|.*/uname|(.*/)?ucx[.]conf|${TMPDIR:-/tmp}/[a-z0-9_]{8}"
    # strange ARCHIVE: what is opened that is neither of the archive nor of the programs' own.
    strange() {
        opened "$1" | grep -v -E "^($own|$1|$work/$1)(/.*)?\$" |
            grep -v -x -F -e "$work" -e "${TMPDIR:-/tmp}" -e / -e . -e ..
    }
    is "repeat opens an archive and its own files alone" "$(strange S)" ""
    is "of one that is whole" "$(cat traced.rc)" 0
    for kind in external soft storage virtual; do
        forged && tamper table "$kind" "F/$tree" "$work/outside/secret" && tamper bag F
        is "and of one that leads elsewhere by $kind" "$(strange F)" ""
        is "which is refused" "$(cat traced.rc)" 3
    done
    forged && ln -s "$work/outside/secret" F/data/results/more.h5
    is "and of one with a link" "$(strange F)" ""
else
    skip "what repeat opens" "there is no strace, or it may not trace"
fi

# ---- tables ----
forged && row seconds 1e999
refuses "a number without end" "files.csv has '1e999' where a number belongs"
forged && row search_seconds fast
refuses "a time that is none" "files.csv has 'fast' where a number belongs"
refuses "for compare too" "files.csv has 'fast' where a number belongs" compare S
forged && row passed maybe
refuses "a verdict that is none" "is neither kept nor left out, or passed nothing"
forged && row kind toString
refuses "a kind that is none" "files.csv has a file of kind 'toString'"
forged && row inputs ""
refuses "a tree of nothing" "has 0 inputs"
forged && row file "$(printf 'results/\033[31m')"
refuses "a name that would colour the terminal" "files.csv names 'results/.x1b.31m', which lies outside"
forged && tail -n 1 S/data/files.csv >>F/data/files.csv
refuses "a file twice" "files.csv has 'results/.*' twice"
forged && sed -i '1s/,kept/,other/' F/data/files.csv
refuses "a column that is not there" "files.csv has no column kept"
forged && : >F/data/files.csv
refuses "an empty table" "not an archive of a study"
forged && head -c 3000 /dev/urandom >F/data/files.csv
refuses "noise for a table" "not an archive of a study"
forged && sed -i '2s/,[0-9]*,/,nobody,/' F/data/searches.csv
refuses "searches of no root" "searches.csv has 'nobody' where a number belongs" compare S

# ---- configurations ----
forged && echo '[1, 2]' >F/data/study.yaml
refuses "a configuration that is a list" "study.yaml is no configuration"
forged && rm F/data/study.yaml
refuses "none at all" "study.yaml: No such file"

# ---- tar files ----
for kind in record blank negative nul long under; do
    tamper hostile "$kind" H.tar
    timeout 60 "$PYTHON3" "$study" repeat H.tar >tar.out 2>&1
    rc=$?
    is "a tar file with a header that is none: $kind" "$(wc -l <tar.out) $((rc == 1 || rc == 3))" "1 1"
done
refused "a FIFO for an archive" 3 "fifo: not a file" "$PYTHON3" "$study" repeat fifo
refused "a FIFO for a study to compare" 3 "fifo: not a file" "$PYTHON3" "$study" compare S fifo
forged && tamper bag F && mkfifo F/data/more
timeout 60 "$PYTHON3" "$study" repeat F >found.out 2>&1
is "a FIFO in an archive" "$? $(grep -c '^digests: data/more: neither a file nor a folder' found.out)" "1 1"

# ---- outputs ----
ln -s fifo link && ln -s S folder
for output in fifo link /dev/null; do
    refused "no report replaces $output" 4 "$output: is no plain file" \
        "$PYTHON3" "$study" compare S S -o "$output" --force
    refused "nor does an archive" 4 "$output: is no plain file" \
        "$PYTHON3" "$study" archive -o "$output" --force --source source.tar.gz
done
refused "nor a link to a folder" 4 "folder: a link to a folder" \
    "$PYTHON3" "$study" archive -o folder --force --source source.tar.gz
name=$(printf 'A\377')
cp -r S "$name"
"$PYTHON3" "$study" compare "$name" S >named.out 2>&1
is "a name of no letters is compared" "$?" 0
done_testing
