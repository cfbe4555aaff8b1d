"""Claims of papers that results can be held against.

A claim is a text about the lines of a figure:

    claim  := value ['over' value] ['for' range {'and' range}] [how] bound
    value  := [('mean'|'median'|'least'|'most') 'of'] [column {'+' column} 'of'] line ['less' line]
              ['at' x]
    range  := 'x' ('<'|'<='|'>'|'>='|'='|'!=') x | 'x' 'from' number 'to' number
    how    := 'everywhere' | 'somewhere' | 'in' 'the' ('mean'|'geometric mean'|'median')
    bound  := 'at' ('least'|'most') number | 'above' number | 'below' number
            | 'between' number 'and' number | 'rises' | 'falls' | 'is' ('least'|'most') 'at' x

A line is a value of the figure's `by`, x one of its `x`; where no column is named it is `y`. Names
with spaces, and those that are words of this language, stand in quotes. `12%` is 0.12.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, geometric_mean, median
from typing import Any

HOLDS = "holds"
DIFFERS = "differs"
WITHIN = "holds within the range tested"
UNTESTABLE = "not testable here"

TOKEN = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|(<=|>=|!=|[<>=+])|([^\s\"'<>=!+]+))")
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
COMBINE: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "least": min,
    "most": max,
}
MEANS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "geometric mean": geometric_mean,
    "median": median,
}
WORDS = {"over", "for", "and", "at", "of", "in", "is", "above", "below", "between", "rises"}
WORDS |= {"less", "falls", "everywhere", "somewhere", "x", *COMBINE}
SLACK = 1e-9  # what rounding may do to a bound that is met exactly


class ClaimError(Exception):
    """One sentence: where a claim does not parse."""


@dataclass(frozen=True)
class Value:
    """Of one line at every x, or at one, or all of them as one number; less that of another."""

    line: str
    columns: tuple[str, ...] = ()
    at: str | None = None
    combine: str | None = None
    less: str | None = None


@dataclass(frozen=True)
class Claim:
    """A text, taken apart."""

    value: Value
    over: Value | None
    ranges: tuple[tuple[str, str], ...]
    how: str
    bound: str
    limits: tuple[Any, ...] = ()

    def values(self) -> list[Value]:
        return [self.value, self.over] if self.over else [self.value]

    def lines(self) -> list[str]:
        named = [value.line for value in self.values()]
        return named + [value.less for value in self.values() if value.less is not None]

    def columns(self) -> list[str]:
        return [column for value in self.values() for column in value.columns]

    def places(self) -> list[str]:
        """The x that it names."""
        named = [value.at for value in self.values() if value.at is not None]
        named += [x for sign, x in self.ranges if sign in ("=", "!=")]
        return named + (list(self.limits) if self.bound.startswith("is ") else [])


def number(text: str) -> float | None:
    """A finite number of a text, which may be percent, or None."""
    digits, factor = (text[:-1], 0.01) if text.endswith("%") else (text, 1.0)
    try:
        value = float(digits) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Parser:
    """Takes a claim apart from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, bool]] = []  # words, and whether they are quoted
        end = 0
        while end < len(text.rstrip()):
            match = TOKEN.match(text, end)
            if not match:
                raise ClaimError(f"has a quote without its end: {text[end:].strip()}")
            quoted = match[1] if match[1] is not None else match[2]
            plain = match[3] or match[4] or ""
            self.tokens.append((plain if quoted is None else quoted, quoted is not None))
            end = match.end()
        self.at = 0

    def ahead(self, *words: str) -> bool:
        """Whether these words are next."""
        following = self.tokens[self.at : self.at + len(words)]
        return following == [(word, False) for word in words]

    def take(self, *words: str) -> bool:
        """Goes past these words if they are next."""
        if not self.ahead(*words):
            return False
        self.at += len(words)
        return True

    def fail(self, wanted: str) -> ClaimError:
        here = f"'{self.tokens[self.at][0]}'" if self.at < len(self.tokens) else "its end"
        return ClaimError(f"has {here} where {wanted} should be")

    def need(self, *words: str) -> None:
        if not self.take(*words):
            raise self.fail(f"'{' '.join(words)}'")

    def name(self, wanted: str) -> str:
        """A quoted text, or a word that is none of the language."""
        if self.at < len(self.tokens):
            text, quoted = self.tokens[self.at]
            if text and (quoted or not (text in WORDS or text in COMPARE or text == "+")):
                self.at += 1
                return text
        raise self.fail(wanted)

    def number(self) -> float:
        value = number(self.tokens[self.at][0]) if self.at < len(self.tokens) else None
        if value is None:
            raise self.fail("a number")
        self.at += 1
        return value

    def value(self) -> Value:
        combine = next((word for word in COMBINE if self.take(word, "of")), None)
        names = [self.name("the name of a line")]
        columns: tuple[str, ...] = ()
        if self.ahead("+") or self.ahead("of"):
            while self.take("+"):
                names.append(self.name("a column"))
            self.need("of")
            columns, names = tuple(names), [self.name("the name of a line")]
        less = self.name("the name of a line") if self.take("less") else None
        at = None
        if self.ahead("at") and not self.ahead("at", "least") and not self.ahead("at", "most"):
            self.need("at")
            at = self.name("a value of x")
        return Value(names[0], columns, at, combine, less)

    def ranges(self) -> Iterator[tuple[str, str]]:
        while True:
            self.need("x")
            if self.take("from"):
                yield ">=", repr(self.number())
                self.need("to")
                yield "<=", repr(self.number())
            else:
                sign = next((sign for sign in COMPARE if self.take(sign)), None)
                if not sign:
                    raise self.fail("one of < <= > >= = != or 'from'")
                yield sign, (
                    self.name("a value of x") if sign in ("=", "!=") else repr(self.number())
                )
            if not self.take("and"):
                return

    def how(self) -> str:
        for word in ("everywhere", "somewhere"):
            if self.take(word):
                return word
        if self.take("in", "the"):
            for name in ("geometric mean", *MEANS):
                if self.take(*name.split()):
                    return name
            raise self.fail("'mean', 'geometric mean' or 'median'")
        return "everywhere"

    def bound(self) -> tuple[str, tuple[Any, ...]]:
        for words in ("at least", "at most", "above", "below"):
            if self.take(*words.split()):
                return words, (self.number(),)
        if self.take("between"):
            low = self.number()
            self.need("and")
            high = self.number()
            if low > high:
                raise ClaimError(f"is between {low:g} and {high:g}, where nothing is")
            return "between", (low, high)
        for words in ("rises", "falls"):
            if self.take(words):
                return words, ()
        for words in ("is least", "is most"):
            if self.take(*words.split(), "at"):
                return words, (self.name("a value of x"),)
        raise self.fail("a bound such as 'at least 1.0'")

    def claim(self) -> Claim:
        value = self.value()
        over = self.value() if self.take("over") else None
        ranges = tuple(self.ranges()) if self.take("for") else ()
        how = self.how()
        bound, limits = self.bound()
        if self.at < len(self.tokens):
            raise self.fail("its end")
        if how != "everywhere" and bound.split()[0] in ("rises", "falls", "is"):
            raise ClaimError(f"says both '{how}' and '{bound}'")
        return Claim(value, over, ranges, how, bound, limits)


def parse(text: str) -> Claim:
    """A text taken apart, or ClaimError."""
    return Parser(text).claim()


def same(x: Any, text: str) -> bool:
    """Whether a value of x, or of `by`, is the one that a text names: a number, or a name, of a
    graph without what tells it from others of that name."""
    if isinstance(x, str):
        return x == text or x.startswith(f"{text}, ")
    wanted = number(text)
    return wanted is not None and math.isclose(float(x), wanted, rel_tol=1e-9)


@dataclass
class Outcome:
    """What became of a claim."""

    verdict: str
    why: str = ""
    here: float | None = None
    points: list[dict[str, Any]] = field(default_factory=list)  # x, value, and what it is made of


class UntestableError(Exception):
    """Why the results do not decide."""


# What a claim is held against: the values of columns of a line, by x.
Lines = Callable[[str, tuple[str, ...]], "Mapping[Any, float]"]


def taken(value: Value, lines: Lines) -> dict[Any, float] | float:
    """The numbers of a value: by x, or one."""
    found = dict(lines(value.line, value.columns))
    if not found:
        raise UntestableError(f"no run of {value.line}")
    if value.less is not None:
        other = lines(value.less, value.columns)
        found = {x: y - other[x] for x, y in found.items() if x in other}
        if not found:
            raise UntestableError(f"no run of {value.less} next to {value.line}")
    if value.at is not None:
        chosen = [v for x, v in found.items() if same(x, value.at)]
        if not chosen:
            raise UntestableError(f"no run of {value.line} at {value.at}")
        return chosen[0] if len(chosen) == 1 else median(chosen)
    if value.combine:
        return COMBINE[value.combine](list(found.values()))
    return found


def kept(x: Any, ranges: Sequence[tuple[str, str]]) -> bool:
    for sign, limit in ranges:
        if sign in ("=", "!="):
            if same(x, limit) != (sign == "="):
                return False
        elif isinstance(x, str) or not COMPARE[sign](float(x), float(limit)):
            return False
    return True


def points_of(claim: Claim, lines: Lines) -> list[dict[str, Any]]:
    """The numbers that a claim is about, with what they are made of."""
    upper = taken(claim.value, lines)
    lower = taken(claim.over, lines) if claim.over else None
    if not isinstance(upper, dict) and not isinstance(lower, dict):
        places, spread = [None], False
    else:
        by_x = [part for part in (upper, lower) if isinstance(part, dict)]
        places = [x for x in by_x[0] if all(x in part for part in by_x)]
        spread = True
    points = []
    for x in places:
        if spread and not kept(x, claim.ranges):
            continue
        above = upper[x] if isinstance(upper, dict) else upper
        below = lower[x] if isinstance(lower, dict) else lower
        if below == 0:
            continue
        value = above if below is None else above / below
        points.append({"x": x, "value": value, "measured": above, "over": below})
    if not points:
        raise UntestableError("nothing was run where it says")
    return points


def meets(bound: str, limits: Sequence[float], value: float) -> bool:
    slack = SLACK * max(1.0, abs(value))
    match bound:
        case "at least":
            return value >= limits[0] - slack
        case "at most":
            return value <= limits[0] + slack
        case "above":
            return value > limits[0]
        case "below":
            return value < limits[0]
    return limits[0] - slack <= value <= limits[1] + slack


def farthest(bound: str, limits: Sequence[float], values: Sequence[float]) -> float:
    """Of several numbers the one that comes nearest to breaking a bound, or breaks it most."""
    if bound in ("at least", "above"):
        return min(values)
    if bound in ("at most", "below"):
        return max(values)
    return max(values, key=lambda value: max(limits[0] - value, value - limits[1]))


def nearest(bound: str, limits: Sequence[float], values: Sequence[float]) -> float:
    """The one that a bound is met best by."""
    if bound in ("at least", "above"):
        return max(values)
    if bound in ("at most", "below"):
        return min(values)
    return min(values, key=lambda value: max(limits[0] - value, value - limits[1]))


def where(points: Sequence[Mapping[str, Any]]) -> str:
    """Some x and their numbers in words."""
    shown = [
        f"{p['value']:.4g}" + ("" if p["x"] is None else f" at {text_of(p['x'])}") for p in points
    ]
    return ", ".join(shown[:6]) + (", ..." if len(shown) > 6 else "")


def text_of(x: Any) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def decided(claim: Claim, points: list[dict[str, Any]]) -> Outcome:
    """Whether the numbers are as a claim has them."""
    values = [point["value"] for point in points]
    if claim.bound in ("rises", "falls"):
        if len(points) < 2:
            raise UntestableError("there is one point alone")
        up = claim.bound == "rises"
        against = [
            after
            for before, after in pairwise(points)
            if (after["value"] < before["value"] if up else after["value"] > before["value"])
        ]
        verdict = DIFFERS if against else HOLDS
        last = values[-1] / values[0] if values[0] else None
        return Outcome(verdict, where(points), last, points)
    if claim.bound.startswith("is "):
        best = COMBINE[claim.bound.removeprefix("is ")](values)
        found = next(point["x"] for point in points if point["value"] == best)
        if not any(same(point["x"], claim.limits[0]) for point in points):
            raise UntestableError(f"nothing was run at {claim.limits[0]}")
        verdict = HOLDS if same(found, claim.limits[0]) else DIFFERS
        return Outcome(verdict, where(points), best, points)
    if claim.how in MEANS:
        if claim.how == "geometric mean" and min(values) <= 0:
            raise UntestableError("a number is not above 0")
        here: float = MEANS[claim.how](values)
    else:
        pick = nearest if claim.how == "somewhere" else farthest
        here = pick(claim.bound, claim.limits, values)
    verdict = HOLDS if meets(claim.bound, claim.limits, here) else DIFFERS
    return Outcome(verdict, where(points), here, points)


def tested(claim: Claim, lines: Lines) -> Outcome:
    """The verdict on a claim."""
    try:
        return decided(claim, points_of(claim, lines))
    except UntestableError as error:
        return Outcome(UNTESTABLE, str(error))


def ranged(outcome: Outcome, entry: Mapping[str, Any], axis: str) -> Outcome:
    """A claim that holds, but where less was run than the paper has.

    entry  may have "range", the least and the most x of the paper or the names of all, and
           "within", what was run in place of what the paper has
    """
    if outcome.verdict != HOLDS:
        return outcome
    notes = [entry["within"]] if "within" in entry else []
    xs = [point["x"] for point in outcome.points if point["x"] is not None]
    asked = entry.get("range")
    if asked and all(isinstance(x, (int, float)) for x in asked) and xs:
        low, high = min(map(float, xs)), max(map(float, xs))
        if low > min(asked) or high < max(asked):
            notes.insert(0, f"{axis} {low:g} to {high:g} of {min(asked):g} to {max(asked):g}")
    elif asked:
        missing = [str(name) for name in asked if not any(same(x, str(name)) for x in xs)]
        if missing:
            notes.insert(0, f"without {', '.join(missing)}")
    if notes:
        return Outcome(WITHIN, f"{'; '.join(notes)}: {outcome.why}", outcome.here, outcome.points)
    return outcome
