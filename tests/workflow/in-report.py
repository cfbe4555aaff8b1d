"""Fails unless a Snakemake report holds files of these names: in-report.py REPORT NAME..."""

import sys

report = open(sys.argv[1], encoding="utf-8").read()
missing = [name for name in sys.argv[2:] if name not in report]
sys.exit(f"not in the report: {', '.join(missing)}" if missing else 0)
