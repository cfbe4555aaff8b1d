"""Schedules, GOAL traces, simulated times that are known on paper, and predictions."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopwave import errors
from hopwave.predict import beyond, fit, goal, prediction, rmat, roots, schedule, simulate
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
    "name", ["h200-node", "h200-node-host", "h200-node-mpi", "ndr-fat-tree", "slingshot-dragonfly"]
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


def model_of(line: Path, double: dict[int, float], transport: str = "peer") -> fit.Model:
    """Of a method whose searches take 0.1 ms on one GPU where the graph is small."""
    traced = fit.Traced(rows(2, 10**6, 5 * 10**5, 10**3), 16)
    single = {14: 1e-4, 24: 2e-3, 26: 7e-3}
    return fit.Model("fused", transport, single, double, traced, line)


@needs_simgrid
@pytest.mark.parametrize("transport", ["peer", "mpi"])
@pytest.mark.parametrize("double", [{14: 3e-4, 24: 3.6e-3}, {14: 3e-4, 24: 1.5e-3, 28: 9e-3}])
def test_fit_gives_what_it_was_fixed_by(
    line: Path, transport: str, double: dict[int, float]
) -> None:
    model = model_of(line, double, transport)
    for scale, seconds in double.items():
        if scale > 14:
            found = model.fit(scale)
            assert model.seconds(model.traced, scale, found) == pytest.approx(seconds, 0.01)


@needs_simgrid
def test_undivided_work_is_told_from_shared(line: Path) -> None:
    """Of times made of 0.3 ms for each graph, 0.2 us a million vertices undivided, and shared work,
    all three are found, and times on four GPUs with them; bytes take next to nothing here."""
    quick = Path(line.with_name("quick.xml"))
    quick.write_text(LINE.replace("1GBps", "1e6GBps").replace("2us", "0us"))
    steps = {s: fit.levels(s) / fit.levels(14) for s in (14, 24, 26, 28, 30)}
    each = {s: 1e-4 + 2e-13 * rmat.searched(s) for s in (24, 26, 28, 30)}
    shared = {s: 2e-11 * rmat.searched(s) for s in (24, 26, 28, 30)}
    single = {14: 1e-4} | {s: 1e-4 * steps[s] + each[s] + shared[s] for s in (24, 26, 28)}
    double = {14: 2e-4} | {s: 2e-4 * steps[s] + each[s] + shared[s] / 2 for s in (24, 26, 28)}
    traced = fit.Traced(rows(2, 10**6, 5 * 10**5, 1000), 16)
    model = fit.Model("fused", "peer", single, double, traced, quick)
    three = fit.Traced(rows(3, 9 * 10**5, 3 * 10**5, 1000), 16)
    for scale in (24, 26, 28, 30):
        found = model.fit(scale)
        assert found.undivided == pytest.approx(each[scale], 0.05)
        assert found.divided == pytest.approx(shared[scale], 0.02)
        # Three examine 0.9 of the edges of two.
        expected = 2e-4 * steps[scale] + each[scale] + 0.9 * shared[scale] / 3
        assert model.seconds(three, scale, found) == pytest.approx(expected, 0.02)


def test_a_line_is_nowhere_negative() -> None:
    assert fit.line({1.0: 3.0, 2.0: 5.0}) == pytest.approx((1.0, 2.0))
    assert fit.line({1.0: 5.0, 2.0: 3.0}) == pytest.approx((4.0, 0.0))
    assert fit.line({1.0: 1.0, 2.0: 3.0}) == pytest.approx((0.0, 1.4))
    assert fit.line({2.0: -3.0}) == (0.0, 0.0)


def test_vertices_that_are_searched() -> None:
    """Of a small graph, vertex by vertex; and a falling share of larger ones."""
    means = [32 * 1024 * 0.76 ** (10 - v.bit_count()) * 0.24 ** v.bit_count() for v in range(1024)]
    assert rmat.searched(10) == pytest.approx(sum(1 - np.exp(-m) * (1 + m) for m in means))
    shares = [rmat.searched(scale) / 2**scale for scale in (14, 22, 30, 41)]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] == pytest.approx(0.303, 0.01)


@pytest.mark.parametrize(("same", "copies"), [(True, 3), (False, 6)])
def test_copies_are_started_one_by_one(same: bool, copies: int) -> None:
    shape = rows(4, 100, 25, 4 * 300)
    dtype = [*shape.steps.dtype.descr, ("messages_sent", "<i8")]
    steps = np.array([(*shape.steps[0], 12)], dtype=dtype)
    phases = schedule.phases_of(shape, steps[0], Costs(edge=1.0, same=same, copy=0.5))
    assert phases[0].seconds == [25 + 0.5 * copies] * 4


def test_more_gpus_examine_more_edges(line: Path) -> None:
    """Which takes longer; but where all search for the same, that is in the undivided work."""
    four = fit.Traced(rows(4, 2 * 10**6, 5 * 10**5, 10**3), 16)
    found = fit.Fit(0.0, 1.0, 1.0)
    for method, more in (("fused", 2.0), ("delegates", 1.0)):
        model = replace(model_of(line, {14: 3e-4}), method=method)
        costs = model.costs(four, 16, found)
        assert costs.edge is not None
        assert costs.edge * 2 * 10**6 == pytest.approx(more)
        assert costs.every * 2 * 10**6 == pytest.approx(1.0)


def test_costs_of_transports(line: Path) -> None:
    found, model = fit.Fit(1e-6, 1.0, 1.0), model_of(line, {14: 3e-4})
    peer = model.costs(model.traced, 26, found)
    assert peer.volume == pytest.approx(rmat.searched(26) / rmat.searched(16))
    assert (peer.flags, peer.staged, peer.rounds, peer.copy) == (True, False, 1, 0.0)
    over = replace(model, transport="mpi").costs(model.traced, 26, found)
    assert (over.flags, over.staged, over.same, over.pieces) == (False, True, True, 1)
    assert over.rounds > 1
    assert over.copy > 1e-6
    messages = replace(model, transport="mpi", method="scan2d").costs(model.traced, 26, found)
    assert (messages.staged, messages.same) == (False, False)


@needs_simgrid
def test_work_over_another_transport_is_that_nearby(line: Path) -> None:
    """By the edges examined there; what takes longer is undivided."""
    near = model_of(line, {14: 2e-4, 24: 1.6e-3, 26: 5e-3})
    more = fit.Traced(rows(2, 12 * 10**5, 6 * 10**5, 10**3), 16)
    double = {14: 4e-4, 24: 3e-3, 26: 8e-3}
    model = replace(near, transport="mpi", double=double, traced=more, near=near)
    for scale in (24, 26):
        found = model.fit(scale)
        assert found.divided == pytest.approx(1.2 * near.fit(scale).divided)
        assert found.undivided > near.fit(scale).undivided
        assert model.seconds(more, scale, found) == pytest.approx(double[scale], 0.01)


def test_work_beyond_what_was_measured() -> None:
    """More than the vertices: the bitmap outgrows the cache, and more roots have few edges."""
    said = {
        "gather_ps": {"16": 6.0, "64": 12.0, "256": 24.0},
        "pull_ps": {"26": 5.0, "30": 7.0},
        "few_edges": {"30": 0.5, "31": 1.0},
        "few_edges_longer": 2.0,
    }
    found = beyond.Beyond.of(said)
    assert found.access(1e6) == pytest.approx(6e-12)
    assert found.access(128e6) == pytest.approx(12e-12 * 2**0.5)
    assert found.edge(30) == pytest.approx(7e-12, 1e-3)
    vertices = rmat.searched(31) / rmat.searched(30)
    assert found.growth(30, 31) / vertices == pytest.approx(
        found.edge(31) / found.edge(30) * 2 / 1.5
    )
    assert found.growth(30, 32) == pytest.approx(
        rmat.searched(32) / rmat.searched(30) * found.edge(32) / found.edge(30)
    )
    assert found.edge(31) > 1.2 * found.edge(30)


@needs_simgrid
def test_work_beyond_is_in_the_fit(line: Path) -> None:
    model = model_of(line, {14: 3e-4, 24: 3.6e-3})
    plain = model.fit(30)
    gather, pull = {1e6: 1e-12, 4e7: 1e-12, 1e9: 9e-12}, {24: 1e-12, 30: 2e-12}
    more = beyond.Beyond(gather, pull, {}, 1.0)
    assert replace(model, beyond=more).fit(30).divided > 1.5 * plain.divided


def test_roots_are_known_before_there_is_a_graph() -> None:
    """Those of `hopwave-traverse --roots 16` on a recipe of scale 14, in its order; those left out
    in between have no edge, as most of few expected edges."""
    drawn = [6559, 110, 2463, 10426, 6610, 15680, 3819, 3923, 12274, 5268, 5074, 2858, 5662]
    found = roots.roots(14, 16)
    assert [label for label, _, _ in found if label in drawn] == drawn
    others = [chance for label, _, chance in found[: 2 + len(drawn)] if label not in drawn]
    assert max(others) < 0.7
    assert sum(chance for _, _, chance in found) == pytest.approx(16, abs=1)


def test_bounded_frontiers_send_no_more_in_larger_graphs() -> None:
    shape = rows(2, 100, 50, 400)
    names = [("push all", 200), ("dd:-- nd:td small", 200), ("pull", 6400)]
    dtype = [*shape.steps.dtype.descr, ("routine", "S20")]
    for name, expected in names:
        steps = np.array([(*shape.steps[0], name.encode())], dtype=dtype)
        phase = schedule.phases_of(shape, steps[0], Costs(edge=1.0, volume=32.0))[0]
        assert phase.messages == {(0, 1): expected, (1, 0): expected}


@pytest.mark.parametrize(("same", "copied"), [(True, 100), (False, 300)])
def test_what_is_staged_is_copied_out_first(same: bool, copied: int) -> None:
    """Over a host a rank copies to it what the others copy from it: once, if all get the same."""
    shape, costs = rows(4, 100, 25, 4 * 300), Costs(edge=1.0, staged=True, same=same, rounds=2)
    phases = schedule.phases_of(shape, shape.steps[0], costs)
    assert phases[1].messages == {(r, (r + 1) % 4): copied for r in range(4)}
    assert len(phases[2].messages) == 12
    assert len(phases) == 3 + 2 * 2
    plain = schedule.phases_of(shape, shape.steps[0], Costs(edge=1.0, every=0.5))
    assert len(plain) == 1 + 2
    assert plain[0].seconds == [75.0] * 4


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
