#!/bin/sh
# hopwave-traverse: the same levels from every layout, part count, thread count
# and method; what it keeps; what it refuses.
# shellcheck disable=SC1091,SC2086,SC2317 # options are lists of words; ok calls functions
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS


# traverse N ARGS...: a run of N ranks into t.h5.
traverse() {
    traverse_n=$1
    shift
    ranks "$traverse_n" hopwave-traverse -q --force -o t.h5 "$@" </dev/null
}

generate="hopwave-generate -q --model"
$generate rmat --scale 9 --edge-factor 6 --recipe --digest -o recipe.h5
for kind in undirected directed; do
    [ $kind = directed ] && option=--directed || option=
    $generate rmat --scale 9 --edge-factor 6 $option -o $kind.h5
    hopwave-partition -q $kind.h5 --layout 1d --parts 1 -o $kind-1.h5
    hopwave-partition -q $kind.h5 --layout 2d --grid 2x2 -o $kind-4.h5
    hopwave-partition -q $kind.h5 --layout degree-separated --parts 3 --order hash -o $kind-3.h5
done

# ---- the same answer ----

for kind in undirected directed; do
    ok "$kind: one part" traverse 1 $kind-1.h5 --roots 4 --check --graph $kind.h5
    want=$(info t.h5 digest)
    is "$kind: all trees are kept" "$(info t.h5 stored) $(info t.h5 checked)" "4 4"
    while read -r n options; do
        ok "$kind: $n ranks, $options" traverse "$n" $options --roots 4
        is "$kind: the same levels" "$(info t.h5 digest)" "$want"
    done <<EOF
1 $kind-1.h5 --threads 2 --direction top-down
1 $kind-1.h5 --direction bottom-up --no-steps
4 $kind-4.h5 --exchange list --check --graph $kind.h5
4 $kind-4.h5 --exchange bitmap --direction top-down
3 $kind-3.h5 --threads 2 --check --graph $kind.h5
3 $kind-3.h5 --direction bottom-up --uniquify --reduce nonblocking
2 $kind.h5 --layout 1d --check
6 $kind.h5 --layout 2d --grid 3x2 --order none --check
2 $kind.h5 --layout degree-separated --degree-threshold 4 --method delegates
4 $kind.h5 --layout degree-separated --parts 2x2 --local-all2all --check
EOF
done
ok "a recipe" traverse 2 recipe.h5 --layout 2d --method grid --roots 4 --check
ok "canonical parents, one part" traverse 1 undirected-1.h5 --canonical-parents --roots 4
cp t.h5 canonical.h5
ok "canonical parents, other parts" traverse 3 undirected-3.h5 --canonical-parents --roots 4
ok "are the same, and nothing but /run differs" "$H5DIFF" --exclude-path /run t.h5 canonical.h5

# ---- the order that auto takes ----

$generate erdos-renyi --scale 9 --edge-factor 8 --weights integer:1:255 -o even.h5
while read -r want say options; do
    ok "an order is taken: $options" traverse $options --roots 4 --check
    is "$want" "$(info t.h5 order)" "$want"
    is "which is said: $say" "$(info t.h5 auto_choice | grep -c "graph's own order")" $say
done <<EOF
none 1 1 even.h5 --layout 1d --parts 1
none 1 1 even.h5 --layout 2d --grid 1x1 --algorithm sssp --threads 2
none 0 1 even.h5 --layout 1d --parts 1 --order none
degree 0 1 even.h5 --layout 1d --parts 1 --order degree
degree 0 2 even.h5 --layout 1d --parts 2
degree 0 1 undirected.h5 --layout 1d --parts 1
EOF
hopwave-partition -q even.h5 --layout 1d --parts 1 -o even-1.h5
is "a file of one part is by degree" "$(info even-1.h5 order)" degree

# ---- what is kept ----

ok "the first tree" traverse 2 undirected.h5 --layout 1d --roots 5 --store first
is "is kept alone" "$(info t.h5 stored)" 1
ok "no tree, but each checked" traverse 2 undirected.h5 --layout 1d --roots 5 --store none --check
is "is kept" "$(info t.h5 stored) $(info t.h5 checked) $(info t.h5 NBFS)" "0 5 5"
is "steps are recorded" "$(info t.h5 /run/steps | grep -c 'table \[[1-9]')" 1
ok "without steps" traverse 1 undirected-1.h5 --roots 2 --store none --no-steps
is "none is recorded" "$(info t.h5 /run/steps | grep -c 'table \[0\]')" 1
is "the kernels' rule is named" "$(info t.h5 teps_rule)" tuples-in-component-with-self-loops
same "the partition is named" "$(info t.h5 partition_digest)" "$(info undirected-1.h5 digest)"

# ---- roots ----

printf '# two roots\n3\n\n500\n' >roots.txt
ok "roots from a file" traverse 2 undirected.h5 --layout 1d --root-list roots.txt --check
by_file=$(info t.h5 digest)
ok "roots from the command line" traverse 1 undirected-1.h5 --root-list 3,500
is "are the same" "$(info t.h5 digest)" "$by_file"
$generate erdos-renyi --vertices 300 --edges 60 -o sparse.h5
ok "more roots than there are" traverse 2 sparse.h5 --layout 1d --roots 5000 --store none --check
taken=$(info t.h5 NBFS)
ok "all vertices with edges are taken" test "$taken" -gt 64 -a "$taken" -le 120
is "all are checked, in several passes" "$(info t.h5 checked)" "$taken"
ok "roots of components of 3 and more" \
    traverse 3 sparse.h5 --layout 1d --roots 5000 --min-component 3 --check
ok "are fewer" test "$(info t.h5 NBFS)" -gt 0 -a "$(info t.h5 NBFS)" -lt "$taken"
$generate erdos-renyi --vertices 40 --edges 0 -o isolated.h5
ok "an isolated root by hand" traverse 3 isolated.h5 --layout 2d --grid 1x3 --root-list 7,39 --check
is "traverses nothing" "$(info t.h5 bfs_max_nedge) $(info t.h5 bfs_max_TEPS)" "0 0"
$generate erdos-renyi --vertices 1 --edges 0 -o one.h5
for layout in 1d degree-separated; do
    ok "one vertex, one part, $layout" traverse 1 one.h5 --layout $layout --root-list 0 --check
    ok "one vertex, three parts, $layout" traverse 3 one.h5 --layout $layout --root-list 0 --check
done

# ---- directions of subgraphs ----
# turned FACTOR: the visits of a search that go backward from so much work on.
turned() {
    ranks 2 hopwave-traverse -q --force undirected.h5 --layout degree-separated --roots 1 \
        --forward-factor "$1" -o t.h5 || return
    "$python" -c 'import h5py
print(sum(bytes(name).count(b":bu") for name in h5py.File("t.h5")["run/steps"]["routine"]))'
}
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3
if "$python" -c 'import h5py' 2>/dev/null; then
    is "none goes backward from far more work than there is" "$(turned 1e9)" 0
    ok "some do from little" test "$(turned 0.001)" -gt 0
else
    skip "visits go backward as factors say" "no h5py"
fi

# ---- what it takes ----

hopwave-traverse undirected-1.h5 --estimate --roots 10 >estimate
is "the estimate" "$(cut -d : -f 1 estimate | tr '\n' ' ')" "seconds memory_per_rank disk "
ok "tells the disk" grep -q "^disk: $((10 * 512 * 12 + 80))\$" estimate

ok "of parts that are not built yet" \
    traverse 3 undirected.h5 --layout degree-separated --estimate --check
ok "of parts in a file" traverse 3 undirected-3.h5 --estimate --local-all2all

# ---- what is refused ----

t="hopwave-traverse -q -o new.h5"
cp undirected-1.h5 there.h5
refused "no input" 2 "no input" $t
refused "two inputs" 2 "takes one file" $t undirected-1.h5 undirected-1.h5
refused "an unknown option" 2 "option" $t undirected-1.h5 --rots 3
refused "no output" 2 "give -o" hopwave-traverse undirected-1.h5
refused "an existing output" 2 "there.h5: .*--force" hopwave-traverse undirected-1.h5 -o there.h5
refused "an unwritable folder" 4 "no/such/new.h5" hopwave-traverse undirected-1.h5 -o no/such/new.h5
refused "no such file" 3 "nothing.h5: " $t nothing.h5
refused "no HDF5 file" 3 "roots.txt: " $t roots.txt
refused "a tree" 3 "neither a partition nor a graph" $t t.h5
refused "too few ranks" 3 "undirected-4.h5: has 4 parts, but there are 3 ranks: run .mpiexec -n 4 hopwave-traverse [.]{3}" \
    "$MPIEXEC" -n 3 $t undirected-4.h5
refused "too many ranks" 3 "undirected-1.h5: has 1 part, but there are 2 ranks: run .mpiexec -n 1 hopwave-traverse" \
    "$MPIEXEC" -n 2 $t undirected-1.h5
refused "parts that are not the ranks" 3 "2 parts asked for, but there is 1 rank: run .mpiexec -n 2 hopwave-traverse" \
    $t undirected.h5 --layout 1d --parts 2
refused "a graph without a layout" 3 "say how to partition it" $t undirected.h5
refused "a graph with half a layout" 3 "say how to partition it" $t undirected.h5 --order none
refused "a grid for 1d" 2 "has no grid" $t undirected.h5 --layout 1d --grid 1x1
refused "a layout for a partition" 3 "partitioned already; --order" $t undirected-1.h5 --order hash
refused "a check without tuples" 3 "give --graph" $t undirected-1.h5 --check
refused "tuples without a check" 2 "only --check" $t undirected-1.h5 --graph undirected.h5
refused "tuples of another graph" 3 "was not made from" $t undirected-1.h5 --check --graph one.h5
$generate rmat --scale 9 --edge-factor 6 --seed 2 -o other.h5
refused "tuples of a graph of the same size" 3 "was not made from" \
    $t undirected-1.h5 --check --graph other.h5
refused "tuples of a directed one" 3 "was not made from" \
    $t undirected-1.h5 --check --graph directed.h5
refused "tuples beside a graph" 3 "is a graph itself" \
    $t undirected.h5 --layout 1d --check --graph undirected.h5
refused "a root past the end" 3 "root 512 is out of range: .* 0 to 511" \
    $t undirected-1.h5 --root-list 1,512
refused "a root below zero" 3 "root -1 is out of range" $t undirected-1.h5 --root-list=-1
refused "an empty list of roots" 2 "not a list" $t undirected-1.h5 --root-list ""
refused "a broken list of roots" 2 "not a list" $t undirected-1.h5 --root-list 1,,2
refused "no such file of roots" 3 "none.txt: No such file" $t undirected-1.h5 --root-list none.txt
printf '1\n2 x\n' >wrong.txt
refused "a broken file of roots" 3 "wrong.txt: line 2: " $t undirected-1.h5 --root-list wrong.txt
: >empty.txt
refused "an empty file of roots, 2 ranks" 3 "empty.txt: holds no root" \
    "$MPIEXEC" -n 2 $t undirected.h5 --layout 1d --root-list empty.txt
refused "roots sampled and listed" 2 "about sampling" \
    $t undirected-1.h5 --roots 3 --root-list 1
refused "no roots at all" 2 "outside 1 to" $t undirected-1.h5 --roots 0
refused "roots where no vertex has an edge" 3 "no vertex has an edge" $t isolated.h5 --layout 1d
refused "components that are not there" 3 "min-component" $t undirected-1.h5 --min-component 513
refused "an algorithm that is not there" 2 "none of bfs" $t undirected-1.h5 --algorithm dfs
refused "shortest paths without weights" 3 "no weights.*--weights" $t undirected-1.h5 --algorithm sssp
refused "an option of shortest paths for another algorithm" 2 "for --algorithm sssp" $t \
    undirected-1.h5 --delta 0.1
refused "a bucket without width" 2 "must be above 0" $t undirected-1.h5 --algorithm sssp --delta 0
refused "no such method" 2 "no method is named 'fusd'; did you mean 'fused'" \
    $t undirected-1.h5 --method fusd
refused "an option that is mistyped" 2 "'--dlta' is not an option; did you mean --delta" \
    $t undirected-1.h5 --dlta 0.1
refused "a method for another layout" 3 "those that do: delegates" \
    "$MPIEXEC" -n 3 $t undirected-3.h5 --method grid
refused "a method for another device" 3 "on a cuda device" $t undirected-1.h5 --device cuda --method grid
refused "a transport between GPUs" 2 "between GPUs" $t undirected-1.h5 --transport nccl
refused "memory of GPUs for CPUs" 2 "mpi-buffers: is about memory of GPUs" \
    $t undirected-1.h5 --mpi-buffers host
refused "an MPI that takes no memory of GPUs" 4 "this MPI takes no pointers" \
    env MPIR_CVAR_ENABLE_GPU=0 $t undirected-1.h5 --device cuda --mpi-buffers device
refused "memory of GPUs that is none" 2 "none of auto, host, device" \
    $t undirected-1.h5 --device cuda --mpi-buffers pinned
refused "an exchange for delegates" 3 \
    "--exchange is for methods grid and scan2d, and the method is delegates" "$MPIEXEC" -n 3 $t undirected-3.h5 --exchange list
refused "uniquify for grids" 3 "--uniquify is for method delegates, and the method is grid" $t undirected-1.h5 --uniquify
refused "too little memory" 4 "MiB are free" env HOPWAVE_MEMORY=10K $t undirected-1.h5
head -c 3000 undirected-1.h5 >short.h5
refused "a truncated partition" 3 "short.h5: " $t short.h5
ok "nothing is left under the final name" test ! -e new.h5
is "nor any temporary file" "$(find . -name '*new.h5*')" ""

# ---- what plain h5py sees ----

python=${PYTHON3:-python3}
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "the tables of searches and steps" "no h5py"
    skip "a check that fails" "no h5py"
    skip "records what failed" "no h5py"
    done_testing
fi
for kind in 4 3; do
    traverse $kind undirected-$kind.h5 --roots 4 --check --graph undirected.h5
    ok "the tables of searches and steps, $kind parts" "$python" -c '
import h5py, numpy
f = h5py.File("t.h5")
search, steps = f["run/search"][()], f["run/steps"][()]
levels, parents = f["level"][()], f["parent"][()]
assert (search["root"] == f["roots"][()]).all()
assert (search["reached"] == (parents >= 0).sum(axis=1)).all()
assert (search["levels"] == levels.max(axis=1) + 1).all()
assert (search["teps"] == search["edges"] / search["seconds"]).all()
assert (search["seconds_search_order"] <= search["seconds"]).all()
assert search["checked"].all() and not search["violations"].any()
times = f["run"].attrs["bfs_max_time"], f["run"].attrs["bfs_mean_time"]
assert numpy.allclose(times, (search["seconds"].max(), search["seconds"].mean()))
rate = f["run"].attrs["bfs_harmonic_mean_TEPS"]
assert numpy.isclose(rate, 1 / (1 / search["teps"]).mean())
for i in range(4):
    mine = steps[steps["search"] == i]
    assert (mine["step"] == numpy.arange(len(mine))).all()
    assert mine["discovered"].sum() + 1 == search["reached"][i]
    assert mine["frontier"][0] == 1
assert (steps["direction"] == b"top-down").any() and (steps["direction"] == b"bottom-up").any()
assert set(steps["direction"]) <= {b"top-down", b"bottom-up", b"none"}
for count in ("edges_examined", "bytes_sent", "messages_sent"):
    assert (steps[count + "_max"] <= steps[count]).all()
phases = [name[:-4] for name in steps.dtype.names if name.endswith("_min")]
assert len(phases) == 8
for phase in phases:
    low, mean, high = (steps[phase + "_" + kind] for kind in ("min", "mean", "max"))
    assert (low <= mean * (1 + 1e-9)).all() and (mean <= high * (1 + 1e-9)).all()
    assert (steps[phase + "_slowest"] < f["run"].attrs["ranks"]).all()
'
done

# A check that fails: the same partition, said to come from another graph of the
# same size.
cp undirected-4.h5 wrong.h5
"$python" -c '
import h5py
with h5py.File("other.h5") as other, h5py.File("wrong.h5", "a") as wrong:
    wrong.attrs.modify("graph_digest", other.attrs["digest"])'
refused "a check that fails" 1 "t.h5: 3 of 3 searches failed validation: root .* breaks rule" \
    "$MPIEXEC" -n 4 hopwave-traverse -q --force wrong.h5 --roots 3 --check --graph other.h5 -o t.h5
is "records what failed" "$(info t.h5 failed) $(info t.h5 checked) $(info t.h5 verifies)" "3 3 yes"

done_testing
