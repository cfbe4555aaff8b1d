#!/bin/sh
# bench/peers-cpu and bench/peers-gpu, with stand-ins for the programs of others: each reads its own
# format and searches by itself. What is wrong with one is a message in the table.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS PYTHONDONTWRITEBYTECODE

if ! python=$(python_with "h5py, numpy"); then
    skip "comparisons" "no Python with h5py and numpy"
    done_testing
fi
tests=$top_srcdir/tests/pipeline

# stand_in FOLDER PROGRAM MODE NAME...: a folder with programs of these names.
stand_in() {
    folder=$1 program=$2 mode=$3
    shift 3
    mkdir -p "$folder"
    for name; do
        printf '#!/bin/sh\nexec "%s" "%s" %s %s "$@"\n' "$python" "$tests/stand_in_peer.py" \
            "$program" "$mode" >"$folder/$name"
        chmod +x "$folder/$name"
    done
}
for mode in right wrong failed crash hang mute; do
    stand_in "gap-$mode" gap "$mode" bfs sssp
    stand_in "wasp-$mode" wasp "$mode" sssp-int32
    stand_in "pasgal-$mode" pasgal "$mode" bfs sssp
    stand_in "reference-$mode" reference "$mode" graph500_reference_bfs
    stand_in "blest-$mode" blest "$mode" blest
    stand_in "gunrock-$mode" gunrock "$mode" bfs sssp
    stand_in "gswitch-$mode" gswitch "$mode" BFS SSSP
    stand_in "adds-$mode" adds "$mode" sssp
done

# The stand-in for the reference is no MPI program: what starts it runs it once.
mkdir bin
cat >bin/start-ranks <<'END'
#!/bin/sh
[ "$1 $2" = "-n 1" ] || exit 9
shift 2
exec "$@"
END
chmod +x bin/start-ranks
MPIEXEC=$PWD/bin/start-ranks
export MPIEXEC

# compared PROGRAM ARGUMENT...: the table, and the status after it.
compared() {
    "$python" "$tests/peers.py" "$top_srcdir/bench" "$@" --roots 2 --repeats 2 --limit 20 \
        --deltas "2 8" 2>&1
    echo "status $?"
}

# row TABLE PATTERN NAME: holds when the table has such a row.
row() {
    ok "$3" grep -Eq "$2" "$1"
    grep -Eq "$2" "$1" || sed 's/^/# /' "$1"
}

compared peers-cpu --gap gap-right --pasgal pasgal-right --reference reference-right \
    graph500:6 directed:6 >cpu-bfs
row cpu-bfs '^status 1' "a program that does not do a graph is no success"
row cpu-bfs '^graph500-6-16 +Hopwave +1x1, grid +2 .* 1\.00 +all rules of Graph500' "Hopwave"
row cpu-bfs '^graph500-6-16 +GAP +2 +1 .*its own check, reached' "GAP on the reference's graph"
row cpu-bfs '^graph500-6-16 +PASGAL +2 +1 .*its own check' "PASGAL on it"
row cpu-bfs '^graph500-6-16 +Graph500 reference +its 64 roots +64 +0\.006' "the reference"
row cpu-bfs '^directed-6-16 +GAP +2 +1 .*reached' "GAP on directed edges"
row cpu-bfs '^directed-6-16 +PASGAL +2 +1 ' "PASGAL on them"
row cpu-bfs '^directed-6-16 +Graph500 reference +not run: it searches only' "not the reference"

compared peers-cpu --algorithm sssp --gap gap-right --wasp wasp-right --pasgal pasgal-right \
    rmat:6 random:6:2 -o cpu-sssp.tsv >cpu-sssp
row cpu-sssp '^status 0' "all right: status 0"
row cpu-sssp '^rmat-6-16 +GAP +delta [28] +2 +1 ' "GAP, shortest paths, with the best width"
row cpu-sssp '^random-6-2 +Wasp +delta .*greatest distance, its own check, reached' "Wasp"
row cpu-sssp '^random-6-2 +PASGAL +(rho|delta).*all distances, its own check' "PASGAL"
is "the table as a file" "$(cut -f 2 cpu-sssp.tsv | sort | uniq -c | sed 's/ *//' | tr '\n' ,)" \
    "2 GAP,2 Hopwave,2 PASGAL,2 Wasp,1 program,"

compared peers-gpu --blest blest-right --gunrock gunrock-right --gswitch gswitch-right \
    --adds adds-right random:6:2 >gpu-bfs
row gpu-bfs '^status 0' "GPUs: all right"
row gpu-bfs '^random-6-2 +BLEST +2 +1\.5 .*all levels, greatest level, reached' "BLEST"
row gpu-bfs '^random-6-2 +Gunrock +2 +1\.5 .*all levels, its own check' "Gunrock"
row gpu-bfs '^random-6-2 +GSWITCH +2 +1\.5 .*its own check' "GSWITCH"
ok "ADDS has no breadth-first search" sh -c '! grep -q ADDS gpu-bfs'
compared peers-gpu --algorithm sssp --gunrock gunrock-right --gswitch gswitch-right \
    --adds adds-right random:6:2 >gpu-sssp
row gpu-sssp '^random-6-2 +ADDS +2 +1\.5 .*all distances' "ADDS"
row gpu-sssp '^random-6-2 +Gunrock +2 +1\.5 .*all distances' "Gunrock, shortest paths"
row gpu-sssp '^status 0' "GPUs, shortest paths: all right"

for mode in wrong failed crash mute; do
    {
        compared peers-cpu --algorithm sssp --gap "gap-$mode" --wasp "wasp-$mode" \
            --pasgal "pasgal-$mode" rmat:5
        compared peers-cpu --reference "reference-$mode" graph500:5
        compared peers-gpu --blest "blest-$mode" --gunrock "gunrock-$mode" \
            --gswitch "gswitch-$mode" rmat:5
        compared peers-gpu --algorithm sssp --adds "adds-$mode" rmat:5
    } >"$mode"
done
for program in GAP Wasp PASGAL BLEST Gunrock ADDS GSWITCH; do
    row wrong "^rmat-5-16 +$program .*wrong answer from root [0-9]+: " \
        "$program: a wrong answer"
    row crash "^rmat-5-16 +$program .*was ended by signal 6.*: CUDA error: an illegal" \
        "$program: a crash"
    row mute "^rmat-5-16 +$program .*printed no time from root [0-9]+$" "$program: no time"
done
for program in GAP Wasp PASGAL Gunrock GSWITCH; do
    row failed "^rmat-5-16 +$program .*wrong answer from root [0-9]+: its own check says so" \
        "$program: a wrong answer that it finds itself"
done
row failed "^graph500-5-16 +Graph500 reference .*printed no harmonic mean" "the reference: wrong"
row wrong "^rmat-5-16 +ADDS .*: vertex [0-9]+ has distance none, [0-9]+ is right \(1 vert" \
    "which vertex is wrong"
is "wrong answers are failures" "$(grep -c '^status 1' wrong)" 3

stand_in gunrock-silent gunrock silent bfs
compared peers-gpu --blest blest-mute --gunrock gunrock-silent rmat:5 >left
row left '^rmat-5-16 +Gunrock .*printed nothing to check its answer by' \
    "what another program left is no answer"

"$python" "$tests/peers.py" "$top_srcdir/bench" peers-cpu --gap gap-hang --wasp missing \
    --algorithm sssp --roots 1 --limit 1 --deltas 2 rmat:5 >hang 2>&1
row hang '^rmat-5-16 +GAP .*did not end within 1 s from root' "a program that hangs is ended"
row hang '^rmat-5-16 +Wasp .*not run: .*missing/sssp is not there' "a program that is not there"
"$python" "$top_srcdir/bench/peers-cpu" nothing.h5 >usage 2>&1
is "a graph that is not there: status" $? 2
row usage '^peers-cpu: nothing.h5: no such file' "a graph that is not there"
compared peers-cpu --cores 100000 rmat:5 >usage
row usage '^status 2' "a core that is not there: status"
compared peers-cpu --gap gap-right rmat:5 nothing.h5 -o some.tsv >some
row some '^rmat-5-16 +GAP +2 ' "what was measured before is printed"
row some '^status 2' "and the status is that of the failure"
ok "and written" grep -q '^rmat-5-16.GAP' some.tsv

# A folder that is kept: graphs of one name, with other weights.
for weights in integer:1:9 integer:1:255; do
    compared peers-cpu --algorithm sssp --pasgal pasgal-right --weights "$weights" --work kept \
        rmat:5 >kept.out
    row kept.out '^status 0' "$weights in a folder that is kept"
done
is "no half-made file is in it" "$(find kept -name '*.part')" ""
done_testing
