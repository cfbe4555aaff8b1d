#!/bin/sh
# An archive of a study: whole for other tools, found out where a byte is changed, and
# repeated on a machine that has never seen the study.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
if ! "$PYTHON3" -c 'import rocrate, bagit' 2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has not the packages of workflow/envs/requirements.txt"
    exit 0
fi
mkdir "$work/home" "$work/elsewhere" && cd "$work/home" &&
    cp -r "$top_srcdir/.test/data" . && chmod -R u+w data || exit 99

# A study of seconds, with an imported graph and without most plots.
cat >study.yaml <<'END'
title: Test archive
graphs:
  - { model: rmat, scales: [6] }
  - { name: ring, file: data/ring.txt, undirected: true, parts: [1] }
  - { name: nowhere, file: data/nowhere.txt, optional: true }
layouts: [{ layout: 1d }, { layout: 2d }]
parts: [1, 2]
methods: [{ method: auto }, { method: grid, direction: top-down }]
roots: { count: 2 }
END
run_study study.yaml -- results/results.csv results/gate.csv >run.log 2>&1 ||
    sed 's/^/# /' run.log | tail -n 20

archive() { "$PYTHON3" "$study" archive "$@"; }
repeat() { "$PYTHON3" "$study" repeat "$@"; }
tamper() { "$PYTHON3" "$top_srcdir/tests/workflow/tamper.py" "$top_srcdir/workflow" "$@"; }
# What a build folder packs is tried once, below.
source=$work/source.tar.gz
echo "the source" >"$source"

# ---- made ----
ok "a study is archived as a tar file" archive -o S.tar --source "$source"
digest=$(sed -n 's/^digest:  //p' "$work/tap.out")
ok "as a compressed one" archive -o S.tar.gz --source "$source"
ok "as one of xz" archive -o S.tar.xz --source "$source"
ok "as a folder, by programs that are not on PATH" \
    env PATH="${PATH#"$top_builddir:"}" "$PYTHON3" "$study" archive -o S --source "$source"
ok "with all that can be made again" archive -o P --source "$source" --partitions --edges --narrow
refused "no processors" 2 "--cores: 0 is no number" "$PYTHON3" "$study" archive -o T.tar --cores 0
ok "large datasets are compressed, and are what they were" "$PYTHON3" - <<'END'
import glob, h5py, os
def same(old, new, kinds):
    """Whether groups hold the same; counts what is chunked."""
    count = 0
    assert {k: str(v) for k, v in old.attrs.items() if k != "recipe"} == {
        k: str(v) for k, v in new.attrs.items() if k != "recipe"}, old
    for name in new:
        if isinstance(new[name], h5py.Group):
            count += same(old[name], new[name], kinds)
            continue
        assert (old[name][()] == new[name][()]).all() and old[name].shape == new[name].shape, name
        assert old[name].dtype == new[name].dtype or name in kinds, name
        assert dict(old[name].attrs).keys() == dict(new[name].attrs).keys(), name
        count += new[name].compression == "gzip" and new[name].shuffle
    return count
for archive, kinds in (("S", ()), ("P", ("parent",))):
    chunked = 0
    for path in glob.glob("results/**/*.h5", recursive=True):
        if os.path.exists(f"{archive}/data/{path}"):
            with h5py.File(path) as old, h5py.File(f"{archive}/data/{path}") as new:
                chunked += same(old, new, kinds)
    assert chunked > 0, "nothing is compressed"
with h5py.File("S/data/results/graphs/rmat-s6.h5") as graph:
    assert graph.attrs["recipe"] == 1 and "edges" not in graph
with h5py.File("P/data/results/graphs/rmat-s6.h5") as graph:
    assert graph.attrs["recipe"] == 0 and "edges" in graph
with h5py.File("S/data/results/graphs/ring-undirected.h5") as graph:
    assert graph.attrs["recipe"] == 0 and "edges" in graph
END
is "partitions are left out" "$(find S -path '*/partitions/*' | wc -l)" 0
refused "an archive that exists stays" 2 "S.tar: exists already" \
    "$PYTHON3" "$study" archive -o S.tar
refused "a folder that is none is not replaced" 4 "data: a folder that is no archive" \
    "$PYTHON3" "$study" archive -o data --force
refused "a folder without a study" 3 "elsewhere: no study ran here, .* --directory" \
    "$PYTHON3" "$study" archive -o T.tar --directory "$work/elsewhere"
refused "a source that is not there" 3 "none.tar.gz: no such file" \
    "$PYTHON3" "$study" archive -o T.tar --source none.tar.gz
mv results/graphs/ring-undirected.h5 kept.h5
refused "a study that is not complete" 3 "ring-undirected.h5: missing" \
    "$PYTHON3" "$study" archive -o T.tar
mv kept.h5 results/graphs/ring-undirected.h5
is "nothing half-made stays" "$(find . -maxdepth 1 -name '.?*' ! -name .snakemake)" ""

ok "bagit finds the bag valid" "$PYTHON3" -m bagit --quiet --validate S
ok "and so does sha256sum" \
    sh -c 'cd S && sha256sum --quiet --strict -c manifest-sha256.txt tagmanifest-sha256.txt'
is "the digest is that of the manifest of manifests" "$digest" \
    "sha256:$(tar xOf S.tar S/tagmanifest-sha256.txt | sha256sum | cut -d' ' -f1)"
same "both tar files unpack to the same" \
    "$(tar xOf S.tar.gz S/manifest-sha256.txt | cut -d' ' -f3 | grep -v 'environment\|crate')" \
    "$(cut -d' ' -f3 S/manifest-sha256.txt | grep -v 'environment\|crate')"
ok "its crate describes the machine of every run" "$PYTHON3" -c 'if True:
    import json
    graph = json.load(open("S/data/ro-crate-metadata.json"))["@graph"]
    every = {entity["@id"]: entity for entity in graph}
    runs = [e for e in graph if e["@id"].startswith("#run-")]
    places = {e["location"]["@id"] for e in runs}
    told = {every[p["@id"]]["name"] for place in places for p in every[place]["additionalProperty"]}
    assert runs and {"cores of a node", "MPI", "compiler"} <= told, told'
if "$PYTHON3" -c 'import rocrate_validator' 2>/dev/null; then
    context=$("$PYTHON3" -c 'import rocrate; print(rocrate.__path__[0])')/data/ro-crate.jsonld
    ok "the crate conforms to its profiles" \
        "$PYTHON3" "$top_srcdir/tests/workflow/validate-crate.py" "$context" S/data
else
    skip "the crate conforms to its profiles" "$PYTHON3 has no roc-validator"
fi

# ---- whole ----
# The study itself is not there any more, nor anything else of it.
mv S P S.tar S.tar.gz S.tar.xz "$work/elsewhere" && mv "$work/home" "$work/gone" && cd "$work/elsewhere" || exit 99
repeat S.tar --expect "$digest" >whole.out 2>&1
is "an archive holds together" "$?" 0
ok "all its searches are valid" grep -q '^validation: 12 trees are valid' whole.out
ok "so does a compressed one" repeat S.tar.gz
ok "so does one of xz" repeat S.tar.xz
ok "so does a folder" repeat S
ok "what it leaves out is said" grep -q '^note: [0-9]* partitions are not in the archive' whole.out
ok "one of partitions, edges and narrow parents" repeat P
"$PYTHON3" "$study" compare S P >same.out 2>&1
ok "they compare as equal" grep -q '^results: the same' same.out

# ---- repeated, by programs that lie elsewhere, in a bare environment ----
mkdir "$work/bin" && ln -s "$top_builddir"/hopwave-[a-r]* "$top_builddir"/hopwave-[t-z]* "$work/bin"
env -i HOME="$HOME" PATH="/usr/bin:/bin" OMP_WAIT_POLICY=passive HOPWAVE_MPIEXEC="$(command -v "${HW_MPIEXEC:-$MPIEXEC}")" \
    "$PYTHON3" "$study" repeat S.tar --all --bin "$work/bin" --cores 2 >all.out 2>all.err
is "a stranger repeats it" "$?" 0
# sums: the last line of a repetition. Ranks that share tables may find other legal parents each time.
sums() {
    tail -n 1 "$1" | awk '$3 == "identical," && $5 == "equivalent," { print $2 + $4, "alike,", $6, $7, $8, $9 }'
}
is "and finds everything identical or equivalent" "$(sums all.out)" "20 alike, 0 different, 0 missing"
repeat S --parts 3 --sample 2 --cores 2 >parts.out 2>parts.err
is "other ranks find the same distances" "$?" 0
ok "and says how many of how many were drawn" \
    grep -q '^sample: 2 of the [0-9]* searches of the study, drawn with --seed 1' parts.out
is "of the searches drawn" "$(grep -c 'trees/.*-3.*/.*\(identical\|equivalent\)' parts.out)" 2

# ---- of a version whose names left other options out ----
# That had `weights: none` as the default of files, which its names left out.
rm -rf old && cp -r S old && sed -i 's/weights: auto/weights: none/' old/data/study.yaml && tamper bag old
repeat old --all --cores 2 >old.out 2>old.err
is "an archive with other names is repeated" "$?" 0
ok "which are said" grep -q \
    '^note: [0-9]* graphs and .*: results/graphs/ring-undirected-weights-none.h5 is results/graphs/ring-undirected.h5 there' old.out
is "and what they name is the same" "$(sums old.out)" "20 alike, 0 different, 0 missing"
rm -rf old

# ---- changed ----
ok "a byte that flips in the tar file is found and named" tamper flips S.tar 30
ok "a byte that flips in any file of the folder is" tamper each S 30
cp S.tar.gz Z.tar.gz && printf '\125' | dd of=Z.tar.gz bs=1 conv=notrunc seek=$(($(wc -c <Z.tar.gz) - 6)) 2>dd.err
refused "the sum at the end of a compressed one" 1 "Z.tar.gz, its end: damaged compression" \
    "$PYTHON3" "$study" repeat Z.tar.gz
forged() { rm -rf F && cp -r S F; }
# found NAME PATTERN: repeat refuses F and says so.
found() {
    repeat F >found.out 2>&1
    is "$1" "$? $(grep -c "$2" found.out)" "1 1"
}
forged
files="bagit.txt data/ro-crate-metadata.json data/results/graphs/ring-undirected.h5"
for file in $files; do
    tamper flip "F/$file"
done
rm F/data/results/results.csv && echo more >F/data/more && ln -s /etc/passwd F/data/link
repeat F >found.out 2>&1
is "a folder in which much is wrong" "$?" 1
for file in $files; do
    ok "a byte that flips in $file" grep -q "^digests: $file: not what .*manifest-sha256.txt says" found.out
done
ok "a file that is gone" grep -q "^digests: data/results/results.csv: missing" found.out
ok "a file too many" grep -q "^digests: data/more: in no manifest" found.out
ok "a link" grep -q "^digests: data/link: neither a file nor a folder" found.out
# With manifests that were brought up to date only the digest outside tells.
forged && echo "# more" >>F/data/as-given.yaml && tamper bag F
ok "new manifests hide a change" repeat F
repeat F --expect "$digest" >found.out 2>&1
is "but not from the digest that was kept" \
    "$? $(grep -c 'tagmanifest-sha256.txt: its digest is .*, not sha256' found.out)" "1 1"

rm -rf F && cp -r P F && tamper orphan F/data results/partitions/rmat-s6/1d-2.h5 && tamper bag F
found "a partition of another graph" "chain: results/partitions/rmat-s6/1d-2.h5: made from another graph than"
forged && sed -i 's,^results/checks/rmat-s6,results/../../checks/rmat-s6,' F/data/files.csv && tamper bag F
refused "a table that leads elsewhere" 3 "names 'results/\.\./.*, which lies outside" "$PYTHON3" "$study" repeat F
forged && sed -i 's,inputs/ring/ring.txt,/etc/passwd,' F/data/study.yaml && tamper bag F
refused "a configuration that does" 3 "names /etc/passwd, which lies outside" "$PYTHON3" "$study" repeat F --all
mkdir -p used/archive && touch used/archive/mine
refused "a work folder that is used otherwise" 4 "used: not empty" "$PYTHON3" "$study" repeat S.tar --directory used
ok "stays as it is" test -f used/archive/mine

# ---- other results ----
tree=data/results/trees/rmat-s6/1d-1/auto-k2-r1.h5
forged && "$PYTHON3" "$top_srcdir/tests/workflow/break-tree.py" "F/$tree" && tamper bag F
repeat F >found.out 2>&1
is "a tree that its table does not know" "$? $(grep -c "^chain: .*1d-1/auto-k2-r1.h5: not what" found.out)" "1 1"
forged && tamper parent "F/$tree" P/data/results/graphs/rmat-s6.h5
old=$(awk -F, -v t="${tree#data/}" '$1 == t' S/data/files.csv | grep -o 'xxh3-128:[0-9a-f]*' | tail -n 1)
new=$("$PYTHON3" -c "import h5py; print(h5py.File('F/$tree')['parent'].attrs['digest'].decode())")
sed -i "/1d-1.auto/s/$old/$new/" F/data/files.csv && tamper bag F
repeat F --all --cores 2 >found.out 2>&1
is "another legal parent is no difference" "$? $(sums found.out)" "0 20 alike, 0 different, 0 missing"
ok "but equivalent" grep -q "1d-1/auto-k2-r1.h5.*equivalent" found.out
forged && sed -i '1s/.*/1 9/' F/data/inputs/ring/ring.txt && tamper bag F
repeat F --all --cores 2 >found.out 2>&1
is "another input is different" "$? $(sums found.out)" "1 13 alike, 7 different, 0 missing"

# ---- no archives ----
for kind in outside absolute twice link device; do
    tamper hostile "$kind" H.tar
    refused "a tar file with something hostile: $kind" 3 "H.tar: it holds" \
        "$PYTHON3" "$study" repeat H.tar
done
ok "nothing came out of it" test ! -e "$work/outside" -a ! -e /tmp/bagit-absolute
head -c 100000 S.tar >H.tar
refused "a tar file cut short" 1 "damaged: S/data.*: the tar file is cut short" \
    "$PYTHON3" "$study" repeat H.tar
head -c 100000 S.tar.gz >H.tar.gz
refused "a compressed one" 1 "damaged: S/data.*damaged compression" "$PYTHON3" "$study" repeat H.tar.gz
head -c "$(($(wc -c <S.tar.xz) / 2))" S.tar.xz >H.tar.xz
refused "one of xz" 1 "damaged: .*damaged compression" "$PYTHON3" "$study" repeat H.tar.xz
cp S.tar.xz H.tar.xz && echo more >>H.tar.xz
refused "something behind one of xz" 1 "damaged: .*something follows the end" \
    "$PYTHON3" "$study" repeat H.tar.xz
tar cf H.tar S
refused "a tar file by another program" 3 "unpack it and name the folder" "$PYTHON3" "$study" repeat H.tar
echo nonsense >H.tar
refused "a file that is no tar file" 3 "H.tar: not an archive" "$PYTHON3" "$study" repeat H.tar
refused "a folder that is no archive" 3 "not an archive" "$PYTHON3" "$study" repeat "$work/bin"

# ---- without what can be made again ----
cd "$work/gone" || exit 99
ok "an archive without large files" archive -o L.tar --without-large
ok "with the source of the programs" sh -c 'tar tf L.tar | grep -q "^L/data/source/hopwave-.*\.tar\."'
is "it has no graphs, partitions and trees" \
    "$(tar tf L.tar | grep -c -E 'results/(graphs|partitions|trees)/')" 0
repeat L.tar >left.out 2>&1
is "what the archive leaves out is explained" \
    "$? $(grep -c '^note: [0-9]* graphs, partitions and trees are not in the archive' left.out)" "0 1"
ok "and which trees are not checked" \
    grep -q '^validation: 0 trees are valid; 12 are not checked, as they' left.out
is "its crate has their digests" "$(tar xOf L.tar L/data/ro-crate-metadata.json | grep -c 'Left out of the archive')" 20
repeat L.tar --all --cores 2 >large.out 2>&1
is "and they come out the same" "$? $(sums large.out)" "0 20 alike, 0 different, 0 missing"
done_testing
