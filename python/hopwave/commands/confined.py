"""Reads files of strangers in a process of its own, which can open one file alone, writes none,
connects to nothing and starts nothing. A crash, or too much time or memory, is one sentence."""

import ctypes
import json
import os
import platform
import resource
import select
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

MOST = 256 << 20  # bytes of an answer
ANSWER = 3  # the descriptor that the process answers on

# Landlock: all rights of its first version, of which reading files is given to one file.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ALL_RIGHTS, READ_FILE, READ_FOLDER = (1 << 13) - 1, 1 << 2, 1 << 3
PATH_BENEATH = 1

# Calls that are refused, by number: processes, programs, sockets, tracing, signals.
ARCHITECTURES = {
    "x86_64": (0xC000003E, [41, 42, 53, 56, 57, 58, 59, 62, 101, 322, 435]),
    "aarch64": (0xC00000B7, [117, 129, 198, 199, 203, 220, 221, 281, 435]),
}
SET_DEATH_SIGNAL, SET_SECCOMP, FILTER, NO_NEW_PRIVILEGES = 1, 22, 2, 38
REFUSE, ALLOW = 0x00050001, 0x7FFF0000  # with EPERM


class ConfinedError(Exception):
    """One sentence: why there is no answer."""


def confined(function: Callable[[Path], Any], path: Path) -> Any:
    """What a function of a path returns, as JSON holds it. Raises ConfinedError where it raises
    something, crashes, or takes more time or memory than the file's size allows."""
    try:
        about = path.stat()
    except OSError as error:
        raise ConfinedError(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(about.st_mode):
        raise ConfinedError(f"{path}: not a file")
    size = min(about.st_size, 512 * about.st_blocks)  # holes earn no time or memory
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        answer_and_exit(function, path, size, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answers:
        text = received(answers.fileno(), seconds(size))
    if text is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if text is None or status == -signal.SIGXCPU:
        raise ConfinedError(f"{path}: reading it takes too long for its size")
    if status < 0:
        raise ConfinedError(
            f"{path}: reading it crashes (signal {-status}): it is damaged, or means harm"
        )
    return answer(text, path)


def answer(text: bytes, path: Path) -> Any:
    """What the process found, out of its answer."""
    try:
        found = json.loads(text)
        error, value = found["error"], found["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfinedError(f"{path}: cannot be read") from None
    if error is not None:
        raise ConfinedError(str(error))
    return value


def seconds(size: int) -> float:
    return 30 + size / 1e6


def received(descriptor: int, most: float) -> bytes | None:
    """All that comes, or None where that takes too long or is too much."""
    parts: list[bytes] = []
    until, length = time.monotonic() + most, 0
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        part = os.read(descriptor, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        length += len(part)
        if length > MOST:
            return None


# ---- in the process ----


def answer_and_exit(
    function: Callable[[Path], Any], path: Path, size: int, answers: int
) -> NoReturn:
    """Answers with what the function returns, or raises, and ends the process."""
    status = 1
    try:
        close_all_but(answers)
        confine(path, size)
        found: dict[str, Any] = {"error": None, "value": None}
        try:
            found["value"] = function(path)
        except MemoryError:
            found["error"] = f"{path}: reading it takes more memory than its size allows"
        except Exception as error:
            found["error"] = str(error) or type(error).__name__
        text = json.dumps(found, default=plain).encode()
        while text:
            text = text[os.write(ANSWER, text) :]
        status = 0
    finally:
        os._exit(status)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else str(value)


def close_all_but(answers: int) -> None:
    """Leaves the process nothing but a place for its answer."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(answers, ANSWER)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.closerange(ANSWER + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def confine(path: Path, size: int) -> None:
    """Limits the process, and has the kernel refuse what it has no need of; a kernel that has not
    the means leaves the limits."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    memory = pages * resource.getpagesize() + (512 << 20) + 2 * size
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CPU, int(seconds(size)) + 1),
        (resource.RLIMIT_AS, memory),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        restrict_files(libc, path)
        restrict_calls(libc)


def restrict_files(libc: ctypes.CDLL, path: Path) -> None:
    """Landlock: the process may read one file, and what Python imports late, and do nothing else
    to any."""
    handled = ctypes.create_string_buffer(struct.pack("=Q", ALL_RIGHTS), 8)
    rules = libc.syscall(CREATE_RULESET, handled, 8, 0)
    if rules < 0:
        return
    for name in (str(path), *filter(os.path.isdir, sys.path)):
        place = os.open(name, os.O_PATH)
        rights = READ_FILE if name == str(path) else READ_FILE | READ_FOLDER
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        libc.syscall(ADD_RULE, rules, PATH_BENEATH, rule, 0)
        os.close(place)
    libc.syscall(RESTRICT_SELF, rules, 0)
    os.close(rules)


def restrict_calls(libc: ctypes.CDLL) -> None:
    """seccomp: calls that start or reach anything fail."""
    if platform.machine() not in ARCHITECTURES:
        return
    architecture, refused = ARCHITECTURES[platform.machine()]
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, REFUSE), (0x20, 0, 0, 0)]
    for number in refused:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, REFUSE)]
    code.append((0x06, 0, 0, ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *c) for c in code))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(program)))
    libc.prctl(SET_SECCOMP, FILTER, head, 0, 0)
