"""Files of an archive are found by what they hold, whatever they are called."""

from types import SimpleNamespace
from typing import Any

import pandas

from hopwave.commands.counterparts import Counterparts
from hopwave.commands.records import UnreadableError

STUDY: Any = SimpleNamespace(partitions={"1d-2": {"layout": "1d"}, "2d-1x2": {"layout": "2d"}})


def archive(*files: tuple[str, str]) -> Any:
    rows = [
        {"file": f"results/{name}", "kind": name.split("/")[0].rstrip("s"), "digest": digest}
        for name, digest in files
    ]
    return pandas.DataFrame(rows).set_index("file", drop=False)


def counterparts(made: dict[str, str], *files: tuple[str, str]) -> Counterparts:
    def digest(path: str) -> str:
        try:
            return made[path.removeprefix("results/")]
        except KeyError:
            raise UnreadableError(f"{path}: not made") from None

    return Counterparts(archive(*files), digest)


def test_same_names() -> None:
    there = counterparts({"graphs/a.h5": "A"}, ("graphs/b.h5", "A"), ("graphs/a.h5", "A"))
    assert there.graph("results/graphs/a.h5") == "results/graphs/a.h5"
    assert not there.renamed()


def test_content_counts_more_than_names() -> None:
    there = counterparts({"graphs/a.h5": "A"}, ("graphs/a.h5", "B"), ("graphs/b.h5", "A"))
    assert there.graph("results/graphs/a.h5") == "results/graphs/b.h5"


def test_another_content_is_not_hidden() -> None:
    there = counterparts({"graphs/a.h5": "C"}, ("graphs/a.h5", "B"), ("graphs/b.h5", "A"))
    assert there.graph("results/graphs/a.h5") == "results/graphs/a.h5"
    assert (
        counterparts({"graphs/c.h5": "C"}, ("graphs/b.h5", "A")).graph("results/graphs/c.h5")
        is None
    )


def test_names_that_are_alike_come_first() -> None:
    there = counterparts(
        {"graphs/ring-weights-none.h5": "A"}, ("graphs/other.h5", "A"), ("graphs/ring.h5", "A")
    )
    assert there.graph("results/graphs/ring-weights-none.h5") == "results/graphs/ring.h5"


def test_trees_follow() -> None:
    there = counterparts(
        {"graphs/ring-weights-none.h5": "A", "partitions/ring-weights-none/1d-2.h5": "P"},
        ("graphs/ring.h5", "A"),
        ("partitions/ring/1d-2-order-degree.h5", "P"),
        ("trees/ring/1d-2-order-degree/grid-r0.h5", "T"),
        ("trees/ring/2d-1x2/grid-r0.h5", "T"),
    )
    now = "results/partitions/ring-weights-none/1d-2.h5"
    assert there.partition(now) == "results/partitions/ring/1d-2-order-degree.h5"
    wanted = ("ring-weights-none", "1d-2", "grid", 0)
    assert there.tree(wanted, STUDY) == "results/trees/ring/1d-2-order-degree/grid-r0.h5"
    assert len(there.renamed()) == 2
    wanted = ("ring-weights-none", "2d-1x2", "grid", 0)
    assert there.tree(wanted, STUDY) == "results/trees/ring/2d-1x2/grid-r0.h5"


def test_a_tree_that_is_not_there() -> None:
    there = counterparts({"graphs/a.h5": "A"}, ("graphs/a.h5", "A"))
    assert there.tree(("a", "1d-2", "grid", 0), STUDY) is None
