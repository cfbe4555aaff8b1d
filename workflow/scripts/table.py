"""The results as a table for the report: medians over repeats."""

import sys

import pandas

sys.stderr = open(snakemake.log[0], "w")

COLUMNS = {
    "SCALE": "SCALE",
    "edgefactor": "edgefactor",
    "NBFS": "NBFS",
    "construction_time": "construction_time (s)",
    "bfs_min_time": "min_time (s)",
    "bfs_median_time": "median_time (s)",
    "bfs_max_time": "max_time (s)",
    "bfs_mean_time": "mean_time (s)",
    "bfs_stddev_time": "stddev_time (s)",
    "bfs_median_nedge": "median_nedge",
    "bfs_min_TEPS": "min_TEPS",
    "bfs_firstquartile_TEPS": "firstquartile_TEPS",
    "bfs_median_TEPS": "median_TEPS",
    "bfs_thirdquartile_TEPS": "thirdquartile_TEPS",
    "bfs_max_TEPS": "max_TEPS",
    "bfs_harmonic_mean_TEPS": "harmonic_mean_TEPS",
    "bfs_harmonic_stddev_TEPS": "harmonic_stddev_TEPS",
}
STYLE = """<style>
table { border-collapse: collapse; font: 13px sans-serif }
th, td { padding: 3px 8px; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { position: sticky; top: 0; background: #f4f4f4 }
</style>
"""

results = pandas.read_csv(snakemake.input[0])
keys = ["graph", "scale", "layout", "parts", "method"]
groups = results.groupby(keys, sort=False)
table = groups[list(COLUMNS)].median().rename(columns=COLUMNS)
table.insert(0, "runs", groups.size())
with open(snakemake.output[0], "w") as out:
    out.write(
        "<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>Results</title>\n" + STYLE
    )
    table.reset_index().to_html(
        out, index=False, border=0, float_format="{:.4g}".format
    )
