#!/bin/sh
# --list-methods, --help=METHOD and the page made of them agree, and need no MPI.
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99
top=${top_srcdir:?}

ok "methods are listed" hopwave-traverse --list-methods
hopwave-traverse --list-methods=json >methods.json
hopwave-traverse --list-methods=markdown >options.md
same_page() { cmp "$top/doc/methods/options.md" options.md; }
ok "doc/methods/options.md is what the program prints (make update-doc)" same_page
refused "a format that is none" 2 "none of table, json, markdown" hopwave-traverse --list-methods=xml
refused "help of a method that is none" 2 "did you mean 'merge'" hopwave-traverse --help=mrge
refused "help of another program" 2 "is none of all" hopwave-generate --help=merge
refused "a word near no option" 2 "is not an option; see --help" hopwave-traverse --zzzzzzzz
refused "an option of another program" 2 "did you mean --scale" hopwave-generate --scal3 4
hopwave-traverse --help >short
hopwave-traverse --help=all >all
hopwave-traverse --help=delegates >delegates
ok "the short help has no options of methods" sh -c '! grep -q -e --forward-factor short'
ok "it names the methods" grep -q '^  near-far ' short
ok "all help has them" grep -q -e --forward-factor all
ok "a method's help has the default of the code" grep -q 'default: 0.03' delegates
if [ -z "$PYTHON3" ]; then
    skip "JSON, help and options agree" "no Python"
else
    ok "JSON, help and options agree" "$PYTHON3" -c '
import json, subprocess
table = json.load(open("methods.json"))
options = {o["name"]: o for o in table["options"]}
every = open("all").read()
for option in options.values():
    assert "--" + option["name"] in every, option
for method in table["methods"]:
    name = method["name"]
    text = subprocess.run(["hopwave-traverse", f"--help={name}"], capture_output=True, text=True)
    assert text.returncode == 0 and method["summary"] in text.stdout, name
    for option in method["options"]:
        assert f"--{option}" in text.stdout and options[option]["help"] in text.stdout, option
assert {m["device"] for m in table["methods"]} == {"cpu", "cuda"}
'
fi
is "one rank alone answers" "$("$MPIEXEC" -n 2 hopwave-traverse --list-methods | grep -c '^grid ')" 1
done_testing
