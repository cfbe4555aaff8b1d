#!/bin/sh
# hopwave-validate: right trees pass, each kind of broken tree is found by the
# rule it breaks, and files that cannot be judged are refused.
# shellcheck disable=SC1091,SC2016 # statements for Python stand in single quotes
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
# Several programs of several ranks share the machine; threads are the units' matter.
export OMP_NUM_THREADS=1
python=$(python_with "h5py, xxhash") || python=${PYTHON3:-python3}

# status STATUS COMMAND...: runs it; output in out, errors of our programs in err.
status() {
    status_want=$1
    shift
    timeout 60 "$@" >out 2>err.all </dev/null
    status_rc=$?
    grep '^hopwave-' err.all >err
    [ "$status_rc" -eq "$status_want" ]
}

# passed CHECK.h5 EXPECTED: whether the check file says so and verifies.
passed() {
    hopwave-info "$1" >info 2>&1 && grep -q "passed: $2\$" info
}

hopwave-generate --model rmat --scale 12 --quiet -o g.h5
hopwave-generate --model rmat --scale 12 --seed 2 --quiet -o g2.h5
hopwave-traverse g.h5 --layout degree-separated --parts 1 --roots 6 --quiet -o t.h5

# ---- right trees ----

for n in 1 2 3 6; do
    verdict_name="$n ranks: right trees pass"
    if status 0 "$MPIEXEC" -n "$n" hopwave-validate t.h5 --graph g.h5 -o "v$n.h5" &&
        grep -q '6 trees, 6 rules, no violation$' err && passed "v$n.h5" 1; then
        verdict 0 "$verdict_name"
    else
        verdict 1 "$verdict_name"
    fi
done
ok "check files of 1 and 6 ranks differ in /run alone" \
    "$H5DIFF" --exclude-path /run v1.h5 v6.h5
ok "without an output too" hopwave-validate t.h5 --graph g.h5 --quiet
ok "--reference" hopwave-validate t.h5 --graph g.h5 --reference --quiet
ok "--reference, 3 ranks" ranks 3 hopwave-validate t.h5 --graph g.h5 --reference --quiet

hopwave-generate --model rmat --scale 9 --edge-factor 4 --directed --quiet -o d.h5
hopwave-traverse d.h5 --layout degree-separated --parts 1 --roots 5 --quiet -o dt.h5
ok "a directed graph" hopwave-validate dt.h5 --graph d.h5 --reference --quiet
hopwave-generate --model erdos-renyi --vertices 1 --edges 0 --quiet -o one.h5
hopwave-traverse one.h5 --layout degree-separated --parts 1 --root-list 0 --quiet -o onet.h5
ok "one vertex" hopwave-validate onet.h5 --graph one.h5 --reference --quiet
ok "one vertex, 2 ranks" ranks 2 hopwave-validate onet.h5 --graph one.h5 --quiet
ok "--estimate" hopwave-validate t.h5 --graph g.h5 --estimate -o estimate.h5
is "--estimate writes nothing" "$(ls estimate.h5 2>/dev/null)" ""

# ---- broken trees ----

# broken NAME RANKS RULE STATEMENT: a tree edited so is found broken by that rule;
# a pattern for the example is what STATEMENT says.
broken() {
    cp t.h5 b.h5
    rm -f b.check.h5
    broken_say=$("$python" "$top_srcdir/tests/pipeline/edit-tree.py" b.h5 "$4" 2>&1)
    if status 1 "$MPIEXEC" -n "$2" hopwave-validate b.h5 --graph g.h5 -o b.check.h5 &&
        grep -q -E "^hopwave-validate: b.h5: root [0-9]+: $3: .*$broken_say" err &&
        [ "$(wc -l <err)" -le 5 ] && passed b.check.h5 0; then
        verdict 0 "$1, $2 ranks: $3"
    else
        verdict 1 "$1, $2 ranks: $3"
        echo "# exit $status_rc, edited: $broken_say"
        sed 's/^/# /' err.all | head -n 20
    fi
}

if "$python" -c 'import h5py, xxhash' 2>/dev/null; then
    broken "a wrong parent" 2 'rule 2 \(tree-levels\)' \
        'parent[leaf] = other; say = f"1 violation, for example vertex {leaf}$"'
    broken "a level off" 3 'rule 2 \(tree-levels\)' \
        'level[leaf] += 1; say = f"1 violation, for example vertex {leaf}$"'
    broken "a level off by more" 1 'rule 3 \(edge-levels\)' \
        'level[leaf] += 2; say = f"for example edge .*{leaf}"'
    broken "a missing vertex" 2 'rule 4 \(spans\)' \
        'level[leaf] = parent[leaf] = -1; say = f"for example edge .*{leaf}"'
    broken "a cycle" 3 'rule 1 \(tree\)' \
        'parent[leaf], parent[other] = other, leaf; say = f"2 violations, for example vertex {min(leaf, other)}$"'
    broken "a second root" 1 'rule 1 \(tree\)' \
        'parent[leaf] = leaf; say = f"1 violation, for example vertex {leaf}$"'
    broken "an edge not in the graph" 2 'rule 5 \(tree-edges\)' \
        'parent[lonely] = root; level[lonely] = 1; say = f"1 violation, for example edge {root} {lonely}$"'
    broken "a root of another parent" 3 'rule 1 \(tree\)' \
        'parent[root] = inner; say = f"1 violation, for example vertex {root}$"'
    broken "a parent beyond the vertices" 1 'rule 1 \(tree\)' \
        'parent[leaf] = 1 << 40; say = f"1 violation, for example vertex {leaf}$"'
    broken "a wrong count of edges" 2 'teps-edges' \
        'search["edges"][0] += 1; say = "/run/search counts"'
    broken "one root of several broken" 3 'rule 1 \(tree\)' 'parent[:] = -1; say = "$"'

    edit() { "$python" "$top_srcdir/tests/pipeline/edit-tree.py" "$@" >edited 2>&1; }
    cp t.h5 b.h5
    edit b.h5 'level[leaf] += 1; say = leaf'
    if status 1 "$MPIEXEC" -n 2 hopwave-validate b.h5 --graph g.h5 --reference &&
        grep -q "reference: 1 level unlike .* vertex $(cat edited)\$" err; then
        verdict 0 "--reference finds a level off"
    else
        verdict 1 "--reference finds a level off"
    fi
    if status 1 "$MPIEXEC" -n 2 hopwave-validate t.h5 --graph g.h5 --against b.h5 -o against.h5 &&
        grep -q "against: 1 level unlike those of b.h5, .* vertex $(cat edited)\$" err; then
        verdict 0 "--against finds a level off"
    else
        verdict 1 "--against finds a level off"
    fi
    is "and nothing else" "$(wc -l <err)" 1
    cp t.h5 b.h5
    edit b.h5 'roots[[0, 1]] = roots[[1, 0]]'
    status 1 hopwave-validate t.h5 --graph g.h5 --against b.h5
    ok "--against finds other roots" grep -q "against: in its place b.h5 has root .* other root" err
    cp t.h5 b.h5
    edit b.h5 'roots[0] = len(level)'
    refused "a root beyond the vertices" 3 'b.h5: root 4096 is not among the 4096 vertices' \
        hopwave-validate b.h5 --graph g.h5 -o refused.h5
else
    skip "broken trees" "$python has no h5py or xxhash"
fi

# ---- comparisons ----

status 0 "$MPIEXEC" -n 2 hopwave-validate t.h5 --graph g.h5 --against t.h5
ok "--against itself: identical" grep -q '; identical to t.h5$' err
ranks 2 hopwave-traverse g.h5 --layout degree-separated --parts 2 --roots 6 --order none --quiet \
    -o t2.h5
status 0 hopwave-validate t.h5 --graph g.h5 --against t2.h5
ok "--against another run: its levels are the same" \
    grep -q -E '; (identical|equivalent) to t2.h5( \(other parents\))?$' err
hopwave-traverse g.h5 --layout degree-separated --parts 1 --roots 3 --quiet -o t3.h5
refused "--against a file of fewer roots" 3 't3.h5: holds 3 trees, and t.h5 6' \
    hopwave-validate t.h5 --graph g.h5 --against t3.h5

# ---- what cannot be judged ----

refused "no tree file" 2 'no tree file' hopwave-validate --graph g.h5
refused "no graph" 2 'no graph' hopwave-validate t.h5
refused "two tree files" 2 'one tree file' hopwave-validate t.h5 t.h5 --graph g.h5
refused "another graph" 3 't.h5: made from another graph than g2.h5' \
    "$MPIEXEC" -n 2 hopwave-validate t.h5 --graph g2.h5 -o refused.h5
refused "not a tree file" 3 'g.h5: is a file of kind hopwave-graph' \
    hopwave-validate g.h5 --graph g.h5 -o refused.h5
refused "not a graph" 3 't.h5: is a file of kind hopwave-tree' \
    hopwave-validate t.h5 --graph t.h5 -o refused.h5
refused "no such file" 3 'none.h5: cannot be opened' hopwave-validate none.h5 --graph g.h5
refused "an existing output" 2 'v1.h5: exists' hopwave-validate t.h5 --graph g.h5 -o v1.h5
ok "--force replaces it" hopwave-validate t.h5 --graph g.h5 -o v1.h5 --force --quiet
refused "an unwritable folder" 4 'nowhere' \
    hopwave-validate t.h5 --graph g.h5 -o nowhere/refused.h5
refused "too little memory" 4 't.h5 needs' \
    env HOPWAVE_MEMORY=100K hopwave-validate t.h5 --graph g.h5 -o refused.h5
head -c 60000 t.h5 >cut.h5
refused "a truncated file" 3 'cut.h5: ' hopwave-validate cut.h5 --graph g.h5 -o refused.h5
# Byte 150000 lies in the levels or parents, whose data make up nearly all of the file.
cp t.h5 flipped.h5
printf '\005\006\007\010' | dd of=flipped.h5 bs=1 seek=150000 conv=notrunc 2>dd.err
refused "a flipped byte" 3 'flipped.h5: the digest of /(level|parent) is wrong' \
    "$MPIEXEC" -n 3 hopwave-validate flipped.h5 --graph g.h5 -o refused.h5
cp g.h5 flipped.h5
printf '\001' | dd of=flipped.h5 bs=1 seek=100000 conv=notrunc 2>dd.err
refused "a flipped byte of the graph" 3 'flipped.h5: the digest of /edges/.* is wrong' \
    "$MPIEXEC" -n 3 hopwave-validate t.h5 --graph flipped.h5 -o refused.h5
hopwave-traverse g.h5 --layout degree-separated --parts 1 --roots 3 --store none --quiet -o none.h5
refused "no trees in the file" 3 'holds no trees' hopwave-validate none.h5 --graph g.h5 -o refused.h5
hopwave-traverse g.h5 --layout degree-separated --parts 1 --roots 3 --store first --quiet \
    -o first.h5
status 0 hopwave-validate first.h5 --graph g.h5
ok "only the first tree: it says so" grep -q 'holds 1 of its 3 trees' err
is "a refusal leaves no file" "$(find . -name '*refused*')" ""

# ---- shortest paths ----

# paths FILE GRAPH [OPTION...]: searches of two ranks.
paths() {
    paths_out=$1
    paths_graph=$2
    shift 2
    ranks 2 hopwave-traverse "$paths_graph" --layout 1d --parts 2 --algorithm sssp --quiet \
        --force -o "$paths_out" "$@"
}

hopwave-generate --model rmat --scale 12 --weights uniform --quiet -o p.h5
hopwave-generate --model rmat --scale 10 --weights integer:0:3 --quiet -o pi.h5
hopwave-generate --model rmat --scale 10 --directed --weights signed --quiet -o ps.h5
paths pt.h5 p.h5 --roots 4
paths pit.h5 pi.h5 --roots 4
paths pst.h5 ps.h5 --roots 4
for n in 1 3; do
    verdict_name="$n ranks: right shortest paths pass"
    if status 0 "$MPIEXEC" -n "$n" hopwave-validate pt.h5 --graph p.h5 --reference -o "pv$n.h5" &&
        grep -q '4 trees, 8 rules, no violation$' err && passed "pv$n.h5" 1; then
        verdict 0 "$verdict_name"
    else
        verdict 1 "$verdict_name"
    fi
done
ok "their check files differ in /run alone" "$H5DIFF" --exclude-path /run pv1.h5 pv3.h5
ok "whole weights, zero among them" ranks 2 hopwave-validate pit.h5 --graph pi.h5 --reference --quiet
ok "signed weights" ranks 2 hopwave-validate pst.h5 --graph ps.h5 --reference --quiet
paths pt2.h5 p.h5 --roots 4 --method bellman-ford
status 0 hopwave-validate pt.h5 --graph p.h5 --against pt2.h5
ok "--against another method: its distances are the same" \
    grep -q -E '; (identical|equivalent) to pt2.h5( \(other parents\))?$' err
ok "--estimate of shortest paths" hopwave-validate pt.h5 --graph p.h5 --estimate
refused "--against levels" 3 'plain.h5: holds results of bfs, and pt.h5 of sssp' sh -c '
    hopwave-traverse p.h5 --layout 1d --parts 1 --roots 4 --quiet -o plain.h5 &&
    hopwave-validate pt.h5 --graph p.h5 --against plain.h5'
hopwave-generate --model rmat --scale 12 --weights integer:1:9 --recipe --quiet -o other.h5
refused "distances of other weights" 3 'pt.h5: holds distances of f32 weights, but other.h5 has i32' \
    hopwave-validate pt.h5 --graph other.h5 --no-digest --quiet
hopwave-generate --model rmat --scale 12 --recipe --quiet -o other.h5 --force
refused "distances of no weights" 3 'pt.h5: holds shortest paths, but other.h5 has no weights' \
    hopwave-validate pt.h5 --graph other.h5 --no-digest --quiet

# Roots 0 and 3 reach the cycle 0 -> 1 -> 2, of weight -1 by the lighter of two
# parallel edges; root 4 does not.
printf '0 1 1\n1 2 7\n1 2 -3\n2 0 1\n3 0 5\n4 5 2\n' >c.el
hopwave-import c.el --directed --quiet -o c.h5
paths ct.h5 c.h5 --root-list 0,3,4
if status 0 "$MPIEXEC" -n 2 hopwave-validate ct.h5 --graph c.h5 --reference -o cv.h5 &&
    grep -q 'ct.h5: 1 tree, 2 negative cycles, 8 rules, no violation$' err && passed cv.h5 1; then
    verdict 0 "negative cycles and a tree"
else
    verdict 1 "negative cycles and a tree"
fi

if "$python" -c 'import h5py, xxhash' 2>/dev/null; then
    # broken_path NAME TREE GRAPH RANKS RULE STATEMENT: as broken, of shortest paths.
    broken_path() {
        cp "$2" b.h5
        rm -f b.check.h5
        broken_say=$("$python" "$top_srcdir/tests/pipeline/edit-tree.py" b.h5 "$6" 2>&1)
        if status 1 "$MPIEXEC" -n "$4" hopwave-validate b.h5 --graph "$3" -o b.check.h5 \
            ${against:+--against "$against"} ${reference:+--reference} &&
            grep -q -E "^hopwave-validate: b.h5: root [0-9]+: $5: .*$broken_say" err &&
            [ "$(wc -l <err)" -le 5 ] && passed b.check.h5 0; then
            verdict 0 "$1, $4 ranks: $5"
        else
            verdict 1 "$1, $4 ranks: $5"
            echo "# exit $status_rc, edited: $broken_say"
            sed 's/^/# /' err.all | head -n 20
        fi
    }
    broken_path "another parent" pt.h5 p.h5 2 'rule 5 \(tree-edges\)' \
        'parent[leaf] = other; say = f"1 violation, for example edge {other} {leaf}$"'
    broken_path "a distance too small" pt.h5 p.h5 3 'rule 2 \(tree-levels\)' \
        'distance[leaf] *= np.float32(0.9999); say = f"1 violation, for example vertex {leaf}$"'
    broken_path "a distance too large" pt.h5 p.h5 1 'rule 3 \(edge-levels\)' \
        'distance[leaf] += 1; say = f"for example edge .*{leaf}"'
    broken_path "NaN" pt.h5 p.h5 2 'rule 2 \(tree-levels\)' \
        'distance[leaf] = np.nan; say = f"1 violation, for example vertex {leaf}$"'
    broken_path "minus infinity" pt.h5 p.h5 2 'rule 2 \(tree-levels\)' \
        'distance[leaf] = -np.inf; say = f"1 violation, for example vertex {leaf}$"'
    broken_path "a missing vertex" pt.h5 p.h5 2 'rule 4 \(spans\)' \
        'distance[leaf] = np.inf; parent[leaf] = -1; say = f"for example edge .*{leaf}"'
    broken_path "parents in a cycle" pt.h5 p.h5 3 'rule 1 \(tree\)' \
        'parent[leaf], parent[other] = other, leaf; say = f"2 violations, for example vertex {min(leaf, other)}$"'
    broken_path "an edge not in the graph" pt.h5 p.h5 2 'rule 5 \(tree-edges\)' \
        'parent[lonely] = root; distance[lonely] = 1; say = f"1 violation, for example edge {root} {lonely}$"'
    broken_path "a root not at 0" pt.h5 p.h5 1 'rule 2 \(tree-levels\)' \
        'distance[root] = 1e-9; say = f"for example vertex "'
    broken_path "a whole distance off by one" pit.h5 pi.h5 3 'rule 2 \(tree-levels\)' \
        'distance[leaf] -= 1; say = f"1 violation, for example vertex {leaf}$"'
    broken_path "a signed distance off" pst.h5 ps.h5 2 'rule 2 \(tree-levels\)' \
        'distance[leaf] -= 1; say = f"for example vertex"'
    reference=1 broken_path "a distance off" pt.h5 p.h5 2 'reference' \
        'distance[leaf] += 1; say = f"1 distance unlike .* vertex {leaf}$"'
    against=pt.h5 broken_path "a distance off" pt2.h5 p.h5 2 'against' \
        'distance[leaf] += 1; say = f"1 distance unlike those of pt.h5, .* vertex {leaf}$"'
    broken_path "a cycle of another weight" ct.h5 c.h5 2 'rule 6 \(cycle\)' \
        'weight[0] = -2; say = "1 violation, for example vertex"'
    broken_path "a step that is no edge" ct.h5 c.h5 3 'rule 6 \(cycle\)' \
        'vertex[list(vertex).index(1)] = 4; say = "2 violations, for example edge 0 4"'
    broken_path "a step to no vertex" ct.h5 c.h5 1 'rule 6 \(cycle\)' \
        'vertex[1] = 1 << 50; say = "violations, for example edge"'
    broken_path "a vertex reached beside a cycle" ct.h5 c.h5 2 'rule 6 \(cycle\)' \
        'parent[5] = 0; say = "1 violation, for example vertex 5$"'
    # Root 4 does not reach the cycle, which is one all the same.
    reference=1 broken_path "a cycle out of reach" ct.h5 c.h5 2 'reference' \
        'roots[0] = 4; say = "ends with a negative cycle, and with a tree in the serial search$"'
    # refused_edit NAME STATEMENT PATTERN: what contradicts itself is not judged.
    refused_edit() {
        cp ct.h5 b.h5
        edit b.h5 "$2"
        refused "$1" 3 "$3" "$MPIEXEC" -n 2 hopwave-validate b.h5 --graph c.h5 -o refused.h5
    }
    refused_edit "an outcome that is none" 'outcome[0] = 2' 'b.h5: /outcome of search 0 is 2'
    refused_edit "a cycle without its outcome" 'outcome[0] = 0' '/cycle/offset does not fit /outcome'
    refused_edit "an outcome without its cycle" 'outcome[2] = 1' '/cycle/offset does not fit /outcome'
    refused_edit "offsets beyond the vertices" 'offset[1] = 1 << 40' '/cycle/offset does not fit'
    refused_edit "offsets that leave some out" 'offset[-2:] = 4' '/cycle/offset does not cover'
else
    skip "broken shortest paths" "$python has no h5py or xxhash"
fi
is "a refusal leaves no file of them" "$(find . -name '*refused*')" ""

# ---- recipes ----

hopwave-generate --model rmat --scale 12 --recipe --digest --quiet -o r.h5
ok "trees of the edges, the recipe's digest" hopwave-validate t.h5 --graph r.h5 --quiet
hopwave-generate --model rmat --scale 12 --recipe --quiet -o r.h5 --force
status 0 hopwave-validate t.h5 --graph r.h5
ok "a recipe without a digest: it is computed" grep -q 'making its edges to compute it' err
hopwave-generate --model rmat --scale 12 --seed 2 --recipe --quiet -o r2.h5
refused "another recipe" 3 't.h5: made from another graph than r2.h5' \
    hopwave-validate t.h5 --graph r2.h5 --quiet
status 0 hopwave-validate t.h5 --graph r.h5 --no-digest
ok "--no-digest says what is not compared" grep -q 'is not compared: r.h5 has no digest' err

done_testing
