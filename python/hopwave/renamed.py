"""Names of columns and attributes that changed with a version of the file format.

schemas/renamed.json has them, for the programs too: what is read here bears the names of today,
whichever version wrote it.
"""

import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

SCHEMAS = Path(__file__).resolve().parent / "schemas"
SINCE: dict[int, dict[str, dict[str, str]]] = {
    int(version): places
    for version, places in json.loads((SCHEMAS / "renamed.json").read_text()).items()
}


def renamed(place: str, version: int = 1) -> dict[str, str]:
    """The names of today for those of that version in a group or table of an HDF5 file, such as
    /run/steps, or in a CSV file of a study."""
    names: dict[str, str] = {}
    for since in sorted(SINCE):
        if since > version:
            new = SINCE[since].get(place, {})
            names = {old: new.get(name, name) for old, name in names.items()} | new
    return names


def current(name: str, place: str) -> str:
    """The name of today for one of any version."""
    return renamed(place).get(name, name)


def names_in(item: Any) -> dict[str, str]:
    """The names of today for those of an open group or dataset, by the version of its file."""
    return renamed(item.name, int(item.file.attrs["format_version"]))


def read_csv(
    path: str | PathLike[str], name: str | None = None, **options: Any
) -> "pandas.DataFrame":
    """A CSV file of a study, of any version, as a frame; name: what studies call it, if it was
    stored under another name."""
    from pandas import read_csv as read

    table: pandas.DataFrame = read(path, **options)
    names = {
        old: new
        for old, new in renamed(name or Path(path).name).items()
        if new not in table.columns
    }
    return table.rename(columns=names)
