"""Files of graphs in other formats: whole ones and what they hold, damaged ones for a sentence."""

import bz2
import gzip
import lzma
import random
from collections.abc import Callable

from common import TOP, World, WrongError, change, judge, one_by_one

PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("", bytes),
    (".gz", gzip.compress),
    (".xz", lzma.compress),
    (".bz2", bz2.compress),
]
CORPUS = {"edges": "el", "mtx": "mtx", "gr": "gr", "metis": "graph", "sg": "sg", "wsg": "wsg"}


class Imports:
    """Edge lists that are written in many ways, and must give the edges that they hold; corpora of
    all formats, damaged, compressed or not, that must end with 0 or 3."""

    name = "imports"

    def __init__(self, world: World) -> None:
        self.world = world
        self.corpus = [
            (end, path.read_bytes())
            for folder, end in CORPUS.items()
            for path in sorted((TOP / "tests" / "fuzz" / "corpus" / folder).iterdir())
        ]

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers)

    def attempt(self, draw: random.Random, number: int) -> None:
        (self.whole if number % 2 == 0 else self.damaged)(draw, number)

    def whole(self, draw: random.Random, number: int) -> None:
        """An edge list and what must come of it."""
        edges = listed(draw)
        end, pack = draw.choice(PACKED[:3])
        given = self.world.folder / f"i-{number}.el{end}"
        made, out = self.world.folder / f"i-{number}.h5", self.world.folder / f"o-{number}.el"
        given.write_bytes(pack(written(draw, edges)))
        judge(self.world.run("hopwave-import", "-q", given, "--directed", "-o", made), 0)
        export = ("--format", "el", "--labels", "-o", out)
        judge(self.world.run("hopwave-export", "-q", made, *export), 0)
        found = [tuple(map(int, line.split())) for line in out.read_text().splitlines()]
        if sorted(found) != sorted(edges):
            raise WrongError(f"{given.name}: {len(found)} edges of {len(edges)}, or others")
        self.world.counts["as they were"] += 1
        for path in (given, made, out):
            path.unlink()

    def damaged(self, draw: random.Random, number: int) -> None:
        """A file of a corpus after some damage, to what it holds or to what holds it."""
        name, content = draw.choice(self.corpus)
        end, pack = draw.choice(PACKED)
        for _ in range(draw.randrange(3)):
            content = change(draw, content) if content else b""
        packed = pack(content)
        if end and packed and draw.random() < 0.5:
            packed = change(draw, packed)
        given = self.world.folder / f"i-{number}.{name}{end}"
        made = self.world.folder / f"i-{number}.h5"
        given.write_bytes(packed)
        status = judge(self.world.run("hopwave-import", "-q", given, "-o", made), 0, 3)
        if status and made.exists():
            raise WrongError(f"{given.name}: refused, and yet there is a file")
        if status == 0:
            judge(self.world.run("hopwave-info", "-q", made), 0)
        self.world.counts["refused" if status else "taken"] += 1
        given.unlink()
        made.unlink(missing_ok=True)


def listed(draw: random.Random) -> list[tuple[int, int]]:
    """Edges between vertices of small, large or scattered names."""
    most = draw.choice([3, 30, 1 << 20, (1 << 31) + 5, (1 << 62)])
    names = [draw.randrange(most) for _ in range(draw.randrange(2, 20))]
    return [(draw.choice(names), draw.choice(names)) for _ in range(draw.randrange(1, 60))]


def written(draw: random.Random, edges: list[tuple[int, int]]) -> bytes:
    """An edge list with blanks, comments and ends of lines of some style."""
    gap, end = draw.choice([" ", "\t", "  ", " \t"]), draw.choice(["\n", "\r\n"])
    lines = []
    for source, target in edges:
        if draw.random() < 0.1:
            lines.append(draw.choice(["# a comment", "% another", "", "#"]))
        before, after = draw.choice(["", "", " ", "\t"]), draw.choice(["", "", " "])
        lines.append(f"{before}{source}{gap}{target}{after}")
    text = end.join(lines) + draw.choice([end, "", end + end])
    return text.encode()
