"""The console of studies: words of jobs, the time left, closing lines in narrow terminals."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest

pytest.importorskip("snakemake_interface_logger_plugins")

from hopwave.console import closing, events, handler, jobs, pace
from hopwave.study import headline


class Output:
    """Settings of Snakemake's output."""

    dryrun = False


def record(event: str | None, level: int = logging.INFO, text: str = "", **about: Any) -> Any:
    made = logging.LogRecord("snakemake", level, "", 0, text, None, None)
    vars(made).update(about)
    if event:
        vars(made)["event"] = event
    return made


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A handler, and the file that it notes events in."""
    path = tmp_path / "events"
    settings = events.Settings(events=str(path), methods=False, repeats=False)
    monkeypatch.setenv(events.SETTINGS, settings.write())
    monkeypatch.setattr(handler, "GRACE", 0.0)
    return handler.LogHandler(Output(), None), path  # type: ignore[arg-type]


WILDCARDS = {"graph": "rmat-s6", "partition": "1d-2", "search": "auto-k2", "repeat": "1"}


def begin(one: Any, number: int, rule: str = "traverse") -> None:
    about: dict[str, Any] = {
        "wildcards": WILDCARDS,
        "output": ["not-there.h5"],
        "log": ["log"],
        "threads": 1,
    }
    one.emit(record("job_info", jobid=number, rule_name=rule, **about))
    one.emit(record("job_started", jobs=[number]))


def test_a_finished_job_is_one_line(told: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one, path = told
    one.emit(record("run_info", stats={"traverse": 2, "all": 1, "total": 3}))
    begin(one, 1)
    one.emit(record("job_finished", job_id=1))
    begin(one, 9, "all")
    one.emit(record("job_finished", job_id=9))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["2 jobs: 2 traverse", "[1/2] traverse rmat-s6 1d-2"]
    run = events.read(path)
    assert (run.total, run.done, run.failed) == (2, 1, [])


def test_a_failure_is_noted(told: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, path = told
    begin(one, 1)
    one.emit(record("job_error", logging.ERROR, jobid=1, rule_msg=None))
    assert capsys.readouterr().err == "failed: traverse rmat-s6 1d-2 (log)\n"
    (tmp_path / "log").write_text("\n".join(f"line {n}" for n in range(100)))
    lines = closing.causes(events.read(path), tmp_path)
    assert lines[0] == "traverse rmat-s6 1d-2 failed (log):" and lines[-1] == "    line 99"
    assert len(lines) == 1 + closing.LAST_LINES


def test_what_a_launcher_says_is_left_out(tmp_path: Path) -> None:
    banner = "=====\n=   EXIT CODE: 3\n====="
    (tmp_path / "log").write_text(f"hopwave-traverse: p.h5: why\n\n{banner}\n")
    assert closing.tail(tmp_path, "log") == ["hopwave-traverse: p.h5: why"]
    (tmp_path / "log").write_text(banner)
    assert len(closing.tail(tmp_path, "log")) == 3


def test_a_job_that_ends_with_its_study_is_no_failure(told: Any) -> None:
    one, path = told
    begin(one, 1)
    Path(f"{path}.stop").touch()
    one.emit(record("job_error", logging.ERROR, jobid=1, rule_msg=None))
    assert events.read(path).failed == []
    assert closing.interrupted(events.Run(total=82, done=9)) == (
        "interrupted: 9 of 82 done; the same command goes on"
    )


def test_sentences(told: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one, path = told
    for _ in range(2):
        one.emit(record(None, logging.WARNING, "no estimate: why"))
    one.emit(record(None, logging.INFO, "Building DAG of jobs..."))
    one.emit(record("error", logging.ERROR, "MissingRuleException: none"))
    one.emit(
        record(
            None, logging.ERROR, "WorkflowError:\nAt least one job did not complete successfully."
        )
    )
    one.emit(record("job_finished"))  # without what it should have
    assert capsys.readouterr().err == "no estimate: why\n"
    assert events.read(path).errors == ["MissingRuleException: none"]


def test_events_of_a_killed_run(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text('{"event": "total", "jobs": 3}\n{"event": "done"}\n[]\n{"event": "do')
    assert events.read(path).done == 1
    assert events.read(tmp_path / "none") == events.Run()


def test_names_of_jobs() -> None:
    assert jobs.name("traverse_alone", WILDCARDS) == "traverse rmat-s6 1d-2 auto r1"
    assert jobs.name("import_file", {"graph": "a"}) == "import a"
    assert jobs.name("plot_teps", {"name": "a"}) == "plot teps a"
    assert jobs.counted({"traverse": 1, "traverse_alone": 2, "table": 1, "gate": 1}) == (
        "3 traverse, 2 tables and plots"
    )


def test_time_left() -> None:
    now = [0.0]
    clock = pace.Pace(lambda: now[0])
    clock.expect({"a": 10})
    for number in range(5):
        clock.know(number, "a")
        clock.start(number)
        assert number >= pace.JOBS or clock.left() == ""
        now[0] += 60
        clock.finish(number)
    assert clock.left() == "~5 min"
    words = [pace.duration(s) for s in (0.2, 89, 91, 5400, 36000, 200000)]
    assert words == ["1 s", "89 s", "2 min", "1.5 h", "10 h", "2 days"]


def results(**columns: Any) -> pandas.DataFrame:
    row = {"graph": "g", "scale": 6.0, "edgefactor": 16, "layout": "1d", "parts": 2}
    row |= {"algorithm": "bfs", "method": "auto", "repeat": 1, "NBFS": 4}
    row |= {"harmonic_mean_TEPS": 2e9, "mean_time": 0.001, "resolved_method": "grid"}
    return pandas.DataFrame([{**row, **columns}])


def test_closing_table() -> None:
    table = results(graph="a-long-name-of-a-graph")
    best = headline.fastest(headline.configurations(table))
    wide = closing.table(closing.cells(best), 120)
    assert len(wide) == 2 and "2 GTEPS" in wide[1]
    narrow = closing.table(closing.cells(best), 40)
    assert max(map(len, narrow)) <= 40 and "    by: grid" in narrow


def test_results_without_times() -> None:
    table = results(harmonic_mean_TEPS=None, mean_time=None)
    rows = headline.configurations(table)
    assert len(rows) == 1 and not len(headline.fastest(rows))
    assert not len(headline.fastest(headline.configurations(table.iloc[:0])))


def test_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    text = handler.folded("[37/104] traverse rmat-s14 2d-2x2 1.2 GTEPS, ~4 min left")
    assert max(map(len, text.splitlines())) <= 40


def test_settings() -> None:
    assert json.loads(events.Settings().write())["verbose"] is False
