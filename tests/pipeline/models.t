#!/bin/sh
# Models of hopwave-generate beside R-MAT, Erdős–Rényi and Graph500: the same graph from any number of
# ranks, recipes, searches of known levels, and bad input.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# alike OPTIONS: the digest of the model at 1 to 8 ranks, and of the recipe.
alike() {
    hopwave-generate $1 -q --force -o one.h5
    alike_digest=$(digest one.h5)
    for alike_n in 2 3 5 8; do
        rm -f many.h5
        ranks "$alike_n" hopwave-generate $1 -q -o many.h5
        same "$1: $alike_n ranks" "$(digest many.h5)" "$alike_digest"
    done
    rm -f recipe.* one.el
    ranks 2 hopwave-generate $1 -q --recipe --digest -o recipe.h5
    same "$1: the recipe" "$(info recipe.h5 digest)" "$alike_digest"
    ranks 3 hopwave-export recipe.h5 --format el -q -o recipe.el
    hopwave-export one.h5 --format el -q -o one.el
    ok "$1: what the recipe makes" cmp one.el recipe.el
}
alike "--model grid --scale 11"
alike "--model torus --dimensions 20x11x9 --weights uniform"
alike "--model chain --vertices 5000 --no-scramble"
alike "--model star --scale 12"
alike "--model small-world --scale 11 --seed 3 --weights integer:1:9"
alike "--model geometric --scale 11 --seed 3"
alike "--model geometric --scale 12 --dimensions 3 --degree 9 --weights length"
alike "--model road --scale 12"

# oracle OPTIONS WORDS: the graph is what doc/graphs.md says, by a second program.
oracle() {
    hopwave-generate $1 --recipe -q --force -o oracle.h5
    hopwave-export oracle.h5 --format wel -q --force -o oracle.wel
    if [ -z "$PYTHON3" ]; then
        skip "as documented: $1" "no Python"
    else
        "$PYTHON3" "$top_srcdir/tests/pipeline/models_oracle.py" $2 >oracle.out
        ok "as documented: $1" cmp oracle.wel oracle.out
    fi
}
oracle "--model grid --dimensions 5x4x3 --weights uniform" "grid sizes=5x4x3 weights=uniform"
oracle "--model torus --dimensions 5x2 --weights uniform --seed 9" \
    "torus sizes=5x2 weights=uniform seed=9"
oracle "--model chain --vertices 77 --weights uniform" "chain vertices=77 weights=uniform"
oracle "--model star --vertices 77 --weights uniform --no-scramble" \
    "star vertices=77 weights=uniform scramble=0"
oracle "--model small-world --scale 7 --degree 4 --probability .3 --weights integer:1:9" \
    "small-world vertices=128 degree=4 probability=.3 weights=integer:1:9"
oracle "--model geometric --scale 8 --degree 7 --weights length" \
    "geometric scale=8 dimensions=2 degree=7 weights=length"
oracle "--model geometric --scale 9 --dimensions 3 --degree 4.5 --weights length --seed 5" \
    "geometric scale=9 dimensions=3 degree=4.5 weights=length seed=5"
oracle "--model road --dimensions 13x9" "road sizes=13x9 weights=length"

# Searches: levels are Manhattan distances on the grid, places on a chain, 1 around a star.
# levels FILE: the levels of its only tree, in a line.
levels() {
    "${H5DIFF%diff}dump" -d /level "$1" | sed -n 's/^ *([0-9]*,[0-9]*): //p' | tr -d ' \n'
}
hopwave-generate --model grid --dimensions 7x5x4 --no-scramble --recipe -q -o grid.h5
for layout in "1d --parts 3" "2d --grid 2x2" "degree-separated --parts 2"; do
    case $layout in *2x2) n=4 ;; *3) n=3 ;; *) n=2 ;; esac
    ok "searches a grid, $layout" ranks "$n" hopwave-traverse grid.h5 --layout $layout --check -q \
        --root-list 0 --force -o tree.h5
    same "its levels are Manhattan distances, $layout" "$(levels tree.h5)" \
        "$(awk 'BEGIN { for (z = 0; z < 4; z++) for (y = 0; y < 5; y++) for (x = 0; x < 7; x++)
            printf "%s%d", x + y + z ? "," : "", x + y + z }')"
done
hopwave-generate --model chain --vertices 50 --no-scramble -q -o chain.h5
hopwave-traverse chain.h5 --layout 1d --check -q --root-list 0 -o chain-tree.h5
same "levels of a chain" "$(levels chain-tree.h5)" "$(seq -s , 0 49)"
hopwave-generate --model road --scale 9 --recipe --digest -q -o road.h5
ok "shortest paths on roads, on 3 ranks" ranks 3 hopwave-traverse road.h5 --layout 1d --parts 3 \
    --algorithm sssp --roots 2 --check -q -o paths.h5
ok "and validated as a file" hopwave-validate paths.h5 --graph road.h5 --reference -q

# Skews by name are those by numbers.
for skew in graph500:.57,.19,.19,.05 ssca2:.55,.1,.1,.25 gtgraph:.45,.15,.15,.25 \
    flat:.25,.25,.25,.25; do
    hopwave-generate --model rmat --scale 8 --skew "${skew%%:*}" -q --force -o name.h5
    hopwave-generate --model rmat --scale 8 --abcd "${skew#*:}" -q --force -o number.h5
    same "--skew ${skew%%:*}" "$(digest name.h5)" "$(digest number.h5)"
done

# Small ones are legal.
i=0
for options in "grid --scale 0" "torus --dimensions 1x1" "chain --vertices 1" "star --scale 0" \
    "small-world --vertices 1 --degree 0" "small-world --vertices 3 --degree 2 --probability 1" \
    "geometric --scale 0 --degree 0" "geometric --scale 5" "road --dimensions 1x1" \
    "road --dimensions 1x9" "road --dimensions 9x1" "grid --scale 40 --recipe" \
    "small-world --scale 40 --recipe" "road --scale 39 --recipe"; do
    i=$((i + 1))
    ok "--model $options" hopwave-generate --model $options -q -o "small$i.h5"
done
is "edges of a grid of 2^40" "$(info small12.h5 edges)" 2199021158400

# Estimates: edges that have to be counted take time and memory in a recipe, too.
is "estimate of a recipe" "$(hopwave-generate --model road --scale 20 --recipe --estimate |
    sed -n 's/^memory_per_rank: //p')" 0
hopwave-generate --model geometric --scale 20 --recipe --estimate >estimate
is "of one whose edges are counted: the index" "$(sed -n 's/^memory_per_rank: //p' estimate)" 65552
ok "and the counting" grep -q '^seconds: .*[1-9]' estimate

# Bad input.
bad() {
    bad_status=$1 bad_pattern=$2
    shift 2
    refused "refused: $*" "$bad_status" "$bad_pattern" hopwave-generate "$@" -o x.h5
}
bad 2 'needs --scale or --dimensions with sizes' --model grid
bad 2 'one of the two' --model grid --scale 4 --dimensions 4x4
bad 2 "--dimensions: '' is not a whole number" --model grid --dimensions 4x
bad 2 "--dimensions: 'a' is not a whole number" --model torus --dimensions axb
bad 2 "has more than 3 sizes" --model torus --dimensions 4x4x4x4
bad 2 "'7' is neither 2 nor 3" --model grid --dimensions 7
bad 2 "'3,4' is neither 2 nor 3" --model grid --dimensions 3,4
bad 2 '--dimensions: 0 is outside' --model grid --dimensions 0x3
bad 2 '--dimensions: -3 is outside' --model grid --dimensions 2x-3
bad 2 '99999999999999999999 is outside' --model grid --dimensions 99999999999999999999x2
bad 2 'have more than 2\^40 vertices' --model grid --dimensions 1048576x1048576x2
bad 2 'have more than 2\^40 vertices' --model road --dimensions 1099511627776x1099511627776
bad 2 '--scale: 41 is outside' --model chain --scale 41
bad 2 'two dimensions, not 3' --model road --dimensions 3x3x3
bad 2 'two dimensions, not 3' --model road --dimensions 3 --scale 6
bad 2 'does not belong to --model road' --model road --scale 4 --directed
bad 2 'needs --vertices or --scale' --model star --scale 4 --vertices 16
bad 2 '--vertices: 0 is outside' --model star --vertices 0
bad 2 'scale 37 is outside 0 to 36' --model geometric --scale 37
bad 2 'degree of 16 needs more than 16 vertices' --model geometric --scale 4
bad 2 'expected degree 300 is outside' --model geometric --scale 9 --degree 300
bad 2 'takes no sizes' --model geometric --dimensions 4x4
bad 2 "'nan' is not a number" --model geometric --scale 9 --degree nan
bad 2 'degree 3 of a small world is no even' --model small-world --scale 4 --degree 3
bad 2 'no even number below its 16' --model small-world --scale 4 --degree 16
bad 2 '--probability: 1.5 is outside' --model small-world --scale 4 --probability 1.5
bad 2 '--probability: -.5 is outside' --model small-world --scale 4 --probability=-.5
bad 2 'more than 2\^50 edges' --model small-world --scale 40 --degree 1000000
bad 2 'edges of model chain have no length' --model chain --scale 4 --weights length
bad 2 "'steep' is none of graph500" --model rmat --scale 4 --skew steep
bad 2 'give one of the two' --model rmat --scale 4 --skew flat --abcd 1,0,0,0
bad 2 '--skew does not belong' --model grid --scale 4 --skew flat
refused "too little memory for the index, two ranks" 4 'index of the edges needs .* MiB' \
    env HOPWAVE_MEMORY=1M "$MPIEXEC" -n 2 hopwave-generate --model geometric --scale 28 --recipe -o x.h5
is "nothing is left of what was refused" "$(find . -name 'x*' -o -name '.*tmp*')" ""
done_testing
