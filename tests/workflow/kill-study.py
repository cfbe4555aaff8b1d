"""Starts a study and kills it at a random moment, many times over:
kill-study.py SEED KILLS FILES FOLDER [--cancel COMMAND] START...

The moment is that at which a random number of the study's FILES is there, and up to half
a second. Every other time all processes are killed, and else the two that lead, whose jobs
then go on; with --cancel it is this command that ends it, and always where START is sbatch.
Prints the files that were there and are not there any more, or are others, and the searches
that were finished and ran again: when the next kill comes, and when START has ended by
itself.
"""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py

seed, kills, files, folder = *map(int, sys.argv[1:4]), Path(sys.argv[4])
start, cancel = sys.argv[5:], None
if start[0] == "--cancel":
    cancel, start = shlex.split(start[1]), start[2:]
random.seed(seed)


def there():
    """The study's files, by name: which they are."""
    found = {}
    for path in (folder / "results").rglob("*.h5"):
        if not path.name.startswith("."):
            try:
                found[path] = path.stat().st_ino
            except FileNotFoundError:
                pass
    return found


def finished():
    """Finished searches of the trees that are not whole yet: the records of journals, each
    with its length before it and a checksum of 8 bytes behind it; the first one is a title.
    """
    found = {}
    for journal in (folder / "results").rglob("*.partial.searches"):
        data, at, records = journal.read_bytes(), 0, 0
        while at + 8 <= len(data):
            at += 16 + int.from_bytes(data[at : at + 8], sys.byteorder)
            records += at <= len(data)
        found[Path(str(journal).removesuffix(".partial.searches"))] = max(records - 1, 0)
    return found


def resumed(path):
    """How many searches of a whole tree were taken over from runs before."""
    with h5py.File(path) as file:
        return file["run"].attrs["searches_resumed"]


def report(before, after, searches):
    """Says what was lost or made twice. searches: that were finished when nothing ran."""
    for path, inode in before.items():
        if after.get(path) != inode:
            print("lost" if path not in after else "made again", path)
    now = finished()
    for path, count in searches.items():
        kept = resumed(path) if path in after else now.get(path, 0)
        if kept < count:
            print(f"searched again: {path} had {count} searches, of which {kept} were kept")


def children(pid):
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill(study, way):
    """Ends a study; returns whether nothing of it runs any more."""
    batch = "sbatch" in start[0]
    if batch or cancel and way % 2:
        subprocess.run(cancel, check=True)
    if not cancel and way % 2:
        for process in (study.pid, *children(study.pid)):
            os.kill(process, signal.SIGKILL)
    elif not batch:
        while cancel and way % 2 and jobs():
            time.sleep(0.1)
        os.killpg(study.pid, signal.SIGKILL)
    study.wait()
    # What was submitted goes on, and so does what only lost its leaders.
    return batch or bool(cancel) == bool(way % 2)


def jobs():
    listed = ["squeue", "--me", "--noheader"]
    return subprocess.run(listed, capture_output=True, check=True).stdout


before, searches, halves = there(), {}, 0
for number in range(kills):
    log = open(f"killed-{number}.log", "w")
    study = subprocess.Popen(
        start, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )
    most = 2 * (files - len(before)) // (kills - number + 1)
    least = min(len(before) + random.randint(0, max(1, most)), files - 1)
    while study.poll() is None and len(there()) < least:
        time.sleep(0.002)
    time.sleep(random.random() / 2)
    still = kill(study, number)
    now = there()
    report(before, now, searches)
    before, searches = now, finished() if still else {}
    halves += sum(searches.values())
    print(
        f"# killed with {len(now)} of {files} files and {sum(searches.values())} "
        f"searches of {len(searches)} more",
        file=sys.stderr,
    )
with open("last.log", "w") as log:
    status = subprocess.run(start, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
report(before, there(), searches)
print(f"# {halves} searches were taken over", file=sys.stderr)
sys.exit(status.returncode)
