#!/bin/sh
# hopwave-info --characteristics: closed forms, from any number of ranks, and bad input.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# table FILE [RANKS]: vertices and what follows, in a line.
table() {
    ranks "${2:-1}" hopwave-info --characteristics "$1" | sed -n 's/^  [a-z_]*: //p' | tr '\n' ' '
}

# known NAME OPTIONS VALUES: the characteristics of a generated graph. The values are vertices, edges,
# directed, loops, duplicates, mean, deviation, mode and largest degree, isolated vertices,
# components, largest component, diameter bound.
known() {
    # shellcheck disable=SC2086 # options are a list of words
    hopwave-generate -q --recipe --force --model $2 -o k.h5
    same "$1" "$(table k.h5)" "$3 "
}
known "a chain" "chain --vertices 100" "100 99 0 0 0 1.98 0.14 2 2 0 1 100 99"
known "as many of degree 1 as of degree 2" "chain --vertices 4" "4 3 0 0 0 1.5 0.5 1 2 0 1 4 3"
known "a star" "star --vertices 101" "101 100 0 0 0 1.98019802 9.801980198 1 100 0 1 101 2"
known "a grid" "grid --dimensions 4x3 --no-scramble" \
    "12 17 0 0 0 2.833333333 0.6871842709 3 4 0 1 12 5"
known "a torus" "torus --dimensions 8x6x4" "192 576 0 0 0 6 0 6 6 0 1 192 9"
known "a ring" "small-world --vertices 64 --degree 2 --probability 0" "64 64 0 0 0 2 0 2 2 0 1 64 32"
known "a directed chain" "chain --vertices 100 --directed" \
    "100 99 1 0 0 0.99 0.09949874371 1 1 0 1 100 99"
known "no edges" "erdos-renyi --vertices 7 --edges 0" "7 0 0 0 0 0 0 0 0 7 7 1 0"

hopwave-generate -q --recipe --model chain --vertices 2 -o two.h5
same "ranks without vertices" "$(table two.h5 5)" "2 1 0 0 0 1 0 1 1 0 1 2 1 "

# A triangle with a tail, a pair, loops and duplicates, and isolated vertices.
cat >mixed.el <<'END'
0 1
1 2
2 0
2 3
3 2
3 3
7 8
8 7
8 8
8 8
END
hopwave-import -q mixed.el --format edges --vertices 10 -o mixed.h5
hopwave-import -q mixed.el --format edges --vertices 10 --directed -o directed.h5
edges=$(info mixed.h5 edges) directed=$(info mixed.h5 directed)
same "a mixed graph, as listed" "$edges $directed" "10 1"
same "directed: loops, duplicates, degrees by direction" "$(table directed.h5)" \
    "10 10 1 3 0 0.7 0.6403124237 1 2 4 6 4 2 "
hopwave-import -q mixed.el --format edges --vertices 10 --undirected -o folded.h5
same "undirected: as searches see it" "$(table folded.h5 | cut -d ' ' -f 6-)" \
    "1 1 0 3 4 6 4 2 "

# Of the two farthest vertices, 1 and 5, the first one sees a longer way.
printf '%s\n' '0 2' '0 3' '0 4' '1 3' '1 5' '2 4' '4 5' >sweeps.el
hopwave-import -q sweeps.el --format edges -o sweeps.h5
same "the second sweep starts from the least of the farthest" \
    "$(hopwave-info --characteristics sweeps.h5 | sed -n 's/ *diameter_at_least: //p')" 3

# Any number of ranks, each of which owns something.
for options in "rmat --scale 17 --edge-factor 2" "geometric --scale 17 --degree 5" \
    "rmat --scale 17 --edge-factor 1 --directed --skew flat"; do
    # shellcheck disable=SC2086 # options are a list of words
    hopwave-generate -q --force --model $options -o many.h5
    one=$(table many.h5)
    for n in 2 3 5; do
        same "$options: $n ranks" "$(table many.h5 $n)" "$one"
    done
done
same "roads are connected" "$(hopwave-generate -q --model road --scale 13 -o r.h5 &&
    hopwave-info --characteristics r.h5 | sed -n 's/ *\(components\|largest_component\): //p' |
    tr '\n' ' ')" "1 8192 "

# A second program, if there is one.
hopwave-generate -q --model rmat --scale 9 --edge-factor 2 -o s.h5
hopwave-export -q s.h5 --format el -o s.el
if [ -n "$PYTHON3" ]; then
    same "a second program finds the same" "$(table s.h5 2)" \
        "$("$PYTHON3" "$top_srcdir/tests/pipeline/characteristics.py" 512 s.el) "
    odd=$(printf 'a"\377\033\302\233.h5')
    cp s.h5 "$odd"
    hopwave-info --characteristics=json s.h5 r.h5 "$odd" >json
    ok "and reads the JSON" "$PYTHON3" -c 'import json, sys
rows = [json.loads(line) for line in open("json")]
assert [row["file"] for row in rows] == ["s.h5", "r.h5", "a\"?\x1b\x9b.h5"], rows
assert rows[1]["components"] == 1 and 2.4 < rows[1]["mean_degree"] < 2.8, rows'
else
    skip "a second program finds the same" "no Python"
fi

refused "another file" 3 'is a file of kind hopwave-partition' sh -c \
    'hopwave-partition -q s.h5 --layout 1d --parts 1 -o p.h5 && hopwave-info --characteristics p.h5'
refused "no such format" 2 "'xml' is none of table, json" hopwave-info --characteristics=xml s.h5
refused "two questions" 2 'give one of the two' hopwave-info --characteristics --graph500 s.h5
refused "no file" 2 'no file' hopwave-info --characteristics
refused "too little memory" 4 'characteristics of the graph needs' env HOPWAVE_MEMORY=1M \
    "$MPIEXEC" -n 2 hopwave-info --characteristics many.h5
hopwave-generate -q --recipe --model erdos-renyi --vertices 1000000 --edges 0 -o empty.h5
refused "too little memory, vertices without edges" 4 'needs 61.0 MiB' env HOPWAVE_MEMORY=60M \
    hopwave-info --characteristics empty.h5
cp s.h5 bad.h5
printf 'x' | dd of=bad.h5 bs=1 seek=$(($(wc -c <bad.h5) / 2)) conv=notrunc 2>/dev/null
refused "a flipped byte" 3 'bad.h5: ' hopwave-info --characteristics bad.h5
done_testing
