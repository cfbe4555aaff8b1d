#!/bin/sh
# Traces, predictions and what becomes of them: hopwave-study trace, predict and assess.
# shellcheck disable=SC1091
. "${top_srcdir:-.}/tests/tap/tap.sh"
source=$(cd "${top_srcdir:-.}" && pwd)
cd "${work:?}" || exit 99
python=${PYTHON3:-python3}
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/python
export OMP_NUM_THREADS PYTHONDONTWRITEBYTECODE PYTHONPATH
for module in h5py numpy xxhash yaml; do
    "$python" -c "import $module" 2>/dev/null || skip_all="$python has no $module"
done
if [ "${skip_all-}" ]; then
    skip "predictions" "$skip_all"
    done_testing
fi
printf '#!/bin/sh\nexec "%s" -m hopwave.commands "$@"\n' "$python" >study
chmod +x study
PATH=$work:$PATH

hopwave-generate -q --model rmat --scale 10 --recipe -o g.h5
ranks 4 hopwave-traverse -q g.h5 --layout 2d --grid 2x2 --roots 2 --store none -o t.h5
hopwave-traverse -q g.h5 --layout 1d --roots 2 --store none --no-steps -o bare.h5

ok "a trace" study trace t.h5 -o t.goal
is "of four ranks" "$(sed -n 1p t.goal) $(grep -c '^rank ' t.goal)" "num_ranks 4 4"
same "as many messages are sent as received" "$(grep -c ': send ' t.goal)" "$(grep -c ': recv ' t.goal)"
ok "of one search" study trace t.h5 --search 1 -o one.goal
ok "is shorter" test "$(wc -l <one.goal)" -lt "$(wc -l <t.goal)"
refused "a search that is not there" 2 'there are searches 0 to 1, and not 2' \
    study trace t.h5 --search 2 -o x.goal
refused "an output that is there" 2 'exists already' study trace t.h5 -o t.goal
refused "a tree file without steps" 3 'has no steps' study trace bare.h5 -o x.goal
refused "a graph" 3 'not a tree file' study trace g.h5 -o x.goal
refused "no such file" 3 'no such file' study trace gone.h5 -o x.goal
refused "half a fit" 2 'go together' \
    study predict t.h5 --network "$source/config/networks/h200-node.xml" --scale 20 -o x.json
refused "steps nearby without machines" 2 'goes with --machines' study predict t.h5 \
    --network "$source/config/networks/h200-node.xml" --near t.h5 h200-node.xml -o x.json
refused "a network that is none" 3 'cannot be read as a network' \
    study predict t.h5 --network g.h5 -o x.json
sed 's/"gpu3" speed/"gpu3" sped/' "$source/config/networks/h200-node.xml" >n.xml
refused "a host without a speed" 3 'not of speed 1Gf' study predict t.h5 --network n.xml -o x.json
ok "no file is left" sh -c '! ls x.* 2>/dev/null'
refused "a prediction that is none" 3 'is no prediction' study assess t.goal t.h5

if ! command -v smpirun >/dev/null; then
    refused "no simulator" 4 'smpirun is missing' \
        study predict t.h5 --network "$source/config/networks/h200-node.xml" -o x.json
    skip "simulated searches" "no SimGrid"
    done_testing
fi
for network in h200-node ndr-fat-tree; do
    ok "a prediction on $network" study predict t.h5 \
        --network "$source/config/networks/$network.xml" -o $network.json
done
ok "a slower network takes longer" "$python" -c 'import json
a, b = (json.load(open(f"{n}.json"))["seconds"] for n in ("h200-node", "ndr-fat-tree"))
assert 0 < a < b, (a, b)'
study assess h200-node.json t.h5 >log
is "a run before the prediction does not count" "$? $(awk -F '\t' 'NR == 2 { print $4 }' log)" "1 no"
sleep 1
ranks 4 hopwave-traverse -q g.h5 --layout 2d --grid 2x2 --roots 2 --store none -o later.h5
ok "a run after it does" study assess h200-node.json later.h5 --within 1
study assess h200-node.json later.h5 --within 0 >/dev/null
is "errors beyond those allowed are found" $? 1
sed 's/"seconds": /&9/' h200-node.json >changed.json
refused "a prediction that was changed" 3 'digest differs' study assess changed.json later.h5
hopwave-traverse -q g.h5 --layout 1d --roots 2 --store none -o other.h5
refused "another run" 3 'is about parts 4' study assess h200-node.json other.h5
done_testing
