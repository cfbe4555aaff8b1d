"""Lets the study go on when every check passed; otherwise names those that did not."""

import csv
import sys

import h5py
from trees import attributes

COLUMNS = ["passed", "digest", "tree_digest"]
sys.stderr = open(snakemake.log[0], "w")

failed = []
with open(snakemake.output[0], "w", newline="") as out:
    table = csv.writer(out)
    table.writerow(["check", *COLUMNS])
    for path in snakemake.input:
        with h5py.File(path) as check:
            about = attributes(check)
            table.writerow([path] + [about[key] for key in COLUMNS])
            if not about["passed"]:
                failed.append((path, int(check["rules"][...].sum())))
if failed:
    lines = [f"{path}: {count} violations" for path, count in failed]
    sys.exit("validation failed:\n" + "\n".join(lines))
