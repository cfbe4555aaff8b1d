"""The logger plugin of Snakemake by which a study says one line a finished job."""

import json
import os
import shutil
import sys
import textwrap
import time
from contextlib import suppress
from logging import ERROR, WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from . import jobs
from .events import Settings
from .pace import Pace

# Sentences of Snakemake that say what the console says better, or of no use to users.
HIDDEN = (
    "At least one job did not complete successfully",
    "Exiting because a job execution failed",
    "--keep-incomplete mode is set",
    "Cancelling snakemake on user request",
    "Complete log",
    "Failed to set marker file for job started",
    "Missing metadata for file",
)
STOPPING = "Terminating processes on user request"
# Seconds until a job's failure is told: a job that ends with its study, stopped by the user, is
# told as no failure.
GRACE = 1.5


class Job:
    """A job that Snakemake has told of."""

    def __init__(self, record: LogRecord, settings: Settings) -> None:
        about = vars(record)
        self.rule: str = about["rule_name"]
        self.wildcards = dict(about.get("wildcards") or {})
        self.outputs = [str(path) for path in about.get("output") or []]
        self.log = [str(path) for path in about.get("log") or []]
        self.threads = about.get("threads") or 1
        self.name = jobs.name(self.rule, self.wildcards, settings.methods, settings.repeats)


class LogHandler(LogHandlerBase):
    """Prints plain lines to standard error, and notes what happens for hopwave-study."""

    def __post_init__(self) -> None:
        self.console = Settings.read()
        self.jobs: dict[int, Job] = {}
        self.pace = Pace()
        self.total = self.done = 0
        self.stopping = False
        self.told: set[str] = set()

    @property
    def writes_to_stream(self) -> bool:
        return not self.console.verbose

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False

    def emit(self, record: LogRecord) -> None:
        """Takes an event. What goes wrong here must not end a study."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            self.take(record)

    def take(self, record: LogRecord) -> None:
        match str(getattr(record, "event", None) or ""):
            case "run_info":
                self.plan(record.stats)  # type: ignore[attr-defined]
            case "job_info":
                self.describe(record)
            case "job_started":
                for number in record.jobs:  # type: ignore[attr-defined]
                    self.pace.start(number)
            case "job_finished":
                self.finish(record.job_id)  # type: ignore[attr-defined]
            case "job_error" | "group_error":
                self.fail(record)
            case "progress":
                pass
            case "" | "error":
                self.say(record)

    def plan(self, stats: dict[str, int]) -> None:
        """How many jobs of each rule there are; a target is none of them."""
        rules = {rule: n for rule, n in stats.items() if rule not in ("total", "all")}
        self.total = sum(rules.values())
        self.note("total", jobs=self.total)
        if self.common_settings.dryrun:
            return
        self.pace.expect(rules)
        if self.total and not self.done:
            jobs_of = "job" if self.total == 1 else "jobs"
            self.print(f"{self.total} {jobs_of}: {jobs.counted(rules)}")

    def describe(self, record: LogRecord) -> None:
        job = Job(record, self.console)
        number: int = record.jobid  # type: ignore[attr-defined]
        self.jobs[number] = job
        if job.rule != "all" and self.common_settings.dryrun:
            self.note("planned", rule=job.rule, wildcards=job.wildcards, threads=job.threads)
        self.pace.know(number, job.rule)

    def finish(self, number: int) -> None:
        job = self.jobs.pop(number, None)
        self.pace.finish(number)
        if not job or job.rule == "all":
            return
        self.done += 1
        self.note("done")
        figure = jobs.figure(job.rule, job.outputs)
        left = self.pace.left() if self.done < self.total else ""
        words = f"{job.name} {figure}".strip() + (f", {left} left" if left else "")
        self.print(f"[{self.done}/{self.total}] {words}")

    def fail(self, record: LogRecord) -> None:
        number = getattr(record, "jobid", None)
        job = self.jobs.pop(number, None) if isinstance(number, int) else None
        if job is None:
            return
        self.pace.drop(number)
        stopped = Path(f"{self.console.events}.stop")
        if self.console.events and not self.stopping:
            until = time.monotonic() + GRACE
            while not stopped.exists() and time.monotonic() < until:
                time.sleep(0.02)
            self.stopping = stopped.exists()
        if self.stopping:
            return
        said = getattr(record, "rule_msg", None)
        self.note("failed", name=job.name, log=job.log, said=str(said or ""))
        self.print(f"failed: {job.name}" + (f" ({job.log[0]})" if job.log else ""))

    def say(self, record: LogRecord) -> None:
        """What Snakemake or the workflow says in words."""
        text = str(record.getMessage() or "")
        if STOPPING in text:
            self.stopping = True
            self.note("stopping")
        repeated = text.lstrip().startswith("RuleException")  # of a job's failure, told already
        if record.levelno < WARNING or repeated or any(hidden in text for hidden in HIDDEN):
            return
        if record.levelno >= ERROR:
            self.note("error", text=text)
        elif text not in self.told:
            self.told.add(text)
            self.print(text.strip())

    def note(self, event: str, **about: Any) -> None:
        if self.console.events:
            with open(self.console.events, "a", encoding="utf-8") as file:
                file.write(json.dumps({"event": event, **about}) + "\n")

    def print(self, text: str) -> None:
        if self.console.verbose or self.common_settings.dryrun:
            return
        print(folded(text), file=sys.stderr, flush=True)


def folded(text: str) -> str:
    """Lines no longer than a terminal is wide; what is no terminal takes lines as they are."""
    if not sys.stderr.isatty():
        return text
    width = max(20, shutil.get_terminal_size().columns)
    lines = [
        textwrap.fill(line, width, subsequent_indent="    ", break_on_hyphens=False)
        for line in text.splitlines()
    ]
    return os.linesep.join(lines)
