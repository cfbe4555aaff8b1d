"""One search step by step: the frontier, the edges examined and the seconds."""

import sys

import h5py
from hopwave.study.style import COLOURS, PIECES, plt, save
from hopwave.study.trees import steps

sys.stderr = open(snakemake.log[0], "w")

with h5py.File(snakemake.input.tree[0]) as tree:
    table = steps(tree)
    root = int(tree["roots"][0])
table = table[table["search"] == 0]
pulling = table["direction"].isin(["bottom-up", "pull"])

figure, (counts, seconds) = plt.subplots(2, 1, figsize=(7, 6), sharex=True)
for axes in (counts, seconds):
    for number, step in enumerate(table["step"][pulling]):
        label = "bottom-up or pulled" if number == 0 else None
        axes.axvspan(step - 0.5, step + 0.5, color="#eeeeee", zorder=0, label=label)
counts.plot(
    table["step"],
    table["frontier"],
    "o-",
    color=COLOURS[0],
    label="frontier (vertices)",
)
counts.plot(
    table["step"],
    table["edges_examined"],
    "s--",
    color=COLOURS[1],
    label="edges examined",
)
counts.set_yscale("symlog", linthresh=1)
counts.set_ylim(bottom=0)
counts.set_ylabel("count")
look = {"edgecolor": "white", "linewidth": 0}
seconds.bar(table["step"], table["computing"] * 1e3, color=COLOURS[0], label="computing", **look)
seconds.bar(
    table["step"],
    table["communicating"] * 1e3,
    bottom=table["computing"] * 1e3,
    color=COLOURS[1],
    hatch=PIECES[1],
    label="communicating",
    **look,
)
seconds.set_ylabel("time (ms, mean over ranks)")
if len(table) <= 12:
    routines = [
        routine.replace(" ", "\n").replace("-", "-\n").replace("+", "+\n")
        for routine in table["routine"]
    ]
    names = [f"{step}\n{routine}" for step, routine in zip(table["step"], routines)]
    seconds.set_xticks(table["step"], names, fontsize=8)
    seconds.set_xlabel("step, and the routine that ran")
else:
    seconds.set_xlabel("step")
for axes in (counts, seconds):
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
counts.set_title(f"{snakemake.wildcards.example}: search from vertex {root}")
save(figure, snakemake.output[0])
