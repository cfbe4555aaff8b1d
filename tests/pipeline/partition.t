#!/bin/sh
# hopwave-partition: the same file from any number of ranks and threads, for
# every layout; and what must be refused.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
: "${H5DIFF:=h5diff}"

# partition RANKS OPTION...: makes p.h5 anew, from the graph that is named among the options.
partition() {
    partition_ranks=$1
    shift
    rm -f p.h5
    ranks "$partition_ranks" hopwave-partition -q --force -o p.h5 "$@"
}

ok "a graph" hopwave-generate -q --model rmat --scale 10 --weights uniform -o g.h5
ok "a directed one" hopwave-generate -q --model rmat --scale 9 --directed --no-scramble -o d.h5
ok "a recipe" hopwave-generate -q --model rmat --scale 10 --weights uniform --recipe --digest \
    -o r.h5

# ---- the same from 1 to 6 ranks ----

# alike NAME OPTION...: one rank's file is that of 2, 3 and 6.
alike() {
    alike_name=$1
    shift
    ok "$alike_name: one rank" hopwave-partition -q --force -o one.h5 "$@"
    alike_digest=$(digest one.h5)
    for n in 2 3 6; do
        ok "$alike_name: $n ranks" partition $n "$@"
        same "$alike_name: the digest of $n ranks" "$(digest p.h5)" "$alike_digest"
        ok "$alike_name: h5diff of $n ranks" "$H5DIFF" --exclude-path /run one.h5 p.h5
    done
}

alike "1d" g.h5 --layout 1d --parts 4
alike "2d, hash order" g.h5 --layout 2d --grid 3x2 --order hash --no-weights
alike "degree-separated, no order" g.h5 --layout degree-separated --parts 2x2 --order none
alike "directed 2d" d.h5 --layout 2d --grid 2x2
alike "directed, degree-separated" d.h5 --layout degree-separated --parts 3 --degree-threshold 8

ok "2d: one rank" hopwave-partition -q --force -o one.h5 g.h5 --layout 2d --grid 2x2
for n in 4 5; do
    ok "2d: $n ranks" partition $n g.h5 --layout 2d --grid 2x2
    same "2d: the digest of $n ranks" "$(digest p.h5)" "$(digest one.h5)"
done
for n in 1 3; do
    ok "2d: $n threads" partition 1 g.h5 --layout 2d --grid 2x2 --threads $n
    same "2d: the digest of $n threads" "$(digest p.h5)" "$(digest one.h5)"
done
ok "2d: a recipe" partition 1 r.h5 --layout 2d --grid 2x2
same "2d: the digest from a recipe" "$(digest p.h5)" "$(digest one.h5)"
same "graph_digest is the graph's" "$(info p.h5 graph_digest)" "$(digest g.h5)"
ok "and the file verifies" sh -c 'hopwave-info p.h5 | grep -q "verifies: yes"'

# ---- what is chosen ----

hopwave-partition -q --force -o p.h5 g.h5 --layout 2d --parts 6
is "a grid near a square" "$(info p.h5 rows)x$(info p.h5 columns)" 2x3
hopwave-partition -q --force -o p.h5 g.h5 --layout degree-separated --parts 4
threshold=$(info p.h5 degree_threshold)
ok "a threshold is chosen" [ "$threshold" -gt 0 ]
hopwave-partition -q --force -o q.h5 g.h5 --layout degree-separated --parts 4 \
    --degree-threshold "$threshold"
same "and the same when given" "$(digest q.h5)" "$(digest p.h5)"
ranks 4 hopwave-traverse -q p.h5 --roots 1 --store none -o t.h5
same "a tree file says how the edges are shared out" \
    "$(hopwave-info t.h5 | awk '$1 ~ /^(nn|nd|dn|dd)_edges:$/ { sum += $2 } END { print sum }')" \
    "$(info p.h5 edges)"
is "weights are kept" "$(info p.h5 weights)" f32
hopwave-partition -q --force -o p.h5 g.h5 --layout 1d --parts 1 --no-weights
is "unless refused" "$(info p.h5 weights)" none
hopwave-partition --force -o p.h5 g.h5 --layout 1d --parts 1 2>err
ok "the log tells edges, memory and times" \
    grep -E 'stored edges in 1 parts; peak memory .* bytes per stored edge; collect' err

# ---- small and odd graphs that are right ----

ok "one vertex" hopwave-generate -q --model erdos-renyi --vertices 1 --edges 0 -o v.h5
ok "in five parts, two ranks" partition 2 v.h5 --layout degree-separated --parts 5
is "without edges" "$(info p.h5 edges)" 0
ok "no edges" hopwave-generate -q --model erdos-renyi --vertices 50 --edges 0 -o n.h5
ok "in a grid" partition 3 n.h5 --layout 2d --grid 2x2
ok "more parts than vertices" partition 2 v.h5 --layout 1d --parts 4096
ok "as many for a graph" partition 2 g.h5 --layout 2d --grid 64x32

# ---- estimates ----

ok "--estimate prints and writes nothing" sh -c \
    'hopwave-partition g.h5 --layout 1d --parts 2 --estimate -o est.h5 >est &&
     grep -q "^memory_per_rank: [1-9]" est && grep -q "^disk: [1-9]" est && ! [ -e est.h5 ]'

# ---- wrong usage: status 2 ----


# usage PATTERN OPTION...
usage() {
    usage_pattern=$1
    shift
    refused "usage: $*" 2 "$usage_pattern" hopwave-partition -o x.h5 "$@"
}

usage 'no graph' --layout 1d --parts 2
usage 'no layout' g.h5 --parts 2
usage 'one graph' g.h5 d.h5 --layout 1d --parts 2
usage "'3d' is none of" g.h5 --layout 3d --parts 2
usage 'how many parts' g.h5 --layout 1d
usage 'give --grid' g.h5 --layout 2d
usage 'no grid' g.h5 --layout 1d --grid 2x2
usage 'no grid' g.h5 --layout degree-separated --grid 2x2
usage 'takes N, not NxG' g.h5 --layout 1d --parts 2x2
usage 'no delegates' g.h5 --layout 2d --grid 2x2 --degree-threshold 5
usage 'not a grid' g.h5 --layout 2d --grid 2x2 --parts 5
usage 'RxC' g.h5 --layout 2d --grid 4
usage 'outside' g.h5 --layout 1d --parts 0
usage 'whole number' g.h5 --layout 1d --parts two
usage 'outside' g.h5 --layout degree-separated --parts 2 --degree-threshold -1
usage "'random' is none of" g.h5 --layout 1d --parts 2 --order random
usage 'not an option' g.h5 --layout 1d --parts 2 --nope
refused "usage: no output" 2 'no output' hopwave-partition g.h5 --layout 1d --parts 2
ok "wrong usage leaves no file" [ ! -e x.h5 ]

# ---- wrong input: status 3 ----

# input NAME PATTERN FILE: with two ranks, none of which may hang.
input() {
    refused "$1" 3 "$2" "$MPIEXEC" -n 2 hopwave-partition "$3" --layout 1d --parts 2 -o x.h5
    ok "$1: no file is left" sh -c '! ls x.h5* .x.h5* 2>/dev/null'
}

head -c 20000 g.h5 >short.h5
echo "no HDF5" >text.h5
cp g.h5 flipped.h5
printf 'x' | dd of=flipped.h5 bs=1 seek=100000 conv=notrunc 2>dd.err
hopwave-partition -q --force -o kind.h5 g.h5 --layout 1d --parts 1
input "no such file" 'none.h5' none.h5
input "a truncated file" 'short.h5' short.h5
input "not HDF5" 'text.h5' text.h5
input "a flipped byte" 'flipped.h5.*(digest|damaged)' flipped.h5
input "a partition as a graph" 'kind.h5.*partition' kind.h5
input "a folder" '\.' .

# ---- outputs and memory: status 4 ----

touch there.h5
refused "an existing output" 2 'there.h5' hopwave-partition g.h5 --layout 1d --parts 2 -o there.h5
ok "which stays" [ ! -s there.h5 ]
refused "no such folder" 4 'none' hopwave-partition g.h5 --layout 1d --parts 2 -o none/x.h5
HOPWAVE_MEMORY=100K
export HOPWAVE_MEMORY
refused "too little memory" 4 'partitioning the graph needs .* MiB' \
    "$MPIEXEC" -n 2 hopwave-partition g.h5 --layout 1d --parts 2 -o x.h5
HOPWAVE_MEMORY=60M
refused "too many delegates for the memory" 4 'partitioning the graph needs .* MiB' \
    "$MPIEXEC" -n 2 hopwave-partition g.h5 --layout degree-separated --parts 4096 \
    --degree-threshold 0 -o x.h5
unset HOPWAVE_MEMORY
ok "and no file is left" sh -c '! ls x.h5* .x.h5* 2>/dev/null'

done_testing
