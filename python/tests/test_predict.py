"""Schedules, GOAL traces, simulated times that are known on paper, and predictions."""

import json
from pathlib import Path

import numpy as np
import pytest

from hopwave import errors
from hopwave.predict import fit, goal, prediction, schedule, simulate
from hopwave.predict.schedule import Costs, Phase, Shape

NETWORKS = Path(__file__).resolve().parents[2] / "config" / "networks"
needs_simgrid = pytest.mark.skipif(not simulate.available(), reason="no SimGrid")

LINE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="2us"/>
<route src="a" dst="c"><link_ctn id="l"/></route>
<route src="b" dst="c"><link_ctn id="l"/></route>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone></platform>
"""


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """Three hosts whose messages share one link of 1 GB/s and 2 us."""
    path = tmp_path / "line.xml"
    path.write_text(LINE)
    return path


@needs_simgrid
@pytest.mark.parametrize(
    ("seconds", "messages", "expected"),
    [
        ([0, 0, 0], {(0, 1): 10**6}, 2e-6 + 1e-3),
        ([5e-6, 0, 0], {(0, 1): 10**6}, 5e-6 + 2e-6 + 1e-3),
        # Two senders on one link have half of it each.
        ([0, 0, 0], {(0, 2): 10**6, (1, 2): 10**6}, 2e-6 + 2e-3),
        # What the slower of two computes longer comes on top.
        ([0, 3e-3, 0], {(0, 2): 10**6, (1, 2): 10**6}, 3e-3 + 2e-6 + 1e-3),
        ([1e-3, 1e-3, 4e-3], {}, 4e-3),
    ],
)
def test_makespan(
    line: Path, seconds: list[float], messages: dict[tuple[int, int], int], expected: float
) -> None:
    assert simulate.makespan([Phase(seconds, messages)], 3, line) == pytest.approx(
        expected, abs=1e-7
    )


@needs_simgrid
def test_overlap(line: Path) -> None:
    """Work of 4 ms in four pieces, of which each sends 1 ms worth: only the last piece's message
    is not hidden."""
    whole = Phase([4e-3, 0.0], {(0, 1): 4 * 10**6})
    pieces = Phase([4e-3, 0.0], {(0, 1): 4 * 10**6}, pieces=4)
    assert simulate.makespan([whole], 2, line) == pytest.approx(8.002e-3, 1e-4)
    assert simulate.makespan([pieces], 2, line) == pytest.approx(5.002e-3, 1e-4)


@needs_simgrid
def test_phases_follow_one_another(line: Path) -> None:
    phases = [Phase([1e-3, 0.0], {(0, 1): 10**6}), Phase([0.0, 1e-3], {(1, 0): 10**6})]
    assert simulate.makespan(phases, 2, line) == pytest.approx(4.004e-3, 1e-4)


@needs_simgrid
@pytest.mark.parametrize(
    "name", ["h200-node", "h200-node-host", "ndr-fat-tree", "slingshot-dragonfly"]
)
def test_networks_that_are_shipped(name: str) -> None:
    network = NETWORKS / f"{name}.xml"
    assert len(simulate.hosts_of(network)) in (4, 1024)
    barrier = schedule.barrier(4, 1e-6, flags=False)
    assert 2e-6 < simulate.makespan(barrier, 4, network) < 2e-5


def test_goal() -> None:
    phases = [Phase([1e-6, 2e-6], {(0, 1): 100}), Phase([0.0, 5e-9])]
    assert list(goal.lines(phases, 2)) == [
        "num_ranks 2",
        "",
        "rank 0 {",
        "l1: calc 1000",
        "l2: send 100b to 1 tag 0",
        "l2 requires l1",
        "l3: calc 0",
        "l3 requires l2",
        "l3 requires l1",
        "}",
        "",
        "rank 1 {",
        "l1: recv 100b from 0 tag 0",
        "l2: calc 2000",
        "l3: calc 5",
        "l3 requires l1",
        "l3 requires l2",
        "}",
    ]


def rows(ranks: int, edges: int, most: int, sent: int) -> Shape:
    names = ("search", "edges_examined", "edges_examined_max", "bytes_sent", "bytes_sent_max")
    dtype = [(name, "<i8") for name in names] + [("expansion_slowest", "<i4")]
    steps = np.array([(0, edges, most, sent, sent // ranks, 1)], dtype=dtype)
    return Shape(ranks, 1, ranks, steps, 1)


def test_imbalance_is_kept() -> None:
    work = schedule.phases_of(rows(4, 100, 55, 0), rows(4, 100, 55, 0).steps[0], Costs(edge=1.0))
    assert work[0].seconds == [15.0, 55.0, 15.0, 15.0]


def test_messages_go_along_rows_and_columns() -> None:
    shape = Shape(6, 2, 3, rows(6, 1, 1, 0).steps, 1)
    assert shape.groups(4) == ([1], [3, 5])
    assert [len(phase.messages) for phase in schedule.barrier(6, 0.0, flags=False)] == [6, 6, 6]
    assert len(schedule.barrier(6, 0.0, flags=True)[0].messages) == 30


@needs_simgrid
@pytest.mark.parametrize("transport", ["peer", "mpi"])
def test_fit_gives_what_it_was_fixed_by(line: Path, transport: str) -> None:
    traced = fit.Traced(rows(2, 10**6, 6 * 10**5, 10**5), 16)
    model = fit.Model({14: 1e-4, 20: 5e-3}, transport, line)
    for measured in ({14: 3e-4, 20: 9e-3}, {14: 3e-4, 20: 3.1e-3}):
        found = model.fit(traced, measured)
        for scale, seconds in measured.items():
            assert model.seconds(traced, scale, found) == pytest.approx(seconds, 0.02)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no element found"),
        ("<a/>", "is no platform"),
        (LINE.replace("1Gf", "2Gf"), "not of speed 1Gf"),
        (LINE.replace('id="a"', 'id="a b"'), "without a plain name"),
        (LINE.replace("<link id", '<include file="/etc/passwd"/><link id'), "may not have"),
        ('<platform><cluster id="c" radical="0-x" speed="1Gf"/></platform>', "bad radical"),
        ('<platform><cluster id="c" radical="0-99999999" speed="1Gf"/></platform>', "bad radical"),
    ],
)
def test_networks_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "n.xml"
    path.write_text(text)
    with pytest.raises(errors.FileError, match=said) as raised:
        simulate.hosts_of(path)
    assert "\n" not in str(raised.value)


def test_too_few_hosts(line: Path) -> None:
    with pytest.raises(errors.FileError, match="too few for 4 ranks"):
        simulate.makespan([Phase([0.0] * 4)], 4, line)


@needs_simgrid
def test_a_network_that_simgrid_refuses(line: Path) -> None:
    line.write_text(LINE.replace('<link_ctn id="l"/>', '<link_ctn id="m"/>'))
    with pytest.raises(simulate.SimulatorError) as raised:
        simulate.makespan([Phase([0.0, 0.0], {(0, 1): 9})], 2, line)
    assert "\n" not in str(raised.value)


CONTENT = {
    "algorithm": "bfs",
    "device": "cpu",
    "method": "grid",
    "transport": "mpi",
    "parts": 4,
    "vertices": 512,
    "seconds": 0.5,
}


def test_prediction_is_sealed(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    found = prediction.write(path, CONTENT)
    assert prediction.read(path)["digest"] == found
    path.write_text(path.read_text().replace("0.5", "0.4"))
    with pytest.raises(errors.DigestError):
        prediction.read(path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100000, '{"kind": "hopwave-prediction", "format_version": 2}', "\x00"],
)
def test_predictions_that_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(errors.FileError) as raised:
        prediction.read(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("key", ["seconds", "parts", "method"])
@pytest.mark.parametrize("value", [None, True, -1.0, float("nan")])
def test_predictions_of_nonsense(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "p.json"
    content = {**CONTENT, "kind": prediction.KIND, "format_version": 1, "written": "", key: value}
    path.write_text(json.dumps(content))
    with pytest.raises(errors.FileError):
        prediction.read(path)
