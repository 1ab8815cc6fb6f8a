"""Standard output and standard error of a command: what an encoding lacks is replaced, and no failure is silent.

Nothing that a command writes to standard output can control a terminal, whoever wrote the text.
"""

import codecs
import errno
import io
import os
import sys
import unicodedata
from typing import Any, TextIO, cast

from labeler.safe_text import multiline

_REPLACE = "labeler-replace"
# what stands for a character that the encoding of the output lacks, where its decomposition does not say it
_PLAIN = {
    "−": "-", "–": "-", "—": "-", "…": "...", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "×": "x", "±": "+-",
    "≤": "<=", "≥": ">=", "≈": "~", "→": "->", "•": "*", "·": "*", "\u202f": " ", "\u00a0": " ", "²": "^2", "µ": "u",
    "μ": "u", "κ": "kappa", "α": "alpha",
}  # fmt: skip


def prepare() -> None:
    """Make standard output and standard error replace characters that their encoding lacks.

    If standard output is closed, writing to it fails, as it does for a full disk; nothing is lost in silence.
    Characters that control a terminal are replaced in standard output. Standard error also has progress bars, so
    messages are made harmless before they are written to it.
    """
    codecs.register_error(_REPLACE, _replaced)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            null = os.open(os.devnull, os.O_WRONLY)  # so that no other file gets the number of the closed stream
            if name == "stdout":
                sys.stdout = _Closed()
            else:
                sys.stderr = os.fdopen(null, "w", encoding="utf-8")  # messages have no reader, and results stay
        elif isinstance(stream, io.TextIOWrapper):
            stream = _buffered(name, stream)
            stream.reconfigure(errors=_REPLACE)
            if codecs.lookup(stream.encoding).name == "ascii":
                setattr(sys, name, _Ascii(stream.buffer, "ascii", _REPLACE, line_buffering=stream.line_buffering))
                stream.detach()
    if not isinstance(sys.stdout, _Harmless):
        sys.stdout = cast("TextIO", _Harmless(sys.stdout))


def _buffered(name: str, stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return the stream with a buffer: without one (PYTHONUNBUFFERED), a full disk loses the rest in silence."""
    if not isinstance(stream.buffer, io.RawIOBase):
        return stream
    encoding, raw = stream.encoding, stream.detach()
    buffered = io.TextIOWrapper(io.BufferedWriter(cast("io.RawIOBase", raw)), encoding, line_buffering=True)
    setattr(sys, name, buffered)
    return buffered


def release() -> None:
    """Give standard output back as it was: the server's own messages have colours, and its log is made harmless."""
    if isinstance(sys.stdout, _Harmless):
        sys.stdout = sys.stdout.stream


def flush() -> None:
    """Write what is still in the buffer of standard output; raises OSError if this fails."""
    if sys.stdout is not None:
        sys.stdout.flush()


def silence(*names: str) -> None:
    """Discard all further output to these streams, so that Python does not fail once more when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    for name in names:
        try:
            os.dup2(null, getattr(sys, name).fileno())
        except (OSError, ValueError, AttributeError):
            continue


def is_gone(error: BaseException | None) -> bool:
    """Return whether an error says that the reader of a pipe has ended, as after `labeler browse | head`."""
    return isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ESHUTDOWN)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_plain(letter) for letter in missing), error.end


def _plain(letter: str) -> str:
    decomposed = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return _PLAIN.get(letter) or decomposed or "?"


class _Ascii(io.TextIOWrapper):
    """Standard output with the encoding ASCII.

    Click would write UTF-8 to a stream that says it is ASCII, so this stream says that it is Latin-1.
    """

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property in place of a descriptor of C
        return "latin-1"


class _Harmless:
    """Standard output to which no text can be written that controls a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(multiline(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Closed(io.TextIOBase):
    """Standard output that was closed before the command began."""

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")

    def writable(self) -> bool:
        return True
