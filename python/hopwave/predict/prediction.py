"""Predictions that are written down, with a digest, before a run, and assessed after it."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import DamagedFileError, DigestError, FileError
from ..files.trees import Trees

LARGEST = 1 << 20  # bytes of a prediction
KIND = "hopwave-prediction"
VERSION = 1
# What must be the same of a prediction and of the run that it is held against.
SAME = ("algorithm", "device", "method", "transport", "parts", "vertices")
TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("algorithm", "device", "method", "transport", "written"), (str,)),
    **dict.fromkeys(("parts", "vertices"), (int,)),
    "seconds": (int, float),
}


@dataclass(frozen=True)
class Verdict:
    """A prediction next to a run: mean seconds of a search, and whether it was written first."""

    predicted: float
    measured: float
    before: bool

    @property
    def error(self) -> float:
        """By how much the prediction is too high, as a share of what was measured."""
        return self.predicted / self.measured - 1


def about(tree: Trees) -> dict[str, Any]:
    """What a prediction says of the run that it is about: that of a tree file."""
    run = tree.run
    named = {key: run.get(key, "") for key in ("device", "method", "transport")}
    parts = int(run.get("parts", 0))
    return {"algorithm": tree.algorithm, **named, "parts": parts, "vertices": tree.vertices}


def digest(content: Mapping[str, Any]) -> str:
    """Of all keys but the digest itself."""
    plain = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def write(path: Path, content: Mapping[str, Any]) -> str:
    """Writes a prediction with the time, and returns its digest."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    whole = {"kind": KIND, "format_version": VERSION, "written": now, **content}
    whole["digest"] = digest(whole)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
    return str(whole["digest"])


def read(path: Path) -> dict[str, Any]:
    """A prediction whose digest is right. FileError where it is none."""
    try:
        if path.is_file() and path.stat().st_size > LARGEST:
            raise FileError(path, f"is larger than {LARGEST} bytes, too large for a prediction")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise FileError(path, "is no prediction: it is not JSON") from None
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise FileError(path, "is no prediction")
    if content.get("format_version") != VERSION:
        raise FileError(path, "is a prediction of a version that this program does not know")
    for key, types in TYPES.items():
        value = content.get(key)
        if isinstance(value, bool) or not isinstance(value, types):
            raise DamagedFileError(path, f"does not say {key} as a prediction does")
    if not math.isfinite(content["seconds"]) or content["seconds"] <= 0:
        raise DamagedFileError(path, "predicts no time above 0")
    try:
        found = digest(content)
    except ValueError:
        raise DamagedFileError(path, "holds a number that is none") from None
    if content.get("digest") != found:
        raise DigestError(path, "is not as it was written: its digest differs")
    return content


def assess(path: Path, tree: Trees) -> Verdict:
    """Holds a prediction against a run. FileError where it is about another run."""
    content, run = read(path), about(tree)
    for key in SAME:
        if content[key] != run[key]:
            raise FileError(
                path, f"is about {key} {content[key]}, and {tree.path} has {key} {run[key]}"
            )
    searches = tree.table("search")
    name = "seconds_search_order"
    if name not in (searches.dtype.names or ()) or not len(searches):
        raise FileError(tree.path, "has no times of searches")
    measured = float(searches[name].mean())
    if not math.isfinite(measured) or measured <= 0:
        raise DamagedFileError(tree.path, "has a time of a search that is none")
    started = str(tree.run.get("started", ""))
    return Verdict(content["seconds"], measured, bool(started) and content["written"] <= started)
