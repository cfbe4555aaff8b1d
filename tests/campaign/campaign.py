"""Tries Hopwave with inputs and events that are wrong, or look so: campaign.py [KIND[=CASES]...].

Each case is made from its number alone. Without arguments the cases of `make check-long` are tried,
a thousand; `campaign.py bytes=10000` tries more, `campaign.py --first 4711 bytes=1` one again.
Prints a line for each kind with counts of what became of its cases, and for each case that went
wrong a line with its number. Exit status: 1 if one did.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from common import World, temporary_folder

# What `make check-long` tries.
CASES = {
    "bytes": 500,
    "metadata": 160,
    "contents": 60,
    "imports": 100,
    "trees": 50,
    "signals": 30,
    "disks": 50,
    "faults": 60,
    "races": 10,
    "configurations": 40,
}


def kinds() -> dict[str, type[Any]]:
    """The classes of cases by name; those whose packages lack are left out."""
    from faults import Faults
    from imports import Imports
    from processes import Disks, Races, Signals

    found: list[type[Any]] = [Imports, Signals, Disks, Faults, Races]
    try:
        from damage import Damage
        from metadata import Contents, Metadata
        from trees import Trees

        found += [Damage, Metadata, Contents, Trees]
    except ImportError as error:
        print(f"# left out, for want of a package: bytes, metadata, contents, trees ({error})")
    try:
        import jsonschema
        import yaml
        from studies import Archives, Configurations

        found += [Configurations, Archives] if jsonschema and yaml else []
    except ImportError as error:
        print(f"# left out, for want of a package: configurations, archives ({error})")
    return {kind.name: kind for kind in found}


def tried(kind: type[Any], numbers: range, options: argparse.Namespace) -> bool:
    """Tries cases of a kind; returns whether all went right."""
    folder, begun = temporary_folder(), time.monotonic()
    world = World(folder, Path(options.programs).resolve(), options.mpiexec)
    try:
        wrong = kind(world).tries(numbers)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    counts = ", ".join(f"{count} {word}" for word, count in sorted(world.counts.items()))
    took = time.monotonic() - begun
    print(
        f"{kind.name}: {len(numbers)} cases, {len(wrong)} wrong; {counts}; {took:.0f} s", flush=True
    )
    for number, what in wrong:
        print(f"{kind.name} {number}: {what}", flush=True)
    return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("kinds", nargs="*", metavar="KIND[=CASES]")
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="the first case; default: 0"
    )
    built = os.environ.get("top_builddir", ".")  # noqa: SIM112
    parser.add_argument("--programs", default=built, metavar="DIR")
    parser.add_argument("--mpiexec", default=os.environ.get("MPIEXEC", "mpiexec"))
    parser.add_argument("--keep", action="store_true", help="leave the folder with the files")
    options = parser.parse_args()
    known, right = kinds(), True
    wanted = options.kinds or [kind for kind in CASES if kind in known]
    for word in wanted:
        name, _, count = word.partition("=")
        if name not in known:
            parser.error(f"there is no kind {name}; there are: {', '.join(known)}")
        first = options.first
        cases = int(count) if count else CASES.get(name, 10)
        right = tried(known[name], range(first, first + cases), options) and right
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
