#!/bin/sh
# Roads and meshes: levels and distances by blocks that do not wait for each other; on several GPUs one
# reads and lowers what the others own. Levels and distances of the CPU, long lists, lists of zeros, keys
# of 64 bits, what is not connected, levels too large for one block, roots without edges, and the kernel
# that is chosen.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

# A grid of 48 x 48 without every ninth edge, apart from it a path, and a vertex alone.
awk 'BEGIN { n = 48
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) { v = i * n + j
        if (j + 1 < n && ++k % 9) print v, v + 1, 1 + (k * 7919) % 255
        if (i + 1 < n && ++k % 9) print v, v + n, 1 + (k * 7919) % 255 }
    for (v = 3000; v < 3060; v++) print v, v + 1, 9 }' >grid.wel
hopwave-import -q --undirected grid.wel --vertices 3100 -o grid.h5
needs_gpu "roads on several GPUs" 2 grid.h5 --layout 1d --parts 2 --algorithm sssp
[ "$(gpus)" -ge 2 ] || {
    skip "roads on several GPUs" "there is one GPU here"
    done_testing
}

python=${PYTHON3:-python3}
# rows NAME CONDITION: what holds of the rows of gpu.h5, in Python.
rows() {
    if "$python" -c 'import h5py' 2>/dev/null; then
        ok "$1" "$python" -c "import h5py, sys
rows = h5py.File('gpu.h5')['run/steps'][:]
def of(routine):
    return rows[rows['routine'] == routine]
sys.exit(0 if $2 else 1)"
    else
        skip "$1" "there is no h5py here"
    fi
}
kernel() {
    ok "by the kernel $1" sh -c "hopwave-info gpu.h5 | grep -q '^ *kernel: $1\$'"
}
# cpu GRAPH ALGORITHM OPTIONS...: what is compared with.
cpu() {
    graph=$1 algorithm=$2
    shift 2
    hopwave-traverse -q --force "$graph" --layout 1d --algorithm "$algorithm" --roots 3 "$@" -o cpu.h5
}
gpu() {
    parts=$1
    shift
    like_cpu "$algorithm of $graph on $parts GPUs $*" "$parts" "$graph" --layout 1d \
        --parts "$parts" --algorithm "$algorithm" --roots 3 "$@"
}

cpu grid.h5 sssp
gpu 2 --check
kernel small-frontier
rows "rounds are one row, of one GPU" "len(of(b'rounds')) == 3 and \
    (of(b'rounds')['frontier'] > 2000).any() and (of(b'rounds')['edges_examined'] > 4000).any()"
gpu 3 --order none
gpu 4
gpu 2 --delta 40
gpu 2 --delta-kernel balanced
kernel balanced
gpu 2 --canonical-parents
cpu grid.h5 sssp --canonical-parents
same_parents
cpu grid.h5 bfs
gpu 2 --check
kernel small-frontier
rows "levels are rounds of one GPU" "len(of(b'rounds')) == 3 and \
    set(rows['routine']) <= {b'rounds', b'parents', b'canonical'} and \
    (of(b'rounds')['discovered'] > 2000).any() and (of(b'rounds')['edges_examined'] > 4000).any()"
gpu 3 --order none
gpu 4
# The word of a vertex has the least parent in the end, in whatever order edges lower it.
gpu 2
parents=$(hopwave-info gpu.h5 | grep /parent:)
export HW_EMULATED_SEED=7 HW_EMULATED_SHAKE=5
gpu 2
same "the same parents in another order of threads" "$(hopwave-info gpu.h5 | grep /parent:)" "$parents"
unset HW_EMULATED_SEED HW_EMULATED_SHAKE
gpu 2 --direction bottom-up
gpu 2 --direction top-down
rows "a direction is searched by levels" "len(of(b'rounds')) == 0 and len(of(b'push block')) > 30"
gpu 1 --check
kernel small-frontier
rows "rounds of one GPU are one row" "len(of(b'rounds')) == 3 and \
    (of(b'rounds')['discovered'] > 2000).any() and (of(b'rounds')['edges_examined'] > 4000).any()"
gpu 1 --order degree
gpu 1 --direction top-down
rows "a direction is searched by levels" "len(of(b'rounds')) == 0 and len(of(b'push block')) > 30"
gpu 2 --canonical-parents
cpu grid.h5 bfs --canonical-parents
same_parents
gpu 1 --canonical-parents
same_parents

# A long path: a search of many times as many levels as one block takes at a time.
awk 'BEGIN { for (v = 0; v < 900; v++) print v, v + 1, v % 7 / 4 }' >path.wel
hopwave-import -q --undirected path.wel -o path.h5
for algorithm in sssp bfs; do
    cpu path.h5 $algorithm
    gpu 2
    # From its ends, which have one edge, and from the middle.
    hopwave-traverse -q --force path.h5 --layout 1d --algorithm $algorithm --root-list 0,900,450 -o cpu.h5
    like_cpu "$algorithm from the ends of a path" 3 path.h5 --layout 1d --parts 3 \
        --algorithm $algorithm --root-list 0,900,450
    for order in none degree; do
        like_cpu "$algorithm from the ends of a path on one GPU, order $order" 1 path.h5 \
            --layout 1d --algorithm $algorithm --order $order --root-list 0,900,450
    done
done

# Lists of up to 16 neighbors, which go on in several records; edges of length zero; keys of floats.
awk 'BEGIN { for (v = 0; v < 300; v++) print v, (v + 1) % 300, v % 5 / 8
    for (v = 0; v < 300; v += 30) for (k = 0; k < 14; k++) {
        print v, 300 + m, k / 64; print 300 + m++, (v + 2 * k + 1) % 300, 0 } }' >combs.wel
hopwave-import -q --undirected combs.wel -o combs.h5
cpu combs.h5 sssp
gpu 2 --delta-kernel small-frontier --check
kernel small-frontier
gpu 3 --delta-kernel small-frontier
cpu combs.h5 bfs
gpu 2 --check
gpu 1 --check
gpu 3

# Keys of 64 bits.
awk 'BEGIN { n = 20; for (i = 0; i < n; i++) for (j = 0; j < n; j++) { v = i * n + j
    if (j + 1 < n) print v, v + 1, 1000000000 + (v * 7919) % 999999937
    if (i + 1 < n) print v, v + n, 1000000000 + (v * 104729) % 999999937 } }' >long.wel
hopwave-import -q --undirected long.wel -o long.h5
cpu long.h5 sssp
gpu 2 --check
kernel small-frontier

# Three edges at every vertex, drawn at random: levels of more edges than one block queues.
awk 'BEGIN { srand(11); n = 24000; for (k = 0; k < 3 * n; k++) s[k] = k % n
    for (k = 3 * n - 1; k > 0; k--) { j = int(rand() * (k + 1)); t = s[k]; s[k] = s[j]; s[j] = t }
    for (k = 0; k < 3 * n; k += 2) print s[k], s[k + 1], 1 + int(rand() * 255) }' >cubic.wel
hopwave-import -q --undirected cubic.wel -o cubic.h5
cpu cubic.h5 bfs
gpu 1 --check
kernel small-frontier
gpu 2 --check
kernel small-frontier
gpu 4
cpu cubic.h5 sssp
gpu 2

# Directed graphs have records for levels, and no kernel of their own for distances.
hopwave-import -q --directed grid.wel --vertices 3100 -o directed.h5
cpu directed.h5 bfs
gpu 1 --check
kernel small-frontier
gpu 2 --check
kernel small-frontier
gpu 3 --canonical-parents
cpu directed.h5 sssp
gpu 2
kernel balanced

# Roots without edges, and in a path that the rest does not reach.
hopwave-traverse -q --force grid.h5 --layout 1d --algorithm bfs --root-list 3099,3030,3000,0 -o cpu.h5
for parts in 1 2; do
    like_cpu "roots without edges on $parts GPUs" $parts grid.h5 --layout 1d --parts $parts \
        --algorithm bfs --root-list 3099,3030,3000,0 --check
done
done_testing
