"""Jobs of a study in few words, and the figure that came out of each."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..study.units import quantity

VERBS = {"import_file": "import", "traverse_alone": "traverse", "collect": "collect results"}
ORDER = ["generate", "import", "partition", "traverse", "validate"]
ROOTS = re.compile(r"-k\d+(-[a-z].*)?$")  # what a search's name says of its roots


def verb(rule: str) -> str:
    """A rule of the workflow in a word: what it does."""
    return VERBS.get(rule, rule.replace("_", " "))


def name(
    rule: str, wildcards: Mapping[str, Any], methods: bool = True, repeats: bool = True
) -> str:
    """A job in words, such as "traverse rmat-s14 2d-2x2"; with the method and the repeat of a
    search where the study has several."""
    words = [verb(rule)]
    for key, value in wildcards.items():
        if key == "search":
            words += [ROOTS.sub("", str(value))] if methods else []
        elif key == "repeat":
            words += [f"r{value}"] if repeats else []
        else:
            words.append(str(value))
    return " ".join(words)


def counted(rules: Mapping[str, int]) -> str:
    """Numbers of jobs by rule in words: those of the programs, then all others together."""
    numbers: dict[str, int] = {}
    for rule, number in rules.items():
        word = verb(rule)
        word = word if word in ORDER else "tables and plots"
        numbers[word] = numbers.get(word, 0) + number
    order = [*ORDER, "tables and plots"]
    return ", ".join(f"{numbers[word]} {word}" for word in order if word in numbers)


def figure(rule: str, outputs: Sequence[str]) -> str:
    """What came out of a job that has made its outputs; nothing where that is not known."""
    readers = {
        "generate": graph,
        "import": graph,
        "partition": size,
        "traverse": speed,
        "validate": validity,
    }
    reader = readers.get(verb(rule))
    if not reader or not outputs:
        return ""
    try:
        return reader(outputs[0])
    except (OSError, KeyError, ValueError, RuntimeError):
        return ""


def graph(path: str) -> str:
    import h5py

    with h5py.File(path) as file:
        return f"{int(file.attrs['vertices'])} vertices, {int(file.attrs['edges'])} edges"


def size(path: str) -> str:
    from pathlib import Path

    return quantity("bytes", Path(path).stat().st_size)


def speed(path: str) -> str:
    """TEPS, the harmonic mean over the roots; where the searches were checked as they were made
    and one is not valid, that."""
    import h5py

    from ..study.trees import attributes, verdict

    with h5py.File(path) as file:
        about, run = attributes(file), attributes(file["run"])
    if run.get("checked") and not verdict(path)[1]:
        return "NOT VALID"
    teps = run.get(f"{about['algorithm']}_harmonic_mean_TEPS")
    return quantity("harmonic_mean_TEPS", teps) if teps else ""


def validity(path: str) -> str:
    import h5py

    with h5py.File(path) as file:
        rules = file["rules"][...]
    valid = int((rules == 0).all(axis=1).sum())
    return (
        f"{valid} of {len(rules)} valid"
        if valid == len(rules)
        else f"NOT VALID: {valid} of {len(rules)}"
    )
