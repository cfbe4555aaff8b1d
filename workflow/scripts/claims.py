"""The verdicts on the claims of a study's figures, and the papers' numbers next to those here.

claims.json has "study", "claims", each with the numbers that it was held against ("points"), and
"rows"; claims.csv and paper.csv have the same as tables, without the points.
"""

import json
import sys

from hopwave.renamed import read_csv
from hopwave.study.papers import CLAIMS, ROWS, comparison, verdicts
from hopwave.study.whole import whole
from pandas import DataFrame

sys.stderr = open(snakemake.log[0], "w")

tables = {name: read_csv(path) for name, path in snakemake.input.items()}
figures = [(figure, tables[figure["table"]]) for figure in snakemake.params.figures.values()]
claims = [claim for figure, table in figures for claim in verdicts(figure, table)]
rows = [row for figure, table in figures for row in comparison(figure, table)]
reported = {"study": snakemake.params.title, "claims": claims, "rows": rows}
with whole(snakemake.output.json) as part, open(part, "w", encoding="utf-8") as out:
    json.dump(reported, out, indent=1, default=lambda number: number.item())
    out.write("\n")
with whole(snakemake.output.csv) as part:
    DataFrame(claims, columns=CLAIMS).to_csv(part, index=False)
with whole(snakemake.output.rows) as part:
    DataFrame(rows, columns=ROWS).to_csv(part, index=False)
