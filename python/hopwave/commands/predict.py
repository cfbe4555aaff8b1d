"""hopwave-study trace, predict and assess: what searches would take on other networks."""

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Place, check_output, fail, need, open_file

if TYPE_CHECKING:
    from ..files.trees import Trees
    from ..predict.beyond import Beyond
    from ..predict.fit import Model, Traced

PACKAGES = ["h5py", "numpy", "xxhash"]
LARGEST = 1 << 20  # bytes of a file of machines


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "trace",
        help="write what the ranks of searches compute and send as a GOAL trace",
        description="Writes the steps of searches, rank by rank, as a GOAL trace, the text format "
        "of the simulators LogGOPSim and ATLAHS.",
    )
    _common(command, "trace")
    command.set_defaults(main=trace)

    command = commands.add_parser(
        "predict",
        help="simulate searches on a network and write down what they would take",
        description="Simulates the steps of searches on a network, with SimGrid, and writes what a "
        "search takes, with a digest. Work takes as long as in the file; or, with --machines, as "
        "long as the machine needs for a graph of --scale, fixed by one and two GPUs alone.",
    )
    _common(command, "prediction")
    command.add_argument(
        "--network", required=True, metavar="FILE", help="a platform of SimGrid: config/networks"
    )
    command.add_argument(
        "--machines", metavar="FILE", help="times of machines: bench/machines.json"
    )
    command.add_argument("--machine", metavar="NAME", help="one of them")
    command.add_argument("--two", metavar="TREE", help="the same searches on two GPUs, for the fit")
    command.add_argument(
        "--near",
        nargs=2,
        metavar=("TREE", "NETWORK"),
        help="for another transport than peer: those over peer on two GPUs, and its network",
    )
    command.add_argument("--scale", type=int, metavar="S", help="predict a graph of 2^S vertices")
    command.set_defaults(main=predict)

    command = commands.add_parser(
        "assess",
        help="hold a prediction against the run that it is about",
        description="Says by how much a prediction was wrong. Exit status: 0 where it was written "
        "before the run and is within --within, 1 otherwise.",
    )
    command.add_argument("prediction", metavar="PREDICTION")
    command.add_argument("tree", metavar="TREE")
    command.add_argument(
        "--within", type=float, default=0.15, metavar="SHARE", help="default: 0.15"
    )
    command.set_defaults(main=assess)


def _common(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("tree", metavar="TREE", help="a tree file that has steps")
    command.add_argument("--output", "-o", required=True, metavar="FILE", help=f"the {what}")
    command.add_argument("--search", type=int, metavar="N", help="of this search alone, from 0")
    command.add_argument("--force", action="store_true", help="replace FILE")


def _open(path: str) -> "Trees":
    from ..files.trees import Trees

    return Trees.open(path)


def _output(options: argparse.Namespace) -> Path:
    output = Path(options.output)
    check_output(output, options.force)
    if output.is_dir():
        fail(4, f"{output}: is a folder")
    return output


@contextmanager
def _explained(tree: str, output: Path) -> Iterator[None]:
    """Ends with a sentence and the status of what goes wrong with a tree or an output."""
    from .. import errors
    from ..predict.simulate import SimulatorError

    try:
        yield
    except errors.FileError as error:
        fail(3, str(error))
    except SimulatorError as error:
        fail(4, str(error))
    except ValueError as error:
        fail(2, f"{tree}: {error}")
    except OSError as error:
        fail(4, f"{error.filename or output}: {error.strerror or error}")


def trace(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    from ..predict import goal
    from ..predict.schedule import Costs, schedule, shape_of

    output = _output(options)
    with _explained(options.tree, output):
        with _open(options.tree) as tree:
            shape = shape_of(tree)
            phases = schedule(shape, Costs(), options.search)
        partial = output.with_name(f"{output.name}.partial")
        with partial.open("w", encoding="ascii") as file:
            file.writelines(f"{line}\n" for line in goal.lines(phases, shape.ranks))
        partial.replace(output)


def _machine(options: argparse.Namespace) -> dict[str, Any]:
    try:
        with open_file(options.machines, LARGEST) as file:
            machines = json.loads(file.read())
    except OSError as error:
        fail(3, f"{options.machines}: {error.strerror or error}")
    except (ValueError, RecursionError):
        fail(3, f"{options.machines}: is not JSON")
    known = [name for name in machines if "two_gpus" in machines[name]] if machines else []
    if options.machine not in known:
        fail(2, f"--machine: '{options.machine}' has no times on two GPUs; these have: {known}")
    found: dict[str, Any] = machines[options.machine]
    return found


def _times(options: argparse.Namespace, machine: Any, *path: str) -> dict[int, float]:
    try:
        for name in path:
            machine = machine[name]
        times = {int(scale): float(milliseconds) / 1e3 for scale, milliseconds in machine.items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        fail(3, f"{options.machines}: has no times of {' '.join(path)} on {options.machine}")
    if len(times) < 2 or any(not 0 < t < math.inf for t in times.values()):
        fail(3, f"{options.machines}: {' '.join(path)} needs two times above 0, by scale")
    return times


def _traced(path: str, run: dict[str, Any]) -> "Traced":
    """The step rows of a run's method on two GPUs."""
    from ..predict.fit import Traced
    from ..predict.schedule import shape_of

    with _open(path) as tree:
        shape = shape_of(tree)
        if shape.ranks != 2 or tree.run.get("method") != run["method"]:
            fail(3, f"{path}: is not of {run['method']} on two GPUs")
        return Traced(shape, (tree.vertices - 1).bit_length())


def _model(options: argparse.Namespace, run: dict[str, Any]) -> "Model":
    """The model of a machine, with what searches took there on one GPU and on two."""
    from ..predict.fit import Model

    machine, method, near = _machine(options), run["method"], None
    single = _times(options, machine, "one_gpu", method)
    if options.near:
        tree, network = options.near
        double = _times(options, machine, "two_gpus", method, "peer")
        near = Model(method, "peer", single, double, _traced(tree, run), Path(network))
    double = _times(options, machine, "two_gpus", method, run["transport"])
    two, network = _traced(options.two, run), Path(options.network)
    beyond = _beyond(options, machine, method)
    return Model(method, run["transport"], single, double, two, network, near, beyond)


def _beyond(options: argparse.Namespace, machine: dict[str, Any], method: str) -> "Beyond | None":
    """What the machine's file says of graphs larger than those on two GPUs, if anything."""
    from ..predict.beyond import Beyond

    try:
        said = machine.get("beyond", {}).get(method)
        return Beyond.of(said) if said else None
    except (KeyError, TypeError, ValueError, AttributeError):
        fail(3, f"{options.machines}: what it has of {method} under 'beyond' cannot be used")


def predict(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    given = [options.machines, options.machine, options.two, options.scale]
    if any(value is not None for value in given) and None in given:
        fail(2, "--machines, --machine, --two and --scale go together")
    if options.near and options.machines is None:
        fail(2, "--near: goes with --machines")
    if options.scale is not None and not 1 <= options.scale <= 48:
        fail(2, "--scale must be from 1 to 48")
    from ..predict import prediction, simulate

    output, network = _output(options), Path(options.network)
    with _explained(options.tree, output):
        simulate.hosts_of(network)
        content, seconds = _predicted(options, network)
        sha256 = hashlib.sha256(network.read_bytes()).hexdigest()
        content |= {"network": network.name, "network_sha256": sha256, "seconds": seconds}
        found = prediction.write(output, content)
    print(f"{seconds:.6g} s a search\n{output}: {found}")


def _predicted(options: argparse.Namespace, network: Path) -> tuple[dict[str, Any], float]:
    """What the prediction says next to the network, and seconds of a search."""
    from dataclasses import asdict

    from ..predict import prediction
    from ..predict.fit import Traced
    from ..predict.schedule import Costs, schedule, shape_of
    from ..predict.simulate import makespan

    with _open(options.tree) as tree:
        shape, content = shape_of(tree), prediction.about(tree)
        content["steps_of"] = tree.digest
        vertices = tree.vertices
    if options.machines is None:
        phases = schedule(shape, Costs(), options.search)
        searches = 1 if options.search is not None else shape.searches
        return content, makespan(phases, shape.ranks, network) / searches
    if options.search is not None:
        fail(2, "--search: a fit takes all searches")
    model = _model(options, content)
    fit = model.fit(options.scale)
    content |= {"vertices": 2**options.scale, "machine": options.machine, "fit": asdict(fit)}
    traced = Traced(shape, (vertices - 1).bit_length())
    return content, model.seconds(traced, options.scale, fit)


def assess(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    if not 0 <= options.within < math.inf:
        fail(2, "--within must be at least 0")
    from .. import errors
    from ..predict import prediction

    try:
        with _open(options.tree) as tree:
            verdict = prediction.assess(Path(options.prediction), tree)
    except errors.FileError as error:
        fail(3, str(error))
    print("predicted s\tmeasured s\terror\twritten before the run")
    print(
        f"{verdict.predicted:.6g}\t{verdict.measured:.6g}\t{100 * verdict.error:+.1f}%"
        f"\t{'yes' if verdict.before else 'no'}"
    )
    sys.exit(0 if verdict.before and abs(verdict.error) <= options.within else 1)
