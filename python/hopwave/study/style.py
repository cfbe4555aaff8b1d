"""How the plots look: colours that colour-blind readers tell apart, and a marker and a
line style for whatever a colour stands for, so that print in grey works too."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

from .whole import whole

# Okabe and Ito's, in an order in which neighbours differ in grey too.
COLOURS = ["#0072B2", "#E69F00", "#D55E00", "#56B4E9", "#009E73", "#CC79A7", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES = ["-", "--", ":", "-."]
# Of bars, where there are more of them than colours.
HATCHES = ["", "///", "...", "xxx"]
# What stands upon another in bars.
PIECES = ["", "///", "..."]
SHARED = "ranks outnumber cores"

plt.rcParams.update(
    {
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "font.size": 10,
        "grid.color": "#dddddd",
        "legend.frameon": False,
        "savefig.bbox": "tight",
        "savefig.dpi": 150,
        "svg.hashsalt": "hopwave",
        "hatch.linewidth": 0.6,
    }
)


def hollow(bars: Iterable[Any], marks: Iterable[bool]) -> None:
    """Leaves of those bars that are marked the edges alone, in their colour."""
    for bar, marked in zip(bars, marks, strict=True):
        if marked:
            bar.set(edgecolor=bar.get_facecolor(), facecolor="white", linewidth=1.2)


def explain_hollow(axes: Any) -> None:
    """What hollow points and bars are, for the legend."""
    axes.plot([], [], "o", color="grey", markerfacecolor="white", label=f"hollow: {SHARED}")


def styles(values: Iterable[str], choices: Sequence[str]) -> dict[str, str]:
    """One of the choices for each distinct value, in the order of first appearance."""
    distinct = dict.fromkeys(values)
    return {v: choices[i % len(choices)] for i, v in enumerate(distinct)}


def logarithmic(axis: Any) -> None:
    """Makes an axis logarithmic, with numbers that do not run into each other."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def across(results: Any) -> tuple[str, str]:
    """The column that graphs of one name differ in, and its name in words."""
    if results["scale"].nunique() > 1 or results["edgefactor"].nunique() == 1:
        return "scale", "scale"
    return "edgefactor", "edge factor"


def plain_words(figure: Any) -> None:
    """Takes users' words, which titles, labels and legends have, as they are: $ is a letter."""
    texts = [figure._suptitle] if figure._suptitle else []
    for axes in figure.axes:
        legend = axes.get_legend()
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label]
        texts += [*legend.get_texts(), legend.get_title()] if legend else []
    for text in texts:
        text.set_parse_math(False)


def save(figure: Any, path: str) -> None:
    """Without a date, so that the same data make the same file. Of an SVG there are a PDF and a
    PNG beside it."""
    plain_words(figure)
    stem, kind = path.rsplit(".", 1)
    for other in [kind] if kind != "svg" else ["svg", "pdf", "png"]:
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(other)
        with whole(f"{stem}.{other}") as part:
            figure.savefig(part, format=other, metadata=metadata)
