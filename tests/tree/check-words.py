#!/usr/bin/env python3
"""Checks that pages of documentation are plain and short: no words of doc/words.txt, no page that
is written by hand above 400 lines.

usage: check-words.py ROOT

Prints one line for each, "FILE:LINE: MESSAGE", and exits 1 if there is any. Code between backticks
is left out, for options, columns and files have the names that they have.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 400
PAGES = ("doc", "config", "packaging", "python", "workflow/profiles")
MADE = ("doc/methods/options.md",)  # by programs


def words(path: Path) -> tuple[list[tuple[re.Pattern[str], str]], set[str]]:
    """Patterns with what to write instead, and ordinary words."""
    patterns, ordinary = [], set()
    into_ordinary = False
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line == "[ordinary]":
            into_ordinary = True
        elif into_ordinary:
            ordinary.add(line.split("\t")[0])
        else:
            pattern, instead = line.split("\t")
            patterns.append((re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])"), instead))
    return patterns, ordinary


def pages(root: Path) -> Iterator[Path]:
    yield root / "README.md"
    for folder in PAGES:
        yield from sorted((root / folder).rglob("*.md"))


def complaints(root: Path) -> Iterator[str]:
    patterns, ordinary = words(root / "doc" / "words.txt")
    for page in pages(root):
        name = page.relative_to(root).as_posix()
        text = page.read_text()
        lines = text.splitlines()
        if len(lines) > LONGEST and name not in MADE:
            yield f"{name}:{len(lines)}: the page has more than {LONGEST} lines"
        in_code = False
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                in_code = not in_code
            if in_code or line.startswith("    "):
                continue
            prose = re.sub(r"`[^`]*`", "", line)
            for pattern, instead in patterns:
                for match in pattern.finditer(prose):
                    if match[0] not in ordinary:
                        yield f"{name}:{number}: '{match[0]}': write {instead}"


def main() -> int:
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
