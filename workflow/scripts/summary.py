"""Prints a short table of a study's results: summary.py RESULTS.csv"""

import sys

import pandas

results = pandas.read_csv(sys.argv[1])
keys = ["graph", "scale", "layout", "parts", "method"]
table = results.groupby(keys, sort=False).agg(
    runs=("repeat", "size"),
    searches=("NBFS", "sum"),
    mean_ms=("mean_time", lambda times: 1e3 * times.median()),
    million_TEPS=("harmonic_mean_TEPS", lambda teps: teps.median() / 1e6),
)
print(table.reset_index().to_string(index=False, float_format="{:.2f}".format))
