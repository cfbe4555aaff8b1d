"""What happened in a run of Snakemake, noted by its logger plugin and read by hopwave-study: a
file with a line of JSON for each event. Lines that are not whole, of a run that was killed, are
left out."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SETTINGS = "HOPWAVE_CONSOLE"  # environment: the settings of the console, as JSON


@dataclass
class Settings:
    """How the console looks.

    events    the file to note events in; nothing: none are noted
    verbose   Snakemake prints, the console only notes events
    methods   jobs are named with their method, as the study has several
    repeats   and with their repeat
    """

    events: str = ""
    verbose: bool = False
    methods: bool = True
    repeats: bool = True

    def write(self) -> str:
        """As the environment has it."""
        return json.dumps(self.__dict__)

    @classmethod
    def read(cls) -> "Settings":
        """Of the environment; the defaults where it has none or what is none."""
        try:
            return cls(**json.loads(os.environ.get(SETTINGS, "{}")))
        except (TypeError, ValueError):
            return cls()


@dataclass
class Run:
    """A run, as far as it went."""

    total: int = 0
    done: int = 0
    stopping: bool = False
    failed: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    planned: list[dict[str, Any]] = field(default_factory=list)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def read(path: Path) -> Run:
    """What the events of a file come to."""
    run = Run()
    for event in lines(path):
        match event.get("event"):
            case "total":
                run.total = event["jobs"]
            case "done":
                run.done += 1
            case "failed":
                run.failed.append(event)
            case "error":
                run.errors.append(event["text"])
            case "stopping":
                run.stopping = True
            case "planned":
                run.planned.append(event)
    return run
