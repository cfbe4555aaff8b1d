#!/bin/sh
# The man page of hopwave-study, which is written by hand, names the options that --help does.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
page=$top_srcdir/doc/hopwave-study.1

# options: the long ones that a text names, one a line.
options() { grep -o -E -e '--[a-z][a-z-]+' | grep -v -e '--help' -e '--version' -e '--license' | sort -u; }

for command in run archive repeat compare fetch; do
    said=$("$PYTHON3" "$top_builddir/hopwave-study" $command --help | options)
    synopsis=$(sed -n "/^.B hopwave-study $command/,/^\.br\|^\.SH/p" "$page" | sed 's/\\f.//g; s/\\-/-/g')
    same "options of $command" "$(echo "$synopsis" | options)" "$(echo "$said" | grep -v -e --output)"
done
every=$(for command in run archive repeat compare fetch; do
    "$PYTHON3" "$top_builddir/hopwave-study" $command --help
done | options)
is "each is explained" "$(sed '1,/^.SH DESCRIPTION/d; s/\\f.//g; s/\\-/-/g' "$page" | options)" "$every"
done_testing
