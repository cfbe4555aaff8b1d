#!/bin/sh
# Files that other programs have written anew: chunked, compressed, with checksums, compact,
# big-endian or wider. All programs read them as they read our own.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
hopwave-generate --quiet --model rmat --scale 9 --weights uniform -o g.h5 &&
    hopwave-partition --quiet g.h5 --layout 2d --grid 2x1 -o p.h5 &&
    ranks 2 hopwave-traverse --quiet p.h5 --algorithm sssp --roots 3 -o t.h5 || exit 99

# used KIND GRAPH PARTITION TREE: they verify, and programs make the same of them.
used() {
    for file in "$2" "$3" "$4"; do
        ok "$1: $file verifies" hopwave-info --quiet "$file"
    done
    ranks 3 hopwave-partition --quiet "$2" --layout 2d --grid 2x1 --force -o again.h5
    same "$1: the partition of the graph" "$(digest again.h5)" "$(digest p.h5)"
    ranks 2 hopwave-traverse --quiet "$3" --algorithm sssp --roots 3 --graph "$2" --check --force -o again.h5
    same "$1: the trees of the partition, checked" "$(digest again.h5)" "$(digest t.h5)"
    ok "$1: the trees are valid" ranks 2 hopwave-validate --quiet "$4" --graph "$2"
}

repacked() {
    kind=$1
    shift
    for file in g p t; do
        ok "$kind: h5repack writes $file" h5repack "$@" $file.h5 "$file-$kind.h5"
    done
    used "$kind" "g-$kind.h5" "p-$kind.h5" "t-$kind.h5"
}

if command -v h5repack >/dev/null; then
    repacked deflated -f SHUF -f GZIP=6 -l CHUNK=100
    repacked summed -f FLET -f SHUF -f GZIP=1
    repacked compact -l COMPA
    repacked newest -L
    # Sums find what is damaged before it is unpacked, and digests what they do not.
    cp g-deflated.h5 d.h5
    size=$(wc -c <d.h5)
    head -c 64 /dev/urandom | dd of=d.h5 bs=1 seek=$((size / 2)) conv=notrunc 2>dd.err
    refused "damaged data that are compressed" 3 'd.h5: ' hopwave-info --quiet d.h5
else
    skip "files that are repacked" "h5repack is not there"
fi

if python=$(python_with "h5py, numpy"); then
    for kind in order width narrow copied; do
        for file in g p t; do
            "$python" "$top_srcdir/tests/pipeline/convert.py" $file.h5 $file-$kind.h5 $kind || exit 99
        done
        used "$kind" g-$kind.h5 p-$kind.h5 t-$kind.h5
    done
    "$python" -c 'import h5py; f = h5py.File("g-width.h5", "r+"); f["edges/source"][7] += 1 << 32'
    refused "a number that does not fit" 3 'the digest of /edges/source is wrong' hopwave-info --quiet g-width.h5
else
    skip "files of other types" "no Python with h5py and numpy"
fi
done_testing
