"""The processes that share the work of a command."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread

from labeler.errors import InputError

FEWER = "Run the command again with fewer --jobs."


@contextmanager
def workers(jobs: int, *, next_step: str = FEWER) -> Iterator[Executor]:
    """Start a pool of worker processes and yield it; raise InputError with the next step if a worker ends early."""
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin_worker)
    try:
        _start_workers(pool, jobs)
        yield pool
    except BrokenProcessPool:
        raise InputError(f"A worker process ended unexpectedly, perhaps because memory ran out. {next_step}") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start_workers(pool: ProcessPoolExecutor, jobs: int) -> None:
    """Start all workers while Ctrl+C is ignored.

    The workers inherit this setting. Otherwise, Ctrl+C would stop them during their imports, which take some time.
    """
    answer = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(jobs):
            pool.submit(os.getpid)
    finally:
        signal.signal(signal.SIGINT, answer)


def _begin_worker() -> None:
    """Prepare a worker process: ignore Ctrl+C, which the parent process handles, and exit when the parent exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
