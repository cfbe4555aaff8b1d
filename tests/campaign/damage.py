"""Bytes damaged: files that no program may take for whole."""

from pathlib import Path

from common import World, WrongError, change, generator, in_batches, judge
from sealed import samples


class Damage:
    """Files of every kind with bytes flipped, zeroed, cut off, swapped, repeated or added; read
    by hopwave-info, which may not describe one otherwise than it was."""

    name = "bytes"

    def __init__(self, world: World) -> None:
        self.world = world
        self.files = list(samples(world).values())
        self.bytes = [path.read_bytes() for path in self.files]
        self.described = []
        for path in self.files:
            done = world.run("hopwave-info", path)
            self.described.append(done.out.split("\n", 1)[1])

    def damaged(self, number: int) -> tuple[int, bytes]:
        """Which file, and what is left of it."""
        draw = generator(self.name, number)
        which = draw.randrange(len(self.files))
        return which, change(draw, self.bytes[which])

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return in_batches(self.try_some, numbers)

    def try_some(self, numbers: range) -> None:
        paths, which = [], []
        for number in numbers:
            path = self.world.folder / f"damaged-{number}.h5"
            kind, left = self.damaged(number)
            path.write_bytes(left)
            paths.append(path)
            which.append(kind)
        done = self.world.run("hopwave-info", *paths)
        status = judge(done, 0, 3)
        described = self.texts(done.out, paths)
        unnoticed = 0
        for path, kind in zip(paths, which):
            text = described.get(path)
            unnoticed += text is not None and "verifies: yes" in text
            if text and "verifies: yes" in text and text != self.described[kind]:
                raise WrongError(f"{path.name}: described otherwise than it was, as a whole file")
            path.unlink()
        if status == 0 and unnoticed < len(paths):
            raise WrongError("status 0 where a file is damaged")
        self.world.counts["refused"] += len(paths) - unnoticed
        self.world.counts["unused bytes"] += unnoticed

    @staticmethod
    def texts(out: str, paths: list[Path]) -> dict[Path, str]:
        """What was printed of each file."""
        names = {f"{path}:": path for path in paths}
        found: dict[Path, str] = {}
        now: Path | None = None
        for line in out.splitlines(keepends=True):
            if line.rstrip("\n") in names:
                now = names[line.rstrip("\n")]
                found[now] = ""
            elif now:
                found[now] += line
        return found
