# Graphs: the tuples as the model makes them or the file has them, the same from any
# number of ranks.
rule generate:
    output:
        GRAPH,
    log:
        "results/logs/generate/{graph}.log",
    wildcard_constraints:
        graph=pattern(g for g, graph in STUDY.graphs.items() if not graph["file"]),
    priority: 2 + STUDY.repeats
    conda:
        "../envs/programs.yaml"
    envmodules:
        *MACHINE.modules,
    resources:
        **needs(
            "hopwave-generate",
            lambda wildcards, input: STUDY.graphs[wildcards.graph]["options"],
        ),
        tasks=1,
        mpi="",
    params:
        options=lambda wildcards: STUDY.graphs[wildcards.graph]["options"],
        launch=launch,
    shell:
        "{params.launch} hopwave-generate {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"


rule import_file:
    input:
        lambda wildcards: STUDY.graphs[wildcards.graph]["file"],
    output:
        GRAPH,
    log:
        "results/logs/import/{graph}.log",
    wildcard_constraints:
        graph=pattern(g for g, graph in STUDY.graphs.items() if graph["file"]),
    priority: 2 + STUDY.repeats
    conda:
        "../envs/programs.yaml"
    envmodules:
        *MACHINE.modules,
    resources:
        **needs(
            "hopwave-import",
            lambda wildcards, input: "{} {}".format(
                quote(input[0]), STUDY.graphs[wildcards.graph]["options"]
            ),
        ),
        tasks=1,
        mpi="",
    params:
        options=lambda wildcards: STUDY.graphs[wildcards.graph]["options"],
        launch=launch,
    shell:
        "{params.launch} hopwave-import {input:q} {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"
