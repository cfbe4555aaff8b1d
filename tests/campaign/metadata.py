"""HDF5 files that were changed by somebody who made their checksums and digests right again."""

import random
import shutil
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from common import Ended, World, generator, in_batches, judge, one_by_one
from sealed import datasets, samples, seal

MASK = 0xFFFFFFFF


def rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & MASK


def checksum(data: bytes) -> int:
    """Bob Jenkins's lookup3, as HDF5 has it over metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & MASK
    at = 0
    while len(data) - at > 12:
        x, y, z = struct.unpack_from("<III", data, at)
        a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
        for shift in (4, 6, 8, 16, 19, 4):
            a = ((a - c) & MASK) ^ rotated(c, shift)
            c = (c + b) & MASK
            a, b, c = b, c, a
        at += 12
    if at == len(data):
        return c
    x, y, z = struct.unpack("<III", data[at:].ljust(12, b"\0"))
    a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
    for shift in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, shift)) & MASK
        a, b, c = b, c, a
    # Seven turns leave the last one in the place of its successor.
    return b


class Block:
    """A piece of metadata with a checksum.

    begin, end  what the checksum covers
    place       where it lies; zeros are hashed in its place if that is covered
    """

    def __init__(self, begin: int, end: int, place: int) -> None:
        self.begin, self.end, self.place = begin, end, place

    def sum(self, data: bytes | bytearray) -> int:
        piece = bytearray(data[self.begin : self.end])
        if self.begin <= self.place < self.end:
            at = self.place - self.begin
            piece[at : at + 4] = bytes(4)
        return checksum(bytes(piece))

    def holds(self, data: bytes) -> bool:
        stated = (
            struct.unpack_from("<I", data, self.place)[0] if self.place + 4 <= len(data) else -1
        )
        return self.sum(data) == stated

    def repair(self, data: bytearray) -> None:
        struct.pack_into("<I", data, self.place, self.sum(data))


def blocks(data: bytes) -> list[Block]:
    """The pieces of metadata of a file whose checksums are found to hold."""
    found = [Block(0, 44, 44)]
    for begin in places(data, b"OHDR"):
        found += header(data, begin)
    for begin in places(data, b"FRHP"):
        found.append(Block(begin, begin + 142, begin + 142))
        size = struct.unpack_from("<Q", data, begin + 112)[0]
        for heap in places(data, b"FHDB"):
            offset = (struct.unpack_from("<H", data, begin + 128)[0] + 7) // 8
            found.append(Block(heap, heap + size, heap + 13 + offset))
    for begin in places(data, b"BTHD"):
        found.append(Block(begin, begin + 34, begin + 34))
        record, root, count = (
            struct.unpack_from("<H", data, begin + 10)[0],
            struct.unpack_from("<Q", data, begin + 16)[0],
            struct.unpack_from("<H", data, begin + 24)[0],
        )
        end = root + 6 + record * count
        if end + 4 <= len(data):
            found.append(Block(root, end, end))
    return [block for block in found if block.end <= len(data) and block.holds(data)]


def places(data: bytes, signature: bytes) -> list[int]:
    found, at = [], data.find(signature)
    while at >= 0:
        found.append(at)
        at = data.find(signature, at + 1)
    return found


def header(data: bytes, begin: int) -> list[Block]:
    """An object header and what continues it."""
    flags = data[begin + 5]
    width = 1 << (flags & 3)
    at = begin + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    start = at + width
    end = start + int.from_bytes(data[at:start], "little")
    found, todo = [Block(begin, end, end)], [(start, end)]
    while todo:
        at, end = todo.pop()
        while at + 4 <= end:
            kind, size = data[at], int.from_bytes(data[at + 1 : at + 3], "little")
            body = at + 4 + (2 if flags & 4 else 0)
            if kind == 0x10 and size == 16 and body + 16 <= len(data):
                where, length = struct.unpack_from("<QQ", data, body)
                if where + length <= len(data) and data[where : where + 4] == b"OCHK":
                    found.append(Block(where, where + length - 4, where + length - 4))
                    todo.append((where + 4, where + length - 4))
            at = body + size
    return found


class Metadata:
    """Metadata changed and their checksums repaired: hopwave-info --untrusted ends with 0 or 3."""

    name = "metadata"

    def __init__(self, world: World) -> None:
        self.world = world
        self.files = [path.read_bytes() for path in samples(world).values()]
        self.blocks = [blocks(data) for data in self.files]
        if min(map(len, self.blocks)) < 5:
            raise RuntimeError("the metadata of a sample are not understood")

    def changed(self, number: int) -> bytes:
        draw = generator(self.name, number)
        which = draw.randrange(len(self.files))
        data = bytearray(self.files[which])
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            block = draw.choice(self.blocks[which])
            at = draw.randrange(block.begin + 4, block.end)
            match draw.randrange(4):
                case 0:
                    data[at] ^= 1 << draw.randrange(8)
                case 1:
                    data[at] = draw.choice([0, 1, 0x7F, 0x80, 0xFE, 0xFF])
                case 2:
                    width = draw.choice([2, 4, 8])
                    value = draw.choice([0, 1, 1 << 31, (1 << 63) - 1, (1 << 64) - 1, len(data)])
                    end = min(at + width, block.end)
                    data[at:end] = value.to_bytes(8, "little")[: end - at]
                case _:
                    other = draw.randrange(block.begin, block.end)
                    length = min(draw.choice([1, 4, 8]), block.end - at, block.end - other)
                    data[at : at + length] = data[other : other + length]
        # Those inside of others first.
        for block in sorted(self.blocks[which], key=lambda block: block.end - block.begin):
            block.repair(data)
        return bytes(data)

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return in_batches(self.try_some, numbers)

    def try_some(self, numbers: range) -> None:
        paths = []
        for number in numbers:
            paths.append(self.world.folder / f"changed-{number}.h5")
            paths[-1].write_bytes(self.changed(number))
        done = self.world.run("hopwave-info", "--untrusted", *paths)
        judge(done, 0, 3)
        read = done.out.count("verifies: yes")
        self.world.counts["read"] += read
        self.world.counts["refused"] += len(paths) - read
        for path in paths:
            path.unlink()


class Contents:
    """Values and attributes changed and all digests made right: whatever a program makes of such a
    file, it ends as the threat model says, and no tree that is wrong passes."""

    name = "contents"

    def __init__(self, world: World) -> None:
        self.world = world
        self.files = samples(world)

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers)

    def attempt(self, draw: random.Random, number: int) -> None:
        name = draw.choice("gwpdts")
        path, out = self.world.folder / f"c-{number}.h5", self.world.folder / f"o-{number}.h5"
        shutil.copyfile(self.files[name], path)
        with h5py.File(path, "r+") as file:
            for _ in range(draw.choice([1, 1, 2, 5])):
                change(draw, file)
        seal(path)
        status = self.use(name, path, out)
        words = ["used", "found wrong", "", "refused", "too large for this machine"]
        self.world.counts[words[status]] += 1
        path.unlink()
        out.unlink(missing_ok=True)

    def use(self, name: str, path: Path, out: Path) -> int:
        """Has the program run that takes files of the kind; returns its status."""
        graph = {"t": self.files["g"], "s": self.files["w"]}
        if name in "gw":
            options: tuple[Any, ...] = ("--layout", "1d", "--parts", "1", "-o", out)
            return large(self.world.run("hopwave-partition", "-q", path, *options), 0, 3)
        if name in "pd":
            kind = "bfs" if name == "p" else "sssp"
            options = ("--algorithm", kind, "--roots", "2", "-o", out)
            return large(self.world.run("hopwave-traverse", "-q", path, *options), 0, 1, 3)
        done = self.world.run("hopwave-validate", "-q", path, "--graph", graph[name])
        return large(done, 0, 1, 3)


def large(done: Ended, *allowed: int) -> int:
    """As judge(), where a graph of many vertices and few edges may be too large: a program says
    what it needs, and takes none of it."""
    if done.status == 4 and " needs " in done.err and " are free" in done.err:
        return judge(done, 4)
    return judge(done, *allowed)


def change(draw: random.Random, file: h5py.File) -> None:
    """Changes an attribute or some values in place."""
    if draw.random() < 0.25:
        names = [n for n, v in file.attrs.items() if isinstance(v, (int, np.integer))]
        name = draw.choice([n for n in names if n not in ("complete", "format_version")])
        value = draw.choice([-1, 0, 1, 2, 1 << 31, (1 << 63) - 1, int(file.attrs[name]) ^ 1])
        file.attrs.modify(name, np.int64(value))
        return
    dataset = draw.choice([d for d in datasets(file) if d.size and not d.dtype.names])
    values = dataset[()]
    flat = values.reshape(-1)
    at = draw.randrange(flat.size)
    if values.dtype.kind == "f":
        flat[at] = draw.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e30])
    else:
        about = np.iinfo(values.dtype)
        several = [0, 1, about.max, about.min, int(flat[at]) ^ 1, int(flat[-1]), flat.size]
        flat[at : at + draw.choice([1, 1, 3])] = min(
            max(draw.choice(several), about.min), about.max
        )
    dataset[...] = values
