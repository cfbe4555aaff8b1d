"""Tests of an installed Hopwave for ReFrame 4: every search is validated, and the rate is reported.

reframe -C SITE.py -c packaging/reframe/hopwave_checks.py -r
reframe ... -S hopwave_scale=26 -S hopwave_device=cuda     # larger, on GPUs
"""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    parameter,
    performance_function,
    run_before,
    sanity_function,
    variable,
)


@rfm.simple_test
class HopwaveSearches(rfm.RunOnlyRegressionTest):
    """Searches of an R-MAT graph by as many ranks as there are parts."""

    descr = "Hopwave: validated searches from sampled roots"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"production", "performance"}

    algorithm = parameter(["bfs", "sssp"])
    parts = parameter([1, 2, 4])
    hopwave_scale = variable(int, value=16)
    hopwave_device = variable(str, value="cpu")

    executable = "hopwave-traverse"

    @run_before("run")
    def prepare(self) -> None:
        self.num_tasks = self.parts
        if self.hopwave_device == "cuda":
            self.extra_resources = {"gpu": {"num_gpus_per_node": self.parts}}
        self.prerun_cmds = [
            "hopwave-generate --model rmat --scale "
            f"{self.hopwave_scale} --weights uniform --recipe --digest -o graph.h5"
        ]
        self.executable_opts = [
            "graph.h5",
            "--layout 1d",
            f"--parts {self.parts}",
            f"--algorithm {self.algorithm}",
            f"--device {self.hopwave_device}",
            "--roots 16",
            "--check",
            "-o trees.h5",
        ]
        self.postrun_cmds = ["hopwave-info trees.h5"]

    @sanity_function
    def all_validated(self) -> bool:
        return sn.all(
            [
                sn.assert_found(r"16 searches by .*, all validated", self.stderr),
                sn.assert_found(r"^ *digest: xxh3-128:", self.stdout),
            ]
        )

    @performance_function("TEPS")
    def rate(self) -> float:
        return sn.extractsingle(r"harmonic mean ([\d.e+]+) TEPS", self.stderr, 1, float)
