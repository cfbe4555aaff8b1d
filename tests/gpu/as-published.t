#!/bin/sh
# --as-published: which methods have options that their papers set otherwise, what is recorded,
# and, on machines with a GPU or emulated ones, that each such option changes what it names.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --weights uniform -o g.h5
refused "a method without" 3 "g.h5: --as-published: method sequential has no option .*: .*adaptive" \
    hopwave-traverse -q g.h5 --layout 1d --method sequential --as-published -o t.h5
refused "auto, which takes one without" 3 "--as-published: method [a-z]* has no option" \
    hopwave-traverse -q g.h5 --layout 1d --algorithm sssp --as-published -o t.h5
ok "no file is left" test ! -e t.h5
hopwave-traverse --help=adaptive >help
ok "help lists what it sets" grep -q -e '--as-published sets: .*--alpha=0.1' help
hopwave-traverse -q g.h5 --layout 1d --roots 1 -o cpu.h5
is "/run says that it was not given" "$(info cpu.h5 as_published)" 0

refused "fetches are of warps" 2 "--fetch" hopwave-traverse -q g.h5 --layout 1d --device cuda \
    --method adaptive --balance static --fetch 32 -o t.h5

needs_gpu "methods as published" 1 g.h5 --layout 1d
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 -o cpu.h5
like_cpu "adaptive as published" 1 g.h5 --layout 1d --method adaptive --as-published --roots 2
is "/run says that it was given" "$(info gpu.h5 as_published)" 1
is "and the option that it set" "$(info gpu.h5 alpha)" 0.1
like_cpu "an option that is given stays" 1 g.h5 --layout 1d --method adaptive --as-published \
    --alpha 0.3 --roots 2
is "as it is" "$(info gpu.h5 alpha)" 0.3

# rows NAME CONDITION: what holds of the rows of gpu.h5 in Python, where r(PREFIX) are those whose
# routine begins so, and b(PREFIX) those of before.h5.
python=$(python_with h5py)
rows() {
    if [ -z "$python" ]; then
        skip "$1" "there is no h5py here"
        return
    fi
    ok "$1" "$python" -c "import h5py, sys
def of(name):
    steps = h5py.File(name)['run/steps'][:]
    return lambda prefix: steps[[s['routine'].decode().startswith(prefix) for s in steps]]
r, b = of('gpu.h5'), of('before.h5')
sys.exit(not ($2))"
}
# search OPTIONS...: of $method on $graph.
search() {
    like_cpu "$graph by $method $*" 1 $graph.h5 --layout 1d --method "$method" $algorithm \
        --roots 2 "$@"
}
# before OPTIONS...: what rows are compared with.
before() {
    hopwave-traverse -q --force $graph.h5 --device cuda --layout 1d --method "$method" $algorithm \
        --roots 2 "$@" -o before.h5
}
cpu() {
    hopwave-traverse -q --force $graph.h5 --layout 1d $algorithm --roots 2 "$@" -o cpu.h5
}

# ---- adaptive ----
hopwave-generate -q --model rmat --scale 10 --weights uniform -o rmat.h5
hopwave-generate -q --model rmat --scale 8 --directed --weights signed -o directed.h5
graph=rmat method=adaptive algorithm=
cpu
before --fetch 32
search --as-published
rows "as published, nothing of ours is used" "all(len(r(name)) == 2 and r(name)['frontier'].sum() == 0
    for name in ('first neighbors', 'waiting pool', 'single-block levels'))"
rows "and a warp fetches 32" "r('fetches')['frontier'].sum() > 0"
search --single-block-levels off
rows "no level stays in one block" "r('single-block')['frontier'].sum() == 0
    and b('single-block')['frontier'].sum() > 0"
search --first-neighbors off
rows "no first neighbor is read apart" "r('first')['frontier'].sum() == 0 < b('first')['frontier'].sum()"
search --waiting-pool off
rows "none waits" "r('waiting')['frontier'].sum() == 0 < b('waiting')['frontier'].sum()"
rows "fetches of 128 are fewer than of 32" \
    "0 < r('fetches')['frontier'].sum() < b('fetches')['frontier'].sum()"
search --tests-in-flight 1
rows "each vertex is tested alone" "r('waiting')['frontier'].sum() > b('waiting')['frontier'].sum()"
before --hub-order on --direction bottom-up --async-bottom-up off
search --hub-order off --direction bottom-up --async-bottom-up off
rows "hubs first, fewer edges are examined" \
    "b('pull')['edges_examined'].sum() < r('pull')['edges_examined'].sum()"
for balance in static thread donate; do
    search --as-published --balance $balance
done
search --as-published --queue degree-classes

# ---- merge and its baseline ----
method=merge
before --hub-order off
search --as-published
rows "as published, levels are of five kernels" "len(r('gather, 5')) + len(r('expand, 5')) > 0
    and not len(r('gather')) + len(r('expand')) - len(r('gather, 5')) - len(r('expand, 5'))
    and len(b('gather, ')) + len(b('expand, ')) == 0"
rows "the hybrid chooses as it does in one kernel" "len(r('gather')) == len(b('gather'))"
rows "no tile has more than 1024 edges" "0 < r('edges of')['frontier'].max() <= 1024"
cp gpu.h5 before.h5
search --as-published --tile-size 256
rows "smaller tiles are more" "r('tiles')['frontier'].sum() > b('tiles')['frontier'].sum() > 0"
search --tile-size 256
rows "in one kernel, too" "0 < r('edges of')['frontier'].max() <= 256"
search --as-published --coupling separate
rows "separate: six kernels" "len(r('separate, 6'))"
search --as-published --direct-after 2
rows "the hybrid gathers deep levels directly" "len(r('direct, 2')) and len(r('gather, 5'))"
search --direct-after 2
rows "in one kernel, too" "len(r('direct')) and len(r('gather'))"
method=cta-warp-scan
search --as-published
rows "expansion and contraction are kernels" "len(r('cta-warp-scan, 3')) > 0"
hopwave-generate -q --model rmat --scale 12 -o larger.h5
graph=larger
cpu
before --launches phases
search --launches phases --tile-order consecutive
rows "consecutive vertices: hubs meet in one block" \
    "r('edges of')['frontier'].sum() > b('edges of')['frontier'].sum()"

# ---- bellman-ford ----
method=bellman-ford
graph=directed # whole weights, some negative, as in Table 3
algorithm="--algorithm sssp"
cpu --method bellman-ford
search --as-published
rows "all six optimizations, and no more" "all(s['routine'].decode().split('.')[0] == 'queue'
    and s['routine'].decode().endswith('.dynamic.words.ech') for s in r('queue')) and len(r('queue'))
    and not len(r('sweep')) and not len(r('tier'))"
alone="--as-published --no-edge-classes --duplicate-removal off --large-lists off
    --virtual-warps 32 --warp-vertices 1 --cache-hints off --coalesced-enqueue off"
search $alone
rows "none of them" "len(r('queue.vw32')) == len(r('queue'))
    and {s['routine'].decode() for s in r('queue')} == {'queue.vw32'}
    and r('without')['discovered'].sum() == 0"
# Each alone: the others stay as they are without.
search --as-published --duplicate-removal off --large-lists off --virtual-warps 32 \
    --warp-vertices 1 --cache-hints off --coalesced-enqueue off
rows "edge classes alone: distances are set without atomics" \
    "{s['routine'].decode() for s in r('queue')} == {'queue.vw32.e'}
    and r('without')['discovered'].sum() > 0 and len(r('leaves'))"
cp gpu.h5 before.h5
search --as-published --no-edge-classes --large-lists off --virtual-warps 32 --warp-vertices 1 \
    --cache-hints off --coalesced-enqueue off
rows "duplicate removal alone" "{s['routine'].decode() for s in r('queue')} == {'queue.vw32.words'}
    and r('without')['discovered'].sum() == 0 and not len(r('leaves'))"
search $alone --large-lists dynamic --large-list-length 64
rows "dynamic parallelism alone" "len(r('queue.vw32.dynamic')) == len(r('queue'))"
# Frontiers of more vertices than an H200 has warps get narrower ones.
hopwave-generate -q --model rmat --scale 14 --directed --weights integer:1:255 -o wide.h5
graph=wide
cpu --method bellman-ford
search $alone --virtual-warps dynamic
rows "dynamic virtual warps alone" "len({s['routine'] for s in r('queue.vw')}) > 1"
graph=directed
cpu --method bellman-ford
search $alone --cache-hints on
rows "cache hints alone" "{s['routine'].decode() for s in r('queue')} == {'queue.vw32.h'}"
search $alone --coalesced-enqueue on
rows "coalesced enqueue alone" "{s['routine'].decode() for s in r('queue')} == {'queue.vw32.c'}"
graph=rmat
cpu --method bellman-ford
search --as-published
rows "all six on real weights" "len(r('queue')) and not len(r('sweep')) and not len(r('tier'))"
search --duplicates
rows "without duplicate removal edge classes stay" "r('without')['discovered'].sum() > 0"
before --hub-order on --frontier queue --hub-tiers 0
search --hub-order off --frontier queue --hub-tiers 0
rows "the order of the vertices changes what is relaxed" \
    "b('queue')['edges_examined'].sum() != r('queue')['edges_examined'].sum()"

# Words for whole weights of which some are negative: 64 bits where a distance falls below all paths.
printf '0 1 2\n1 2 -1000\n2 3 -1000\n3 1 -1000\n4 5 1\n5 6 2\n' >tight.txt
awk 'BEGIN { for (v = 0; v < 90; v++) print v, v + 1, 2; print 60, 20, -300000 }' >deep.txt
for graph in tight deep; do
    hopwave-import -q $graph.txt --directed --weights integer -o $graph.h5
    hopwave-traverse -q --force $graph.h5 --layout 1d $algorithm --method bellman-ford \
        --root-list 0,4 -o cpu.h5
    like_cpu "$graph: a negative cycle, by words" 1 $graph.h5 --layout 1d --method bellman-ford \
        $algorithm --root-list 0,4 --as-published
done

# ---- graphs of other kinds ----
awk 'BEGIN { for (v = 0; v < 60; v++) print v, v + 1, 1 + v % 7; for (v = 0; v < 9; v++) print 3, 200 + v, 2
    print 5, 6, 3; print 5, 6, 9; print 7, 7, 1 }' >path.txt
hopwave-import -q path.txt --undirected --weights integer --vertices 300 -o path.h5
hopwave-generate -q --model rmat --scale 8 --edge-factor 1 --weights uniform -o sparse.h5
for graph in path sparse directed; do
    algorithm=
    cpu
    for method in adaptive merge cta-warp-scan; do
        search --as-published
    done
    algorithm="--algorithm sssp" method=bellman-ford
    cpu --method bellman-ford
    search --as-published
done
done_testing
