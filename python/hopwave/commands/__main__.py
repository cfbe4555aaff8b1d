"""python -m hopwave.commands: hopwave-study where only the package and the programs are known."""

import shutil
from pathlib import Path

from .. import __version__
from .base import Place, fail
from .main import main


def find() -> Place:
    """The workflow that this package lies beside, or else that of an installation on PATH."""
    program = shutil.which("hopwave-study")
    here = Path(program).resolve().parent if program else Path.cwd()
    for folder in (Path(__file__).resolve().parents[3], here.parent / "share" / "hopwave"):
        if (folder / "workflow" / "Snakefile").is_file():
            return Place(folder, here, False, "", __version__)
    fail(5, "the workflow is neither beside this package nor of an installation on PATH")


if __name__ == "__main__":
    main(find())
