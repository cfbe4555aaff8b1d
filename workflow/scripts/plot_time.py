"""Where the seconds of a mean search go: computing, communicating, and the rest."""

import sys

import numpy
import pandas
from hopwave.study.headline import shared_cores
from hopwave.study.style import COLOURS, PIECES, SHARED, across, plt, save

sys.stderr = open(snakemake.log[0], "w")

results = pandas.read_csv(snakemake.input[0])
results = results[results["graph"] == snakemake.wildcards.name]
results["shared"] = shared_cores(results)
results["rest"] = (
    results["mean_time"] - results["computing_time"] - results["communicating_time"]
).clip(lower=0)
x, words = across(results)
keys = [x, "layout", "parts", "method"]
shares = {"computing_time": "computing", "communicating_time": "communicating"}
shares["rest"] = "waiting and the rest"
groups = results.groupby(keys, sort=False)
times = groups[list(shares)].median() * 1e3
shared = groups["shared"].any()
scales = times.index.get_level_values(x).unique()
one_method = results["method"].nunique() == 1


def names_of(bars):
    """What stands under bars."""
    return [f"{l}, {p}" + f", {m}" * (not one_method) for l, p, m in bars.index]


def mark(axes, bars, shared):
    """Stars above bars of ranks that outnumber the cores."""
    for place, (total, marked) in enumerate(zip(bars.sum(axis=1), shared)):
        if marked:
            axes.annotate("*", (place, total), ha="center", va="bottom")


# As wide as its bars need, and as high as their names.
bars = times.groupby(level=x).size()
longest = max(len(name) for scale in scales for name in names_of(times.loc[scale]))
size = (3.5 + max(2.4, 0.24 * bars.max()) * len(scales), 3.2 + 0.075 * longest)
# One scale for all panels, as far as all bars can be seen on it.
most = times.sum(axis=1).groupby(level=x).max()
alike = len(scales) == 1 or most.max() <= 10 * most.min()
figure, panels = plt.subplots(1, len(scales), figsize=size, squeeze=False, sharey=alike)
for axes, scale in zip(panels[0], scales):
    bars = times.loc[scale]
    left = numpy.zeros(len(bars))
    for (share, label), colour, hatch in zip(shares.items(), COLOURS, PIECES):
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.bar(range(len(bars)), bars[share], bottom=left, label=label, **look)
        left += bars[share].to_numpy()
    mark(axes, bars, shared.loc[scale])
    axes.set_xticks(range(len(bars)), names_of(bars), rotation=90)
    axes.set_title(f"{words} {scale:g}")
panels[0][0].set_ylabel("mean time of a search (ms)")
told = f"*: {SHARED}" if shared.any() else None
panels[0][-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), title=told)
what = f"{snakemake.wildcards.name}: layout, parts" + ", method" * (not one_method)
figure.suptitle(what if alike else f"{what} (each panel has its own scale)")
figure.tight_layout()
save(figure, snakemake.output[0])
