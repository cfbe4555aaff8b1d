"""Speed-up and parallel efficiency against the number of parts, on the largest graph of a name: a
colour for each layout (of one layout, for each method), a line style for each method."""

import sys

import pandas
from hopwave.study.headline import shared_cores
from hopwave.study.style import COLOURS, LINES, MARKERS, SHARED, plt, save
from hopwave.study.style import styles

sys.stderr = open(snakemake.log[0], "w")

results = pandas.read_csv(snakemake.input[0])
results = results[results["graph"] == snakemake.wildcards.name]
results["shared"] = shared_cores(results)
largest = results["scale"].max()
results = results[results["scale"] == largest]
if results["edgefactor"].nunique() > 1:
    results = results[results["edgefactor"] == results["edgefactor"].max()]
one_layout = results["layout"].nunique() == 1
one_method = results["method"].nunique() == 1
colours = styles(results["method" if one_layout else "layout"], COLOURS)
lines = styles(results["method"], LINES)
markers = styles(results["layout"] + results["method"], MARKERS)

figure, (speed, efficiency) = plt.subplots(1, 2, figsize=(9, 4))
parts_of_all = sorted(map(int, results["parts"].unique()))
for (layout, method), runs in results.groupby(["layout", "method"], sort=False):
    teps = runs.groupby("parts")["harmonic_mean_TEPS"].median().dropna()
    if len(teps) < 2:
        continue
    shared = runs.groupby("parts")["shared"].any().loc[teps.index]
    gain = teps / teps.iloc[0]
    colour = colours[method if one_layout else layout]
    for axes, values in ((speed, gain), (efficiency, gain * teps.index[0] / teps.index)):
        look = {"color": colour, "marker": markers[layout + method]}
        axes.plot(
            teps.index,
            values,
            linestyle=lines[method],
            label=f"{layout}" + f", {method}" * (not one_method),
            **look,
        )
        axes.plot(
            teps.index[shared],
            values[shared],
            linestyle="none",
            markerfacecolor="white",
            zorder=3,
            **look,
        )
first = parts_of_all[0]
speed.plot(parts_of_all, [p / first for p in parts_of_all], ":", color="grey", label="linear")
efficiency.axhline(1, linestyle=":", color="grey")
speed.set_ylabel(f"speed-up over {first} part{'s' * (first > 1)}")
efficiency.set_ylabel("efficiency (speed-up per part)")
without = results[~results["shared"]]["parts"].max()
for axes in (speed, efficiency):
    axes.set_xscale("log", base=2)
    axes.set_xticks(parts_of_all, [str(p) for p in parts_of_all])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("parts (ranks)")
    above = [p for p in parts_of_all if not p <= without]
    if above:
        begin = above[0] / 2**0.5
        look = {"facecolor": "none", "edgecolor": "#cccccc", "hatch": "///", "zorder": 0}
        axes.axvspan(begin, parts_of_all[-1] * 2**0.25, label=SHARED, **look)
handles, labels = speed.get_legend_handles_labels()
efficiency.legend(handles, labels, loc="center left", bbox_to_anchor=(1, 0.5))
figure.suptitle(f"{snakemake.wildcards.name}, scale {largest:g}: speed-up and efficiency")
figure.tight_layout()
save(figure, snakemake.output[0])
