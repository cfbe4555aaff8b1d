#!/bin/sh
# The Python package reads every kind of file, refuses what is none, and is typed.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
package=$top_srcdir/python
python=${PYTHON3:-python3}
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$package
export OMP_NUM_THREADS PYTHONDONTWRITEBYTECODE PYTHONPATH
cd "$work" || exit 99

missing=
for module in h5py numpy xxhash pandas scipy networkx pytest; do
    "$python" -c "import $module" 2>/dev/null || missing="$missing $module"
done
if [ -n "$missing" ]; then
    echo "1..0 # SKIP $python has no$missing (tests/workflow/requirements.txt)"
    exit 0
fi

same "the package is of the programs' version" \
    "$("$python" -c 'import hopwave; print(hopwave.__version__)')" \
    "$(hopwave-info --version | sed -n '1s/.* //p')"

# ---- files of this version ----
for kind in undirected directed; do
    options=
    [ $kind = undirected ] || options="--directed --weights integer:1:9"
    # shellcheck disable=SC2086
    ok "$kind: a graph" hopwave-generate -q --model rmat --scale 9 --edge-factor 5 $options \
        -o $kind.h5
    ok "$kind: in 5 parts of 1d" hopwave-partition -q $kind.h5 --layout 1d --parts 5 \
        -o $kind-1d.h5
    ok "$kind: in 3 x 2 parts of 2d" hopwave-partition -q $kind.h5 --layout 2d --grid 3x2 \
        --order none -o $kind-2d.h5
    ok "$kind: degree-separated in 2 x 2 parts" hopwave-partition -q $kind.h5 \
        --layout degree-separated --parts 2x2 --degree-threshold 20 -o $kind-ds.h5
    ok "$kind: trees" ranks 4 hopwave-traverse -q $kind-ds.h5 --roots 3 -o $kind-trees.h5
    ok "$kind: a check" hopwave-validate -q $kind-trees.h5 --graph $kind.h5 -o $kind-check.h5
done
ok "shortest paths" ranks 4 hopwave-traverse -q directed-ds.h5 --algorithm sssp --roots 3 \
    -o directed-paths.h5
for store in first none; do
    ok "trees of which $store are kept" ranks 4 hopwave-traverse -q undirected-ds.h5 --roots 3 \
        --store $store -o $store.h5
done
ok "a recipe" hopwave-generate -q --model rmat --scale 9 --recipe --digest -o recipe.h5
printf '10 20\n20 300\n300 4000\n4000 50\n10 50\n' >labels.txt
ok "a graph with labels" hopwave-import -q labels.txt -o labels.h5
ok "its trees" hopwave-traverse -q labels.h5 --layout 1d --roots 2 -o labels-trees.h5
printf '0 1 4\n1 2 1\n2 3 1\n3 1 -5\n' >cycle.txt
ok "a graph with a negative cycle" hopwave-import -q cycle.txt --directed --weights integer \
    -o cycle.h5
echo 0 >roots.txt
ok "which a search reaches" hopwave-traverse -q cycle.h5 --layout 1d --algorithm sssp --root-list roots.txt \
    -o cycle-paths.h5

# ---- its own tests, a verdict each ----
export HOPWAVE_TEST_FILES="$work"
"$python" -m pytest -v --color=no --basetemp="$work/pytest" -c "$package/pyproject.toml" \
    --rootdir "$package" "$package/tests" >pytest.log 2>&1
rc=$?
sed -n 's/^.*tests\/\(.*\) \(PASSED\|FAILED\|ERROR\|SKIPPED\) *\((.*)\)\{0,1\} *\[.*/\2 \1/p' \
    pytest.log >verdicts
ok "its tests have run" test "$rc" -le 1 -a -s verdicts
while read -r result name; do
    case $result in
    SKIPPED) skip "$name" "pytest skips it" ;;
    *)
        [ "$result" = PASSED ]
        verdict $? "$name"
        ;;
    esac
done <verdicts
[ "$rc" -eq 0 ] || sed 's/^/# /' pytest.log | tail -n 60

# ---- the page's examples ----
mkdir page && cd page || exit 99
page=$top_srcdir/doc/python.md
awk '/^```/ { on = /sh$/; next } on' "$page" | grep -v '^pip' |
    sed "s|^mpiexec|\"$MPIEXEC\"|" >page.sh
awk '/^```/ { on = /python/; next } on' "$page" >page.py
ok "the page's commands run as they stand" sh -e page.sh
ok "the page's Python runs as it stands" "$python" page.py
cd "$work" || exit 99

# ---- types and style ----
# in_package COMMAND...: runs it in the package's folder, whose pyproject.toml it reads.
# shellcheck disable=SC2317 # `ok` runs it
in_package() { (cd "$package" && "$@"); }

# clean TOOL ARGUMENT...: the tool finds nothing, where it is there.
clean() {
    tool=$1
    shift
    if "$python" -m "$tool" --version >/dev/null 2>&1; then
        ok "$tool finds nothing" in_package "$python" -m "$tool" "$@"
    else
        skip "$tool finds nothing" "$python has no $tool"
    fi
}
clean mypy --cache-dir "$work/mypy"
clean ruff check --no-cache .
clean black --check --quiet .

# ---- installed by pip, without the network ----
mkdir source && cp -R "$package" "$top_srcdir/schemas" source && chmod -R u+w source || exit 99
cat >installed.py <<'END'
import sys, hopwave
assert hopwave.__file__.startswith(sys.argv[1] + "/installed/"), hopwave.__file__
hopwave.open("directed.h5", verify=True)
END
PYTHONPATH=$work/installed
if "$python" -c 'import setuptools.command.bdist_wheel, pip' 2>/dev/null; then
    ok "pip installs it" "$python" -m pip install -q --disable-pip-version-check --no-index \
        --no-build-isolation --no-deps --target installed source/python
    rm -rf source
    ok "and it reads a file with the schemas that came with it" "$python" installed.py "$work"
    ok "its types are installed" test -f installed/hopwave/py.typed
else
    skip "pip installs it" "$python has no pip and setuptools from 70.1 on"
fi
done_testing
