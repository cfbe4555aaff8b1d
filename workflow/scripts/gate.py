"""Lets the study go on when every check passed; otherwise names those that did not."""

import sys

import pandas
from hopwave.study.trees import verdict
from hopwave.study.whole import whole

sys.stderr = open(snakemake.log[0], "w")


columns = ["file", "passed", "violations", "digest"]
verdicts = pandas.DataFrame(map(verdict, snakemake.input), columns=columns)
failed = verdicts[verdicts["passed"] == 0]
if len(failed):
    lines = [f"{row.file}: {row.violations} violations" for row in failed.itertuples()]
    sys.exit("validation failed:\n" + "\n".join(lines))
with whole(snakemake.output[0]) as part:
    verdicts.to_csv(part, index=False)
