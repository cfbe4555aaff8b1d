"""Makes files that hopwave-import is to read, or to refuse: archives and compressed texts.

usage: archives.py NAME FILE [OPTION...]

NAME is one of the functions below; the options are its arguments.
"""

from __future__ import annotations

import bz2
import io
import lzma
import struct
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

ZSTD_BLOCK = 1 << 17


def raw_zstd(data: bytes) -> bytes:
    """A frame of blocks that are not compressed (RFC 8878), as no package here makes others."""
    blocks = [data[i : i + ZSTD_BLOCK] for i in range(0, len(data), ZSTD_BLOCK)] or [b""]
    out = b"\x28\xb5\x2f\xfd" + bytes([0, (17 - 10) << 3])
    for i, block in enumerate(blocks):
        out += struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block
    return out


def compress(data: bytes, how: str) -> bytes:
    """The data compressed: by gz, bz2, xz or zst; as they are for anything else."""
    if how == "gz":
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        return packer.compress(data) + packer.flush()
    if how == "bz2":
        return bz2.compress(data)
    if how == "xz":
        return lzma.compress(data)
    if how == "zst":
        try:
            return subprocess.run(
                ["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True
            ).stdout
        except (OSError, subprocess.CalledProcessError):
            return raw_zstd(data)
    return data


def packed(out: str, text: str, how: str) -> None:
    """A file, compressed."""
    Path(out).write_bytes(compress(Path(text).read_bytes(), how))


def streams(out: str, text: str, how: str) -> None:
    """A file, compressed as two streams."""
    data = Path(text).read_bytes()
    middle = len(data) // 3
    Path(out).write_bytes(compress(data[:middle], how) + compress(data[middle:], how))


def window(out: str, log: str = "31") -> None:
    """An empty frame of Zstandard that wants a window of 2 to the log bytes."""
    header = bytes([0, (int(log) - 10) << 3])
    Path(out).write_bytes(b"\x28\xb5\x2f\xfd" + header + b"\x01\x00\x00")


def tar_of(members: list[tarfile.TarInfo | tuple[str, bytes]]) -> bytes:
    """The bytes of an archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1]))
    return file.getvalue()


def archive(out: str, how: str, *names: str) -> None:
    """An archive of files, each PATH or NAME=PATH; compressed as `how` says."""
    members: list[tarfile.TarInfo | tuple[str, bytes]] = []
    for name in names:
        inside, _, path = name.rpartition("=")
        members.append((inside or path, Path(path).read_bytes()))
    Path(out).write_bytes(compress(tar_of(members), how))


def odd(kind: int, name: str, target: str = "") -> tarfile.TarInfo:
    """An entry that is no plain file."""
    info = tarfile.TarInfo(name)
    info.type = {1: tarfile.LNKTYPE, 2: tarfile.SYMTYPE, 3: tarfile.FIFOTYPE, 4: tarfile.CHRTYPE}[
        kind
    ]
    info.linkname = target
    return info


def hostile(out: str, text: str, kind: str) -> None:
    """An archive of a graph and of something that means harm, before it or behind."""
    graph = ("g/graph.txt", Path(text).read_bytes())
    harm: dict[str, tarfile.TarInfo | tuple[str, bytes]] = {
        "absolute": ("/tmp/hopwave-harm", b"harm"),
        "out": ("g/../../harm", b"harm"),
        "dots": ("..", b"harm"),
        "symlink": odd(2, "g/link", "/etc/passwd"),
        "hardlink": odd(1, "g/link", "g/graph.txt"),
        "fifo": odd(3, "g/fifo"),
        "device": odd(4, "g/device"),
        "control": ("g/\x1b[2J/../../x", b"harm"),
    }
    order = [graph, harm[kind]] if kind in ("out", "symlink") else [harm[kind], graph]
    Path(out).write_bytes(tar_of(order))


def many(out: str) -> None:
    """An archive of more files than are looked at."""
    Path(out).write_bytes(compress(tar_of([(f"n/{i}", b"x") for i in range(1200)]), "gz"))


def sparse(out: str) -> None:
    """An archive of a file of GNU's that is 1 TiB of holes."""
    info = tarfile.TarInfo("g/graph.txt")
    info.type = tarfile.GNUTYPE_SPARSE
    info.size = 512
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[386:410] = b"00000000000\x0000000001000\x00"  # 512 bytes at 0
    block[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")  # the real size
    block[148:156] = b"        "
    block[148:156] = b"%06o\x00 " % sum(block)
    Path(out).write_bytes(bytes(block) + b"1 2\n" * 128 + bytes(1024))


def bomb(out: str, how: str) -> None:
    """An archive of one file of 160 MiB, zeros but for its beginning."""
    info = tarfile.TarInfo("g/graph.txt")
    info.size = 160 << 20
    start = info.tobuf() + b"1 2\n" * 1024
    rest = info.size - 4096
    packer = lzma.LZMACompressor(preset=1) if how == "xz" else bz2.BZ2Compressor()
    with open(out, "wb") as file:
        file.write(packer.compress(start))
        for _ in range(rest >> 20):
            file.write(packer.compress(bytes(1 << 20)))
        file.write(packer.compress(bytes(rest % (1 << 20) + 1024)) + packer.flush())


def main() -> None:
    """Makes one file."""
    functions = (packed, streams, window, archive, hostile, many, sparse, bomb)
    {function.__name__: function for function in functions}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
