# Graphs: the tuples as the model makes them, the same from any number of ranks.
rule generate:
    output:
        GRAPH,
    log:
        "results/logs/generate/{graph}.log",
    params:
        options=lambda wildcards: STUDY.graphs[wildcards.graph]["options"],
        launch=launch,
    priority: 2 + STUDY.repeats
    resources:
        tasks=1,
        mpi="",
    conda:
        "../envs/programs.yaml"
    shell:
        "{params.launch} hopwave-generate {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"
