#!/bin/sh
# Pages are plain English of a bearable length, and the script that says so finds what is not.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
check=$top_srcdir/tests/tree/check-words.py
python=${PYTHON3:-python3}

ok "the pages keep the rules" "$python" "$check" "$top_srcdir"

mkdir -p "$work/small/doc"
cp "$top_srcdir/doc/words.txt" "$work/small/doc"
# shellcheck disable=SC2016 # backticks of Markdown
printf 'It finds `mail` in hopwave-tell.\n' >"$work/small/README.md"
# shellcheck disable=SC2016
printf '```sh\ntold\n```\n' >"$work/small/doc/code.md"
ok "ordinary words, code and names may be there" "$python" "$check" "$work/small"
printf 'One\nOwners are told.\n' >"$work/small/doc/page.md"
is "a word of the list" "$("$python" "$check" "$work/small")" \
    "doc/page.md:2: 'told': write sent, received, notified; says"
seq 1 401 >"$work/small/doc/page.md"
is "a long page" "$("$python" "$check" "$work/small")" \
    "doc/page.md:401: the page has more than 400 lines"
done_testing
