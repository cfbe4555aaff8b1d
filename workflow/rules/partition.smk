# Partitions: a graph laid out over parts, the same from any number of ranks.
rule partition:
    input:
        GRAPH,
    output:
        PARTITION,
    log:
        "results/logs/partition/{graph}/{partition}.log",
    priority: 2 + STUDY.repeats
    conda:
        "../envs/programs.yaml"
    envmodules:
        *MACHINE.modules,
    resources:
        **needs(
            "hopwave-partition",
            lambda wildcards, input: "{} {}".format(
                input[0], STUDY.partitions[wildcards.partition]["options"]
            ),
        ),
        tasks=1,
        mpi="",
    params:
        options=lambda wildcards: STUDY.partitions[wildcards.partition]["options"],
        launch=launch,
    shell:
        "{params.launch} hopwave-partition {input} {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"
