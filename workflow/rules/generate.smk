# Graphs: the tuples as the model makes them, the same from any number of ranks.
rule generate:
    output:
        GRAPH,
    log:
        "results/logs/generate/{graph}.log",
    priority: 2 + STUDY.repeats
    conda:
        "../envs/programs.yaml"
    resources:
        tasks=1,
        mpi="",
    params:
        options=lambda wildcards: STUDY.graphs[wildcards.graph]["options"],
        launch=launch,
    shell:
        "{params.launch} hopwave-generate {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"
