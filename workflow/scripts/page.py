"""The page of a study, results/index.html, and the data dictionary of its table."""

import os
import sys
from pathlib import Path

from hopwave.page.context import About
from hopwave.page.index import commit, frame, plan_of, write

sys.stderr = open(snakemake.log[0], "w")

config = snakemake.params.config
about = About(
    title=config["title"],
    plan=plan_of(config),
    figures=snakemake.params.figures,
    commit=commit(),
    report=bool(os.environ.get("HOPWAVE_REPORT")),
)
claims = snakemake.input.get("claims")
write(
    Path(snakemake.output.page),
    frame(Path(snakemake.input.results)),
    frame(Path(snakemake.input.gate)),
    about,
    [Path(path) for path in snakemake.input.plots],
    Path(claims) if claims else None,
)
