#!/usr/bin/env python3
"""Checks the structure of the source tree: layers, includes, headers and sizes.

usage: check-tree.py [--no-compile] ROOT

Prints one line for each violation, "FILE:LINE: MESSAGE", and exits 1 if there is any.

The rules:
  layers    A file includes headers of its own folder, of lower layers and of folders named
            for it. Methods do not include sibling methods.
  top       An include in quotes names its file from the top of the tree.
  unique    No two headers have the same name.
  place     Includes stand before the first declaration, so that no file is a fragment of
            another.
  alone     Every header compiles alone; all headers of lib/ compile in one file, in both
            orders, and so do all C headers of gpu/.
  cuda      Neither code nor comments of lib/ name CUDA, but for words that users type or read, in
            string literals; tests are free.
  size      A folder has at most 20 sources and headers (tests not counted), a file at most
            700 lines, a function at most 70 lines and 8 parameters, a struct at most 25 fields.
  run       Tests that are scripts are executable.

The compilers come from the environment: CC (with MPI's headers) and CXX, and HW_CPPFLAGS for
other headers. Kernels' headers are compiled against the emulated devices of gpu/emulated.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = (".c", ".h", ".cu", ".cuh", ".cc")
HEADERS = (".h", ".cuh")

# Layers, lowest first. Folders of one line are siblings, which do not include each other.
LIB_LAYERS = [
    ["lib/base"],
    ["lib/guard"],
    ["lib/comm"],
    ["lib/store", "lib/store/catalogue", "lib/store/digest"],
    ["lib/graph", "lib/graph/generate", "lib/graph/generate/spatial"],
    ["lib/graph/import/input"],
    [
        "lib/graph/import",
        "lib/graph/import/formats",
        "lib/graph/export",
        "lib/graph/characteristics",
    ],
    ["lib/layout", "lib/layout/build"],
    ["lib/verify", "lib/verify/rules", "lib/verify/reference"],
    ["lib/engine/options"],
    ["lib/engine/core"],
    ["lib/engine/sssp"],
    ["lib/engine/sssp_shared"],
    [
        "lib/engine/serial",
        "lib/engine/bfs_2d",
        "lib/engine/bfs_delegates",
        "lib/engine/sssp_2d",
        "lib/engine/sssp_delegates",
    ],
]
GPU_LAYERS = [
    ["gpu/device"],
    ["gpu/comm"],
    ["gpu/graph", "gpu/graph/build"],
    ["gpu/partition1d"],
    ["gpu/validate"],
    ["gpu/engine"],
    ["gpu/bfs/common", "gpu/sssp/common"],
    # The engine of shortest paths in any layout; delta's single kernel speeds it up.
    ["gpu/sssp/distributed"],
    [
        "gpu/bfs/direction_optimizing",
        "gpu/bfs/merge",
        "gpu/bfs/adaptive",
        "gpu/bfs/grid2d",
        "gpu/bfs/delegates",
        "gpu/sssp/delta",
        "gpu/sssp/bellman",
    ],
    ["gpu"],
]
TOP_LAYERS = [["lib/run/auto"], ["lib/run", "lib/run/results"], ["lib/run/probe", "lib/run/single"], ["stages"]]

# One layer of several folders that belong together: these may include each other.
TOGETHER = {
    "lib/store",
    "lib/store/catalogue",
    "lib/store/digest",
    "lib/graph",
    "lib/graph/generate",
    "lib/graph/generate/spatial",
    "lib/graph/import",
    "lib/graph/import/formats",
    "lib/layout",
    "lib/layout/build",
    "lib/verify",
    "lib/verify/rules",
    "lib/verify/reference",
    "lib/run",
    "lib/run/results",
    "gpu/graph",
    "gpu/graph/build",
}
# Includes that go up, each with its reason.
ALLOWED = {
    # The table of all methods holds those of GPUs: all that lib/ knows of them.
    ("lib/engine/core/method_registry.c", "gpu/hopwave_gpu.h"),
    # Partitions can be built on a GPU without an engine.
    ("stages/partition.c", "gpu/hopwave_gpu.h"),
    # Links between GPUs are probed without an engine.
    ("stages/traverse.c", "gpu/hopwave_gpu.h"),
}
# What others may include of gpu/; files of gpu/ that implement it include it, too.
PUBLIC = "gpu/hopwave_gpu.h"
# Folders that may include from anywhere.
FREE = ("tests/", "bench/")
FOLDER_MOST, FILE_MOST, FUNCTION_MOST, PARAMETERS_MOST, FIELDS_MOST = 20, 700, 70, 8, 25

CUDA = re.compile(r"cuda|nvshmem|nvcc|__(?:host|device|global|shared)__", re.IGNORECASE)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
FUNCTION = re.compile(r"([~\w]+)\s*\((.*)\)[^()]*$", re.DOTALL)


def levels() -> dict[str, int]:
    """The level of each folder."""
    order = LIB_LAYERS + GPU_LAYERS + TOP_LAYERS
    return {folder: level for level, folders in enumerate(order) for folder in folders}


def sources(root: Path) -> list[str]:
    """All sources and headers of gpu/, lib/ and stages/, without the stand-ins for CUDA."""
    found = []
    for top in ("gpu", "lib", "stages"):
        for folder, _, names in os.walk(root / top):
            where = Path(folder).relative_to(root).as_posix()
            if not where.startswith("gpu/emulated"):
                found += [f"{where}/{name}" for name in names if name.endswith(SOURCES)]
    return sorted(found)


def is_test(file: str) -> bool:
    """Whether a file is a test, or belongs to one."""
    return os.path.basename(file).startswith(("test_", "lose_", "make_"))


def family(folder: str, level: dict[str, int]) -> str:
    """The folder of the layers that this one is, or lies in."""
    while folder not in level and "/" in folder:
        folder = os.path.dirname(folder)
    return folder


def may_include(file: str, header: str, level: dict[str, int]) -> bool:
    """Whether the layers let `file` include `header`."""
    if is_test(file) or (file, header) in ALLOWED or header == "config.h":
        return True
    if header == PUBLIC and file.startswith("gpu/"):
        return True
    above, below = family(os.path.dirname(file), level), family(os.path.dirname(header), level)
    if above == below or header.startswith("gpu/emulated/"):
        return True
    if above not in level or below not in level:
        return False
    if level[above] == level[below]:
        return above in TOGETHER and below in TOGETHER
    if below.startswith("gpu") and not above.startswith("gpu"):
        return False
    return level[below] < level[above]


def check_includes(root: Path, files: list[str]) -> Iterator[str]:
    """Rules `layers`, `top` and `place`."""
    level = levels()
    for file in files:
        begun = False
        for number, line in enumerate((root / file).read_text().split("\n"), 1):
            begun = begun or line.startswith(("namespace", "{", "static ", "struct ", "enum "))
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            if header != "config.h" and not (root / header).is_file():
                yield f'{file}:{number}: "{header}" is not named from the top of the tree'
            elif not may_include(file, header, level):
                yield f'{file}:{number}: "{header}" is not below this folder'
            elif begun and not line.startswith(("extern", "#include <")):
                yield f'{file}:{number}: "{header}" is included after the first declaration'


def check_cuda(root: Path, files: list[str]) -> Iterator[str]:
    """Rule `cuda`."""
    for file in files:
        if not file.startswith("lib/") or is_test(file):
            continue
        for number, line in enumerate((root / file).read_text().split("\n"), 1):
            text = line if line.lstrip().startswith("#") else STRING.sub('""', line)
            match = CUDA.search(text)
            if match:
                yield f"{file}:{number}: {match.group()} belongs to gpu/"


def check_unique(files: list[str]) -> Iterator[str]:
    """Rule `unique`."""
    where = defaultdict(list)
    for file in files:
        if file.endswith(HEADERS):
            where[os.path.basename(file)].append(file)
    for places in where.values():
        for file in places[1:]:
            yield f"{file}:1: there is a header of this name at {places[0]}"


def parameters(text: str) -> int:
    """How many parameters a list has."""
    depth, count = 0, 0 if text.strip() in ("", "void") else 1
    for char in text:
        depth += (char in "(<") - (char in ")>")
        count += char == "," and depth == 0
    return count


def check_functions(file: str, lines: list[str]) -> Iterator[str]:
    """Functions that are too long or take too much; braces stand as clang-format puts them."""
    for indent in ("", "    "):
        begin: tuple[int, str] | None = None
        for number, line in enumerate(lines):
            if line == indent + "{":
                first = number
                while first > 0 and lines[first - 1].strip():
                    if lines[first - 1].rstrip().endswith((";", "}", "*/")):
                        break
                    first -= 1
                begin = (first, " ".join(lines[first:number]))
            elif line in (indent + "}", indent + "};") and begin:
                first, head = begin
                begin = None
                match = FUNCTION.search(head)
                name = match.group(1) if match else head.strip()
                if number - first + 1 > FUNCTION_MOST:
                    yield f"{file}:{first + 1}: {name} has {number - first + 1} lines"
                if match and parameters(match.group(2)) > PARAMETERS_MOST:
                    yield f"{file}:{first + 1}: {name} has {parameters(match.group(2))} parameters"


STRUCT = re.compile(r"(?:typedef )?struct (\w+)(?: final)?(?: : .*)? \{")


def check_structs(file: str, text: str) -> Iterator[str]:
    """Structs with too many fields; functions among them do not count."""
    lines = re.sub(
        r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.S
    ).split("\n")
    begin: tuple[int, str] | None = None
    fields = 0
    for number, line in enumerate(lines, 1):
        match = STRUCT.fullmatch(line)
        if match:
            begin, fields = (number, match.group(1)), 0
        elif begin and line.startswith("}"):
            if fields > FIELDS_MOST:
                yield f"{file}:{begin[0]}: struct {begin[1]} has {fields} fields"
            begin = None
        elif begin and line.rstrip().endswith(";") and "(" not in line:
            fields += 1 + line.count(",")


def check_sizes(root: Path, files: list[str]) -> Iterator[str]:
    """Rule `size`."""
    folders = Counter(os.path.dirname(file) for file in files if not is_test(file))
    for folder, count in folders.items():
        if count > FOLDER_MOST:
            yield f"{folder}:1: {count} sources and headers"
    for file in files:
        lines = (root / file).read_text().split("\n")
        if len(lines) - 1 > FILE_MOST and not is_test(file):
            yield f"{file}:1: {len(lines) - 1} lines"
        yield from check_functions(file, lines)
        yield from check_structs(file, "\n".join(lines))


def check_executable(root: Path) -> Iterator[str]:
    """Tests are run by their names: those that are scripts must be executable."""
    for script in sorted((root / "tests").rglob("*.t")):
        with script.open("rb") as file:
            is_script = file.read(2) == b"#!"
        if is_script and not os.access(script, os.X_OK):
            yield f"{script.relative_to(root).as_posix()}: is not executable"


def compilations(files: list[str]) -> Iterator[tuple[str, list[str], bool]]:
    """What is to compile in one file each: a name for it, headers, whether as C++."""
    lib = [file for file in files if file.startswith("lib/") and file.endswith(".h")]
    gpu = [file for file in files if file.startswith("gpu/") and file.endswith(".h")]
    for file in files:
        if file.endswith(HEADERS):
            yield file, [file], file.endswith(".cuh")
    for together, name in ((lib, "lib"), (gpu, "gpu")):
        if together:
            yield f"{name}: all C headers together", together, False
            yield f"{name}: all C headers together, the other way round", together[::-1], False


def compile_headers(root: Path, folder: str, job: tuple[str, list[str], bool]) -> list[str]:
    """Compiles some headers in one file; the first error, if any."""
    name, headers, cpp = job
    source = os.path.join(folder, re.sub(r"\W", "_", name) + (".cc" if cpp else ".c"))
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{header}"\n' for header in headers)
    flags = ["-D_GNU_SOURCE", "-I", str(root), "-isystem", str(root / "gpu/emulated/include")]
    if cpp:
        compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-w"]
        flags += ["-include", "cuda_runtime.h"]
    else:
        compiler = [*shlex.split(os.environ.get("CC", "mpicc")), "-std=gnu11"]
    flags += shlex.split(os.environ.get("HW_CPPFLAGS", ""))
    command = [*compiler, "-fsyntax-only", *flags, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    errors = [line for line in done.stderr.split("\n") if "error:" in line] or ["no reason given"]
    return [f"{name}:1: does not compile: {errors[0]}"]


def check_headers(root: Path, files: list[str]) -> Iterable[str]:
    """Rule `alone`."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for errors in pool.map(lambda job: compile_headers(root, folder, job), compilations(files)):
            yield from errors


def main() -> int:
    """Checks the tree and prints what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--no-compile", action="store_true", help="leave out the rule `alone`")
    parser.add_argument("root", type=Path)
    options = parser.parse_args()
    root = options.root.resolve()
    files = sources(root)
    wrong = [
        *check_includes(root, files),
        *check_cuda(root, files),
        *check_unique(files),
        *check_sizes(root, files),
        *check_executable(root),
    ]
    if not options.no_compile:
        wrong += check_headers(root, files)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
