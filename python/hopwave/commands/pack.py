"""Archives as tar files, written in one way only: each header, all padding and the end
can then be checked byte by byte when one is read."""

import errno
import gzip
import lzma
import os
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from .base import open_file

BLOCK, RECORD = 512, 10240
LONGEST = 1 << 16  # of what extends a header
# What other programs write and we do not: folders, other kinds of extended headers.
FOREIGN = (tarfile.XHDTYPE, tarfile.XGLTYPE, *tarfile.GNU_TYPES)
GZIP_HEADS = [b"\x1f\x8b\x08\0\0\0\0\0" + level + b"\xff" for level in (b"\0", b"\2", b"\4")]
XZ_HEAD = b"\xfd7zXZ\0"
XZ_WINDOW = 64 << 20  # bytes: rows that several trees have are packed once
XZ_MEMORY = 128 << 20  # bytes that decoding may take; all presets of xz stay below


class DamageError(Exception):
    """One sentence on what is wrong in a tar file."""


class NoArchiveError(Exception):
    """One sentence on why a file is not one of our tar files."""


def header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.PAX_FORMAT)


def padding(size: int, block: int = BLOCK) -> int:
    return -size % block


def xz_filter(size: int) -> dict[str, int]:
    """How so many bytes are packed by xz. What is compressed already holds little but repetitions
    far apart: a large window finds them, and a quick search does."""
    window = 1 << 20
    while window < min(size, XZ_WINDOW):
        window *= 2
    return {"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": window}


def pack(folder: Path, path: Path, top: str) -> None:
    """Writes the files of a folder into a tar file, below the name `top` in it."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    with open(path, "xb") as file:
        out: BinaryIO | gzip.GzipFile | lzma.LZMAFile = file
        if path.name.endswith("gz"):
            out = gzip.GzipFile("", "wb", 6, file, mtime=0)
        elif path.name.endswith("xz"):
            size = sum(source.stat().st_size for source in files)
            out = lzma.LZMAFile(  # noqa: SIM115
                file, "wb", check=lzma.CHECK_CRC64, filters=[xz_filter(size)]
            )
        written = 0
        for source in files:
            name = f"{top}/{source.relative_to(folder).as_posix()}"
            size = source.stat().st_size
            head = header(name, size)
            out.write(head)
            with open(source, "rb") as content:
                shutil.copyfileobj(content, out, 1 << 20)
            out.write(bytes(padding(size)))
            written += len(head) + size + padding(size)
        out.write(bytes(2 * BLOCK + padding(written + 2 * BLOCK, RECORD)))
        out.close()


class XzStream:
    """Reads one stream of xz, behind which nothing may follow. (LZMAFile leaves out what
    follows, and takes as much memory as a file asks for.)"""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """Up to so many of the next bytes, fewer only at the end."""
        parts = []
        while size > 0 and not self.decoder.eof:
            block = self.file.read(1 << 16) if self.decoder.needs_input else b""
            if self.decoder.needs_input and not block:
                raise EOFError("the file ends before its end was marked")
            parts.append(self.decoder.decompress(block, size))
            size -= len(parts[-1])
        if size > 0 and (self.decoder.unused_data or self.file.read(1)):
            raise lzma.LZMAError("something follows the end")
        return b"".join(parts)


Stream = BinaryIO | gzip.GzipFile | XzStream


class Reader:
    """Reads a tar file from its beginning to its end, and knows where it is."""

    def __init__(self, path: Path, stream: Stream) -> None:
        self.path, self.stream = path, stream
        self.name: str | None = None
        self.offset = 0

    def read(self, size: int) -> bytes:
        """Up to so many of the next bytes."""
        try:
            data = self.stream.read(size)
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            raise DamageError(f"{self.where()}: damaged compression ({error})") from None
        self.offset += len(data)
        return data

    def take(self, size: int) -> bytes:
        """The next bytes, all of them."""
        data = self.read(size)
        if len(data) < size:
            raise DamageError(f"{self.where()}: the tar file is cut short there")
        return data

    def where(self) -> str:
        return self.name or self.path.name

    def zeros(self, size: int, what: str) -> None:
        if self.take(size).strip(b"\0"):
            raise DamageError(f"{self.where()}: {what} in the tar file is damaged")

    def member(self) -> tuple[str, int] | None:
        """Name and size of the next file, or None at the end."""
        raw = self.take(BLOCK)
        if not raw.strip(b"\0"):
            return None
        guess = raw[:100].split(b"\0")[0].decode("utf-8", "backslashreplace")
        extended = {}
        try:
            info = tarfile.TarInfo.frombuf(raw, "utf-8", "surrogateescape")
            if info.type == tarfile.XHDTYPE and info.size <= LONGEST:
                records = self.take(info.size + padding(info.size))
                extended = pax(records[: info.size])
                last = self.take(BLOCK)
                raw += records + last
                info = tarfile.TarInfo.frombuf(last, "utf-8", "surrogateescape")
            name = extended.get("path", info.name)
            size = int(extended.get("size", info.size))
            same = header(name, size) == raw
            if size < 0 or "\0" in name:
                raise ValueError("a size or name that no file has")
        except (tarfile.HeaderError, ValueError, OverflowError):
            after = f" after {self.name}" if self.name else ""
            what = f"{guess}: its header in {self.path.name} is damaged"
            raise DamageError(f"{what}, before byte {self.offset}{after}") from None
        self.check(name, info, same)
        self.name = name
        return name, size

    def check(self, name: str, info: tarfile.TarInfo, same: bool) -> None:
        """Only files of ours, only below one folder."""
        if not (info.isreg() or info.isdir() or info.type in FOREIGN):
            raise NoArchiveError(f"{self.path}: it holds '{name}', which is not a file")
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or (info.isreg() and len(parts) < 2):
            raise NoArchiveError(f"{self.path}: it holds '{name}', which lies outside")
        if same:
            return
        if info.isreg() and info.mtime == 0 and not info.uname:
            raise DamageError(f"{name}: its header in the tar file is not as it was written")
        raise NoArchiveError(
            f"{self.path}: packed by another program; unpack it and name the folder"
        )


def pax(records: bytes) -> dict[str, str]:
    """The keys and values of an extended header."""
    values = {}
    while records:
        size = int(records.split(b" ", 1)[0])
        _, blank, record = records[: max(size, 0)].decode().partition(" ")
        if not blank:
            raise ValueError("a record without a value")
        key, _, value = record[:-1].partition("=")
        values[key], records = value, records[size:]
    return values


def unpack(path: Path, folder: str | os.PathLike[str]) -> Path:
    """Unpacks a tar file of ours into a folder and returns the one folder that it holds.
    Raises NoArchiveError or DamageError."""
    with open_file(path) as file:
        head = file.read(BLOCK)
        file.seek(0)
        stream: Stream = file
        if head[:2] == b"\x1f\x8b":
            if head[:10] not in GZIP_HEADS:
                raise DamageError(f"{path.name}: its first bytes are damaged")
            stream = gzip.GzipFile(fileobj=file)
        elif head[: len(XZ_HEAD)] == XZ_HEAD:
            stream = XzStream(file)
        elif b"ustar" not in head and b"/bag" not in head[:100]:
            raise NoArchiveError(f"{path}: not an archive")
        reader = Reader(path, stream)
        top: str | None = None
        while member := reader.member():
            name, size = member
            first = PurePosixPath(name).parts[0]
            top = top or first
            if first != top:
                raise NoArchiveError(f"{path}: it holds more than one folder")
            copy(reader, Path(folder, name), size)
        reader.name = f"{path.name}, its end"
        reader.zeros(BLOCK + padding(reader.offset + BLOCK, RECORD), "what lies there")
        if reader.read(1):
            raise DamageError(f"{path.name}: something follows its end")
    if top is None:
        raise NoArchiveError(f"{path}: it holds nothing")
    return Path(folder, top)


def copy(reader: Reader, path: Path, size: int) -> None:
    """Takes one file and the padding behind it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = open(path, "xb")  # noqa: SIM115
    except FileExistsError:
        raise NoArchiveError(f"{reader.path}: it holds '{reader.name}' twice") from None
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EINVAL):
            raise
        raise NoArchiveError(
            f"{reader.path}: it holds '{reader.name}', which no file can be called"
        ) from None
    with out:
        for start in range(0, size, 1 << 20):
            out.write(reader.take(min(1 << 20, size - start)))
    reader.zeros(padding(size), "the padding behind it")
