#!/bin/sh
# hopwave-traverse --probe on processors: a row for each pair of ranks, as a table and as CSV.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# Rows that say what they should: all numbers are above 0, there are no puts.
sound() {
    awk -F "$1" -v puts="$2" 'NR > 1 && NF == 9 && $1 != $2 && $5 > 0 && $6 > 0 && $9 > 0 &&
        $7 == puts && $8 == puts { rows++ } END { print rows + 0 }' "$3"
}
for n in 1 2 4; do
    ranks $n hopwave-traverse -q --probe=$n.csv >$n.tsv
    is "a row for each pair of $n" "$(sound '\t' - $n.tsv)" $((n * (n - 1)))
    is "in the file too" "$(sound , '' $n.csv)" $((n * (n - 1)))
    same "which has the same rows" "$(tr , '\t' <$n.csv | cut -f 1-6,9)" "$(cut -f 1-6,9 $n.tsv)"
done
ranks 4 hopwave-traverse -q --probe --ranks-per-node 2 >nodes.tsv
is "nodes that are asked for" "$(awk -F '\t' '$3 != $4 { n++ } END { print n - 1 }' nodes.tsv)" 8
ranks 2 hopwave-traverse --probe >/dev/null 2>note
ok "a note says that all arrived" grep -q '2 ranks over mpi; .* all that was sent arrived' note
cp 2.csv before.csv
refused "a file that is there" 2 'exists already; --force replaces it' \
    hopwave-traverse --probe=2.csv
ok "is left as it was" cmp 2.csv before.csv
ok "and replaced by force" ranks 2 hopwave-traverse -q --force --probe=2.csv
refused "a folder that is not there" 4 'none/x.csv: No such file' hopwave-traverse --probe=none/x.csv
refused "a graph" 2 "searches nothing, found 'g.h5'" hopwave-traverse --probe g.h5
refused "an output" 2 'makes no tree file' hopwave-traverse --probe -o t.h5
refused "a transport of GPUs" 2 'peer is between GPUs' hopwave-traverse --probe --transport peer
refused "another" 2 'nvshmem is between GPUs' hopwave-traverse --probe --transport nvshmem
done_testing
