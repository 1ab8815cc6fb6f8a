"""A result file, wherever its bytes are, opened with any compression taken off."""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labeler.errors import InputError, Refused


@dataclass(frozen=True)
class Source:
    """One file: its name as the person knows it, and its bytes on disk or, for an upload, in memory."""

    name: str
    path: Path | None = None
    data: bytes = b""

    def __post_init__(self) -> None:
        """A file name may hold bytes that are no text; what is shown and stored is."""
        object.__setattr__(self, "name", self.name.encode("utf-8", "backslashreplace").decode())

    @property
    def file_name(self) -> str:
        """The last part of the name, without `.gz`."""
        name = Path(self.name).name
        return name[:-3] if name.lower().endswith(".gz") else name

    def content(self) -> bytes:
        """All bytes, decompressed.

        Raises
        ------
        Refused
            If the file cannot be read or the compression is damaged.
        """
        try:
            raw = self.path.read_bytes() if self.path else self.data
            return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        except (OSError, EOFError, ValueError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or f"damaged gzip file ({error})"
            raise Refused(self.name, str(reason)) from None


def content_hash(content: bytes) -> str:
    """SHA-256 of a file's bytes: the same file is recognised under any name."""
    return hashlib.sha256(content).hexdigest()


def sources(paths: Iterable[Path]) -> Iterator[Source]:
    """The files named by the paths; a folder stands for all files below it that may hold results, in order of name.

    Raises
    ------
    InputError
        If a path does not exist, or a folder holds no such file.
    """
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.is_file() and _may_hold_results(p.relative_to(path)))
            if not found:
                raise InputError(f"{path}: no result files (.json, .json.gz, .csv, .parquet) in this folder.")
            yield from (Source(str(p), path=p) for p in found)
        elif path.exists():
            yield Source(str(path), path=path)
        else:
            raise InputError(f"{path}: there is no such file or folder.")


def _may_hold_results(path: Path) -> bool:
    """By name; hidden files and folders are somebody else's."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return suffix in {".json", ".csv", ".parquet"} and not any(part.startswith(".") for part in path.parts)
