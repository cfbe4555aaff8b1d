#!/bin/sh
# hopwave-study works from where it is installed: staged (DESTDIR), then moved, and with another
# package of its package's name in the way.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99
unset MAKEFLAGS MFLAGS MAKELEVEL

ok "it is installed in a stage" make -C "$top_builddir" DESTDIR="$work/stage" prefix=/opt/hw \
    exec_prefix=/opt/hw install-binSCRIPTS install-nobase_dist_pkgdataDATA
mkdir decoy && echo 'raise SystemExit("the wrong package")' >decoy/hopwave.py
export PYTHONPATH="$work/decoy" PYTHONDONTWRITEBYTECODE=1
cat >study.yaml <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
parts: [1]
END

# works FOLDER: what is installed there makes a study, with what lies there alone.
works() {
    study=$1/bin/hopwave-study
    is "$2: its version" "$("$PYTHON3" "$study" --version)" \
        "hopwave-study $(hopwave-info --version | sed -n '1s/.* //p')"
    ok "$2: a study runs" run_study study.yaml --bin "$top_builddir" --directory "$2" -- \
        results/results.csv
    echo 'graphs: []' >"$1/share/hopwave/config/study.yaml"
    refused "$2: the shipped study is its own" 3 \
        "$1/share/hopwave/config/study.yaml:1: graphs has 0 entries" \
        "$PYTHON3" "$study" run --bin "$top_builddir"
}
works "$work/stage/opt/hw" staged
mv stage/opt/hw moved
works "$work/moved" moved
ln -s moved/bin/hopwave-study link
is "a link to it works" "$("$PYTHON3" link --version | cut -d ' ' -f 1)" hopwave-study

mkdir -p bare/bin && cp moved/bin/hopwave-study bare/bin
# The folder that it was configured for may have the workflow.
sed -i.old 's|Path("/[^"]*/hopwave")|Path("/nowhere")|' bare/bin/hopwave-study
refused "without its workflow it says so" 5 "the workflow is not installed" \
    "$PYTHON3" bare/bin/hopwave-study run

# ---- the package alone ----
unset PYTHONPATH
cp -R "$top_srcdir/python" "$top_srcdir/schemas" . && chmod -R u+w python
if "$PYTHON3" -c 'import setuptools.command.bdist_wheel, pip' 2>/dev/null; then
    ok "pip installs the package" "$PYTHON3" -m pip install -q --disable-pip-version-check \
        --no-index --no-build-isolation --no-deps --target installed ./python
    rm -rf python schemas
    export PYTHONPATH="$work/installed"
    refused "it finds the workflow of an installation on PATH" 3 \
        "$work/moved/share/hopwave/config/study.yaml:1: graphs has 0 entries" \
        env PATH="$work/moved/bin:$PATH" "$PYTHON3" -m hopwave.commands run --bin "$top_builddir"
else
    skip "pip installs the package" "$PYTHON3 has no pip and setuptools from 70.1 on"
fi
done_testing
