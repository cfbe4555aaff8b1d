"""How many vertices have how many tuple ends, from the counts that partitions keep."""

import sys
from collections import Counter
from pathlib import Path

import h5py
import numpy
from hopwave.study.style import COLOURS, MARKERS, plt, save

sys.stderr = open(snakemake.log[0], "w")
CHUNK = 1 << 24


def distribution(partition):
    """Degrees that occur and their numbers of vertices."""
    vertices = Counter()
    degrees = partition["vertices/tuples"]
    for first in range(0, len(degrees), CHUNK):
        values, counts = numpy.unique(degrees[first : first + CHUNK], return_counts=True)
        vertices.update(dict(zip(values.tolist(), counts.tolist())))
    return zip(*sorted(vertices.items()))


figure, axes = plt.subplots(figsize=(7, 4.5))
for number, path in enumerate(snakemake.input):
    with h5py.File(path) as partition:
        degrees, vertices = distribution(partition)
    axes.plot(
        degrees,
        vertices,
        linestyle="none",
        marker=MARKERS[number % len(MARKERS)],
        markersize=3,
        rasterized=True,
        color=COLOURS[number % len(COLOURS)],
        label=Path(path).parent.name,
    )
axes.set_xscale("symlog", linthresh=1)
axes.set_yscale("log")
axes.set_xlim(left=-0.2)
axes.set_xlabel("degree (ends of tuples, duplicates and self-loops counted)")
axes.set_ylabel("vertices")
axes.set_title(f"{snakemake.wildcards.name}: degree distribution")
axes.legend()
save(figure, snakemake.output[0])
