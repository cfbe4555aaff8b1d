# Trees against the edge lists they came from. Status 1 says that a check failed:
# the check file then holds the evidence and stays, and the gate stops the study.
rule validate:
    input:
        tree=TREE,
        graph=GRAPH,
    output:
        CHECK,
    log:
        "results/logs/validate/{graph}/{partition}/{search}-r{repeat}.log",
    conda:
        "../envs/programs.yaml"
    envmodules:
        *MACHINE.modules,
    resources:
        **needs(
            "hopwave-validate",
            lambda wildcards, input: f"{input.tree} --graph {input.graph} {REFERENCE}",
        ),
        tasks=1,
        mpi="",
    params:
        options=REFERENCE,
        launch=launch,
    shell:
        "rc=0; {params.launch} hopwave-validate {input.tree} --graph {input.graph} "
        "{params.options} --threads {threads} --quiet -o {output} "
        "</dev/null >{log} 2>&1 || rc=$?; [ $rc -le 1 ]"


localrules:
    gate,


rule gate:
    input:
        STUDY.checks(),
        files(TREE) if STUDY.config["store"] != "all" else [],
    output:
        "results/gate.csv",
    log:
        "results/logs/gate.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/gate.py"
