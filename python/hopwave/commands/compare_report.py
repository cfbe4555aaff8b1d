"""The report of a comparison: one page of HTML that needs nothing else."""

import html
import io
from collections.abc import Iterator
from pathlib import Path

from ..study.page import STYLE
from ..study.whole import whole
from .compare import Comparison

FACTS = {
    "version": "Hopwave",
    "hosts": "hosts and ranks",
    "threads": "threads of a rank",
    "device": "device",
    "mpi": "MPI",
    "started": "searches started",
}
HOW = """For each job the ratio is the geometric mean over roots of the ratios root by root.
Its standard error is bootstrapped over repeats, and is at least what rows
on as many ranks have on average; the intervals of all rows hold together with a probability
of 95 %. A difference counts where
the whole interval lies beyond {margin:.0%}."""


def write(comparison: Comparison, output: Path) -> None:
    """Writes the report in place of what is there."""
    title = f"{comparison.a.path} against {comparison.b.path}"
    parts = [
        "<!DOCTYPE html>\n<meta charset='utf-8'>",
        f"<title>{html.escape(title)}</title>",
        STYLE,
        f"<h1>{html.escape(title)}</h1>",
        *(f"<p><b>{html.escape(line)}</b></p>" for line in comparison.sentences()),
        facts(comparison),
        "<h2>Time of B over that of A</h2>",
        plot(comparison),
        comparison.table.to_html(index=False, border=0, float_format="{:.3f}".format),
        f"<p>{html.escape(HOW.format(margin=comparison.margin))}</p>",
        *only(comparison),
    ]
    text = "\n".join(parts) + "\n"
    with whole(output) as part:
        Path(part).write_text(text, encoding="utf-8", errors="backslashreplace")


def facts(comparison: Comparison) -> str:
    """What the two ran on, side by side."""
    rows: list[tuple[str, ...]] = [("", str(comparison.a.path), str(comparison.b.path))]
    for key, label in FACTS.items():
        values = [study.about(key) for study in (comparison.a, comparison.b)]
        if key == "started":
            values = [f"{min(v.split(', '))} ..." for v in values]
        rows.append((label, *values))
    cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def only(comparison: Comparison) -> Iterator[str]:
    """The jobs that have no counterpart."""
    for name, jobs in zip("AB", comparison.only):
        if jobs:
            yield f"<h2>Only in {name}</h2><ul>"
            for trees in jobs:
                yield f"<li>{html.escape(trees['file'].iloc[0])}</li>"
            yield "</ul>"


def plot(comparison: Comparison) -> str:
    """A line for each row: its ratio and its interval."""
    from matplotlib import pyplot as plt

    from ..study.style import COLOURS

    colour = {"slower": COLOURS[1], "faster": COLOURS[2]}
    differences = [comparison.overall, *comparison.differences]
    labels = ["all"] + [
        # Dollars would begin a formula.
        " ".join(row).replace("$", r"\$")
        for row in comparison.table.iloc[:, :3].to_numpy()
    ]
    shown = [i for i, d in enumerate(differences) if d.low > 0 and d.high < 1e6]
    figure, axes = plt.subplots(figsize=(8, 1 + 0.22 * len(differences)))
    for place in shown:
        d = differences[place]
        reach = [[d.ratio - d.low], [d.high - d.ratio]]
        axes.errorbar(
            d.ratio,
            -place,
            xerr=reach,
            fmt="o",
            capsize=2,
            color=colour.get(d.verdict, "grey"),
        )
    axes.axvspan(1 / (1 + comparison.margin), 1 + comparison.margin, color="#eeeeee")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks([-i for i in range(len(labels))], labels)
    axes.set_xscale("log")
    for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        ticks("{x:.3g}")
    axes.set_xlabel("time of B over that of A")
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]
