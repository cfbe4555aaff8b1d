#!/bin/sh
# Configurations that are wrong: one sentence that names the key, before
# anything is made.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" && cp -r "$top_srcdir/.test/data" . || exit 99
cat >few.yaml <<'END'
graphs: [{name: weak, model: rmat, scales: [6], parts: [2, 4]}, {name: large, model: rmat, scales: [7], parts: [4]}]
layouts: [{layout: 1d}, {layout: 2d, graphs: [weak, large]}, {layout: degree-separated, graphs: [large]}]
methods: [{method: auto, layouts: [1d]}, {method: grid, layouts: [2d], direction: top-down}, {method: delegates, graphs: [large], layouts: [degree-separated]}]
figures: [{name: f, title: F, x: parts, y: levels, graphs: [large]}]
END

# wrong NAME PATTERN: the configuration on standard input is refused.
wrong() {
    cat >wrong.yaml
    refused "$1" 3 "wrong.yaml(:[0-9]+)?: $2" "$PYTHON3" "$study" run --config wrong.yaml
}

wrong "an empty file" "the study needs the key 'graphs'" </dev/null
wrong "no graphs" "graphs has 0 entries, but must have 1" <<'END'
graphs: []
END
wrong "a key that is not known" "graphs\[0\] has the unknown key 'edgefactor'; known are .*edge_factor" <<'END'
graphs: [{model: rmat, scales: [6], edgefactor: 16}]
END
wrong "a missing key" "graphs\[0\] needs the key 'scales'" <<'END'
graphs: [{model: rmat}]
END
wrong "a wrong type" "graphs\[0\].scales must be a list, not 6" <<'END'
graphs: [{model: rmat, scales: 6}]
END
wrong "an unknown model" "graphs\[0\].model is \"kron\", but must be one of rmat, graph500, erdos-renyi" <<'END'
graphs: [{model: kron, scales: [6]}]
END
wrong "a key of another model" "graphs\[0\].abcd does not apply here" <<'END'
graphs: [{model: erdos-renyi, scales: [6], abcd: [0.25, 0.25, 0.25, 0.25]}]
END
wrong "an edge factor of a grid" "graphs\[0\].edge_factor does not apply here" <<'END'
graphs: [{model: grid, scales: [6], edge_factor: 4}]
END
wrong "two ways to say probabilities" "graphs\[0\].abcd does not apply here" <<'END'
graphs: [{model: rmat, scales: [6], skew: flat, abcd: [0.25, 0.25, 0.25, 0.25]}]
END
wrong "a degree of a chain" "graphs\[0\].degree does not apply here" <<'END'
graphs: [{model: chain, scales: [6], degree: 2}]
END
wrong "an odd degree" "graphs\[0\].degree is 3, which is no even number" <<'END'
graphs: [{model: small-world, scales: [6], degree: 3}]
END
wrong "more neighbours than vertices" "graphs\[0\].degree is 64, and a graph has 64 vertices" <<'END'
graphs: [{model: small-world, scales: [8, 6], degree: 64}]
END
wrong "points of too large a scale" "graphs\[0\].scales go to 37, but must be at most 36" <<'END'
graphs: [{model: geometric, scales: [37]}]
END
wrong "four dimensions" "graphs\[0\].dimensions is 4, but must be at most 3" <<'END'
graphs: [{model: torus, scales: [8], dimensions: 4}]
END
wrong "lengths that are none" "graphs\[0\].weights does not apply here" <<'END'
graphs: [{model: grid, scales: [6], weights: length}]
END
wrong "a directed road" "graphs\[0\].directed is true, but only false applies here" <<'END'
graphs: [{model: road, scales: [6], directed: true}]
END
wrong "a number too small" "parts\[1\] is 0, but must be at least 1" <<'END'
graphs: [{model: rmat, scales: [6]}]
parts: [1, 0]
END
wrong "a key twice" "holds the key 'parts' twice in line 1" <<'END'
graphs: [{model: rmat, scales: [6]}]
parts: [1]
parts: [2]
END
wrong "a list in itself" "holds what is no text, finite number, list or mapping" <<'END'
graphs: &graphs [*graphs]
END
wrong "too many repeats" "repeats is 100000000, but must be at most 1000" <<'END'
graphs: [{model: rmat, scales: [6]}]
repeats: 100000000
END
wrong "a name too long for files" "graphs\[0\].name is longer than 64" <<END
graphs: [{model: rmat, scales: [6], name: $(printf '%0200d' 7)x}]
END
wrong "a seed too large" "roots.seed is 99999999999999999999, but must be at most" <<'END'
graphs: [{model: rmat, scales: [6]}]
roots: {seed: 99999999999999999999}
END
wrong "probabilities that are none" "graphs\[0\].abcd sums to 4, not to 1" <<'END'
graphs: [{model: rmat, scales: [6], abcd: [1, 1, 1, 1]}]
END
wrong "an empty range of weights" "graphs\[0\].weights is integer:5:1, which is no range" <<'END'
graphs: [{model: rmat, scales: [6], weights: "integer:5:1"}]
END
wrong "more edges than pairs" "graphs\[0\]: 64 edges are more than the 6 pairs that 4 vertices" <<'END'
graphs: [{model: erdos-renyi, scales: [6, 2]}]
END
wrong "a value twice" "parts holds an entry twice" <<'END'
graphs: [{model: rmat, scales: [6]}]
parts: [2, 2]
END
wrong "a grid that is none" "layouts\[0\].grids\[0\] is \"2by2\", which does not match" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 2d, grids: [2by2]}]
END
wrong "a threshold without delegates" "layouts\[0\].threshold is 8, but only \"auto\" applies here" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d, threshold: 8}]
END
wrong "devices that do not divide the parts" "layouts: devices is 3, which does not divide 4 parts" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: degree-separated, devices: 3}]
parts: [4]
END
wrong "a method without its layout" "methods\[0\].method is delegates, which works on degree-separated, and the study has no such layout" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
methods: [{method: delegates}]
END
wrong "shortest paths without weights" "methods\[0\].algorithm is sssp, and no graph has weights" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{algorithm: sssp, method: auto}]
END
wrong "a method of shortest paths for another algorithm" "methods\[0\].method is \"delta\", but must be one of auto, grid, delegates, sequential" <<'END'
graphs: [{model: rmat, scales: [6], weights: uniform}]
methods: [{method: delta}]
END
wrong "a bucket without width" "methods\[0\].delta is 0, but must be above 0" <<'END'
graphs: [{model: rmat, scales: [6], weights: uniform}]
methods: [{algorithm: sssp, method: delta, delta: 0}]
END
wrong "a method of GPUs without one" "methods\[0\].device is \"cpu\", but only \"cuda\" applies here" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: merge}]
END
wrong "a serial baseline on a GPU" "methods\[0\].device is \"cuda\", but only \"cpu\" applies here" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: sequential, device: cuda}]
END
wrong "shortest paths of one GPU without a graph for them" "methods\[0\].algorithm is sssp, and no graph has weights without negative ones" <<'END'
graphs: [{model: rmat, scales: [6], directed: true, weights: signed}]
methods: [{algorithm: sssp, method: near-far, device: cuda}]
END
wrong "an option that has a key of its own" "methods\[0\].options does not apply here" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, options: {roots: 4}}]
END
wrong "a method that is none" "methods\[0\].method is \"delegate\", but must be one of auto, grid" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: delegate}]
END
wrong "an option out of range" "methods\[0\].options.edges-per-thread is 9, but must be from 1 to 8" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: scan2d, device: cuda, options: {edges-per-thread: 9}}]
END
wrong "a word that is none" "methods\[0\].options.coupling is \"tight\", but must be one of auto, separate" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: merge, device: cuda, options: {coupling: tight}}]
END
wrong "an option of another method" "methods\[0\].options.coupling is for merge, and the method is grid" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: grid, options: {coupling: gather}}]
END
wrong "an option without what it is for" "methods\[0\].options.expand-factor is for coupling hybrid" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: merge, device: cuda, options: {coupling: gather, expand-factor: 3}}]
END
wrong "as published, of a method without" "methods\[0\].options.as-published is for .*adaptive.*, and the method is sequential" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: sequential, options: {as-published: true}}]
END
wrong "as published, with a value" "methods\[0\].options.as-published is \"yes\", but takes no value" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: adaptive, device: cuda, options: {as-published: "yes"}}]
END
wrong "an option that is none" "methods\[0\].options.speed: hopwave-traverse has no such option" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: grid, options: {speed: 3}}]
END
wrong "a direction that is none" "methods\[0\].direction is \"up\", but must be one of auto, top-down" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: grid, direction: up}]
END
wrong "an option that would be two words" "methods\[0\].options.reduce is \"blocking --force\", which does not match" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, options: {reduce: "blocking --force"}}]
END
wrong "a figure of nothing that is measured" "figures\[0\].y is 'speed', but must be one of graph, scale" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: a, title: A, x: scale, y: speed}]
END
wrong "a figure of a graph that is not there" "figures\[0\].graphs: no graph is named 'kron'" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: a, title: A, x: scale, y: mean_time, graphs: [kron]}]
END
wrong "two figures under one name" "figures\[1\].name is 'a', as another's is" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: a, title: A, x: scale, y: mean_time}, {name: a, title: B, x: scale, y: max_time}]
END
wrong "negative weights both ways" "graphs\[0\].directed is false, but only true applies here" <<'END'
graphs: [{model: rmat, scales: [6], weights: signed}]
END
wrong "a method that takes no negative weights" "methods\[0\].algorithm is sssp, and no graph has weights without negative ones" <<'END'
graphs: [{model: rmat, scales: [6], directed: true, weights: signed}]
methods: [{algorithm: sssp, method: delta}]
END
wrong "two graphs under one name" "graphs: two entries named 'a' differ in their model" <<'END'
graphs: [{name: a, model: rmat, scales: [6]}, {name: a, model: graph500, scales: [6]}]
END
wrong "a file that is not there" "graphs\[0\].file: none.gr: no such file" <<'END'
graphs: [{name: a, file: none.gr}]
END
wrong "a file without a name" "graphs\[0\] needs the key 'name'" <<'END'
graphs: [{file: none.gr}]
END
wrong "no file there at all" "graphs: no file is there: a \(none.gr\)" <<'END'
graphs: [{name: a, file: none.gr, optional: true}]
END
wrong "a key of models" "graphs\[0\] has the unknown key 'scales'" <<'END'
graphs: [{name: a, file: none.gr, scales: [6]}]
END
wrong "directed and undirected" "graphs\[0\].directed is true, but only false applies here" <<'END'
graphs: [{name: a, file: none.gr, undirected: true, directed: true}]
END
wrong "a graph that is none" "methods\[0\].graphs: no graph is named 'other'" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, graphs: [other]}]
END
wrong "a layout that is none" "methods\[0\].layouts: no layout is named '2d-order-none'" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, layouts: [2d-order-none]}]
END
wrong "a column that is none" "figures\[0\].where is 'colour', but must be one of" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: f, title: F, x: parts, y: levels, where: {colour: red}}]
END
# paper KEY VALUE...: a study with a figure of a paper, of which the last line says more.
paper() {
    cat <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}, {layout: 2d}]
methods: [{method: grid}, {method: grid, direction: top-down}]
figures:
  - name: a
    title: A
    x: parts
    y: mean_time
    paper:
      figure: Figure 6
      source: page 3
      unit: ms
END
    printf '      %s\n' "$@"
}
# wrong_paper NAME PATTERN LINE...: likewise, refused with the number of the last line.
wrong_paper() {
    wrong_name=$1 wrong_pattern=$2
    shift 2
    paper "$@" >wrong.yaml
    refused "$wrong_name" 3 "wrong.yaml:$(wc -l <wrong.yaml): figures\[0\].paper$wrong_pattern" \
        "$PYTHON3" "$study" run --config wrong.yaml
}
wrong_paper "a claim without a bound" \
    ".claims\[0\] 'grid over grid-direction-top-down' has its end where a bound such as" \
    "claims: [grid over grid-direction-top-down]"
wrong_paper "a claim that is no sentence" ".claims\[1\].claim 'grid at' has its end where a value of x" \
    "claims:" "  - grid rises" "  - {claim: grid at}"
wrong_paper "a claim about a line that is none" \
    ".claims\[0\].claim names 'scan2d', and no line is so called: method is grid, grid-direction-top" \
    "claims: [{claim: scan2d rises, required: true}]"
wrong_paper "a claim about parts that are none" ".claims\[0\] names '16', and no value of x is so called" \
    "claims: [grid at 16 at least 1]"
wrong_paper "a claim about a column that is none" \
    ".claims\[0\] names 'volume', which is no column of results.csv" \
    "claims: [volume of grid at least 1]"
wrong_paper "a claim that is required and cannot be tested" ".claims\[0\].required is true, but only false" \
    "claims: [{untestable: why not, required: true}]"
wrong_paper "a claim of nothing" ".claims\[0\] needs the key 'claim'" "claims: [{says: much}]"
wrong_paper "a figure that has no number" ".claims\[0\].figure is \"6\", which does not match" \
    "claims: [{figure: '6', claim: grid rises}]"
wrong_paper "a unit that does not match" ".rows\[1\].unit is 'GTEPS', but mean_time is in s or ms or us" \
    "rows:" "  - {series: a, x: 1, value: 2}" "  - {series: a, x: 2, value: 2, unit: GTEPS}"
wrong_paper "a unit that is none" ".rows\[0\].unit is \"furlongs\", but must be one of s, ms" \
    "rows: [{series: a, x: 1, value: 2, unit: furlongs}]"
wrong_paper "a row without a value" ".rows\[0\] needs the key 'value'" "rows: [{series: a, x: 1}]"
wrong_paper "a value that is none" ".rows\[0\].value must be a number, not \"fast\"" \
    "rows: [{series: a, x: 1, value: fast}]"
wrong_paper "a row at a place that is none" ".rows\[0\].x is 'four', but parts is a number" \
    "rows: [{series: a, x: four, value: 2}]"
wrong_paper "a row with a key that is not known" ".rows\[0\] has the unknown key 'colour'" \
    "rows: [{series: a, x: 1, value: 2, colour: red}]"
paper "rows: []" | sed '/unit/d; $d' >wrong.yaml
echo '      rows: [{series: a, x: 1, value: 2}]' >>wrong.yaml
refused "a row without a unit" 3 "wrong.yaml:12: figures\[0\].paper.rows\[0\] needs the key 'unit'" \
    "$PYTHON3" "$study" run --config wrong.yaml
wrong "a figure of a switch that no method has" \
    "figures\[0\].where.method is \"grid-exchange-list\", and no method is so called" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
methods: [{method: grid}]
figures: [{name: a, title: A, x: parts, y: mean_time, where: {method: grid-exchange-list}}]
END
wrong "a figure relative to nothing" "figures\[0\].relative is \"grid-exchange-list\", and no method" <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
methods: [{method: grid}]
figures: [{name: a, title: A, x: parts, y: mean_time, relative: grid-exchange-list}]
END
wrong "contributions of what is none" \
    "figures\[0\].contributions is \"merge\", and no method is so called" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto}]
figures: [{name: a, title: A, x: scale, y: mean_time, contributions: [auto, merge, fused]}]
END
wrong "a speedup of times" "figures\[0\].scaling is of speeds, and y is mean_time" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: a, title: A, x: parts, y: mean_time, scaling: speedup}]
END
wrong "a column of another table" "figures\[0\].x is 'degree', but must be one of graph" <<'END'
graphs: [{model: rmat, scales: [6]}]
figures: [{name: a, title: A, x: degree, y: mean_time}]
END
wrong "text that is not YAML" "while parsing" <<'END'
graphs: [{model: rmat
END
# ---- what means harm ----
wrong "aliases that multiply" "holds more than 10000 values" <<'END'
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
graphs: [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
END
wrong "merged keys that do" "holds more than 10000 values" <<'END'
a: &a {k: 1}
b: &b {<<: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]}
c: &c {<<: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]}
d: &d {<<: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]}
e: &e {<<: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]}
graphs: [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
END
wrong "more searches than can be" "the study has more than 100000 searches" <<END
graphs: [{model: rmat, scales: [1, 2, 3, 4, 5, 6, 7, 8, 9]}]
parts: [$(seq -s, 1 600)]
repeats: 1000
END
wrong "a name that ends a line" "graphs\[0\].name is .a.n., which does not match" <<'END'
graphs: [{model: rmat, scales: [6], name: "a\n"}]
END
wrong "a name of marks that shells and pages know" "graphs\[0\].name is .*, which does not match" <<'END'
graphs: [{model: rmat, scales: [6], name: 'a"<b>$(x)'}]
END
wrong "an option that does" "methods\[0\].options.reduce is .blocking.n., which does not match" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, options: {reduce: "blocking\n"}}]
END
wrong "the name of an option that does" "methods\[0\].options is .reduce.n., which does not match" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, options: {"reduce\n": blocking}}]
END
wrong "an option that is not written out" "methods\[0\].options.outp: hopwave-traverse has no such option" <<'END'
graphs: [{model: rmat, scales: [6]}]
methods: [{method: auto, options: {outp: elsewhere}}]
END
wrong "a number too large for names" "graphs\[0\].edge_factor is 1000.*, but must be at most" <<'END'
graphs: [{model: rmat, scales: [6], edge_factor: 1000000000000000000000000000000}]
END
wrong "a fraction for a whole number" "parts\[0\] must be a whole number, not 2.0" <<'END'
graphs: [{model: rmat, scales: [6]}]
parts: [2.0]
END
wrong "a name of a file that none can have" "graphs\[0\].file: aaaa.*: no such file" <<END
graphs: [{name: a, file: $(printf '%0300d' 0 | tr 0 a)}]
END
wrong "a key that would colour the terminal" "the study has the unknown key '.x1b\[31mred'" <<'END'
"\e[31mred": 1
graphs: [{model: rmat, scales: [6]}]
END
wrong "half a letter" "holds what is no text" <<'END'
title: "\ud800"
graphs: [{model: rmat, scales: [6]}]
END
{ echo 'graphs: []' && head -c 1100000 /dev/zero | tr '\0' '#'; } >large.yaml
refused "a file too large" 3 "large.yaml: larger than 1048576 bytes" "$PYTHON3" "$study" run --config large.yaml
mkfifo fifo.yaml
refused "a FIFO" 3 "fifo.yaml: not a file" "$PYTHON3" "$study" run --config fifo.yaml
refused "a device" 3 "/dev/zero: not a file" "$PYTHON3" "$study" run --config /dev/zero

refused "a missing file" 3 "none.yaml: No such file" "$PYTHON3" "$study" run --config none.yaml
refused "a missing study, without --config" 3 "none.yaml: No such file" "$PYTHON3" "$study" run none.yaml
refused "two studies" 2 "two studies, few.yaml and --config none.yaml: give one" \
    "$PYTHON3" "$study" run few.yaml --config none.yaml
refused "a third word" 2 "unrecognized arguments: more.yaml" "$PYTHON3" "$study" run few.yaml more.yaml
refused "parts that are none" 2 "--max-parts: 0 is no number of parts" \
    "$PYTHON3" "$study" run --config "$test_config" --max-parts 0
refused "a scale that leaves nothing" 2 "--max-scale: 0 leaves no scale above 0" \
    "$PYTHON3" "$study" run --config few.yaml --max-scale 0
refused "roots that are none" 2 "--max-roots: 0 is no number of roots" \
    "$PYTHON3" "$study" run --config few.yaml --max-roots 0
refused "parts that leave nothing" 3 "--max-parts 1 leaves no number of parts" \
    "$PYTHON3" "$study" run --config few.yaml --max-parts 1
refused "a missing profile" 3 "no-profile: no profile" \
    "$PYTHON3" "$study" run --config "$test_config" --profile no-profile

refused "programs that are nowhere" 4 "hopwave-generate is not on PATH; name its folder with --bin" \
    env PATH=/usr/bin:/bin "$PYTHON3" "$study" run --config "$test_config" --bin "$work"

"$PYTHON3" "$study" run --config few.yaml --max-parts 2 -n --verbose >few.out 2>&1
ok "what --max-parts leaves out is said" grep -q "left out, of more parts than 2: weak on 4, large on 4" few.out
ok "and the rest would run, methods in the layouts that they are for" grep -q '^traverse  *2$' few.out
"$PYTHON3" "$study" run few.yaml --max-parts 2 -n --verbose -- --forcerun table >plain.out 2>&1
ok "a study is taken without --config, and what follows -- is Snakemake's" grep -q '^traverse  *2$' plain.out
cat >both.yaml <<'END'
graphs: [{model: rmat, scales: [6]}]
layouts: [{layout: 1d}]
parts: [1]
methods:
  - {method: adaptive, device: cuda}
  - {method: adaptive, device: cuda, options: {as-published: true}}
END
labels() {
    "$PYTHON3" -c 'if True:
        import sys, yaml
        sys.path.insert(0, sys.argv[1])
        from hopwave.study.configuration import Study
        print(*sorted({row["method"] for row in Study(yaml.safe_load(open("both.yaml"))).rows()}))' \
        "$top_srcdir/python"
}
is "as published is a method of its own in results" "$(labels)" "adaptive adaptive-as-published"
cat >unlike.yaml <<'END'
graphs:
  - {model: rmat, scales: [6], weights: uniform}
  - {name: bare, model: rmat, scales: [5, 6]}
  - {name: below, model: rmat, scales: [6], directed: true, weights: signed}
  - {name: ring, file: data/ring.txt, undirected: true}
  - {name: bare-ring, file: data/ring.txt, undirected: true, weights: none}
  - {model: road, scales: [4]}
layouts: [{layout: 1d}]
parts: [1]
methods: [{method: auto}, {algorithm: sssp, method: delta}]
END
"$PYTHON3" "$study" run --config unlike.yaml -n --verbose >unlike.out 2>&1
is "graphs that a method is not for are named, with the reason" "$(grep '^hopwave-study: ' unlike.out)" \
    "hopwave-study: left out: sssp by delta on bare, which has no weights
hopwave-study: left out: sssp by delta on below, which has negative weights
hopwave-study: left out: sssp by delta on ring, whose weights no study knows before it reads the file (weights: auto); integer or real says that there are some
hopwave-study: left out: sssp by delta on bare-ring, of whose file no weights are taken (weights: none)"
ok "and the others run" grep -q '^traverse[a-z_]*  *9$' unlike.out
"$PYTHON3" "$study" run --config few.yaml -n --verbose >all.out 2>&1
ok "and all of it without" grep -q '^traverse  *7$' all.out

"$PYTHON3" "$study" run --config few.yaml --max-scale 5 --max-roots 3 -n --verbose >cut.out 2>&1
ok "scales are cut by as much" grep -q 'output: results/graphs/weak-s4.h5' cut.out
ok "and roots" grep -q -e '-k3-r1.h5' cut.out

# Names that YAML takes for dates are names, for Snakemake too.
echo 'graphs: [{model: rmat, scales: [6], name: 2020-01-01}]' >date.yaml
"$PYTHON3" "$study" run --config date.yaml -n --verbose >date.out 2>&1
ok "a date is a name" grep -q 'output: results/graphs/2020-01-01-s6.h5' date.out

# The studies that come with it are such as the workflow takes.
for paper in "$top_srcdir"/config/scaling.yaml "$top_srcdir"/config/papers/*.yaml; do
    ok "$(basename "$paper")" "$PYTHON3" -c 'if True:
        import sys, yaml
        sys.path.insert(0, sys.argv[1])
        from hopwave.study.configuration import Study
        assert Study(yaml.safe_load(open(sys.argv[2]))).figures' \
        "$top_srcdir/python" "$paper"
done

# Without hopwave-study, Snakemake says the same sentence.
"$PYTHON3" -m snakemake --snakefile "$top_srcdir/workflow/Snakefile" -n --cores 1 \
    --config 'graphs=[]' >plain.out 2>&1
rc=$?
is "snakemake alone refuses too" "$rc" 1
ok "with the same sentence" grep -q 'configuration: graphs has 0 entries' plain.out
ok "nothing was made" test ! -e results
done_testing
