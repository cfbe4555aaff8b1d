# Tables and plots, light enough for the machine that hopwave-study runs on, but
# for what reads whole partitions. Nothing is reported that has not passed the gate.
#
# The report makes a toggle of a label, other than a category's first, that has two values, each
# on half of the files. The page goes blank if a combination of labels has no file: a category
# with several labels needs a file for each combination.
localrules:
    collect,
    table,
    plot_teps,
    plot_time,
    plot_scaling,
    plot_volume,
    plot_steps,
    plot_figure,
    page,
    degrees,
    enqueue_table,
    claims,
    uphold,


rule collect:
    input:
        trees=files(TREE),
        gate=rules.gate.output,
    output:
        report(
            "results/results.csv",
            caption="../report/results.rst",
            category="Results",
            labels={"what": "all figures as CSV"},
        ),
    log:
        "results/logs/collect.log",
    conda:
        "../envs/python.yaml"
    params:
        runs=list(STUDY.rows()),
    script:
        "../scripts/collect.py"


rule table:
    input:
        rules.collect.output,
    output:
        report(
            "results/tables/results.html",
            caption="../report/results.rst",
            category="Results",
            labels={"what": "Graph500 statistics"},
        ),
    log:
        "results/logs/table.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/table.py"


rule plot_teps:
    input:
        rules.collect.output,
    output:
        report(
            "results/plots/teps-{name}.svg",
            caption="../report/teps.rst",
            category="Speed",
            labels={"what": "TEPS against scale", "graph": "{name}"},
        ),
        "results/plots/teps-{name}.pdf",
        "results/plots/teps-{name}.png",
    log:
        "results/logs/plot_teps/{name}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_teps.py"


rule plot_time:
    input:
        rules.collect.output,
    output:
        report(
            "results/plots/time-{name}.svg",
            caption="../report/time.rst",
            category="Speed",
            labels={"what": "computing and communicating", "graph": "{name}"},
        ),
        "results/plots/time-{name}.pdf",
        "results/plots/time-{name}.png",
    log:
        "results/logs/plot_time/{name}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_time.py"


rule plot_scaling:
    input:
        rules.collect.output,
    output:
        report(
            "results/plots/scaling-{name}.svg",
            caption="../report/scaling.rst",
            category="Scaling",
            labels={"graph": "{name}"},
        ),
        "results/plots/scaling-{name}.pdf",
        "results/plots/scaling-{name}.png",
    log:
        "results/logs/plot_scaling/{name}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_scaling.py"


rule plot_volume:
    input:
        rules.collect.output,
    output:
        report(
            "results/plots/volume-{name}.svg",
            caption="../report/volume.rst",
            category="Communication",
            labels={"what": "bytes sent against the models", "graph": "{name}"},
        ),
        "results/plots/volume-{name}.pdf",
        "results/plots/volume-{name}.png",
    log:
        "results/logs/plot_volume/{name}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_volume.py"


rule plot_steps:
    input:
        tree=lambda wildcards: files(TREE, [STUDY.examples[wildcards.example]]),
        gate=rules.gate.output,
    output:
        report(
            "results/plots/steps-{example}.svg",
            caption="../report/steps.rst",
            category="Steps of a search",
            labels={"layout": "{example}"},
        ),
        "results/plots/steps-{example}.pdf",
        "results/plots/steps-{example}.png",
    log:
        "results/logs/plot_steps/{example}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_steps.py"


# Partitions count tuple ends of vertices; without them the plot is not made.
rule plot_degrees:
    input:
        lambda wildcards: files(PARTITION, STUDY.first_runs(wildcards.name)),
    output:
        report(
            "results/plots/degrees-{name}.svg",
            caption="../report/degrees.rst",
            category="Graphs",
            labels={"what": "degree distribution", "graph": "{name}"},
        ),
        "results/plots/degrees-{name}.pdf",
        "results/plots/degrees-{name}.png",
    log:
        "results/logs/plot_degrees/{name}.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/plot_degrees.py"


# The work bottom-up by degree, which searches count with --degree-profile.
rule degrees:
    input:
        trees=files(TREE),
        gate=rules.gate.output,
    output:
        "results/degrees.csv",
    log:
        "results/logs/degrees.log",
    conda:
        "../envs/python.yaml"
    params:
        runs=list(STUDY.rows()),
    script:
        "../scripts/degrees.py"


# Queues made by atomic operations and by scans, on one GPU: a program of its own.
rule enqueue:
    output:
        "results/enqueue.tsv",
    log:
        "results/logs/enqueue.log",
    conda:
        "../envs/programs.yaml"
    resources:
        machine=100,
        gres=lambda wildcards: MACHINE.gres(1),
        nodes=lambda wildcards: MACHINE.nodes(1),
        tasks=1,
        mpi="",
        tasks_per_gpu=0,
        runtime=10,
    params:
        launch=launch,
        millions=STUDY.config["enqueue_millions"],
    shell:
        "{params.launch} gpu-enqueue {params.millions} </dev/null >{output} 2>{log}"


rule enqueue_table:
    input:
        rules.enqueue.output,
    output:
        "results/enqueue.csv",
    log:
        "results/logs/enqueue_table.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/enqueue.py"


# The tables that figures are about.
TABLES = {
    "results": rules.collect.output[0],
    "degrees": rules.degrees.output[0],
    "enqueue": rules.enqueue_table.output[0],
}


rule plot_figure:
    input:
        lambda wildcards: TABLES[STUDY.figures[wildcards.figure]["table"]],
    output:
        plot=report(
            "results/plots/figure-{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"what": "{figure}", "format": "plot"},
        ),
        pdf="results/plots/figure-{figure}.pdf",
        png="results/plots/figure-{figure}.png",
        table=report(
            "results/tables/figure-{figure}.html",
            caption="../report/figure.rst",
            category="Figures",
            labels={"what": "{figure}", "format": "table"},
        ),
    log:
        "results/logs/plot_figure/{figure}.log",
    conda:
        "../envs/python.yaml"
    params:
        figure=lambda wildcards: STUDY.figures[wildcards.figure],
    script:
        "../scripts/plot_figure.py"


# What became of the claims of papers, and their numbers beside those of the results.
rule claims:
    input:
        **{name: TABLES[name] for name in STUDY.tables()},
    output:
        json="results/claims.json",
        csv=report(
            "results/claims.csv",
            caption="../report/claims.rst",
            category="Papers",
            labels={"what": "claims"},
        ),
        rows=report(
            "results/paper.csv",
            caption="../report/claims.rst",
            category="Papers",
            labels={"what": "the paper and here"},
        ),
    log:
        "results/logs/claims.log",
    conda:
        "../envs/python.yaml"
    params:
        title=STUDY.title,
        figures=STUDY.figures,
    script:
        "../scripts/claims.py"


# A required claim that does not hold stops the study, when everything is there to be looked at.
rule uphold:
    input:
        claims=rules.claims.output.json,
        plots=expand("results/plots/figure-{figure}.svg", figure=STUDY.figures),
    output:
        touch("results/claims.ok"),
    log:
        "results/logs/uphold.log",
    conda:
        "../envs/python.yaml"
    script:
        "../scripts/uphold.py"


PLOTS = [
    *expand(
        "results/plots/{kind}-{name}.svg",
        kind=["teps", "time", "volume"] + ["degrees"] * (not STUDY.in_memory),
        name=STUDY.names,
    ),
    *expand("results/plots/scaling-{name}.svg", name=STUDY.scaled),
    *expand("results/plots/steps-{example}.svg", example=STUDY.examples),
    *expand("results/plots/figure-{figure}.svg", figure=STUDY.figures),
]


# All plots, without their making.
rule report_plots:
    input:
        [
            plot.replace(".svg", f".{kind}")
            for plot in PLOTS
            for kind in ("svg", "pdf", "png")
        ],


# The page of the study, which has the plots in it.
rule page:
    input:
        results=rules.collect.output[0],
        gate=rules.gate.output[0],
        plots=PLOTS,
        claims=rules.claims.output.json if STUDY.has_claims() else [],
    output:
        page="results/index.html",
        columns="results/columns.csv",
    log:
        "results/logs/page.log",
    conda:
        "../envs/python.yaml"
    params:
        config=STUDY.config,
        figures=STUDY.figures,
    script:
        "../scripts/page.py"
