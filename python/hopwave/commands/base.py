"""What the commands share: errors, and where the workflow and the programs are."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass
class Place:
    """Where hopwave-study lies."""

    folder: Path  # holds workflow/, config/ and schemas/
    here: Path  # holds hopwave-study itself
    building: bool  # here is a build folder
    mpiexec: str
    version: str


def fail(status, message):
    print(f"hopwave-study: {message}", file=sys.stderr)
    sys.exit(status)


def need(place, *packages):
    """Refuses to start without packages of Python."""
    for package in packages:
        if not find_spec(package):
            wanted = place.folder / "workflow" / "envs" / "requirements.txt"
            fail(4, f"{sys.executable} has no {package}: pip install -r {wanted}")


def use_programs(place, folder, *programs):
    """Puts the programs of a folder, or those beside hopwave-study, first on PATH, for
    the workflow too. Refuses to start without them."""
    folder = Path(folder).resolve() if folder else place.here
    os.environ["HOPWAVE_BIN"] = str(folder)
    os.environ["PATH"] = os.pathsep.join(
        [str(folder), os.environ.get("PATH", os.defpath)]
    )
    if Path(place.mpiexec).is_file():
        os.environ.setdefault("HOPWAVE_MPIEXEC", place.mpiexec)
    missing = [p for p in programs if not shutil.which(f"hopwave-{p}")]
    if missing:
        fail(4, f"hopwave-{missing[0]} is not on PATH; name its folder with --bin")


def plain_loader():
    """A loader of YAML that takes no key twice, and leaves dates the texts they are."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {
            first: [(tag, form) for tag, form in known if not tag.endswith("timestamp")]
            for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

        def construct_mapping(self, node, deep=False):
            names = [key.value for key, _ in node.value if key.value != "<<"]
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                line = node.start_mark.line + 1
                raise yaml.YAMLError(f"holds the key '{twice}' twice in line {line}")
            return super().construct_mapping(node, deep)

    return Loader


def read_config(path):
    """A configuration as the workflow reads it."""
    import yaml

    try:
        text = Path(path).read_text(encoding="utf-8")
        config = yaml.load(text, plain_loader())
        json.dumps(config, allow_nan=False)
    except (OSError, UnicodeDecodeError) as error:
        fail(3, f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}")
    except yaml.YAMLError as error:
        fail(3, f"{path}: {' '.join(str(error).split())}")
    except (TypeError, ValueError, RecursionError):
        fail(3, f"{path}: holds what is no text, finite number, list or mapping")
    return config if config is not None else {}


def read_study(path, directory):
    """What a configuration means, or an error of one sentence."""
    from study import Study, StudyError

    try:
        return Study(read_config(path), directory)
    except StudyError as error:
        fail(3, f"{path}: {error}")
