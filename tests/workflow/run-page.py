#!/usr/bin/env python3
"""Runs the blocks of a page of documentation, in order, in the current folder.

usage: run-page.py PAGE.md

A block ```sh is run by bash, a block ```python by this Python. A block ```text after one says what
a reader sees: each of its lines must be in what the block before it printed, blanks aside. Prints
a line of TAP for each block, without a plan; exits with 1 if one fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 900


def run(language: str, text: str) -> tuple[int, str]:
    """Exit status and output of a block."""
    command = ["bash", "-eu"] if language == "sh" else [sys.executable, "-"]
    done = subprocess.run(
        command,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    return done.returncode, done.stdout


def squeezed(text: str) -> str:
    return " ".join(text.split())


def missing(expected: str, said: str) -> list[str]:
    """Lines that are not in what was said."""
    said = squeezed(said)
    return [line for line in expected.splitlines() if squeezed(line) not in said]


def main() -> int:
    page = Path(sys.argv[1])
    failed = False
    said = ""
    for number, (language, text) in enumerate(BLOCK.findall(page.read_text()), 1):
        name = f"{page.name}: block {number} ({language})"
        problems: list[str] = []
        if language == "text":
            problems = [f"not printed: {line}" for line in missing(text, said)]
        elif language in ("sh", "python"):
            try:
                status, said = run(language, text)
            except subprocess.TimeoutExpired:
                status, said = 124, f"took more than {SECONDS} s"
            problems = [f"status {status}"] if status else []
        else:
            continue
        failed = failed or bool(problems)
        print(f"{'not ok' if problems else 'ok'} - {name}", flush=True)
        for line in problems + (said.splitlines()[-20:] if problems else []):
            print(f"# {line}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
