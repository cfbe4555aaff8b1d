"""What the commands share: errors, and where the workflow and the programs are."""

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ..study.configuration import Study

LARGEST = 1 << 20  # bytes of a configuration
NODES = 10_000  # its texts, numbers, lists and mappings, with aliases written out


@dataclass
class Place:
    """Where hopwave-study lies."""

    folder: Path  # holds workflow/, config/ and schemas/
    here: Path  # holds hopwave-study itself
    building: bool  # here is a build folder
    mpiexec: str
    version: str


def printable(text: str) -> str:
    """A text on one line, without what would control a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def fail(status: int, message: str) -> NoReturn:
    shown = message if len(message) <= 2000 else f"{message[:2000]}..."
    print(f"hopwave-study: {printable(shown)}", file=sys.stderr)
    sys.exit(status)


def locked(file: Any, taken: str) -> bool:
    """Locks an open file until it is closed, or ends the program with a message where another
    process has it. Returns whether the file system knows locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail(4, taken)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK):
            raise
        return False
    return True


def open_file(path: str | os.PathLike[str], most: int | None = None) -> BufferedReader:
    """Opens a regular file for reading, of so many bytes at most. Raises OSError for anything
    else: a FIFO would block, a device need not end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    about, wrong = os.fstat(descriptor), None
    if not stat.S_ISREG(about.st_mode):
        wrong = "a folder" if stat.S_ISDIR(about.st_mode) else "not a file"
    elif most is not None and about.st_size > most:
        wrong = f"larger than {most} bytes"
    if wrong:
        os.close(descriptor)
        raise OSError(0, wrong, str(path))
    return open(descriptor, "rb")


def check_output(path: Path, force: bool) -> None:
    """Refuses an output that is there, as the programs do: without force, or where it is, or is
    a link to, neither a file nor a folder."""
    if not os.path.lexists(path):
        return
    descriptor = os.path.islink(path) and os.readlink(path).startswith("/proc/self/fd/")
    known = os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)
    if descriptor or not known:
        fail(4, f"{path}: is no plain file, and is not replaced by one")
    if not force:
        fail(2, f"{path}: exists already; --force replaces it")


def need(place: Place, *packages: str) -> None:
    """Refuses to start without packages of Python."""
    for package in packages:
        if not find_spec(package):
            wanted = place.folder / "workflow" / "envs" / "requirements.txt"
            fail(4, f"{sys.executable} has no {package}: pip install -r {wanted}")


def use_programs(place: Place, folder: str | Path | None, *programs: str) -> None:
    """Puts the programs of a folder, or those beside hopwave-study, first on PATH, for
    the workflow too. Refuses to start without them."""
    folder = Path(folder).resolve() if folder else place.here
    os.environ["HOPWAVE_BIN"] = str(folder)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    if Path(place.mpiexec).is_file():
        os.environ.setdefault("HOPWAVE_MPIEXEC", place.mpiexec)
    missing = [p for p in programs if not shutil.which(f"hopwave-{p}")]
    if missing:
        fail(4, f"hopwave-{missing[0]} is not on PATH; name its folder with --bin")


def plain_loader() -> Any:
    """A loader of YAML that takes no key twice, leaves dates the texts they are, and refuses
    aliases that multiply what is written."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {  # noqa: RUF012
            first: [(tag, form) for tag, form in known if not tag.endswith("timestamp")]
            for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

        def get_single_node(self) -> Any:
            node = super().get_single_node()
            if node is not None and written_out(node, {}) > NODES:
                raise yaml.YAMLError(f"holds more than {NODES} values")
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value if key.value != "<<"]
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                line = node.start_mark.line + 1
                raise yaml.YAMLError(f"holds the key '{twice}' twice in line {line}")
            return super().construct_mapping(node, deep)

    return Loader


def written_out(node: Any, known: dict[Any, int | None]) -> int:
    """The nodes below a node of YAML, and it, where each alias stands for a copy; counts no
    further than is allowed. Raises ValueError for a node that holds itself.
    known: those of the nodes that were counted already."""
    if isinstance(node.value, str):
        return 1
    if id(node) not in known:
        known[id(node)] = None
        count = 1
        for entry in node.value:
            for below in entry if isinstance(entry, tuple) else [entry]:
                count = min(count + written_out(below, known), NODES + 1)
        known[id(node)] = count
    total = known[id(node)]
    if total is None:
        raise ValueError("a node that holds itself")
    return total


def read_config(path: str | os.PathLike[str]) -> Any:
    """A configuration as the workflow reads it."""
    import yaml

    try:
        with open_file(path, LARGEST) as file:
            text = file.read().decode("utf-8")
        config = yaml.load(text, plain_loader())
        json.dumps(config, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(3, f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}")
    except yaml.YAMLError as error:
        fail(3, f"{path}: {' '.join(str(error).split())}")
    except (AttributeError, TypeError, ValueError, RecursionError):
        fail(3, f"{path}: holds what is no text, finite number, list or mapping")
    return config if config is not None else {}


def read_study(path: str | os.PathLike[str], directory: str | os.PathLike[str]) -> "Study":
    """What a configuration means, or an error of one sentence."""
    from ..study.configuration import Study, StudyError

    try:
        return Study(read_config(path), directory)
    except StudyError as error:
        line = line_of(path, str(error))
        fail(3, f"{path}{f':{line}' if line else ''}: {error}")


def line_of(path: str | os.PathLike[str], sentence: str) -> int | None:
    """The line of a configuration that has the key which a sentence begins with, or else what
    holds it; None if it begins with none."""
    import yaml

    with open_file(path, LARGEST) as file:
        node = yaml.compose(file.read().decode("utf-8"), plain_loader())
    line, rest = None, sentence
    while node is not None and not isinstance(node.value, str):
        key = re.match(r"\[([0-9]+)\]|\.?([A-Za-z_][A-Za-z0-9_-]*)", rest)
        if not key:
            break
        if isinstance(node, yaml.MappingNode):
            named = [v for k, v in node.value if k.value == key[2]]
            node = named[0] if named else None
        else:
            number = int(key[1]) if key[1] else len(node.value)
            node = node.value[number] if number < len(node.value) else None
        if node is not None:
            line, rest = node.start_mark.line + 1, rest[key.end() :]
    return line
