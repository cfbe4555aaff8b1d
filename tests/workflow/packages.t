#!/bin/sh
# Recipes for package managers can be read, name this version, and the files that they name are there.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}"
packaging=$top_srcdir/packaging
version=$(hopwave-info --version | sed -n '1s/.* //p' | sed 's/[^0-9.].*//')

ok "the citation names this version" grep -q "^version: $version\$" "$top_srcdir/CITATION.cff"
ok "it has what its format wants" sh -c "for key in cff-version message title authors; do
    grep -q \"^\$key:\" '$top_srcdir/CITATION.cff' || exit 1; done"
recipe=$packaging/spack/spack_repo/hopwave/packages/hopwave/package.py
ok "the recipe of Spack is Python" "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
    "$recipe"
ok "in a repository of today's layout" grep -q '^  api: v2' "$packaging/spack/spack_repo/hopwave/repo.yaml"
ok "it takes HDF5 2.x, and NCCL on request alone" sh -c "grep -q 'depends_on(\"hdf5@1.10:\")' '$recipe' &&
    grep -q 'depends_on(\"nccl\", when=\"+nccl\")' '$recipe'"
ok "the recipe of EasyBuild is of this version" "$PYTHON3" - "$packaging"/easybuild/hopwave-*.eb "$version" <<'END'
import sys

recipe = {"SYSTEM": {}}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
assert recipe["version"] == sys.argv[2], recipe["version"]
toolchain = "-".join(recipe["toolchain"].values())
assert sys.argv[1].endswith(f"/{recipe['name']}-{recipe['version']}-{toolchain}.eb")
assert all(2 <= len(entry) <= 4 for entry in recipe["dependencies"])
END
for definition in "$packaging"/apptainer/*.def; do
    ok "$(basename "$definition") has what a container needs" sh -c "for part in Bootstrap: From: %post \
        %test %runscript; do grep -q \"^\$part\" '$definition' || exit 1; done"
done
ok "the test for ReFrame is Python" "$PYTHON3" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
    "$packaging/reframe/hopwave_checks.py"
done_testing
