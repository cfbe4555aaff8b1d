"""Lets the study go on when every check passed; otherwise names those that did not."""

import sys

import h5py
import pandas
from trees import attributes, frame

sys.stderr = open(snakemake.log[0], "w")


def verdict(path):
    """What a check file says of its trees, or a tree file of those checked on the spot."""
    with h5py.File(path) as file:
        about = attributes(file)
        if about["format"] == "hopwave-check":
            passed, violations = about["passed"], file["rules"][...].sum()
        else:
            run = attributes(file["run"])
            passed = run["failed"] == 0 and run["checked"] == run["NBFS"]
            violations = frame(file["run/search"])["violations"].sum()
        return path, int(passed), violations, about["digest"]


columns = ["file", "passed", "violations", "digest"]
verdicts = pandas.DataFrame(map(verdict, snakemake.input), columns=columns)
verdicts.to_csv(snakemake.output[0], index=False)
failed = verdicts[verdicts["passed"] == 0]
if len(failed):
    lines = [f"{row.file}: {row.violations} violations" for row in failed.itertuples()]
    sys.exit("validation failed:\n" + "\n".join(lines))
