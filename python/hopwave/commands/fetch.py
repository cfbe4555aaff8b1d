"""hopwave-study fetch: gets graphs of the manifest (config/graphs.yaml) from where they are
published. What was fetched is never run or unpacked here; `hopwave-import` reads it as it is."""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote, urlsplit

from . import bag
from .base import Place, fail, locked, need, open_file, printable

if TYPE_CHECKING:
    from ..study.manifest import Graph

PACKAGES = ["jsonschema", "yaml", "requests"]
BLOCK = 1 << 20  # bytes that are read from a file at a time
PACKET = 1 << 13  # bytes from a server: fewer than these are lost where the connection is cut
TRIES = 5  # downloads that are cut without bringing anything, one after another
WAIT = 1.0  # seconds before the second try, doubled for each
CONNECT, SILENCE = 20, 60  # seconds without an answer, and without a byte
REDIRECTS = 10


def add(commands: Any) -> None:
    command = commands.add_parser(
        "fetch",
        help="get published graphs, and list them",
        description="Gets graphs of the manifest from where they are published, into "
        "graphs/NAME/ below the folder of the study. A download that was cut goes on where it "
        "ended; size and checksum are verified.",
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="graphs of the manifest")
    command.add_argument("--list", action="store_true", help="list graphs, all or the named ones")
    command.add_argument(
        "--directory",
        default=".",
        help="the folder of the study, which holds graphs/; default: here",
    )
    command.add_argument("--manifest", metavar="FILE", help="another one than the shipped one")
    command.add_argument(
        "--from",
        dest="source",
        metavar="URL",
        help="take the file from there (http, https or file); a URL that ends in / is a mirror "
        "that has the files under their names",
    )
    command.add_argument("--force", action="store_true", help="fetch again what is there")
    command.set_defaults(main=main)


def main(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    from ..study import manifest

    try:
        known = manifest.read(options.manifest)
    except manifest.ManifestError as error:
        fail(3, str(error))
    unknown = [name for name in options.names if name not in known]
    if unknown:
        fail(2, f"{unknown[0]}: no graph of the manifest; `hopwave-study fetch --list` has them")
    wanted = [known[name] for name in dict.fromkeys(options.names)]
    if options.list:
        table(wanted or list(known.values()), options.directory)
        return
    if not wanted:
        fail(2, "no graph; name some, or give --list")
    if options.source and not options.source.endswith("/") and len(wanted) > 1:
        fail(2, "--from names one file, and there are several graphs; end a mirror's URL in /")
    for graph in wanted:
        try:
            Fetch(graph, manifest.place(graph, options.directory), options).run()
        except OSError as error:
            fail(4, f"{error.filename or graph.name}: {error.strerror or error}")


# ---- the list ----


def state(path: Path) -> str:
    """What is there of a graph."""
    if path.is_file():
        return "here"
    return "begun" if part_of(path).is_file() else "-"


def size(graph: "Graph") -> str:
    if graph.bytes:
        return f"{graph.bytes / 1e6:.1f} MB"
    return f"~{graph.megabytes} MB" if graph.megabytes else "?"


def table(graphs: list["Graph"], folder: str) -> None:
    """Prints what is known of graphs, a line each."""
    from ..study import manifest

    rows = [("name", "here", "download", "vertices", "edges", "checksum", "of", "what")]
    for graph in graphs:
        rows.append(
            (
                graph.name,
                state(manifest.place(graph, folder)),
                size(graph),
                f"{graph.vertices:,}" if graph.vertices else "?",
                f"{graph.edges:,}" if graph.edges is not None else "?",
                "known" if graph.sha256 else "not seen",
                ",".join(graph.sets + graph.papers),
                graph.title,
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            c.rjust(w) if 2 <= i <= 4 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))
        ]
        print(printable("  ".join(cells).rstrip()))


# ---- a download ----


def part_of(path: Path) -> Path:
    """The file that a download is kept in until it is whole."""
    return path.with_name(path.name + ".part")


class CutError(Exception):
    """The connection ended, or never came to be: another try may help."""


class Fetch:
    """One graph on its way to its place."""

    def __init__(self, graph: "Graph", path: Path, options: argparse.Namespace) -> None:
        self.graph, self.path, self.force = graph, path, options.force
        self.part = part_of(path)
        self.about = path.with_name(path.name + ".part.json")  # what the server said of the file
        self.seen = path.with_name(path.name + ".sha256")
        self.url = graph.url
        if options.source:
            self.url = options.source
            if self.url.endswith("/"):
                self.url += graph.file
        if urlsplit(self.url).scheme not in ("http", "https", "file"):
            fail(2, f"--from: {self.url}: is no URL of http, https or file")
        self.shown = 0.0

    def run(self) -> None:
        """Gets the file, unless it is there; ends the program where that fails."""
        if self.path.is_file() and not self.force:
            self.verify(self.path)
            print(f"{self.graph.name}: {self.path} is there already")
            return
        os.makedirs(self.path.parent, exist_ok=True)
        # The lock is that of the file itself: it goes when the process does.
        with open(os.open(self.part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+b") as file:
            locked(file, f"{self.part}: another fetch is at work on it")
            self.download(file)
            file.flush()
            os.fsync(file.fileno())
            digest = self.verify(self.part)
            os.replace(self.part, self.path)
        self.about.unlink(missing_ok=True)
        if not self.graph.sha256:
            self.seen.write_text(f"{digest}  {self.path.name}\n")
        known = "as the manifest has it" if self.graph.sha256 else "the manifest has none yet"
        print(f"{self.graph.name}: {self.path}, {self.path.stat().st_size} bytes")
        print(f"sha256: {digest} ({known})")

    # ---- verification ----

    def expected(self) -> str | None:
        """The checksum of the manifest, or else that of the first download."""
        if self.graph.sha256:
            return self.graph.sha256
        try:
            words = self.seen.read_text(encoding="ascii", errors="replace").split()
        except OSError:
            return None
        return words[0] if words and len(words[0]) == 64 and not self.force else None

    def verify(self, path: Path) -> str:
        """Refuses a file that is not what the manifest says; returns its SHA-256."""
        length = path.stat().st_size
        with open_file(path) as file:
            head = file.read(512).lstrip().lower()
        if self.graph.bytes is not None and length != self.graph.bytes:
            self.refuse(path, f"has {length} bytes, and {self.graph.bytes} by the manifest")
        if length == 0:
            self.refuse(path, "is empty")
        if head.startswith((b"<!doctype html", b"<html")):
            self.refuse(path, "is a web page and no graph")
        digest, expected = bag.digest(path), self.expected()
        if expected and digest != expected:
            whose = "by the manifest" if self.graph.sha256 else f"by {self.seen.name}"
            self.refuse(path, f"has the SHA-256 {digest}, and {expected} {whose}")
        return digest

    def refuse(self, path: Path, why: str) -> None:
        """Ends the program; a download is kept aside, under another name."""
        if path != self.part:
            fail(3, f"{path}: {why}; --force fetches it again")
        aside = self.path.with_name(self.path.name + ".refused")
        number = 1
        while os.path.lexists(aside):
            number += 1
            aside = self.path.with_name(f"{self.path.name}.refused-{number}")
        os.replace(self.part, aside)
        self.about.unlink(missing_ok=True)
        fail(3, f"{self.url}: {why}; kept aside as {aside}")

    # ---- getting it ----

    def download(self, file: BinaryIO) -> None:
        """Fills the file, from where it ends on. A download that is cut is tried again, as long as
        every few tries bring something."""
        get = self.from_disk if urlsplit(self.url).scheme == "file" else self.from_server
        tries = 0
        while True:
            before = file.seek(0, os.SEEK_END)
            try:
                get(file, before)
                return
            except CutError as error:
                got = file.seek(0, os.SEEK_END)
                tries = 0 if got > before else tries + 1
                if tries >= TRIES:
                    kept = f"; {got} bytes are kept, and the next fetch goes on there"
                    fail(4, f"{self.url}: {error}{kept if got else ''}")
                time.sleep(WAIT * 2 ** max(0, tries - 1))

    def from_disk(self, file: BinaryIO, begin: int) -> None:
        """Copies a file of this machine. What was begun is begun anew."""
        path = unquote(urlsplit(self.url).path)
        try:
            source = open_file(path)
        except OSError as error:
            fail(4, f"{self.url}: {error.strerror or error}")
        with source:
            self.room(os.fstat(source.fileno()).st_size)
            file.truncate(0)
            file.seek(0)
            self.take(
                iter(lambda: source.read(BLOCK), b""), file, os.fstat(source.fileno()).st_size
            )

    def from_server(self, file: BinaryIO, begin: int) -> None:
        """Asks the server for what is missing. Raises CutError where the connection ends."""
        import requests

        headers = {"Accept-Encoding": "identity", "User-Agent": "hopwave-study"}
        told = self.told() if begin else {}
        if begin:
            headers["Range"] = f"bytes={begin}-"
            if told.get("validator"):
                headers["If-Range"] = told["validator"]
        try:
            with requests.Session() as session:
                session.max_redirects = REDIRECTS
                with session.get(
                    self.url, headers=headers, stream=True, timeout=(CONNECT, SILENCE)
                ) as answer:
                    self.receive(answer, file, begin)
        except requests.exceptions.TooManyRedirects:
            fail(4, f"{self.url}: leads from one place to the next without end")
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            fail(4, f"{self.url}: {error}")
        except requests.exceptions.RequestException as error:
            raise CutError(reason(error)) from None

    def receive(self, answer: Any, file: BinaryIO, begin: int) -> None:
        """Takes the body of an answer."""
        if answer.status_code == 416 and begin:
            # There is no more, or the file is another one by now.
            total = answer.headers.get("Content-Range", "").rpartition("/")[2]
            if total == str(begin):
                return
            file.truncate(0)
            raise CutError("the server has fewer bytes than were there before")
        if answer.status_code in (429, 500, 502, 503, 504):
            raise CutError(f"the server says {answer.status_code} {answer.reason}")
        if answer.status_code not in (200, 206):
            fail(4, f"{self.url}: the server says {answer.status_code} {answer.reason}")
        total = content_length(answer)
        if answer.status_code == 206:
            wanted = answer.headers.get("Content-Range", "").startswith(f"bytes {begin}-")
            if not wanted or begin == 0:
                fail(4, f"{self.url}: the server sends another part than it was asked for")
        else:
            begin = 0
            file.truncate(0)
        self.tell(answer)
        if total is not None:
            self.room(total)
        file.seek(begin)
        self.take(answer.iter_content(PACKET), file, None if total is None else begin + total)

    def take(self, blocks: Iterator[bytes], file: BinaryIO, total: int | None) -> None:
        """Writes what comes. More bytes than the manifest has are not waited for."""
        most = self.graph.bytes
        for block in blocks:
            file.write(block)
            at = file.tell()
            self.progress(at, total)
            if most is not None and at > most:
                file.flush()
                self.refuse(self.part, f"has more than {most} bytes, which it has by the manifest")
        file.flush()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)

    def room(self, more: int) -> None:
        """Refuses to begin what the disk cannot hold."""
        free = shutil.disk_usage(self.path.parent).free
        if more > free:
            fail(4, f"{self.path.parent}: {more} bytes are to come, {free} bytes are free")

    def progress(self, at: int, total: int | None) -> None:
        if not sys.stderr.isatty() or time.monotonic() < self.shown + 0.5:
            return
        self.shown = time.monotonic()
        of = f" of {total / 1e6:.1f}" if total else ""
        print(f"\r{self.graph.name}: {at / 1e6:.1f}{of} MB", end="", file=sys.stderr, flush=True)

    # ---- what the server said of the file, for the next try ----

    def tell(self, answer: Any) -> None:
        """Keeps what says whether the file is the same later: a strong ETag or a date."""
        etag = answer.headers.get("ETag", "")
        validator = etag if etag and not etag.startswith("W/") else ""
        validator = validator or answer.headers.get("Last-Modified", "")
        self.about.write_text(json.dumps({"url": self.url, "validator": validator}))

    def told(self) -> dict[str, str]:
        try:
            with open_file(self.about, 1 << 16) as file:
                said = json.load(file)
        except (OSError, ValueError):
            return {}
        same = isinstance(said, dict) and said.get("url") == self.url
        validator = said.get("validator") if same else ""
        plain = isinstance(validator, str) and validator.isprintable() and validator.isascii()
        return {"validator": validator} if plain and validator else {}


def content_length(answer: Any) -> int | None:
    text = answer.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def reason(error: Exception) -> str:
    """The innermost cause of a failure, in few words."""
    import requests

    if isinstance(error, requests.exceptions.Timeout):
        return "the server does not answer"
    inner: Any = error
    while isinstance(getattr(inner, "args", None), tuple) and inner.args:
        below = next((a for a in reversed(inner.args) if isinstance(a, Exception)), None)
        below = below or getattr(inner.args[0], "reason", None)
        if not isinstance(below, Exception):
            break
        inner = below
    text = getattr(inner, "strerror", None) or str(inner)
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection was cut"
    return f"the server cannot be reached: {text}"
