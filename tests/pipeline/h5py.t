#!/bin/sh
# Plain h5py reads every kind of file, following doc/file-formats.md alone: the
# Python of that page is what runs here.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
page=$top_srcdir/doc/file-formats.md
cd "$work" || exit 99
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS PYTHONDONTWRITEBYTECODE

if ! python=$(python_with "h5py, numpy, xxhash"); then
    skip "h5py" "no Python with h5py, numpy and xxhash"
    done_testing
fi
# The page's Python: as it stands, and its functions alone.
awk '/^```/ { on = /python/; next } on' "$page" >page.py
awk '/^```/ { on = /python/; next } /^with/ { on = 0 } on' "$page" >formats.py
ln -s "$top_srcdir/schemas" schemas

# make KIND...: a graph and all that comes of it.
make() {
    kind=$1
    shift
    ok "$kind: a graph" \
        ranks 2 hopwave-generate -q --model rmat --scale 9 --edge-factor 5 "$@" -o "$kind.h5"
    ok "$kind: in 5 parts of 1d" \
        ranks 2 hopwave-partition -q "$kind.h5" --layout 1d --parts 5 -o "$kind-1d.h5"
    ok "$kind: in 3 x 2 parts of 2d" ranks 3 hopwave-partition -q "$kind.h5" --layout 2d \
        --grid 3x2 --order none -o "$kind-2d.h5"
    ok "$kind: degree-separated in 2 x 2 parts" ranks 2 hopwave-partition -q "$kind.h5" \
        --layout degree-separated --parts 2x2 --degree-threshold 20 -o "$kind-ds.h5"
    ok "$kind: trees" ranks 4 hopwave-traverse -q "$kind-ds.h5" --roots 3 -o "$kind-trees.h5"
    ok "$kind: a check" ranks 2 hopwave-validate -q "$kind-trees.h5" --graph "$kind.h5" \
        -o "$kind-check.h5"
}
make undirected
make directed --directed --weights integer:1:9
ln -s undirected.h5 graph.h5
ln -s undirected-trees.h5 trees.h5

ok "the page's Python runs as it stands" "$python" page.py
ok "digests, lists and levels are as the page says" \
    "$python" "$top_srcdir/tests/pipeline/h5py_files.py" undirected directed
done_testing
