"""Graphs in the formats of other programs, read and written without Hopwave.

formats.py write SOURCE FOLDER   writes the undirected graph of SOURCE in every format, each
                                 pair listed once or twice, and FOLDER/list: lines of a file's
                                 name and the options that importing it needs
formats.py same GRAPH.h5 SOURCE  whether an imported graph is the undirected graph of SOURCE

SOURCE is a graph of Hopwave, an edge list, a DIMACS file or a Matrix Market file, maybe
compressed. It has no loops.
"""

import gzip
import io
import lzma
import sys
from pathlib import Path

import h5py
import numpy as np


def contents(path):
    """The bytes of a file, unpacked."""
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return lzma.decompress(data) if data[:6] == b"\xfd7zXZ\0" else data


def read_mtx(data):
    """A Matrix Market file, by SciPy where that is there."""
    try:
        from scipy.io import mmread

        matrix = mmread(io.BytesIO(data)).tocoo()
        pattern = b"pattern" in data[:100]
        return matrix.shape[0], matrix.row, matrix.col, None if pattern else matrix.data
    except ImportError:
        lines = [line for line in data.decode().splitlines() if line[0] != "%"]
        table = np.array([line.split() for line in lines[1:]], float)
        n = int(lines[0].split()[0])
        weights = table[:, 2] if table.shape[1] > 2 else None
        return n, table[:, 0].astype(int) - 1, table[:, 1].astype(int) - 1, weights


def read_text(data):
    """An edge list, whose ids are made 0 to n-1, or a DIMACS file, which counts from 1."""
    rows, n = [], None
    for line in data.decode().splitlines():
        word = line.split()
        if word and word[0] == "p":
            n = int(word[2])
        elif word and word[0] == "a":
            rows.append(word[1:])
        elif word and word[0][0] not in "#%c":
            rows.append(word)
    table = np.array(rows, float)
    weights = table[:, 2] if table.shape[1] > 2 else None
    ids = table[:, :2].astype(int)
    label = np.unique(ids) if n is None else np.arange(1, n + 1)
    source, target = np.searchsorted(label, ids).T
    return len(label), source, target, weights


def read(path):
    """Vertices, sources, targets, and weights or None, as listed."""
    if Path(path).suffix == ".h5":
        with h5py.File(path) as f:
            weights = f["edges/weight"][()] if "weight" in f["edges"] else None
            edges = [f[f"edges/{end}"][()].astype(int) for end in ("source", "target")]
            return int(f.attrs["vertices"]), *edges, weights
    data = contents(path)
    return read_mtx(data) if data[:2] == b"%%" else read_text(data)


def fold(n, source, target, weights):
    """Each pair once, the lesser end first, with the least weight, sorted."""
    assert (source != target).all()
    low, high = np.minimum(source, target), np.maximum(source, target)
    key = low * n + high
    order = np.lexsort((weights, key)) if weights is not None else np.argsort(key, kind="stable")
    first = order[np.unique(key[order], return_index=True)[1]]
    return low[first], high[first], None if weights is None else weights[first]


# ---- writing ----


def text(path, head, columns):
    lines = zip(*(column.tolist() for column in columns))
    body = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    path.write_text(head + body)


def write_listed(folder, name, n, source, target, weights):
    """Formats that list edges; returns (file, options) of each."""
    m, weighed = len(source), weights is not None
    more = [weights] if weighed else []
    vertices = f"--vertices {n}"
    text(folder / f"edges-{name}", "# a comment\n", [source, target, *more])
    yield f"edges-{name}", vertices
    kind = "general" if name == "twice" else "symmetric"
    high, low = np.maximum(source, target), np.minimum(source, target)
    ends = [source, target] if name == "twice" else [high, low]
    field = "integer" if weighed else "pattern"
    head = f"%%MatrixMarket matrix coordinate {field} {kind}\n% a comment\n{n} {n} {m}\n"
    text(folder / f"mtx-{name}", head, [ends[0] + 1, ends[1] + 1, *more])
    yield f"mtx-{name}", ""
    if weighed:
        arcs = [np.full(m, "a"), source + 1, target + 1, weights]
        text(folder / f"gr-{name}", f"c a comment\np sp {n} {m}\n", arcs)
        yield f"gr-{name}", ""
    else:
        text(folder / f"tw-{name}", f"p tw {n} {m}\n", [source + 1, target + 1])
        yield f"tw-{name}", ""
        packed = np.stack([source, target, 0 * source], axis=1).astype("<u4")
        (folder / f"packed-{name}").write_bytes(packed.tobytes())
        yield f"packed-{name}", f"--format packed {vertices}"


def write_lists(folder, n, source, target, weights):
    """Formats that list neighbours: source and target hold both directions."""
    m, weighed = len(source), weights is not None
    order = np.lexsort((target, source))
    target, offset = target[order], np.searchsorted(source[order], np.arange(n + 1))
    items = np.stack([target + 1, weights[order]], axis=1) if weighed else target + 1
    rows = [" ".join(map(str, items[a:b].ravel().tolist())) for a, b in zip(offset, offset[1:])]
    head = f"% a comment\n{n} {m // 2}{' 001' if weighed else ''}\n"
    (folder / "metis").write_text(head + "\n".join(rows) + "\n")
    yield "metis", "--format metis"
    items = np.stack([target, weights[order]], axis=1) if weighed else target
    parts = [np.uint8(0), np.array([m, n], "<i8"), offset.astype("<i8"), items.astype("<i4")]
    (folder / "gap").write_bytes(b"".join(part.tobytes() for part in parts))
    yield "gap", ""


def write(source_path, folder):
    folder.mkdir()
    n, *listed = read(source_path)
    low, high, weights = fold(n, *listed)
    random = np.random.default_rng(1)
    turned = random.random(len(low)) < 0.5
    order = random.permutation(len(low))
    once = [np.where(turned, low, high)[order], np.where(turned, high, low)[order]]
    twice = [np.concatenate([low, high]), np.concatenate([high, low])]
    heavy = [None, None]
    if weights is not None:
        weights = weights.astype(int)
        heavy = [weights[order], np.concatenate([weights, weights])]
    files = [
        *write_listed(folder, "once", n, *once, heavy[0]),
        *write_listed(folder, "twice", n, *twice, heavy[1]),
        *write_lists(folder, n, *twice, heavy[1]),
    ]
    (folder / "list").write_text("".join(f"{name} {options}\n" for name, options in files))


def same(graph, source):
    n, *edges = read(graph)
    m, *listed = read(source)
    assert n == m, (n, m)
    with h5py.File(graph) as f:
        if "vertices/label" in f:
            ids = np.array(
                [line.split() for line in contents(source).decode().splitlines() if line[0] != "#"],
                int,
            )
            assert (f["vertices/label"][()] == np.unique(ids)).all()
    for got, expected in zip(fold(n, *edges), fold(m, *listed)):
        assert got is None or expected is None or (got == expected).all()
    assert len(edges[0]) == len(fold(n, *edges)[0])


if sys.argv[1] == "write":
    write(sys.argv[2], Path(sys.argv[3]))
else:
    same(*sys.argv[2:])
