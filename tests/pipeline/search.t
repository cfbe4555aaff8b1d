#!/bin/sh
# hopwave: one name for all programs; one search without files; what shells complete.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
cd "$work" || exit 99
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# told NAME STATUS PATTERN COMMAND...: as refused, by hopwave itself or one of its programs.
told() {
    tap_name=$1 tap_want=$2 tap_pattern=$3
    shift 3
    "$@" >tap.out 2>tap.err </dev/null
    tap_rc=$?
    tail -n 1 tap.err | grep -q -E -- "$tap_pattern" && [ "$tap_rc" -eq "$tap_want" ]
    verdict $? "$tap_name"
}
# found COMMAND...: the table in one line.
found() {
    hopwave search -q "$@" | tr '\t\n' ' ;'
}

# ---- the commands ----
ok "help" sh -c 'hopwave --help | grep -q "^  search  *searches a graph"'
for program in "$top_srcdir"/stages/*.c; do
    name=$(basename "$program" .c)
    [ "$name" = hopwave ] || ok "it lists $name" sh -c "hopwave --help | grep -q '^  $name '"
done
same "a command is its program" "$(hopwave info --version)" "$(hopwave-info --version)"
same "help of a command" "$(hopwave help info | head -n 1)" "$(hopwave-info --help | head -n 1)"
told "a wrong command" 2 "'serch' is not a command; did you mean .hopwave search.\?" hopwave serch
told "no command" 2 'no command; .hopwave --help. lists them' hopwave

# ---- searches ----
printf '100 200 1.5\n200 300 0.25\n300 100 7\n900 100 0.65\n' >e.txt
is "a table" "$(found e.txt --from 100)" "vertex level parent;100 0 100;200 1 100;300 2 200;"
is "a path" "$(found e.txt --from 900 --to 200)" "vertex level;900 0;100 1;200 2;"
is "by weights" "$(found e.txt --from 900 --to 300 --weights)" \
    "vertex distance;900 0;100 0.65;200 2.15;300 2.4;"
is "both ways" "$(found e.txt --from 300 --to 900 --undirected --weights)" \
    "vertex distance;300 0;200 0.25;100 1.75;900 2.4;"
is "by ids" "$(found e.txt --from 0 --ids)" "vertex level parent;0 0 0;1 1 0;2 2 1;"
gzip -c e.txt >e.gz
is "compressed" "$(found e.gz --from 900 --to 200)" "vertex level;900 0;100 1;200 2;"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >a.mtx
is "Matrix Market" "$(found a.mtx --from 1)" "vertex level parent;1 0 1;2 1 1;3 2 2;"
printf 'p sp 3 3\na 1 2 1\na 2 3 2\na 3 1 5\n' >a.gr
is "DIMACS" "$(found a.gr --from 3 --weights)" "vertex distance parent;1 5 3;2 6 1;3 0 3;"
printf '3 2\n2\n1 3\n2\n' >a.graph
is "METIS" "$(found a.graph --from 3)" "vertex level parent;1 2 2;2 1 3;3 0 3;"
hopwave import -q e.txt -o e.h5 || exit 99
is "a graph file" "$(found e.h5 --from 900 --to 300 --weights)" \
    "vertex distance;900 0;100 0.65;200 2.15;300 2.4;"

told "no path" 1 'e.txt: no path leads from 100 to 900' hopwave search e.txt --from 100 --to 900
told "no such vertex" 3 'e.txt: no vertex has the label 1' hopwave search e.txt --from 1
told "no such id" 3 'e.txt: has no vertex 4; its vertices are 0 to 3' \
    hopwave search e.txt --ids --from 4
told "no weights" 3 'a.mtx: has no weights; leave --weights out' \
    hopwave search a.mtx --weights --from 1
printf '1 2 -3\n2 1 1\n' >cycle.txt
told "a negative cycle" 1 'from 1 a cycle of negative weight is reached.*: (1 2|2 1)$' \
    hopwave search cycle.txt --weights --from 1
told "options of imports" 3 'e.h5: is a graph already; --directed is for files' \
    hopwave search e.h5 --from 100 --directed
hopwave partition -q e.h5 --layout 1d --parts 1 -o p.h5
told "a partition" 3 'p.h5: is no graph' hopwave search p.h5 --from 100
told "no file" 2 'no file; give FILE' hopwave search --from 100
told "no root" 2 'give --from VERTEX' hopwave search e.txt
refused "several ranks" 2 'runs in one process' "$MPIEXEC" -n 2 hopwave-search e.txt --from 100
told "a full disk" 4 'standard output: No space left' sh -c 'hopwave search e.txt --from 100 >/dev/full'

# The same as searches through files, on a graph with many vertices that are not reached.
hopwave generate -q --model rmat --scale 12 --edge-factor 4 --weights uniform -o g.h5 || exit 99
for algorithm in bfs sssp; do
    hopwave traverse -q g.h5 --layout 1d --parts 1 --algorithm $algorithm --root-list 3 \
        --canonical-parents -o $algorithm.h5 || exit 99
    hopwave export -q $algorithm.h5 --format tsv -o $algorithm.tsv || exit 99
done
hopwave search -q g.h5 --from 3 >bfs.out
hopwave search -q g.h5 --from 3 --weights >sssp.out
for algorithm in bfs sssp; do
    cut -f 2- $algorithm.tsv >expected
    ok "what hopwave-traverse finds: $algorithm" cmp expected $algorithm.out
done

# ---- completion ----
completed() {
    # shellcheck disable=SC2016 # for bash
    bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _hopwave "$1"
        echo $(printf "%s\n" "${COMPREPLY[@]}" | sort)' - \
        "$top_srcdir/stages/completion/hopwave.bash" "$@"
}
if bash -c 'mapfile -t lines <<<a' 2>/dev/null; then
    is "a command" "$(completed hopwave tra)" traverse
    is "an option" "$(completed hopwave traverse --root-l)" --root-list
    is "an option of a program" "$(completed hopwave-import --und)" --undirected
    is "its values" "$(completed hopwave-partition --layout '')" "1d 2d degree-separated"
    is "its values after =" "$(completed hopwave-partition --layout = deg)" degree-separated
    is "a method" "$(completed hopwave traverse --method gri)" grid
    is "a file" "$(completed hopwave-info cycle)" cycle.txt
else
    skip "completion" "no bash from 4 on"
fi
if command -v zsh >/dev/null; then
    ok "zsh reads its completion" zsh -n "$top_srcdir/stages/completion/_hopwave"
fi

# ---- man pages ----
for page in "$top_builddir"/hopwave*.1; do
    [ -f "$page" ] || continue
    grep -q '^\.SH DESCRIPTION' "$page" && grep -q 'See .* --help' "$page" && continue
    name=$(basename "$page" .1)
    is "sections of $name" "$(grep -c -E '^\.SH "?(EXAMPLES|EXIT STATUS|SEE ALSO)' "$page")" 3
done
mkfifo pipe
refused "a pipe" 3 'pipe: is no plain file' hopwave-search pipe --from 1
done_testing
