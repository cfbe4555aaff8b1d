#!/bin/sh
# The site of the documentation builds without a warning, and links between its pages lead somewhere.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
python=$(python_with sphinx,myst_parser,breathe,furo)
if [ -z "$python" ] || ! command -v doxygen >/dev/null; then
    echo "1..0 # SKIP no Doxygen, or $PYTHON3 has not the packages of doc/site/requirements.txt"
    exit 0
fi
make_site() { "$python" "$top_srcdir/doc/site/make-site.py" "$@"; }

ok "it builds" make_site "$top_srcdir" "$top_builddir" "$work/site"
html=$work/site/html
ok "with the commands" grep -q 'Search from this vertex' "$html/reference/commands/hopwave-search.html"
ok "with the keys of studies" grep -q 'min_component\|edge_factor' "$html/reference/study-keys.html"
ok "with what files hold" grep -q '/edges/source' "$html/reference/files.html"
ok "with the C interface" grep -q 'hw_graph_open' "$html/reference/c-interface.html"

mkdir -p "$work/source" && cp -R "$top_srcdir/doc" "$top_srcdir/config" "$top_srcdir/schemas" "$work/source"
mkdir "$work/source/workflow" "$work/source/packaging"
cp -R "$top_srcdir/workflow/profiles" "$work/source/workflow"
cp -R "$top_srcdir/lib" "$work/source"
cp "$top_srcdir/packaging/README.md" "$work/source/packaging"
cp "$top_srcdir/NEWS.md" "$top_srcdir/CONTRIBUTING.md" "$work/source"
chmod -R u+w "$work/source"
echo 'See [nothing](nowhere.md).' >>"$work/source/doc/imports.md"
make_site "$work/source" "$top_builddir" "$work/broken" >"$work/broken.out" 2>&1
is "a link that leads nowhere is an error" "$?" 1
ok "and named" grep -q "imports.md:[0-9]*: WARNING.*nowhere.md" "$work/broken.out"
done_testing
