"""The methods of hopwave-traverse and their options, as the program itself describes them."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any

# An entry of `methods` in a study; what the program says of a method, or of an option.
Entry = Mapping[str, Any]
Descriptor = dict[str, Any]


class MethodError(Exception):
    """One sentence: what of a method's entry in a study is wrong, after the name of its key."""


@cache
def table() -> Descriptor:
    """What hopwave-traverse --list-methods=json says."""
    program = shutil.which("hopwave-traverse")
    if not program:
        raise MethodError("hopwave-traverse, which knows the methods, is not on PATH")
    done = subprocess.run([program, "--list-methods=json"], capture_output=True, text=True)
    if done.returncode:
        raise MethodError(f"hopwave-traverse --list-methods: {done.stderr.strip()}")
    described: Descriptor = json.loads(done.stdout)
    return described


def names() -> list[str]:
    """All methods, each once, and auto."""
    return ["auto", *dict.fromkeys(m["name"] for m in table()["methods"])]


def engines(method: Entry) -> list[Descriptor]:
    """What an entry of `methods` may run: the descriptors of its name, algorithm and device."""
    return [
        m
        for m in table()["methods"]
        if method["method"] in ("auto", m["name"])
        and m["algorithm"] == method["algorithm"]
        and m["device"] == method["device"]
    ]


def one_part(method: Entry) -> bool:
    """Whether it is for graphs in one part alone."""
    return all(m["parts"] == "one" for m in engines(method))


def layouts(method: Entry) -> list[str]:
    """The layouts that it is for. A 2d layout of one row is the 1d layout under another name,
    and in one part the two are the same."""
    found = set()
    for m in engines(method):
        flat = m["parts"] == "one" or m["one_row_only"]
        found |= set(m["layouts"]) - ({"2d"} if flat else set())
    return [k for k in ("1d", "2d", "degree-separated") if k in found]


def negative_weights(method: Entry) -> bool:
    """Whether it accepts negative weights."""
    return any(m["negative_weights"] for m in engines(method))


def check_option(name: str, value: Any) -> None:
    """Raises MethodError for a value that the program would refuse."""
    option = next(o for o in table()["options"] if o["name"] == name)
    kind, text = option["type"], value if isinstance(value, str) else json.dumps(value)
    quoted = json.dumps(value)
    number = value if isinstance(value, (int, float)) else None
    if kind in ("count", "real") and isinstance(value, str):
        whole = re.fullmatch(r"-?[0-9]+", value)
        try:
            number = int(value) if whole else float(value)
        except ValueError:
            number = None
    if isinstance(value, bool) and kind != "flag":
        number = None
    if kind == "flag" and value is not True:
        raise MethodError(f"is {quoted}, but takes no value: only true applies here")
    if kind in ("choice", "switch") and text not in option["words"]:
        raise MethodError(f"is {quoted}, but must be one of {', '.join(option['words'])}")
    if kind == "choices":
        words, known = text.split(","), option["words"]
        for word in words:
            if word not in known:
                raise MethodError(f"is {quoted}, but must be of {', '.join(known)}")
            alone = known.index(word) in (0, *range(option["exclusive_word"], len(known)))
            if alone and len(words) > 1:
                raise MethodError(f"is {quoted}, but {word} stands alone")
    if kind == "count":
        if not isinstance(number, int):
            raise MethodError(f"is {quoted}, but must be a whole number")
        if not option["min"] <= number <= option["max"]:
            raise MethodError(f"is {quoted}, but must be from {option['min']} to {option['max']}")
    if kind == "real":
        if number is None:
            raise MethodError(f"is {quoted}, but must be a number")
        if number <= 0:
            raise MethodError(f"is {quoted}, but must be above 0")
        if number > option.get("max", number):
            raise MethodError(f"is {quoted}, but must be at most {option['max']:g}")
    if kind == "range":
        ends = re.fullmatch(r"([0-9]+):([0-9]+)", text)
        low, high = map(int, ends.groups()) if ends else (0, 0)
        powers = not option["powers_of_two"] or not (low & (low - 1) or high & (high - 1))
        if not (ends and option["min"] <= low <= high <= option["max"] and powers):
            raise MethodError(
                f"is {quoted}, but must be a range within {option['min']}:{option['max']}"
                + (" of powers of two" if option["powers_of_two"] else "")
            )


def check_entry(method: Entry) -> None:
    """Raises MethodError, whose sentence begins with the key, for an entry of `methods` that no
    method fits."""
    name, algorithm = method["method"], method["algorithm"]
    alike = [m for m in table()["methods"] if name in ("auto", m["name"])]
    known = [m["name"] for m in table()["methods"] if m["algorithm"] == algorithm]
    if not any(m["algorithm"] == algorithm for m in alike):
        others = ", ".join(["auto", *dict.fromkeys(known)])
        raise MethodError(f'.method is "{name}", but must be one of {others}')
    if not engines(method):
        device = next(m["device"] for m in alike if m["algorithm"] == algorithm)
        raise MethodError(f'.device is "{method["device"]}", but only "{device}" applies here')
    own = {option for m in engines(method) for option in m["options"]}
    given = {f".options.{key}": (key, value) for key, value in method["options"].items()}
    for key in ("direction", "exchange", "delta"):
        if method.get(key, "auto") != "auto":
            given[f".{key}"] = (key, method[key])
    for where, (key, value) in given.items():
        if key in own:
            try:
                check_option(key, value)
            except MethodError as error:
                raise MethodError(f"{where} {error}") from None
        elif key not in table()["general_options"]:
            owners = dict.fromkeys(m["name"] for m in table()["methods"] if key in m["options"])
            raise MethodError(
                f"{where} is for {' and '.join(owners)}, and the method is {name}"
                if owners
                else f"{where}: hopwave-traverse has no such option"
            )
    check_requirements(given, published(method))


def published(method: Entry) -> dict[str, Any]:
    """What --as-published sets of an entry that gives it; raises MethodError where no method of its
    name has a table of such options."""
    if "as-published" not in method["options"]:
        return {}
    if method["options"]["as-published"] is not True:
        value = json.dumps(method["options"]["as-published"])
        raise MethodError(
            f".options.as-published is {value}, but takes no value: only true applies here"
        )
    tables = [m["as_published"] for m in engines(method) if m["as_published"]]
    if not tables:
        those = dict.fromkeys(m["name"] for m in table()["methods"] if m["as_published"])
        raise MethodError(
            f".options.as-published is for {', '.join(those)}, and the method is {method['method']}"
        )
    return {key: value for values in tables for key, value in values.items()}


def check_requirements(
    given: Mapping[str, tuple[str, Any]], implied: Mapping[str, Any] | None = None
) -> None:
    """Raises MethodError for an option without the word of another that it is for. implied: the
    values of options that are not given, where they are not the defaults."""
    values = {**(implied or {}), **{key: value for key, value in given.values()}}
    for where, (key, _) in given.items():
        option: Descriptor = next((o for o in table()["options"] if o["name"] == key), {})
        for other, words in option.get("requires", {}).items():
            default = next(o for o in table()["options"] if o["name"] == other)["default"]
            value = values.get(other, default)
            if (default if value == "auto" else value) not in words:
                raise MethodError(f"{where} is for {other} {' or '.join(words)}")
