"""Limit the server's use of memory and open files."""

import asyncio
import ctypes
import platform
import resource
from typing import Any

from streamlit.runtime import websocket_session_manager
from streamlit.runtime.app_session import AppSession

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # constants in malloc.h of glibc
LARGE_BYTES, N_ARENAS = 128 * 1024, 2
MAX_FILES = 65_536  # more than this server needs


def bound_heap() -> bool:
    """Make glibc return the memory of large messages at once; return False if the C library is not glibc.

    Without this setting, the memory of a server with fifty reviewers grows by 2 MB per 1000 labels. The reason is that
    glibc keeps larger and larger freed blocks in an arena per thread.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return bool(libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES) and libc.mallopt(M_ARENA_MAX, N_ARENAS))


def raise_file_limit() -> int:
    """Raise the limit of open files as far as the system allows, up to `MAX_FILES`; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return file_limit()


def file_limit() -> int:
    """Return the number of files that this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if soft == resource.RLIM_INFINITY else min(soft, MAX_FILES)


def keep_no_files_per_window() -> None:
    """Give each window an event loop that opens no files.

    Streamlit creates an event loop for each window, in case its page uses asyncio. Streamlit keeps the loop for up to
    two minutes after the window is closed. A normal loop has three open files. These pages never run the loop, so the
    loop needs no files.
    """
    websocket_session_manager.AppSession = _WindowSession  # type: ignore[attr-defined]  # Streamlit offers no other way


class _WindowSession(AppSession):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._script_event_loop.close()
        self._script_event_loop = asyncio.BaseEventLoop()
