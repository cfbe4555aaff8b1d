# Searches, timed: one rank a part. They come before whatever else is ready, all
# first repeats before any second one, so that a drift of the machine meets all
# methods alike; and each takes the whole `machine`, of which profiles/default
# has 100, so that nothing runs beside it.
rule traverse:
    input:
        PARTITION,
    output:
        TREE,
    log:
        "results/logs/traverse/{graph}/{partition}/{search}-r{repeat}.log",
    params:
        options=lambda wildcards: STUDY.searches[wildcards.search]["options"],
        launch=launch,
    priority: lambda wildcards: 1 + STUDY.repeats - int(wildcards.repeat)
    resources:
        tasks=lambda wildcards: STUDY.partitions[wildcards.partition]["parts"],
        mpi=os.environ.get("HOPWAVE_MPIEXEC", "mpiexec"),
        machine=100,
    conda:
        "../envs/programs.yaml"
    shell:
        "{params.launch} hopwave-traverse {input} {params.options} "
        "--threads {threads} --quiet -o {output} </dev/null >{log} 2>&1"


# One part is one rank, which needs no launcher (and with some executors, such
# as Slurm's, must not have one).
use rule traverse as traverse_alone with:
    wildcard_constraints:
        partition=pattern(STUDY.alone),
    resources:
        tasks=1,
        mpi="",
        machine=100,


ruleorder: traverse_alone > traverse
