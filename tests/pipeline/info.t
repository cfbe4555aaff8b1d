#!/bin/sh
# hopwave-info: what it prints of each kind of file, and how it ends.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

hopwave-generate -q --model rmat --scale 7 -o g.h5 || exit 99
hopwave-generate -q --model rmat --scale 7 --recipe -o r.h5 || exit 99
hopwave-partition -q g.h5 --layout 1d --parts 2 -o p.h5 || exit 99
ranks 2 hopwave-traverse -q p.h5 --roots 2 -o t.h5 || exit 99
hopwave-validate -q t.h5 --graph g.h5 -o v.h5 || exit 99

for file in g:graph p:partition t:tree v:check r:graph; do
    ok "${file#*:}: verifies" hopwave-info "${file%:*}.h5"
    is "${file#*:}: is what it is" "$(info "${file%:*}.h5" format)" "hopwave-${file#*:}"
    is "${file#*:}: says so" "$(info "${file%:*}.h5" verifies)" yes
done
digest=$(info g.h5 digest)
for file in p t v; do
    is "$file.h5 descends from the graph" "$(info $file.h5 graph_digest)" "$digest"
done
same "the check is of the tree" "$(info v.h5 tree_digest)" "$(info t.h5 digest)"
is "a recipe has no digest" "$(info r.h5 digest)" none
is "a parameter" "$(info g.h5 scale)" 7
is "a shape" "$(info t.h5 /level | cut -d ' ' -f 1-3)" "i32 [2, 128]"
is "the command line" "$(info p.h5 command)" \
    "hopwave-partition -q g.h5 --layout 1d --parts 2 -o p.h5"
same "3 ranks print the same" "$(ranks 3 hopwave-info g.h5)" "$(hopwave-info g.h5)"

hopwave-info --graph500 t.h5 >graph500
is "Graph500 fields come in the reference's order" \
    "$(sed -n 's/:.*//p' graph500 | grep -x -E 'SCALE|NBFS|bfs_(min_time|median_TEPS)|teps_rule' |
        tr '\n' ' ')" "SCALE NBFS bfs_min_time bfs_median_TEPS teps_rule "

# One byte of the data changed, in a file with others.
cp g.h5 bad.h5
printf 'x' | dd of=bad.h5 bs=1 seek=$(($(wc -c <bad.h5) / 2)) conv=notrunc 2>/dev/null
refused "a flipped byte" 3 'bad.h5: the digest of /edges/.* is wrong' hopwave-info bad.h5
hopwave-info g.h5 bad.h5 t.h5 >out 2>/dev/null
is "all files are described" "$(grep -c '^[gbt].*:$' out)$(grep -c 'verifies: yes' out)" 32
head -c 3000 g.h5 >cut.h5
refused "a cut file" 3 'cut.h5: is damaged: truncated' "$MPIEXEC" -n 2 hopwave-info cut.h5
refused "what is no file" 3 'none.h5: cannot be opened: No such file' hopwave-info none.h5
refused "nothing" 2 'no file' hopwave-info

# Files of strangers, in a process that can do no harm.
same "a guarded process prints the same" "$(hopwave-info --untrusted g.h5 t.h5 r.h5)" \
    "$(hopwave-info g.h5 t.h5 r.h5)"
ok "and the characteristics" hopwave-info --untrusted --characteristics g.h5
refused "and finds what is damaged" 3 'bad.h5: the digest of /edges/.* is wrong' \
    hopwave-info --untrusted bad.h5
refused "or cut" 3 'cut.h5: is damaged' hopwave-info --untrusted cut.h5
refused "or not there" 3 'none.h5: cannot be opened: No such file' hopwave-info --untrusted none.h5
mkfifo fifo
refused "or a FIFO" 3 'fifo: is not a regular file' hopwave-info --untrusted fifo
refused "on one rank" 2 'untrusted reads files on one rank, not on 2' \
    "$MPIEXEC" -n 2 hopwave-info --untrusted g.h5
if command -v h5repack >/dev/null; then
    h5repack -f SHUF -f GZIP=9 -l CHUNK=50 t.h5 z.h5
    ok "what is compressed, too" hopwave-info --untrusted z.h5
else
    skip "what is compressed" "h5repack is not there"
fi
refused "statistics of a graph" 3 'g.h5: is a file of kind hopwave-graph' hopwave-info --graph500 g.h5
done_testing
