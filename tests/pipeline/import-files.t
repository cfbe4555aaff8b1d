#!/bin/sh
# Imports of compressed and of binary files.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
cd "$work" || exit 99

# import N FILE [OPTION...]: by N ranks into FILE.h5, quietly; prints its digest.
import() {
    import_n=$1 import_file=$2
    shift 2
    ranks "$import_n" hopwave-import "$import_file" "$@" --quiet --force -o "$import_file.h5" &&
        digest "$import_file.h5"
}

# cut FILE BYTES NAME: the beginning of a file; flip FILE BYTE NAME: one byte changed.
cut_file() {
    head -c "$2" "$1" >"$3"
}
flip() {
    "$PYTHON3" - "$@" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2])] ^= 0x55
open(sys.argv[3], "wb").write(data)
END
}

# xz, as a filter: the program itself need not be there.
as_xz() {
    "$PYTHON3" -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))'
}

# ---- compressed ----
"$PYTHON3" - <<'END' || exit 99
import random
random.seed(1)
with open("t", "w") as f:
    f.write("# edges\n")
    for _ in range(60000):
        f.write(f"{random.randrange(5000)}\t{random.randrange(5000)}\n")
END
want=$(import 1 t)
gzip -c t >t.gz
mv t.gz one # not told by its name
as_xz <t >two
(head -n 70 t | gzip && tail -n +71 t | gzip) >members
(head -n 70 t | as_xz && head -c 8 /dev/zero && tail -n +71 t | as_xz) >streams
for file in one two members streams; do
    is "$file, by 1 rank" "$(import 1 $file)" "$want"
    is "$file, by 3 ranks" "$(import 3 $file)" "$want"
done

cut_file one 150000 one.cut
cut_file two 100000 two.cut
(cat one && echo garbage) >one.more
(cat two && echo "this is no stream") >two.more
flip one 100000 one.flip
flip two 100000 two.flip
flip one "$(($(wc -c <one) - 6))" one.crc
for file in one two; do
    refused "$file: truncated" 3 "$file.cut: is truncated" hopwave-import $file.cut -o x.h5
    refused "$file: truncated, by 3 ranks" 3 "$file.cut: is truncated" \
        "$MPIEXEC" -n 3 hopwave-import $file.cut -o x.h5
    refused "$file: something follows" 3 "$file.more: what .* something else follows" \
        hopwave-import $file.more -o x.h5
    refused "$file: damaged" 3 "$file.flip: what .* is damaged" hopwave-import $file.flip -o x.h5
done
refused "a wrong checksum" 3 'one.crc: what gzip compressed is damaged' \
    hopwave-import one.crc -o x.h5
(head -n 2000 t && echo "1 x" && cat t) | gzip >wrong
refused "a wrong line is named" 3 "wrong: line 2001: 'x' is not" hopwave-import wrong -o x.h5
(cat t && echo "1 x" && cat t && echo y) | gzip >wrong
refused "the first one, by 3 ranks" 3 "wrong: line 60002: 'x' is not" \
    "$MPIEXEC" -n 3 hopwave-import wrong -o x.h5
cut_file wrong 400000 wrong.cut
refused "but damage comes first" 3 'wrong.cut: is truncated' \
    "$MPIEXEC" -n 3 hopwave-import wrong.cut -o x.h5
"$PYTHON3" - <<'END' >ring # in METIS lines count vertices
n = 30000
print(n, n)
for v in range(n):
    print((v - 1) % n + 1, (v + 1) % n + 1)
END
want=$(import 1 ring --format metis)
gzip -k ring
is "lines of vertices, by 4 ranks" "$(import 4 ring.gz --format metis)" "$want"
"$PYTHON3" -c 'print("1 2\n" * 8000000, end="")' | gzip -1 >bomb
refused "more than the memory" 4 'bomb: .* memory' \
    env HOPWAVE_MEMORY=30M hopwave-import bomb --threads 1 -o x.h5
refused "more than the memory of one of three ranks" 4 'bomb: holds more' \
    env HOPWAVE_MEMORY=45M "$MPIEXEC" -n 3 hopwave-import bomb --threads 1 -o x.h5
ok "each of three ranks holds its share" env HOPWAVE_MEMORY=105M "$MPIEXEC" -n 3 \
    hopwave-import bomb --threads 1 -o shares.h5 --quiet
refused "xz that wants more memory than there is" 4 'two: ' \
    env HOPWAVE_MEMORY=4M hopwave-import two -o x.h5

# ---- binary ----
hopwave-generate --model graph500 --scale 9 --edge-factor 4 --weights uniform -o k.h5 --quiet
hopwave-export k.h5 --format packed -o packed --quiet || exit 99
for n in 1 3; do
    same "packed, by $n ranks" "$(import $n packed --format packed --vertices 512)" "$(digest k.h5)"
done
refused "packed is not guessed" 3 'packed: is in no format' hopwave-import packed -o x.h5
refused "an id past --vertices" 3 'packed: tuple [0-9]* has the vertex .* there are 300' \
    "$MPIEXEC" -n 2 hopwave-import packed --format packed --vertices 300 -o x.h5
ok "without its weights" hopwave-import packed --format packed --weights none -o nw.h5 --quiet
is "which are gone" "$(hopwave-info nw.h5 | sed -n 's/^  weights: //p')" none
cut_file packed 1000 cut
refused "a part of a tuple" 3 'cut: has 1000 bytes' hopwave-import cut --format packed -o x.h5
cut_file packed 1200 cut
cut_file packed.weights 1200 cut.weights
refused "too many weights" 3 'cut.weights: has 1200 bytes; .* take 400' \
    hopwave-import cut --format packed -o x.h5

hopwave-generate --model rmat --scale 9 --edge-factor 3 --directed --weights integer:-3:9 \
    -o d.h5 --quiet
hopwave-partition d.h5 --layout 1d --parts 2 -o dp.h5 --quiet || exit 99
for format in sg wsg; do
    hopwave-export d.h5 --format $format -o d.$format --quiet || exit 99
    one=$(import 1 d.$format)
    is "directed $format: the same from 3 ranks" "$(import 3 d.$format)" "$one"
done
ok "directed wsg: laid out" hopwave-partition d.wsg.h5 --layout 1d --parts 2 -o dq.h5 --quiet
# The tuples differ in order and number, so that counts of tuples do; lists do not.
ok "directed wsg: the same lists" "$PYTHON3" - <<'END'
import sys
try:
    import h5py
except ImportError:
    sys.exit(0)
a, b = h5py.File("dp.h5"), h5py.File("dq.h5")
for name in ("vertices/graph_id", "out/offset", "out/index", "out/weight", "in/index"):
    assert (a[name][()] == b[name][()]).all(), name
END
offsets=17 lists=$((17 + 8 * 513))
cut_file d.sg 3000 cut.sg
refused "a list file that is cut" 3 'cut.sg: has 3000 bytes; ' \
    hopwave-import cut.sg --format sg -o x.h5
flip d.sg $((offsets + 8 * 100 + 3)) bad.sg
refused "offsets that fall" 3 'bad.sg: the list of vertex 10[01] begins at' \
    "$MPIEXEC" -n 2 hopwave-import bad.sg -o x.h5
flip d.sg $((lists + 4 * 30 + 2)) bad.sg
refused "a neighbour that is no vertex" 3 'bad.sg: vertex [0-9]* has the neighbour' \
    "$MPIEXEC" -n 3 hopwave-import bad.sg -o x.h5
flip d.sg 16 bad.sg
refused "an absurd number of vertices" 3 'bad.sg: ' hopwave-import bad.sg --format sg -o x.h5
gzip -k d.sg
refused "a compressed binary file" 3 'd.sg.gz: is compressed or in an archive; unpack it first' \
    hopwave-import d.sg.gz --format sg -o x.h5
ok "nothing is left behind" test -z "$(find . -name 'x.*' -o -name '*tmp-*')"
done_testing
