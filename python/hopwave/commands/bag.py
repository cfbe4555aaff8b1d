"""Archives as bags (BagIt 1.0, RFC 8493): made with the bagit library, and checked here so
that whatever is wrong is named and nothing outside the folder is ever opened."""

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .base import open_file

ALGORITHM = "sha256"
MANIFEST = f"manifest-{ALGORITHM}.txt"
TAG_MANIFEST = f"tagmanifest-{ALGORITHM}.txt"
FEW = 8  # letters of a digest
MOST_ALIKE = 1 << 20  # pairs of names that are compared
# No name has a digest in it: there the end of a line is missing.
LINE = re.compile(r"([0-9a-f]{64}) {1,2}(?!.*[0-9a-f]{64} )(\S.*)")


def digest(path: str | os.PathLike[str]) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, ALGORITHM).hexdigest()


def make(folder: str | os.PathLike[str], info: dict[str, str]) -> None:
    """Turns a folder into a bag: what it holds goes to data/ in it."""
    import bagit

    bagit.make_bag(str(folder), info, checksums=[ALGORITHM])
    # The library separates with one blank here, where sha256sum wants two.
    manifest = Path(folder) / TAG_MANIFEST
    lines = manifest.read_text(encoding="utf-8").splitlines()
    lines = ["  ".join(line.split(" ", 1)) for line in sorted(lines)]
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")


def seal(folder: str | os.PathLike[str]) -> str:
    """The digest that covers all manifests, and so every byte: to be kept elsewhere."""
    return f"{ALGORITHM}:{digest(Path(folder) / TAG_MANIFEST)}"


def contents(folder: str | os.PathLike[str]) -> tuple[set[str], set[str]]:
    """Files of a folder, and those of its entries that no archive has, as paths."""
    files, others = set(), set()
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = Path(parent, name)
            kind = path.lstat().st_mode
            if stat.S_ISREG(kind):
                files.add(path.relative_to(folder).as_posix())
            elif not stat.S_ISDIR(kind):
                others.add(path.relative_to(folder).as_posix())
    return files, others


def listed(path: Path) -> tuple[dict[str, str], bool]:
    """What a manifest lists: digests by path, and whether each line can be read."""
    *lines, rest = path.read_bytes().decode("utf-8", "replace").split("\n")
    found = [LINE.fullmatch(line) for line in lines]
    entries = {match[2]: match[1] for match in found if match}
    return {unquote(name): entries[name] for name in entries}, all(found) and not rest


def unquote(name: str) -> str:
    """A path as it was before a manifest took it in."""
    return re.sub("%(0D|0A)", lambda match: chr(int(match[1], 16)), name)


def problems(folder: str | os.PathLike[str], expected: str | None = None) -> list[str]:
    """Everything that is wrong with a bag, each a sentence that begins with a path. With
    the digest that was kept elsewhere, nobody can have changed manifests and files alike.
    """
    folder = Path(folder)
    files, others = contents(folder)
    wrong = [f"{path}: neither a file nor a folder" for path in sorted(others)]
    covered: set[str] = {TAG_MANIFEST}
    missing: dict[str, str] = {}
    for manifest in (TAG_MANIFEST, MANIFEST):
        if manifest not in files:
            return [*wrong, f"{manifest}: missing"]
        entries, readable = listed(folder / manifest)
        if not readable:
            wrong.append(f"{manifest}: damaged")
        if manifest == TAG_MANIFEST and expected not in (None, seal(folder)):
            wrong.append(f"{manifest}: its digest is {seal(folder)}, not {expected}")
        covered |= set(entries)
        there = sorted(set(entries) & files)
        with ThreadPoolExecutor() as pool:
            digests = pool.map(digest, [folder / path for path in there])
        wrong += [
            differs(manifest, path, entries[path], value)
            for path, value in zip(there, digests)
            if value != entries[path]
        ]
        missing |= {path: manifest for path in sorted(set(entries) - files)}
    strange = sorted(files - covered)
    near = strange if len(strange) * len(missing) <= MOST_ALIKE else []
    wrong += [f"{path}: missing{alike(path, missing[path], near)}" for path in missing]
    wrong += [f"{path}: in no manifest" for path in strange]
    return wrong


def differs(manifest: str, path: str, said: str, found: str) -> str:
    """A sentence on a digest that is not as listed. Whatever happens to a file changes
    nearly all letters of its digest; where a few differ, they are damaged themselves.
    """
    if sum(a != b for a, b in zip(said, found)) < FEW:
        return f"{manifest}: the digest of {path} in it is damaged"
    return f"{path}: not what {manifest} says"


def alike(path: str, manifest: str, strange: Iterable[str]) -> str:
    """Where a file is missing under the name that a manifest has, and another one is there
    that is called nearly so: that the manifest may be at fault."""
    for other in strange:
        letters = sum(a != b for a, b in zip(other, path))
        if path[1:] == other or (len(path) == len(other) and letters == 1):
            return f", or {manifest} is damaged, for {other} is there"
    return ""
