"""Which file of an archive a file that was made again is compared with.

Files are named by their options, and versions of Hopwave differ in which of these are defaults,
which names leave out. So graphs and partitions are found by their content, and by their name only
where none there has it; trees by the names of those that they are of.
"""

from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from ..study.configuration import Run, Study

from .records import UnreadableError


class Counterparts:
    """The files of an archive by what they hold.

    table   its table of files, by their names
    digest  the content digest of a file that was made again; raises UnreadableError
    """

    def __init__(self, table: "pandas.DataFrame", digest: Callable[[str], str]) -> None:
        self.table, self.digest = table, digest
        self.names: dict[str, str | None] = {}  # of graphs and partitions

    def graph(self, path: str) -> str | None:
        """The graph of the archive that is this one."""
        if path not in self.names:
            self.names[path] = self._find("graph", path, "results/graphs/")
        return self.names[path]

    def partition(self, path: str) -> str | None:
        """The partition of the archive that is this one; the names of others tell nothing where
        other numbers of parts are asked for."""
        if path not in self.names:
            graph = self._graph_name(Path(path).parent.name)
            self.names[path] = self._find("partition", path, f"results/partitions/{graph}/")
        return self.names[path]

    def tree(self, wanted: "Run", study: "Study") -> str | None:
        """The tree of the same search on the same graph, and of the same layout if there is one."""
        graph, partition, search, repeat = wanted
        folder = f"results/trees/{self._graph_name(graph)}/"
        there = self.names.get(f"results/partitions/{graph}/{partition}.h5")
        path = f"{folder}{Path(there).stem if there else partition}/{search}-r{repeat}.h5"
        if path in self.table.index:
            return path
        layout = study.partitions[partition]["layout"]
        end = f"/{search}-r{repeat}.h5"
        found = [
            name for name in self.table["file"] if name.startswith(folder) and name.endswith(end)
        ]
        alike = [name for name in found if name.split("/")[3].startswith(layout)]
        return next(iter(alike + found), None)

    def renamed(self) -> dict[str, str]:
        """Graphs and partitions asked for that have another name in the archive: that name."""
        return {now: then for now, then in self.names.items() if then and now != then}

    def _graph_name(self, name: str) -> str:
        """The name of a graph in the archive; its own where there is none."""
        then = self.graph(f"results/graphs/{name}.h5")
        return Path(then).stem if then else name

    def _find(self, kind: str, path: str, folder: str) -> str | None:
        """The file of a kind in a folder with the content of this one; of several the one whose
        name is most like its own."""
        named = f"{folder}{Path(path).name}"
        by_name = named if named in self.table.index else None
        try:
            digest = self.digest(path)
        except UnreadableError:
            return by_name
        rows = self.table[(self.table["kind"] == kind) & (self.table["digest"] == digest)]
        alike = [str(name) for name in rows["file"] if str(name).startswith(folder)]
        if named in alike:
            return named
        alike.sort(key=lambda name: -SequenceMatcher(None, name, named).ratio())
        return alike[0] if alike else by_name
