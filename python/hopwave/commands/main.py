"""The command line of hopwave-study."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

from . import archive, compare, fetch, predict, repeat, run
from .base import Place


class Parser(argparse.ArgumentParser):
    """A parser that answers what is wrong in one line, with the nearest word and where help is."""

    def error(self, message: str) -> NoReturn:
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        hint = ""
        if choice:
            known = choice[2].replace("'", "").split(", ")
            near = get_close_matches(choice[1], known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            message = f"'{choice[1]}' is not a command, which are {', '.join(known)}"
        unknown = re.match(r"unrecognized arguments: (\S+)", message)
        if unknown:
            near = get_close_matches(unknown[1], list(self._option_string_actions), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
        see = "" if hint else f"; see `{self.prog} --help`"
        print(f"{self.prog}: {message}{hint}{see}", file=sys.stderr)
        sys.exit(2)


def main(place: Place, arguments: Sequence[str] | None = None) -> None:
    """Runs the command that the arguments name, by default those of this process.

    place   where the workflow and the programs are
    """
    parser = Parser(
        prog="hopwave-study",
        description="Runs studies: generates, partitions, searches and validates graphs as "
        "a configuration says, and reports; archives what came of it, and repeats that; gets "
        "graphs from where they are published; predicts searches on other networks.",
    )
    parser.add_argument("--version", action="version", version=f"hopwave-study {place.version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (run, archive, repeat, compare, fetch, predict):
        module.add(commands)
    words, passed = list(sys.argv[1:] if arguments is None else arguments), []
    command = commands.choices.get(next((word for word in words if word in commands.choices), ""))
    if command and command.get_default("snakemake") is not None and "--" in words:
        at = words.index("--")
        words, passed = words[:at], words[at + 1 :]
    options, left = parser.parse_known_args(words)
    if left and command:
        # By the command's own parser, which knows the options that may have been meant.
        command.error(f"unrecognized arguments: {' '.join(left)}")
    if passed:
        options.snakemake = passed
    os.environ.setdefault("HOPWAVE_MANIFEST", str(place.folder / "config" / "graphs.yaml"))
    try:
        options.main(place, options)
    except KeyboardInterrupt:
        sys.exit(130)
