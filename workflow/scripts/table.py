"""The Graph500 fields as a table for the report: medians over repeats."""

import sys

import pandas
from hopwave.study.page import STYLE
from hopwave.study.whole import whole

sys.stderr = open(snakemake.log[0], "w")

STATISTICS = ("_time", "_nedge", "_TEPS")
results = pandas.read_csv(snakemake.input[0])
keys = ["graph", "scale", "layout", "parts", "method"]
groups = results.groupby(keys, sort=False)
fields = ["SCALE", "edgefactor", "NBFS", "construction_time", "scans_per_edge"]
fields += [column for column in results if column.endswith(STATISTICS)]
table = groups[fields].median()
with whole(snakemake.output[0]) as part, open(part, "w") as out:
    out.write("<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>Results</title>\n" + STYLE)
    table.reset_index().to_html(out, index=False, border=0, float_format="{:.4g}".format)
