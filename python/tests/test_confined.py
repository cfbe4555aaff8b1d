"""Files of strangers are read in a process that can do nothing else."""

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hopwave.commands import confined as module
from hopwave.commands.confined import ConfinedError, confined

# A function fails at its first attempt at what the kernel refuses, if the kernel has the means.
held = pytest.mark.skipif(
    ctypes.CDLL(None).syscall(module.CREATE_RULESET, None, 0, 1) < 1,
    reason="the kernel has no Landlock",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("text")
    return path


def test_answers(file: Path) -> None:
    assert confined(lambda path: {"text": path.read_text(), "list": [1, 2.5, None]}, file) == {
        "text": "text",
        "list": [1, 2.5, None],
    }


def open_other(path: Path) -> None:
    Path("/etc/passwd").read_text()


def write_other(path: Path) -> None:
    (path.parent / "other").write_text("x")


def write_own(path: Path) -> None:
    path.write_text("x")


def remove(path: Path) -> None:
    path.unlink()


def connect(path: Path) -> None:
    socket.socket()


def start(path: Path) -> None:
    subprocess.run(["true"])


def split(path: Path) -> None:
    os.fork()


@held
@pytest.mark.parametrize(
    "attempt", [open_other, write_other, write_own, remove, connect, start, split]
)
def test_refused(file: Path, attempt: Callable[[Path], None]) -> None:
    with pytest.raises(ConfinedError, match=r"not permitted|denied"):
        confined(attempt, file)
    assert file.read_text() == "text"
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_crash(file: Path) -> None:
    with pytest.raises(ConfinedError, match=r"file: reading it crashes .signal 11"):
        confined(lambda path: ctypes.string_at(8), file)


def test_memory(file: Path) -> None:
    with pytest.raises(ConfinedError, match="more memory than its size allows"):
        confined(lambda path: len(bytearray(4 << 30)), file)


def test_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_on(path: Path) -> None:
        while True:
            pass

    monkeypatch.setattr(module, "seconds", lambda size: 0.3)
    with pytest.raises(ConfinedError, match="too long"):
        confined(run_on, file)


def test_no_answer(file: Path) -> None:
    with pytest.raises(ConfinedError, match="file: cannot be read"):
        confined(lambda path: os._exit(0), file)


def test_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, reason in (("fifo", "not a file"), ("none", "No such file")):
        with pytest.raises(ConfinedError, match=rf"{name}: {reason}"):
            confined(lambda path: 1, tmp_path / name)
