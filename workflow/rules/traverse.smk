# Searches, timed: one rank a part, from a partition or from the graph, which they then lay
# out themselves. They wait for all graphs and partitions, which
# have a higher priority, and then come first, all first repeats before any second
# one, so that a drift of the machine meets all methods alike. Each takes the whole
# `machine`, of which profiles/default has 100, so that nothing runs beside it.
# Status 1 says that a check failed, as in validate.smk.
rule traverse:
    input:
        partition=[] if STUDY.in_memory else PARTITION,
        # Trees that are not kept are checked on the spot.
        graph=GRAPH if STUDY.in_memory or STUDY.config["store"] != "all" else [],
    output:
        TREE,
    log:
        "results/logs/traverse/{graph}/{partition}/{search}-r{repeat}.log",
    priority: lambda wildcards: 1 + STUDY.repeats - int(wildcards.repeat)
    conda:
        "../envs/programs.yaml"
    envmodules:
        *MACHINE.modules,
    resources:
        **SEARCH_RESOURCES,
        tasks=parts_of,
        mpi=os.environ.get("HOPWAVE_MPIEXEC", "mpiexec"),
    params:
        arguments=search_arguments,
        launch=launch,
    shell:
        "rc=0; {params.launch} hopwave-traverse {params.arguments} "
        "--threads {threads} --quiet -o {output} "
        "</dev/null >{log} 2>&1 || rc=$?; [ $rc -le 1 ]"


# One part is one rank, which needs no launcher (and with some executors, such
# as Slurm's, must not have one).
use rule traverse as traverse_alone with:
    wildcard_constraints:
        partition=pattern(STUDY.alone),
    resources:
        **SEARCH_RESOURCES,
        tasks=1,
        mpi="",


ruleorder: traverse_alone > traverse
