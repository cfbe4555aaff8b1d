#!/bin/sh
# hopwave-generate and hopwave-export: the same graph from any number of ranks
# and threads, the Graph500 reference's bit for bit, recipes, and bad input.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
h5dump=${H5DIFF%diff}dump

# digest FILE: its root digest.
digest() {
    "$h5dump" -a /digest "$1" | sed -n 's/.*"\(xxh3-128:[0-9a-f]*\)".*/\1/p'
}

# alike NAME DIGEST OPTIONS: the digest, at several numbers of ranks and threads.
alike() {
    alike_name=$1 alike_digest=$2 alike_options=$3
    for shape in 1.1 1.2 2.2 3.1 5.1; do
        rm -f $shape.h5
        ok "$alike_name: made by ranks.threads $shape" ranks "${shape%.*}" hopwave-generate \
            $alike_options --threads "${shape#*.}" --quiet -o "$shape.h5"
        is "$alike_name: ranks.threads $shape" "$(digest $shape.h5)" "$alike_digest"
    done
    ok "$alike_name: files of 1 and 5 ranks differ in /run alone" \
        "$H5DIFF" --exclude-path /run 1.1.h5 5.1.h5
    rm -f recipe.h5
    hopwave-generate $alike_options --recipe --digest --quiet -o recipe.h5
    is "$alike_name: the recipe has the same digest" "$(digest recipe.h5)" "$alike_digest"
}

alike "R-MAT" xxh3-128:e7fb829a79c49415972fed8f0ad83e3f \
    "--model rmat --scale 12 --edge-factor 20 --seed 7 --weights uniform"
alike "G(n,m), directed, signed" xxh3-128:e976f8cbf016f3df846e56a983a39cb6 \
    "--model erdos-renyi --vertices 5000 --edges 70000 --directed --weights signed"
alike "G(n,p)" xxh3-128:6bb39cce8ac650f553a39eaba6d5651c "--model erdos-renyi --scale 11 --probability .03 --weights integer:-5:5"
alike "Graph500" xxh3-128:c980895adc8ceee0c7f6420169433089 \
    "--model graph500 --scale 12 --weights uniform"

# The reference generator's own files: MD5 of its packed edges and weights.
md5() { md5sum "$1" | cut -d ' ' -f 1; }
hopwave-generate --model graph500 --scale 10 --weights uniform --quiet -o g10.h5
ok "scale 10 as packed edges" ranks 3 hopwave-export g10.h5 --format packed -o g10
is "scale 10, seeds 2 and 3: the reference's edges" "$(md5 g10)" 7c26a8351ab574842b6305965c0f2f1e
is "and its weights" "$(md5 g10.weights)" 39cf960f2551122d3482a8a73cb8f83b
hopwave-generate --model graph500 --scale 13 --edge-factor 8 --seed1 12345678901234 \
    --seed2 98765432109876 --weights uniform --recipe --quiet -o g13.h5
ok "a recipe as packed edges" hopwave-export g13.h5 --format packed -o g13
is "scale 13, other seeds: the reference's edges" "$(md5 g13)" 16ef5818f65f82bbb26c9589f6e36500
is "and its weights" "$(md5 g13.weights)" 2de708d57d41499b7003d78c25b0e8d4

# Other formats.
small="--model rmat --scale 6 --edge-factor 8 --seed 2 --quiet"
hopwave-generate $small --weights integer:1:255 -o w.h5
hopwave-generate $small --directed -o d.h5
for format in mtx el wel sg wsg; do
    ok "export to $format" hopwave-export w.h5 --format $format -o w.$format
done
ok "export a directed graph to sg" hopwave-export d.h5 --format sg -o d.sg
is "wel has a line for each tuple" "$(wc -l <w.wel)" 512
is "el is wel without weights" "$(cut -d ' ' -f 1,2 w.wel | cmp - w.el && echo same)" same
is "mtx: its header" "$(head -n 2 w.mtx | tr '\n' ' ')" \
    "%%MatrixMarket matrix coordinate integer symmetric 64 64 512 "
is "mtx: the lower triangle, ids from 1" \
    "$(tail -n +3 w.mtx | awk '$1 < $2 || $2 < 1 || $1 > 64 { bad++ } END { print NR, bad + 0 }')" \
    "512 0"
# What GAP's own converter makes of the tuples.
is "wsg is what GAP makes" "$(md5 w.wsg)" 159f95eb2503227e23f258e9251b7119
is "sg is what GAP makes" "$(md5 w.sg)" 918e309f9adee4d310870e536ae9cd9b
is "a directed sg is what GAP makes" "$(md5 d.sg)" a934f22b2b749b8e63392455b1782540
refused "wsg without integer weights" 3 'd.h5: format wsg holds weights of type i32' \
    hopwave-export d.h5 --format wsg -o x
refused "wel without weights" 3 'needs weights; use el' hopwave-export d.h5 --format wel -o x
refused "packed with integer weights" 3 'holds weights of type f32' \
    hopwave-export w.h5 --format packed -o x
refused "an existing output" 2 'w.el: exists already; --force replaces it' \
    hopwave-export w.h5 --format el -o w.el
refused "no format" 2 'no format; give --format' hopwave-export w.h5 -o x
refused "an unknown format" 2 "'foo' is none of packed, mtx" hopwave-export w.h5 --format foo -o x
refused "no graph" 2 'no graph; give GRAPH.h5' hopwave-export --format el -o x
refused "two graphs" 2 "'d.h5' is a second" hopwave-export w.h5 d.h5 --format el -o x
refused "no such graph" 3 'nothing.h5' hopwave-export nothing.h5 --format el -o x
# A byte in the middle of a file of 1 MB, within the edges.
cp 1.1.h5 damaged.h5
printf 'X' | dd of=damaged.h5 bs=1 seek=300001 conv=notrunc 2>/dev/null
refused "a damaged graph, by three ranks" 3 'damaged.h5: .*(damaged|but there are)' \
    "$MPIEXEC" -n 3 hopwave-export damaged.h5 --format packed -o x

# oracle OPTIONS WORDS: the graph is what doc/graphs.md says, by a second program.
oracle() {
    hopwave-generate $1 --recipe --quiet --force -o oracle.h5
    hopwave-export oracle.h5 --format wel --force -o oracle.wel
    if [ -z "$PYTHON3" ]; then
        skip "as documented: $1" "no Python"
    else
        "$PYTHON3" "$top_srcdir/tests/pipeline/generate_oracle.py" $2 >oracle.out
        ok "as documented: $1" cmp oracle.wel oracle.out
    fi
}
oracle "--model rmat --scale 8 --edge-factor 2 --seed 99 --weights uniform" \
    "rmat scale=8 seed=99 edges=512 weights=uniform"
oracle "--model rmat --scale 9 --edge-factor 1 --directed --weights signed" \
    "rmat scale=9 edges=512 weights=signed"
oracle "--model erdos-renyi --vertices 30 --edges 300 --seed 5 --weights integer:-3:77" \
    "erdos-renyi vertices=30 edges=300 seed=5 weights=integer:-3:77"
oracle "--model erdos-renyi --vertices 31 --edges 300 --weights uniform" \
    "erdos-renyi vertices=31 edges=300 weights=uniform"
oracle "--model erdos-renyi --vertices 32 --edges 600 --directed --weights signed" \
    "erdos-renyi vertices=32 edges=600 directed=1 weights=signed"
oracle "--model graph500 --scale 6 --edge-factor 2 --seed1 5 --weights uniform" \
    "graph500 scale=6 seed1=5 seed2=3 edges=128 weights=uniform"
oracle "--model graph500 --scale 6 --edge-factor 2 --weights integer:1:255" \
    "graph500 scale=6 seed1=2 seed2=3 edges=128 weights=integer:1:255"

# Small and empty graphs are legal.
edges() { "$h5dump" -a /edges "$1" | sed -n 's/.*(0): //p'; }
i=0
for options in "rmat --scale 0" "rmat --scale 3 --edge-factor 0" "rmat --scale 4 --abcd 1,0,0,0" \
    "erdos-renyi --vertices 1 --edges 0" "erdos-renyi --vertices 9 --probability 0" \
    "erdos-renyi --vertices 9 --probability 1" "erdos-renyi --vertices 9 --edges 36" \
    "erdos-renyi --vertices 2 --edge-factor 1 --directed" \
    "graph500 --scale 1 --edge-factor 1" "rmat --scale 40 --edge-factor 1024 --recipe" \
    "erdos-renyi --vertices 1099511627776 --edge-factor 1000 --recipe"; do
    i=$((i + 1))
    ok "--model $options" hopwave-generate --model $options --quiet -o "small$i.h5"
done
is "probability 1: all pairs" "$(edges small6.h5)" 36
is "2^50 edges in a recipe" "$(edges small10.h5)" 1125899906842624

# Bad input.
bad() {
    bad_status=$1 bad_pattern=$2
    shift 2
    refused "refused: $*" "$bad_status" "$bad_pattern" hopwave-generate "$@" -o x.h5
}
bad 2 'no model; give --model rmat' --scale 5
bad 2 "'foo' is none of rmat, erdos-renyi, graph500" --model foo
bad 2 'rmat needs --scale' --model rmat
bad 2 '--scale: 41 is outside' --model rmat --scale 41
bad 2 '--scale: -1 is outside' --model rmat --scale -1
bad 2 "'5.5' is not a whole number" --model rmat --scale 5.5
bad 2 "'' is not a whole number" --model rmat --scale ''
bad 2 'edge factor .* at scale 40 is outside' --model rmat --scale 40 --edge-factor 1025
bad 2 'outside 0 to' --model rmat --scale 4 --edge-factor 99999999999999999999
bad 2 'sum to 0.9, not to 1' --model rmat --scale 4 --abcd .5,.2,.1,.1
bad 2 'not four numbers' --model rmat --scale 4 --abcd .5,.3,.2
bad 2 'not four numbers' --model rmat --scale 4 --abcd .5,.2,.1,.1,.1
bad 2 "'nan' is not a number" --model rmat --scale 4 --abcd nan,.2,.1,.1
bad 2 '--abcd: -.5 is outside' --model rmat --scale 4 --abcd=-.5,.5,.5,.5
bad 2 '--seed: -1 is outside' --model rmat --scale 4 --seed -1
bad 2 '--seed: 9223372036854775808 is outside' --model rmat --scale 4 --seed 9223372036854775808
bad 2 '--seed1 does not belong to --model rmat' --model rmat --scale 4 --seed1 3
bad 2 '--vertices does not belong' --model rmat --scale 4 --vertices 16
bad 2 '--edges does not belong' --model graph500 --scale 4 --edges 16
bad 2 '--seed does not belong' --model graph500 --scale 4 --seed 1
bad 2 '--directed does not belong' --model graph500 --scale 4 --directed
bad 2 '--no-scramble does not belong' --model erdos-renyi --scale 4 --edges 3 --no-scramble
bad 2 'scale 0 is outside 1 to 40' --model graph500 --scale 0
bad 2 'needs --vertices or --scale' --model erdos-renyi --edges 5
bad 2 'needs --vertices or --scale' --model erdos-renyi --edges 5 --scale 4 --vertices 16
bad 2 'one of the three' --model erdos-renyi --scale 4
bad 2 'one of the three' --model erdos-renyi --scale 4 --edges 5 --probability .5
bad 2 '--vertices: 0 is outside' --model erdos-renyi --vertices 0 --edges 0
bad 2 '46 edges are more than the 45 pairs' --model erdos-renyi --vertices 10 --edges 46
bad 2 '1 edges are more than the 0 pairs' --model erdos-renyi --vertices 1 --edges 1
bad 2 'more than 2\^50 edges' --model erdos-renyi --scale 40 --edge-factor 1025
bad 2 'more than 2\^50' --model erdos-renyi --scale 40 --probability .5
bad 2 '--probability: 1.5 is outside' --model erdos-renyi --scale 4 --probability 1.5
bad 2 "'heavy' is none of none, uniform" --model rmat --scale 4 --weights heavy
bad 2 'signed weights need a directed graph' --model rmat --scale 4 --weights signed
bad 2 'signed weights need a directed graph' --model graph500 --scale 4 --weights signed
bad 2 'give the range' --model rmat --scale 4 --weights integer
bad 2 'give the range' --model rmat --scale 4 --weights integer:5
bad 2 "'' is not a whole number" --model rmat --scale 4 --weights integer::5
bad 2 'the range is empty' --model rmat --scale 4 --weights integer:5:1
bad 2 '2147483648 is outside' --model rmat --scale 4 --weights integer:0:2147483648
bad 2 'uniform takes no range' --model rmat --scale 4 --weights uniform:0:1
bad 2 'goes with --recipe' --model rmat --scale 4 --digest
bad 2 "takes no argument, found 'more'" --model rmat --scale 4 more
bad 2 "'--nonsense' is not an option" --model rmat --scale 4 --nonsense
bad 4 'too large|disk is too full|no space' --model rmat --scale 36
refused "no output" 2 'no output; give -o' hopwave-generate --model rmat --scale 4
refused "an existing output" 2 'w.h5: exists already; --force' \
    hopwave-generate --model rmat --scale 4 -o w.h5
refused "no such folder" 4 'no/such/x.h5' hopwave-generate --model rmat --scale 4 -o no/such/x.h5
refused "a folder as output" 4 'is a directory' hopwave-generate --model rmat --scale 4 --force -o .
refused "too little memory, two ranks" 4 'making edges needs .* MiB' \
    env HOPWAVE_MEMORY=1M "$MPIEXEC" -n 2 hopwave-generate --model rmat --scale 16 -o x.h5
is "nothing is left of what was refused" "$(find . -name 'x*' -o -name '.*tmp*')" ""

same "--estimate names the disk space" \
    "$(hopwave-generate --model rmat --scale 20 --estimate | sed -n 's/^disk: //p')" \
    "$((134217728 + 65536))"
is "a recipe takes next to none" \
    "$(hopwave-generate --model rmat --scale 40 --recipe --estimate | sed -n 's/^disk: //p')" 65536
done_testing
