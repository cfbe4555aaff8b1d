"""Units that numbers of the results are shown in: few digits before the point."""

# For each unit: what it is for numbers below, the factor that brings them to it, its name.
Units = list[tuple[float, float, str]]

TIME: Units = [(1e-3, 1e6, "us"), (1.0, 1e3, "ms"), (float("inf"), 1.0, "s")]
BYTES: Units = [(1e3, 1.0, "B"), (1e6, 1e-3, "kB"), (1e9, 1e-6, "MB")]
BYTES += [(float("inf"), 1e-9, "GB")]
TEPS: Units = [(1e6, 1.0, "TEPS"), (1e9, 1e-6, "MTEPS"), (float("inf"), 1e-9, "GTEPS")]


def kind_of(column: str) -> Units | None:
    """The units of a column of the results, or None."""
    if column.endswith("_time"):
        return TIME
    if "bytes" in column:
        return BYTES
    return TEPS if column.endswith("_TEPS") else None


def timed(column: str) -> bool:
    """Whether a column is a time or a speed."""
    return kind_of(column) in (TIME, TEPS)


def unit_of(column: str, most: float) -> tuple[float, str | None]:
    """The factor that brings a column whose largest value is most to its unit, and the unit;
    1 and None for what has none."""
    for below, factor, unit in kind_of(column) or ():
        if most < below:
            return factor, unit
    return 1, None


def words(column: str, unit: str | None) -> str:
    """A column in words, with its unit."""
    name = column.replace("_", " ")
    if unit and name.endswith("TEPS"):
        return name.removesuffix("TEPS") + unit
    return f"{name}, {unit}" if unit else name


def quantity(column: str, value: float) -> str:
    """A value of a column with its unit, in three digits."""
    factor, unit = unit_of(column, value)
    scaled = value * factor
    text = f"{scaled:.3g}" if abs(scaled) < 1000 else f"{scaled:.0f}"
    return f"{text} {unit}" if unit else text
