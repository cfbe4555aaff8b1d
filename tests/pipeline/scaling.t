#!/bin/sh
# The model of scaling: what it says of the papers' machines, and its volumes beside the bytes
# that searches on CPU ranks send.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
source=$(cd "${top_srcdir:-.}" && pwd)
cd "${work:?}" || exit 99
python=${PYTHON3:-python3}
"$python" -c 'import h5py' 2>/dev/null || python=/usr/bin/python3
if ! "$python" -c 'import h5py' 2>/dev/null; then
    skip "the model of scaling" "no Python has h5py"
    done_testing
fi
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
model=$source/bench/scaling-model

ok "the model runs" sh -c "'$python' '$model' >papers.tsv"
is "bitmaps on 4096 GPUs as the paper says, within a tenth" \
    "$(awk -F '\t' '/bitmaps:/ { sub("%", "", $4); print ($4 + 0 < 10 && $4 + 0 > -10) }' papers.tsv | tr '\n' ' ')" \
    "1 1 "
is "searches on four GPUs that store into each other's memory, within 15%" \
    "$(awk -F '\t' '$2 == "peer" && $3 == 4 && $1 != "delta" {
        n++; off += $7 + 0 > 15 || $7 + 0 < -15 } END { print n, off + 0 }' papers.tsv)" "7 0"
is "weak scaling to 4096 GPUs" "$(awk -F '\t' '$1 == 4096 { print $2, $3 }' papers.tsv)" "64x64 36"
ok "a machine that is like another" sh -c "'$python' '$model' --machine h100-ndr --per-gpu 28 >h100.tsv"
is "weak scaling to 8192 of its GPUs" "$(awk -F '\t' '$1 == 8192 { print $2, $3 }' h100.tsv)" "64x128 41"

hopwave-generate -q --model rmat --scale 12 -o g.h5
for exchange in auto list; do
    ranks 4 hopwave-traverse -q --force g.h5 --layout 2d --grid 2x2 --direction top-down \
        --exchange $exchange --roots 8 --store none -o t.h5
    ok "bytes of $exchange as counted, within a third" "$python" "$source/tests/pipeline/scaling.py" \
        "$model" t.h5
done
ok "the model beside a run" sh -c "'$python' '$model' --profile t.h5 --measured t.h5 >run.tsv"
is "names its grid" "$(awk -F '\t' '$1 == "grid" { print $2, $3, $4 }' run.tsv)" "4 2x2 12"
ok "an unknown machine is refused" sh -c "! '$python' '$model' --machine abacus >log 2>&1"
done_testing
