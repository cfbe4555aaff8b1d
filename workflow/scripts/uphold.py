"""Lets the study end well when every claim that it requires holds; else says which does not."""

import json
import sys

from hopwave.study.papers import broken

sys.stderr = open(snakemake.log[0], "w")

with open(snakemake.input.claims, encoding="utf-8") as file:
    sentences = broken(json.load(file)["claims"])
if sentences:
    sys.exit("\n".join(sentences))
