"""Archives as bags (BagIt 1.0, RFC 8493): made with the bagit library, and checked here so
that whatever is wrong is named and nothing outside the folder is ever opened."""

import hashlib
import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ALGORITHM = "sha256"
MANIFEST = f"manifest-{ALGORITHM}.txt"
TAG_MANIFEST = f"tagmanifest-{ALGORITHM}.txt"
LINE = re.compile(r"([0-9a-f]{64}) {1,2}(\S.*)")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, ALGORITHM).hexdigest()


def make(folder, info):
    """Turns a folder into a bag: what it holds goes to data/ in it."""
    import bagit

    bagit.make_bag(str(folder), info, checksums=[ALGORITHM])


def seal(folder):
    """The digest that covers all manifests, and so every byte: to be kept elsewhere."""
    return f"{ALGORITHM}:{digest(Path(folder) / TAG_MANIFEST)}"


def contents(folder):
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


def listed(path):
    """What a manifest lists: digests by path, and whether each line can be read."""
    *lines, rest = path.read_bytes().decode("utf-8", "replace").split("\n")
    found = [LINE.fullmatch(line) for line in lines]
    entries = {match[2]: match[1] for match in found if match}
    return {unquote(name): entries[name] for name in entries}, all(found) and not rest


def unquote(name):
    """A path as it was before a manifest took it in."""
    return re.sub("%(0D|0A)", lambda match: chr(int(match[1], 16)), name)


def problems(folder, expected=None):
    """Everything that is wrong with a bag, each a sentence that begins with a path. With
    the digest that was kept elsewhere, nobody can have changed manifests and files alike.
    """
    folder = Path(folder)
    files, others = contents(folder)
    wrong = [f"{path}: neither a file nor a folder" for path in sorted(others)]
    covered = {TAG_MANIFEST}
    for manifest in (TAG_MANIFEST, MANIFEST):
        if manifest not in files:
            return [*wrong, f"{manifest}: missing"]
        entries, readable = listed(folder / manifest)
        if not readable:
            wrong.append(f"{manifest}: damaged")
        if manifest == TAG_MANIFEST and expected not in (None, seal(folder)):
            wrong.append(f"{manifest}: its digest is {seal(folder)}, not {expected}")
        covered |= set(entries)
        wrong += [f"{path}: missing" for path in sorted(set(entries) - files)]
        there = sorted(set(entries) & files)
        with ThreadPoolExecutor() as pool:
            digests = pool.map(digest, [folder / path for path in there])
        wrong += [
            f"{path}: not what {manifest} says"
            for path, value in zip(there, digests)
            if value != entries[path]
        ]
    wrong += [f"{path}: in no manifest" for path in sorted(files - covered)]
    return wrong
