"""How long a study still takes, from the jobs that have finished."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping

# What is said of the time left needs so many jobs, and seconds, behind it.
JOBS, SECONDS = 3, 2.0


class Pace:
    """Takes the starts and ends of jobs. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.rules: dict[int, str] = {}
        self.started: dict[int, float] = {}
        self.to_come: dict[str, int] = {}
        self.took: dict[str, list[float]] = defaultdict(list)
        self.begun: float | None = None

    def expect(self, rules: Mapping[str, int]) -> None:
        """How many jobs of each rule are to come."""
        self.to_come = dict(rules)

    def know(self, number: int, rule: str) -> None:
        self.rules[number] = rule

    def start(self, number: int) -> None:
        self.started[number] = self.clock()
        if self.begun is None:
            self.begun = self.clock()

    def drop(self, number: int | None) -> None:
        """A job that failed: it is no measure of others."""
        if number is None:
            return
        rule = self.rules.pop(number, "")
        self.started.pop(number, None)
        if rule in self.to_come:
            self.to_come[rule] -= 1

    def finish(self, number: int) -> None:
        rule, start = self.rules.get(number, ""), self.started.get(number)
        self.drop(number)
        if start is not None:
            self.took[rule].append(self.clock() - start)

    def seconds(self) -> float | None:
        """That are left: jobs to come take as long as those of their rule did, and as many run
        side by side. None while too little is known."""
        times = [took for rule in self.took.values() for took in rule]
        if self.begun is None or len(times) < JOBS or not sum(times):
            return None
        passed = self.clock() - self.begun
        if passed < SECONDS:
            return None
        every = sum(times) / len(times)
        work = sum(
            max(count, 0)
            * (sum(self.took[rule]) / len(self.took[rule]) if self.took[rule] else every)
            for rule, count in self.to_come.items()
        )
        return work * passed / sum(times)

    def left(self) -> str:
        """The time that is left in words, or nothing."""
        seconds = self.seconds()
        return f"~{duration(seconds)}" if seconds is not None else ""


def duration(seconds: float) -> str:
    """A time in one figure: "40 s", "4 min", "2.5 h", "3 days"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 36 * 3600:
        hours = seconds / 3600
        return f"{hours:.1f} h" if hours < 10 else f"{round(hours)} h"
    return f"{round(seconds / 86400)} days"
