"""What a file of each kind may and must hold: the schemas, and a check of a file against its own.

The dialect is that of doc/file-formats.md: conditions on root attributes say which attributes and
datasets belong to a file, sizes are sums of products of numbers, attributes and named dimensions.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..renamed import SCHEMAS
from ..study import hdf5

KINDS = ("graph", "partition", "tree", "check")
COMMON = {"format", "format_version", "complete", "digest"}
GROUPS = {"parameters", "run"}

Value = int | float | str
Schema = dict[str, Any]


class SchemaError(ValueError):
    """A sentence without the file's name: what does not follow the schema."""


@cache
def schema_of(kind: str) -> Schema:
    """The schema of a kind of file."""
    schema: Schema = json.loads((SCHEMAS / f"{kind}.json").read_text())
    return schema


def plain(value: object) -> Value:
    """An attribute's value as an int, a float or a str. SchemaError for any other."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (int, float, str)):
        return value
    raise SchemaError("an attribute is neither a number nor a text")


def attributes_of(item: h5py.Group | h5py.Dataset) -> dict[str, Value]:
    """The attributes of a group or dataset, as plain values."""
    return {name: plain(value) for name, value in item.attrs.items()}


def holds(condition: Mapping[str, Any], attributes: Mapping[str, Value]) -> bool:
    """Whether all members of a condition hold for root attributes."""
    for name, wanted in condition.items():
        value = attributes.get(name)
        if value is None:
            return False
        if isinstance(wanted, list):
            if value not in wanted:
                return False
        elif not within(value, wanted):
            return False
    return True


def within(value: Value, limits: Mapping[str, Any]) -> bool:
    """Whether a value lies from `min` to `max`, as far as these are given."""
    if isinstance(value, str):
        return not {"min", "max"} & limits.keys()
    return bool(limits.get("min", value) <= value <= limits.get("max", value))


def size_of(text: str, known: Mapping[str, Value]) -> int:
    """The value of a size. SchemaError if it has a name that nothing gives a size."""
    total = 0
    for summand in text.split("+"):
        product = 1
        for factor in map(str.strip, summand.split("*")):
            names = factor.split("|")  # the first that has a value
            found = (int(name) if name.isdigit() else known.get(name) for name in names)
            value = next((one for one in found if one is not None), None)
            if not isinstance(value, int):
                raise SchemaError(f"nothing says how large '{factor}' is")
            product *= value
        total += product
    return total


def type_name(dtype: np.dtype[Any]) -> str:
    """A type as the schemas call it: kind and bits."""
    return f"{dtype.kind}{8 * dtype.itemsize}" if dtype.byteorder != ">" else "big-endian"


def dtype_of(name: str) -> np.dtype[Any]:
    """The type of NumPy that the schemas call so."""
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type, or that of a table's rows, in the byte order of our files."""
    return dtype.newbyteorder("<")


def converted(data: NDArray[Any], dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    """The values as another type. SchemaError where some do not fit it."""
    if data.dtype == dtype:
        return data
    with np.errstate(over="ignore", invalid="ignore"):
        found = data.astype(dtype)
    if dtype.names is None and not np.array_equal(found, data, equal_nan=dtype.kind == "f"):
        raise SchemaError(f"{path} holds values that do not fit {type_name(dtype)}")
    return found


def check_attribute(name: str, rule: Schema, attributes: Mapping[str, Value]) -> None:
    """Checks one root attribute."""
    value = attributes.get(name)
    if not holds(rule.get("when", {}), attributes):
        if value is not None:
            raise SchemaError(f"attribute '{name}' does not belong here")
        return
    if value is None:
        if rule.get("optional"):
            return
        raise SchemaError(f"has no attribute '{name}'")
    types: dict[str, type | tuple[type, ...]] = {"i64": int, "f64": (int, float)}
    if not isinstance(value, types.get(rule["type"], str)):
        raise SchemaError(f"attribute '{name}' is of another type than {rule['type']}")
    if value not in rule.get("enum", [value]) or not within(value, rule):
        raise SchemaError(f"attribute '{name}' is {value!r}, which it may not be")


def check_attributes(schema: Schema, attributes: Mapping[str, Value]) -> None:
    """Checks all root attributes."""
    for name, rule in schema["attributes"].items():
        check_attribute(name, rule, attributes)
    for name in attributes:
        if name not in schema["attributes"] and name not in COMMON:
            raise SchemaError(f"attribute '{name}' does not belong here")


def datasets_of(file: h5py.File) -> dict[str, h5py.Dataset]:
    """All datasets outside /run, by path. SchemaError for links and groups that lead elsewhere."""
    found = {}
    for name, item in children(file, ""):
        if isinstance(item, h5py.Dataset):
            found[f"/{name}"] = item
        elif name != "run":
            if name not in GROUPS and len(item.attrs):
                raise SchemaError(f"/{name}: its attributes do not belong here")
            for inner, dataset in children(item, f"/{name}"):
                if not isinstance(dataset, h5py.Dataset):
                    raise SchemaError(f"/{name}/{inner} does not belong here")
                found[f"/{name}/{inner}"] = dataset
    return found


def children(group: h5py.Group, path: str) -> list[tuple[str, h5py.Group | h5py.Dataset]]:
    """What a group holds, all of it in the file itself."""
    found = []
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise SchemaError(f"{path}/{name} is a link")
        item = group[name]
        if not isinstance(item, (h5py.Group, h5py.Dataset)):
            raise SchemaError(f"{path}/{name} does not belong here")
        if isinstance(item, h5py.Dataset):
            check_storage(item)
        found.append((name, item))
    return found


def check_storage(dataset: h5py.Dataset) -> None:
    """A dataset lies in the file, in one piece or in others: none is in another file, or larger
    than what is stored of it."""
    name = dataset.name
    try:
        hdf5.check_storage(dataset, name.lstrip("/"))
    except hdf5.NotInsideError as error:
        raise SchemaError(str(error)) from None
    if dataset.shape is None or len(dataset.shape) not in (1, 2):
        raise SchemaError(f"{name} has neither one dimension nor two")
    in_one_piece = dataset.id.get_create_plist().get_layout() == h5py.h5d.CONTIGUOUS
    offset, size = dataset.id.get_offset(), dataset.size * dataset.dtype.itemsize
    if in_one_piece and size and (offset is None or offset + size > dataset.file.id.get_filesize()):
        raise SchemaError(f"{name} lies beyond the end of the file")
    if "digest" not in dataset.attrs:
        raise SchemaError(f"{name} has no digest")


def check_datasets(
    schema: Schema, attributes: Mapping[str, Value], datasets: Mapping[str, h5py.Dataset]
) -> dict[str, np.dtype[Any]]:
    """Checks that the datasets are those of the schema, of its shapes and kinds; the types that it
    gives them, whose bytes the digests are of. Files that other programs have written anew may
    have other byte orders and widths."""
    rules: dict[str, Schema] = schema["datasets"]
    for path in datasets:
        if path not in rules:
            raise SchemaError(f"{path} does not belong here")
    for path, rule in rules.items():
        wanted = holds(rule.get("when", {}), attributes)
        if path in datasets and not wanted:
            raise SchemaError(f"{path} does not belong here")
        if path not in datasets and wanted and not rule.get("optional"):
            raise SchemaError(f"has no {path}")
    sizes = dict(attributes)
    types: dict[str, np.dtype[Any]] = {}
    for path, dataset in datasets.items():
        for dimension, length in zip(rules[path]["shape"], dataset.shape):
            if dimension.replace(" ", "").isidentifier():
                sizes.setdefault(dimension, length)
    for path, dataset in datasets.items():
        types[path] = check_dataset(path, dataset, rules[path], attributes, sizes)
    for rule in schema.get("rules", []):
        if holds(rule["when"], attributes):
            one, other = rule["equal"]
            if size_of(one, sizes) != size_of(other, sizes):
                raise SchemaError(f"{one} is not {other}")
    return types


def check_dataset(
    path: str,
    dataset: h5py.Dataset,
    rule: Schema,
    attributes: Mapping[str, Value],
    sizes: Mapping[str, Value],
) -> np.dtype[Any]:
    """Checks type, shape and segments of one dataset; the type that the schema gives it."""
    types = [name for name, when in rule["types"].items() if holds(when, attributes)]
    same = [name for name in types if name == type_name(dataset.dtype)]
    kinds = {"f": "f", "i": "iu", "u": "iu"}
    alike = [name for name in types if dataset.dtype.kind in kinds[name[0]]]
    if not same and not alike:
        raise SchemaError(f"{path} is of another type than {' or '.join(types)}")
    shape = tuple(size_of(dimension, sizes) for dimension in rule["shape"])
    if dataset.shape != shape:
        raise SchemaError(f"{path} is of shape {dataset.shape}, not {shape}")
    segments = dataset.attrs.get("segments")
    if (None if segments is None else plain(segments)) != rule.get("segments"):
        raise SchemaError(f"{path} does not name the dataset that cuts it")
    return dtype_of((same + alike)[0])
