"""Starts a study and kills it at a random moment, many times over:
kill-study.py SEED KILLS FILES FOLDER COMMAND...

The moment is that at which a random number of the study's FILES is there, and up to half
a second. Every other time all processes are killed, and else the two that lead, whose jobs
then go on. Prints the files that were there and are not there any more, or are others, when
the next kill comes or COMMAND has ended by itself.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

seed, kills, files, folder = *map(int, sys.argv[1:4]), Path(sys.argv[4])
command = sys.argv[5:]
random.seed(seed)


def there():
    """The study's files, by name: which they are."""
    found = {}
    for path in (folder / "results").rglob("*.h5"):
        try:
            found[path] = path.stat().st_ino
        except FileNotFoundError:
            pass
    return found


def report(before, after):
    for path, inode in before.items():
        if after.get(path) != inode:
            print("lost" if path not in after else "made again", path)


def children(pid):
    try:
        return [
            int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


before = there()
most = max(1, 2 * files // kills)
for number in range(kills):
    log = open(f"killed-{number}.log", "w")
    study = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    least = min(len(before) + random.randint(0, most), files - 1)
    while study.poll() is None and len(there()) < least:
        time.sleep(0.002)
    time.sleep(random.random() / 2)
    if number % 2:
        for process in (study.pid, *children(study.pid)):
            os.kill(process, signal.SIGKILL)
    else:
        os.killpg(study.pid, signal.SIGKILL)
    study.wait()
    now = there()
    print(f"# killed with {len(now)} of {files} files", file=sys.stderr)
    report(before, now)
    before = now
with open("last.log", "w") as log:
    status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
report(before, there())
sys.exit(status.returncode)
