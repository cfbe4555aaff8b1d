"""Lets the study go on when every check passed; otherwise names those that did not."""

import sys

import pandas
from trees import verdict

sys.stderr = open(snakemake.log[0], "w")


columns = ["file", "passed", "violations", "digest"]
verdicts = pandas.DataFrame(map(verdict, snakemake.input), columns=columns)
verdicts.to_csv(snakemake.output[0], index=False)
failed = verdicts[verdicts["passed"] == 0]
if len(failed):
    lines = [f"{row.file}: {row.violations} violations" for row in failed.itertuples()]
    sys.exit("validation failed:\n" + "\n".join(lines))
