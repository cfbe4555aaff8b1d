#!/bin/sh
# What a study prints: a line a finished job, a closing table, the cause of a failure last, how far an
# interrupted run came, and what a plan would take.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99

cat >study.yaml <<'END'
title: printed
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
parts: [1, 2]
roots: {count: 2}
END
run_study study.yaml -n >plan.out 2>&1
is "a plan exits 0" "$?" 0
is "it ends with totals" "$(tail -n 4 plan.out | sed 's/:.*//' | tr '\n' ' ')" "jobs node hours memory disk "
ok "of all jobs" grep -q '^jobs:  *[0-9]* (1 generate, 2 partition, 2 traverse, 2 validate, ' plan.out
ok "and names them" grep -q '^traverse:  *rmat-s6 1d-1 auto r1, rmat-s6 1d-2 auto r1$' plan.out
ok "nothing was made" test ! -e results
printf '0 1\n1 2\n' >edges.txt
cat >file.yaml <<'END'
graphs: [{name: line, file: edges.txt, undirected: true}]
layouts: [{layout: 1d}]
parts: [1]
roots: {count: 1}
END
run_study file.yaml -n >plan.out 2>&1
is "so does one of a graph that is yet to be imported" "$?" 0
ok "whose programs cannot say yet" grep -q '^not counted: 3 jobs whose programs cannot say yet, on line-undirected' plan.out

# ---- a job that fails ----
mkdir bin
for program in generate import traverse validate; do
    ln -s "$top_builddir/hopwave-$program" bin/
done
cat >bin/hopwave-partition <<END
#!/bin/sh
case " \$* " in
*" --parts 2 "*) echo "hopwave-partition: no luck" >&2 && exit 4 ;;
esac
exec "$top_builddir/hopwave-partition" "\$@"
END
chmod +x bin/hopwave-partition
run_study study.yaml --bin bin -- results/gate.csv >failed.log 2>&1
is "a study with a job that fails ends with 1" "$?" 1
is "the cause comes last" "$(tail -n 1 failed.log)" "    hopwave-partition: no luck"
ok "with the job and its log" grep -q '^partition rmat-s6 1d-2 failed (results/logs/partition/rmat-s6/1d-2.log):$' \
    failed.log
ok "the others are done, a line each" grep -q '^\[[0-9]*/8\] traverse rmat-s6 1d-1 [0-9.]* [MG]*TEPS' failed.log

# ---- interrupted ----
rm bin/hopwave-traverse
cat >bin/hopwave-traverse <<END
#!/bin/sh
case " \$* " in
*" --list-methods=json "*) exec "$top_builddir/hopwave-traverse" "\$@" ;;
esac
: >"$work/begun"
exec sleep 100
END
chmod +x bin/hopwave-traverse
rm -f bin/hopwave-partition && ln -s "$top_builddir/hopwave-partition" bin/
# interrupted WHOM: the status of a study that gets an interrupt, and its last line.
interrupted() {
    rm -rf results/trees results/logs/traverse begun
    # shellcheck disable=SC2016
    setsid sh -c 'echo $$ >pid; exec "$@"' sh "$PYTHON3" "$study" run --cores 2 --bin bin \
        --config study.yaml -- results/gate.csv >int.log 2>&1 </dev/null &
    running=$!
    for try in $(seq 900); do
        [ -e begun ] && break
        sleep 0.1
    done
    kill -INT "$1$(cat pid)"
    wait "$running"
    echo "$? (at look $try)" >&2
}
for whom in - ''; do
    what="the process alone"
    [ -z "$whom" ] || what="its whole group, as of a terminal,"
    is "an interrupt of $what ends it with 130" \
        "$(interrupted "$whom" 2>&1 | sed 's/ .*//')" 130
    ok "it says how far it came" grep -q \
        '^hopwave-study: interrupted: [0-9] of [0-9] done; the same command goes on$' int.log
    is "as its last line" "$(tail -n 1 int.log | cut -d ' ' -f 1-2)" "hopwave-study: interrupted:"
    is "and tells no failure" "$(grep -c -i -e failed -e traceback int.log)" 0
done

# ---- and gone on with ----
run_study study.yaml >run.log 2>run.err
is "the same command goes on" "$?" 0
ok "the closing table names the fastest" grep -q '^rmat  *1d, [12] parts*  *grid  *[0-9.]* [MG]*TEPS' run.log
ok "and how many are valid" grep -q '^4 of 4 searches are valid$' run.log
is "each line has its place in the whole" \
    "$(sed -n 's/^\[\([0-9]*\)\/.*/\1/p' run.err | tr '\n' ' ')" "$(seq -s ' ' "$(grep -c '^\[' run.err)") "
is "no line has colours" "$(grep -c "$(printf '\033')" run.log run.err | sed 's/.*://' | tr '\n' ' ')" "0 0 "
run_study study.yaml >again.log 2>&1
ok "then there is nothing to make" grep -q '^nothing to make: all is there and up to date' again.log
run_study study.yaml --verbose -- --forcerun table >verbose.log 2>&1
ok "--verbose shows what Snakemake says" grep -q '^localrule table:' verbose.log

# ---- more ranks than cores ----
cat >many.yaml <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
parts: [4096]
END
run_study many.yaml -n >many.out 2>&1
is "more ranks than cores are warned of, once" "$(grep -c 'ranks share [0-9]* core' many.out)" 1
done_testing
