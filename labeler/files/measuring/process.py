"""Run a command in a process group of its own and measure its time.

The command is stopped at the time limit, and no process that it started is left running.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread, Timer
from typing import IO

import psutil

from labeler.errors import InputError

MAX_OUTPUT_BYTES = 64_000_000  # limit for standard output from which measurements are read
MAX_MESSAGE_BYTES = 4_000  # number of bytes kept from the end of standard error
GRACE_S = 1.0  # time between asking a process to end and killing it
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Ended:
    """The result of running a command."""

    reason: str  # the reason why the command failed; "" if it succeeded
    # The exit status. It is negative if a signal ended the command, and None if the command could not be started.
    exit_status: int | None
    # The time from start to end, and the processor time, in seconds. The processor time includes child processes
    # for which the command waited.
    wall_s: float = 0.0
    cpu_s: float = 0.0
    output: bytes = b""  # the standard output; empty if it was not requested
    n_left: int = 0  # Number of processes that the command left running. These processes were ended.


def check_system() -> None:
    """Raise InputError if this operating system lacks the functions that are needed to run commands."""
    if not hasattr(os, "wait4"):
        raise InputError("`labeler measure` needs Linux, macOS or another Unix.")


def run(
    argv: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    timeout: float,
    keep_output: bool = False,
    cpus: frozenset[int] | None = None,
) -> Ended:
    """Run a command and wait until it ends; there is a result even if the command could not be started.

    No shell reads the arguments, and only `environment` is inherited. After `timeout` seconds, or if the user stops the
    measurement (KeyboardInterrupt), the command and all processes that it started are ended.
    """
    _adopt_orphans()
    before = _children()
    with _pinned(cpus) as why_not:
        if why_not:
            return Ended(why_not, None)
        began = time.perf_counter()
        try:
            process = subprocess.Popen(  # noqa: S603 - running what the plan names is what this is for
                argv, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if keep_output else subprocess.DEVNULL, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            return Ended(f"{argv[0]!r} cannot be started: {getattr(error, 'strerror', None) or error}", None)
    too_late, too_much = Event(), Event()
    readers = [_Reader(process.stderr, MAX_MESSAGE_BYTES)]
    if keep_output:
        readers.append(_Reader(process.stdout, MAX_OUTPUT_BYTES, lambda: _stop(process.pid, too_much)))
    timer = Timer(timeout, _stop, (process.pid, too_late))
    timer.daemon = True
    timer.start()
    try:
        _pid, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
    except BaseException:
        _kill_group(process.pid, signal.SIGKILL)
        process.wait()
        _end_descendants(process.pid, before)
        raise
    finally:
        timer.cancel()
    process.returncode = exit_status = os.waitstatus_to_exitcode(status)
    n_left = _end_descendants(process.pid, before)
    message, *outputs = [reader.content() for reader in readers]
    reason = _reason(exit_status, message)
    if too_late.is_set():
        reason = f"did not end within {timeout:g} s"
    elif too_much.is_set():
        reason = f"printed more than {MAX_OUTPUT_BYTES // 1_000_000} MB"
    return Ended(reason, exit_status, wall_s, used.ru_utime + used.ru_stime, outputs[0] if outputs else b"", n_left)


def _reason(exit_status: int, message: bytes) -> str:
    if exit_status == 0:
        return ""
    lines = [line.strip() for line in message.decode("utf-8", "replace").splitlines() if line.strip()]
    last = f": {lines[-1][:200]}" if lines else ""
    if exit_status < 0:
        with suppress(ValueError):
            return f"ended by {signal.Signals(-exit_status).name}{last}"
    return f"exit status {exit_status}{last}"


class _Reader:
    """A thread that reads a pipe, so that the process that writes never waits; only the end of the text is kept."""

    def __init__(self, pipe: IO[bytes] | None, most: int, at_most: Callable[[], None] | None = None) -> None:
        self.pipe, self.most, self.at_most, self.kept = pipe, most, at_most, bytearray()
        self.thread = Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while self.pipe is not None and (chunk := os.read(self.pipe.fileno(), 1 << 16)):
                self.kept += chunk
                if len(self.kept) > self.most:
                    del self.kept[: -self.most]
                    if self.at_most:
                        self.at_most()
                        return

    def content(self) -> bytes:
        self.thread.join(GRACE_S)
        if self.pipe is not None and not self.thread.is_alive():
            self.pipe.close()
        return bytes(self.kept)


def _stop(pid: int, why: Event) -> None:
    """Ask a process group to end; if the group does not end in time, kill it."""
    why.set()
    _kill_group(pid, signal.SIGTERM)
    timer = Timer(GRACE_S, _kill_group, (pid, signal.SIGKILL))
    timer.daemon = True
    timer.start()


def _kill_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_descendants(group: int, before: frozenset[int]) -> int:
    """End all processes that a command left in its group, or that this process adopted, and return their number."""
    left = _running(before)
    _kill_group(group, signal.SIGKILL)
    n_left = len(left)
    for _attempt in range(50):  # when a process ends, its children are adopted, and new processes may start
        if not left:
            break
        for child in left:
            with suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(left, timeout=GRACE_S)
        left = _running(before)
        n_left += len(left)
    return n_left


def _children() -> frozenset[int]:
    """Return the ids of the child processes; on Linux without a scan of all processes, which takes milliseconds."""
    tasks = Path("/proc/self/task")
    try:
        listed = [(task / "children").read_text(encoding="ascii") for task in tasks.iterdir()]
    except OSError:
        with suppress(psutil.Error):
            return frozenset(child.pid for child in psutil.Process().children())
        return frozenset()
    return frozenset(int(pid) for pids in listed for pid in pids.split())


def _running(before: frozenset[int]) -> list[psutil.Process]:
    """Return the running descendants that did not exist before the command, and collect those that have ended."""
    running = []
    for pid in _children() - before:
        with suppress(psutil.Error):
            child = psutil.Process(pid)
            if child.status() != psutil.STATUS_ZOMBIE:
                running.append(child)
                continue
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return running


def _adopt_orphans() -> None:
    """Make this process adopt processes whose parent has ended (only on Linux), so that a command cannot hide any."""
    if sys.platform == "linux" and not _ADOPTING.is_set():
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _ADOPTING.set()


_ADOPTING = Event()


@contextmanager
def _pinned(cpus: frozenset[int] | None) -> Iterator[str]:
    """Pin processes that are started inside this context to these processors; yield the reason if this fails."""
    if cpus is None:
        yield ""
        return
    if not hasattr(os, "sched_setaffinity"):
        yield "this system cannot pin a command to processors"
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        yield f"cannot be pinned to processor {', '.join(map(str, sorted(cpus)))}: {error.strerror}"
        return
    try:
        yield ""
    finally:
        os.sched_setaffinity(0, before)
