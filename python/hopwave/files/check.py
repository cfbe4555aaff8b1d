"""Check files: what validation found out about a tree file."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import errors
from .base import File
from .convert import frame_of

if TYPE_CHECKING:
    import pandas


class Check(File):
    """A check file."""

    kind: ClassVar[str] = "check"
    called: ClassVar[str] = "a check file"

    @property
    def passed(self) -> bool:
        """Whether no rule is violated by any search."""
        return self.attributes["passed"] == 1

    @property
    def tree_digest(self) -> str:
        """The digest of the tree file that was checked."""
        return str(self.attributes["tree_digest"])

    @property
    def roots(self) -> NDArray[np.int64]:
        """The root of each search."""
        return self.read("/roots")

    @property
    def rules(self) -> list[str]:
        """The names of the rules."""
        names = str(self.parameters.get("rules", "")).split(",")
        if len(names) != self._datasets["/rules"].shape[1]:
            raise errors.DamagedFileError(self.path, "does not name its rules")
        return names

    def violations(self) -> NDArray[np.int64]:
        """How often each search violates each rule, a row for each search."""
        return self.read("/rules")

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each search: its root, violations of each rule, and, where the file has them,
        vertices reached and edges among them."""
        columns = {"root": self.roots, **dict(zip(self.rules, self.violations().T))}
        for name in ("reached", "tuples"):
            if self.has(f"/{name}"):
                columns[name] = self.read(f"/{name}")
        return frame_of(columns)
