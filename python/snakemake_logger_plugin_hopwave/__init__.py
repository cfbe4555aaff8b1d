"""The console of hopwave-study, under the name by which Snakemake finds plugins for its log."""

from hopwave.console.handler import LogHandler

__all__ = ["LogHandler"]
