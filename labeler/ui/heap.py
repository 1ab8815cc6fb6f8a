"""How the C library keeps memory that was given back to it."""

import ctypes
import platform

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of glibc's malloc.h
LARGE_BYTES, N_ARENAS = 128 * 1024, 2


def bound_heap() -> bool:
    """Let glibc give what large messages took back at once; False where there is another C library.

    By itself it keeps ever larger freed pieces, in an arena for every thread that once worked: with fifty reviewers the
    server took 2 MB more for every 1000 labels.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return bool(libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES) and libc.mallopt(M_ARENA_MAX, N_ARENAS))
