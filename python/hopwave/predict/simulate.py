"""Simulates schedules with SimGrid's replay of MPI traces, on networks that are SimGrid platforms.

Henri Casanova et al.: Versatile, Scalable, and Accurate Simulation of Distributed Applications and
Platforms. JPDC 74(10), 2014. Messages are flows: those that share a link share its bandwidth.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from ..errors import FileError, HopwaveError
from .goal import cut, nanoseconds
from .schedule import Phase

LARGEST = 1 << 20  # bytes of a network
HOSTS = 1 << 16
SPEED = "1Gf"  # a nanosecond of work is one floating-point operation
# The flows of a link share it equally; no factors that were fitted to some cluster of the authors.
SETTINGS = (
    "network/model:CM02",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/weight-S:0",
    "network/crosstraffic:0",
)
# Attributes that name files or code: a network is one file.
OUTSIDE = ("include", "trace", "model_prop", "prop", "AS")


class SimulatorError(HopwaveError):
    """SimGrid is missing, or did not do what it should."""


def available() -> bool:
    """Whether this machine has SimGrid's replay."""
    return shutil.which("smpirun") is not None


def _radical(text: str) -> Iterator[int]:
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        if int(last or first) - int(first) >= HOSTS:
            raise ValueError
        yield from range(int(first), int(last or first) + 1)


def hosts_of(network: Path) -> list[str]:
    """The hosts of a network file in its order. FileError where it is none that we can use."""
    try:
        if network.stat().st_size > LARGEST:
            raise FileError(network, f"is larger than {LARGEST} bytes, too large for a network")
        root = ElementTree.fromstring(network.read_bytes())
    except (OSError, ElementTree.ParseError) as error:
        said = getattr(error, "strerror", None) or error
        raise FileError(network, f"cannot be read as a network ({said})") from None
    if root.tag != "platform":
        raise FileError(network, "is no platform of SimGrid: its root is not <platform>")
    names: list[str] = []
    for part in root.iter():
        if part.tag in OUTSIDE or "file" in part.attrib or part.attrib.get("topology") == "FILE":
            raise FileError(network, f"has <{part.tag}>, which a network may not have")
        if part.tag not in ("host", "cluster"):
            continue
        if part.get("speed") != SPEED:
            raise FileError(network, f"has a host that is not of speed {SPEED}")
        if part.tag == "host":
            names.append(part.get("id", ""))
            continue
        try:
            numbers = list(_radical(part.get("radical", "")))
        except ValueError:
            raise FileError(network, f"has a bad radical '{part.get('radical')}'") from None
        names += [f"{part.get('prefix', '')}{n}{part.get('suffix', '')}" for n in numbers]
    if not names or any(not re.fullmatch(r"[\w.-]+", name) for name in names):
        raise FileError(network, "has no hosts, or one without a plain name")
    return names


def _rank(phases: Sequence[Phase], rank: int) -> Iterator[str]:
    yield "init"
    for tag, phase in enumerate(phases):
        receives = [(by, b) for (by, to), b in phase.messages.items() if to == rank]
        sends = [(to, b) for (by, to), b in phase.messages.items() if by == rank]
        for by, size in receives:
            for piece in cut(size, phase.pieces):
                yield f"irecv {by} {tag} {piece} 6"
        for piece in range(phase.pieces):
            if nanoseconds(phase, rank):
                yield f"compute {nanoseconds(phase, rank)}"
            for to, size in sends:
                yield f"isend {to} {tag} {cut(size, phase.pieces)[piece]} 6"
        if receives or sends:
            yield "waitall"
    yield "finalize"


def makespan(phases: Sequence[Phase], ranks: int, network: Path, timeout: float = 600) -> float:
    """Seconds until the last rank ends, one rank on each of the network's first hosts."""
    hosts = hosts_of(network)
    if len(hosts) < ranks:
        raise FileError(network, f"has {len(hosts)} hosts, too few for {ranks} ranks")
    if not available():
        raise SimulatorError("smpirun is missing; install SimGrid (Debian: libsimgrid-dev)")
    with tempfile.TemporaryDirectory(prefix="hopwave-predict-") as name:
        folder = Path(name)
        for rank in range(ranks):
            with (folder / f"{rank}.txt").open("w", encoding="ascii") as file:
                file.writelines(f"{rank} {action}\n" for action in _rank(phases, rank))
        (folder / "traces").write_text("".join(f"{folder}/{r}.txt\n" for r in range(ranks)))
        (folder / "hosts").write_text("".join(f"{host}\n" for host in hosts[:ranks]))
        command = ["smpirun", "-replay", str(folder / "traces"), "-np", str(ranks)]
        command += ["-platform", str(network.resolve()), "-hostfile", str(folder / "hosts")]
        command += ["-no-privatize", "--cfg=smpi/display-timing:yes"]
        command += [f"--cfg={setting}" for setting in SETTINGS]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=name)
        except subprocess.TimeoutExpired:
            raise SimulatorError(f"SimGrid did not end within {timeout:g} s") from None
    said = re.findall(r"Simulated time: (\S+) seconds", run.stderr + run.stdout)
    if run.returncode or not said:
        last = (run.stderr.strip() or run.stdout.strip() or "without a word").splitlines()[-1]
        raise SimulatorError(f"SimGrid failed on {network.name}: {last[:300]}")
    return float(said[-1])
