"""The command line of hopwave-study."""

import argparse
import sys
from collections.abc import Sequence

from . import archive, compare, repeat, run
from .base import Place


def main(place: Place, arguments: Sequence[str] | None = None) -> None:
    """Runs the command that the arguments name, by default those of this process.

    place   where the workflow and the programs are
    """
    parser = argparse.ArgumentParser(
        prog="hopwave-study",
        description="Runs studies: generates, partitions, searches and validates graphs as "
        "a configuration says, and reports; archives what came of it, and repeats that.",
    )
    parser.add_argument("--version", action="version", version=f"hopwave-study {place.version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (run, archive, repeat, compare):
        module.add(commands)
    options = parser.parse_args(arguments)
    try:
        options.main(place, options)
    except KeyboardInterrupt:
        sys.exit(130)
