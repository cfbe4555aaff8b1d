"""Changes to archives that must be noticed: tamper.py WORKFLOW COMMAND ARGUMENT...

flips TAR N         flips N bytes all over a tar file, one at a time, and fails unless each
                    is found and the file that it lies in is named
each FOLDER N       flips a byte of each file of a bag, and N of the manifest of manifests, one
                    at a time, and fails unless each is found and the file named first
flip FILE           flips a byte in the middle of a file
hostile KIND TAR    writes a tar file that must not be unpacked
parent TREE GRAPH   gives one vertex another legal parent, with digests that hold
orphan FOLDER FILE  makes a file one of another graph, in the table of files too
table KIND TREE TO  makes the table of searches of a tree one that leads to a file, or claims more
member external FILE NAME TO  makes a member of a file a link to another one
cell CSV FILE COLUMN VALUE  changes a value in the row of a file
bag FOLDER          brings the manifests up to date with what lies in a folder
"""

import random
import sys
import tarfile
import tempfile
from pathlib import Path

WORKFLOW = Path(sys.argv[1])
sys.path.insert(0, str(WORKFLOW.parent / "python"))
from hopwave.commands.bag import TAG_MANIFEST, problems
from hopwave.commands.pack import DamageError, NoArchiveError, header, unpack


def places(tar):
    """Offsets of bytes of each kind in a tar file, with the file that they belong to."""
    with tarfile.open(tar) as file:
        members = file.getmembers()
    for member in members:
        name, end = member.name.split("/", 1)[1], member.offset_data + member.size
        for offset in (
            member.offset + 156,
            member.offset_data - 357,
            member.offset_data - 1,
        ):
            yield offset, name
        if member.size:
            yield random.randrange(member.offset_data, end), name
        if member.size % 512:
            yield end + (-end % 512) - 1, name
    size = Path(tar).stat().st_size
    yield size - 1, tar
    yield end + (-end % 512), tar


def findings(tar):
    """What is said of a tar file."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return problems(unpack(Path(tar), folder))
        except (DamageError, NoArchiveError) as error:
            return [str(error)]


def flips(tar, count):
    random.seed(1)
    known = list(places(tar))
    size = Path(tar).stat().st_size
    chosen = random.sample(known[:-2], int(count)) + known[-2:]
    chosen += [(random.randrange(size), "") for _ in range(int(count) // 4)]
    missed = 0
    for offset, name in chosen:
        swap(tar, offset)
        said = findings(tar)
        swap(tar, offset)
        if not any(Path(name).name in sentence for sentence in said):
            missed += 1
            print(f"byte {offset} of {name}: {said or 'not found'}")
    if findings(tar):
        sys.exit("what was flipped back is still found")
    sys.exit(1 if missed else 0)


def swap(path, offset, bits=0x20):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0] ^ bits
        file.seek(offset)
        file.write(bytes([byte]))


def each(folder, count):
    random.seed(1)
    files = [p for p in Path(folder).rglob("*") if p.is_file() and p.stat().st_size]
    files += [Path(folder, TAG_MANIFEST)] * int(count)
    missed = 0
    for path in files:
        name, offset = path.relative_to(folder), random.randrange(path.stat().st_size)
        bits = 1 << random.randrange(8)
        swap(path, offset, bits)
        said = problems(folder)
        swap(path, offset, bits)
        # A name in a manifest may be wrong there, or that of the file.
        if not any(s.startswith(f"{name}:") or f"or {name} is damaged" in s for s in said):
            missed += 1
            print(f"byte {offset} of {name}: {said or 'not found'}")
    if problems(folder):
        sys.exit("what was flipped back is still found")
    sys.exit(1 if missed else 0)


def flip(path):
    swap(path, Path(path).stat().st_size // 2)


def hostile(kind, tar):
    with open(tar, "wb") as file:
        if kind == "outside":
            file.write(header("bag/../../outside", 0))
        elif kind == "absolute":
            file.write(header("/tmp/bagit-absolute", 0))
        elif kind == "twice":
            file.write(header("S/bagit.txt", 0) * 2)
        elif kind in ("record", "blank", "negative", "nul"):
            file.write(extended(RECORDS[kind]))
        elif kind == "long":
            file.write(header(f"S/{'a' * 300}", 0))
        elif kind == "under":
            file.write(header("S/a", 0) + header("S/a/b", 0))
        else:
            info = tarfile.TarInfo("S/bagit.txt")
            info.type = {"link": tarfile.SYMTYPE, "device": tarfile.CHRTYPE}[kind]
            info.linkname = "/etc/passwd" if kind == "link" else ""
            file.write(info.tobuf(tarfile.PAX_FORMAT))
        file.write(bytes(10240))


RECORDS = {
    "record": b"99999999999999999999 path=S/a\n",
    "blank": b"12\n",
    "negative": b"11 size=-5\n",
    "nul": b"14 path=S/a\0b\n",
}


def extended(records):
    """A file with an extended header."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, len(records)
    head = info.tobuf(tarfile.USTAR_FORMAT) + records.ljust(512, b"\0")
    return head + tarfile.TarInfo("S/a").tobuf(tarfile.USTAR_FORMAT)


def table(kind, tree, to):
    import h5py
    import numpy

    with h5py.File(tree, "r+") as file:
        run, old = file["run"], file["run/search"]
        values, names = old[...], dict(old.attrs)
        del run["search"]
        if kind == "external":
            run["search"] = h5py.ExternalLink(to, "/run/search")
            return
        if kind == "soft":
            run["other"], run["search"] = values, h5py.SoftLink("/run/other")
            return
        if kind == "storage":
            size = [(to, 0, values.nbytes)]
            new = run.create_dataset("search", values.shape, values.dtype, external=size)
        elif kind == "virtual":
            layout = h5py.VirtualLayout(values.shape, values.dtype)
            layout[:] = h5py.VirtualSource(to, "run/search", values.shape)
            new = run.create_virtual_dataset("search", layout)
        elif kind == "claim":
            new = run.create_dataset("search", (1 << 40,), values.dtype)
        else:
            chunks = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            chunks.set_chunk(values.shape)
            chunks.set_filter(32000, h5py.h5z.FLAG_OPTIONAL, (1,))
            space = h5py.h5s.create_simple(values.shape)
            kind = h5py.h5t.py_create(values.dtype)
            h5py.h5d.create(run.id, b"search", kind, space, chunks)
            new = run["search"]
        for name, value in names.items():
            new.attrs[name] = numpy.bytes_(value)


def member(kind, path, name, to):
    import h5py

    with h5py.File(path, "r+") as file:
        del file[name]
        file[name] = h5py.ExternalLink(to, f"/{name}")


def cell(path, name, column, value):
    import pandas

    table = pandas.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[table["file"] == name, column] = value
    table.to_csv(path, index=False)


def parent(tree, graph):
    import h5py
    import numpy
    import xxhash

    with h5py.File(tree, "r+") as t, h5py.File(graph) as g:
        ends = numpy.stack([g["edges/source"][...], g["edges/target"][...]]).astype(int)
        u, v = numpy.concatenate([ends, ends[::-1]], axis=1)
        level, parents = t["level"][0], t["parent"][...]
        other = numpy.flatnonzero((level[u] + 1 == level[v]) & (parents[0, v] != u))[0]
        parents[0, v[other]] = u[other]
        t["parent"][...] = parents
        blocks = b"".join(xxhash.xxh3_128_digest(row.tobytes()) for row in parents)
        digest = numpy.bytes_(f"xxh3-128:{xxhash.xxh3_128_hexdigest(blocks)}")
        t["parent"].attrs.modify("digest", digest)


def orphan(folder, name):
    import h5py

    table = Path(folder, "files.csv")
    with h5py.File(Path(folder, name), "r+") as file:
        old = file.attrs["graph_digest"].decode()
        new = old[:-4] + "0000"
        file.attrs.modify("graph_digest", new.encode())
    lines = table.read_text().splitlines(keepends=True)
    lines = [x.replace(old, new) if x.startswith(name) else x for x in lines]
    table.write_text("".join(lines))


def bag(folder):
    import bagit

    bagit.Bag(folder).save(manifests=True)


globals()[sys.argv[2]](*sys.argv[3:])
