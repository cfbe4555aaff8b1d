"""Gives all searches of a study times that are made up: retime.py FOLDER FACTOR SEED

Each job and root has a time of its own, each repeat is off by 3%, each search by 5%; all
are multiplied by the factor, those of jobs that the pattern SEED:PATTERN matches only.
"""

import re
import sys
import zlib
from pathlib import Path

import h5py
import numpy

folder, factor = Path(sys.argv[1]), float(sys.argv[2])
seed, _, pattern = sys.argv[3].partition(":")
for path in sorted(folder.rglob("results/trees/**/*.h5")):
    job, repeat = re.fullmatch(r"(.*)-r(\d+)", path.stem).groups()
    job = f"{path.parent.relative_to(folder)}/{job}"
    own = numpy.random.default_rng(zlib.crc32(job.encode()))
    noise = numpy.random.default_rng([int(seed), int(repeat), zlib.crc32(job.encode())])
    with h5py.File(path, "r+") as file:
        table = file["run/search"][...]
        times = 1e-3 * own.lognormal(0, 1) * own.lognormal(0, 0.5, len(table))
        times *= noise.lognormal(0, 0.03) * noise.lognormal(0, 0.05, len(table))
        table["seconds"] = times * (factor if re.search(pattern, job) else 1)
        file["run/search"][...] = table
