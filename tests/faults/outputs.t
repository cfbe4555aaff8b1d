#!/bin/sh
# Names of outputs and inputs that lead elsewhere: colons, which MPI-IO takes for kinds of file
# systems, links to devices and folders, FIFOs, control characters, and two that write the same.
#
# shellcheck disable=SC2086

# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "$work" || exit 99
generate="hopwave-generate --model rmat --scale 6 --quiet"
ok "a graph" $generate -o g.h5
ok "a partition" hopwave-partition g.h5 --layout 1d --parts 1 --quiet -o p.h5
search="hopwave-traverse p.h5 --algorithm bfs --quiet"
traverse="$search --roots 2"

# ---- colons ----
mkdir a:b
for output in ufs:x.h5 nfs:x.h5 testfs:x.h5 12:30:15.h5 a:b/x.h5 "$work/a:b/y.h5"; do
    ok "$output is the name of a file" ranks 2 $generate -o "$output"
    same "with the graph" "$(digest "$output")" "$(digest g.h5)"
done
ok "of a tree too" $traverse -o t:t.h5
is "no file has another name" "$(find . -name 'x.h5' -o -name '*tmp*' -o -name '*partial*')" ./a:b/x.h5

# ---- what is not replaced ----
mkfifo fifo
mkdir folder
ln -s fifo to-fifo
ln -s folder to-folder
ln -s /dev/null to-null
ln -s /proc/self/fd/1 to-stdout # as /dev/stdout, which root could lose
ln -s g.h5 to-file
for output in fifo to-fifo to-null to-stdout; do
    refused "$output stays, --force or not" 4 "$output: is no plain file" $generate -o "$output" --force
    refused "for an export too" 4 "$output: is no plain file" \
        hopwave-export g.h5 --format mtx --quiet --force -o "$output"
done
for output in folder to-folder; do
    refused "$output stays" 4 "$output: is a directory" $generate -o "$output" --force
done
ok "a link to a file is replaced" $generate --seed 2 -o to-file --force
ok "itself" test ! -L to-file -a -f g.h5

# ---- FIFOs are not waited for ----
refused "a FIFO for a graph" 3 "fifo: " hopwave-partition fifo --layout 1d --parts 1 -o x.h5
refused "for a file of another program" 3 "fifo: is no plain file" hopwave-import fifo -o x.h5
refused "for a tree" 3 "fifo: " hopwave-info fifo
refused "for roots" 3 "fifo: holds no root" $search --root-list ./fifo -o x.h5
refused "a device for roots" 3 "/dev/zero: line 1: holds a zero byte" $search --root-list /dev/zero -o x.h5
mkfifo x.h5.partial
refused "for a partial file" 4 "x.h5.partial is no plain file" $traverse -o x.h5
rm x.h5.partial && mkfifo x.h5.partial.searches
refused "for what searches have found" 4 "x.h5.partial.searches is no plain file" $traverse -o x.h5
ok "which stays" test -p x.h5.partial.searches
rm x.h5.partial.searches

# ---- what messages repeat ----
name=$(printf 'a\033[31m\233b\377.h5')
refused "names that would colour the terminal" 3 '^hopwave-info: a\?\[31m\?b\?.h5: ' hopwave-info "$name"
hopwave-info "$name" 2>err >out
is "on standard output, too" "$(head -n 1 out)" 'a?[31m?b?.h5:'
printf '1 2 \033[31m\302\233x\n' >colour.txt
hopwave-import colour.txt -o x.h5 2>err
is "lines of files that would" "$(LC_ALL=C tr -d '[:print:]\n' <err)" ""

# ---- two that write the same ----
# While one searches, stopped, another one makes the output.
hopwave-generate --model rmat --scale 12 --quiet -o many.h5
traverse="hopwave-traverse many.h5 --layout 1d --parts 1 --algorithm bfs --roots 2000 --store none --quiet"
$traverse -o two.h5 2>first.err &
first=$!
for _ in $(seq 1000); do
    [ ! -e two.h5.partial ] || break
    sleep 0.01
done
kill -STOP "$first"
ok "one is at work" test -e two.h5.partial
refused "a second one is refused" 4 'two.h5: another process is writing it' $traverse -o two.h5
cp g.h5 two.h5
kill -CONT "$first"
wait "$first"
is "an output that came meanwhile is not replaced" "$? $(cat first.err)" \
    "2 hopwave-traverse: two.h5: exists already; --force replaces it"
ok "and stays as it is" cmp g.h5 two.h5
is "and no partial file is left" "$(find . -name 'two.h5*')" ./two.h5
done_testing
