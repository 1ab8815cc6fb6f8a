"""Find and open result files: by name or pattern, in folders and zip files, as an upload, or on standard input.

Compressed files are recognised by their first bytes and unpacked in memory, so a name in a zip file is never used as a
path. Content that would be too large (`labeler.files.formats.bounds`) is refused before it fills the memory.
"""

import glob
import gzip
import hashlib
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, TypeVar

from analysis.runs.benchmark import natural
from labeler.errors import InputError, Refused
from labeler.files.formats.bounds import FREELY, MAX_RATIO, most_unpacked

# each may be followed by an ending in PACKED; .xml is not here, because such files in a folder mostly belong to other
# tools
ENDINGS = (".json", ".csv", ".parquet", ".txt", ".log", ".bench", ".out", ".jtl", ".data", ".jsonl")
PROGRAMS = (".xlsx", ".xls", ".ods", ".numbers", ".sav", ".dta", ".rds", ".rdata")  # of spreadsheets and statistics
DATA_JS = "data.js"  # of github-action-benchmark; other files with this ending are programs
PACKED = (".gz", ".zst")
ZIP = ".zip"
STDIN = "-"

MAX_MEMBERS = 10_000  # files in a zip file
MAX_STDIN = 500 * 2**20  # bytes; standard input may never end
MAX_BESIDE = 64 * 2**10  # bytes of a file beside the results

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks that PowerShell writes
_GZIP, _ZSTD, _ZIPPED = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"

P = TypeVar("P", bound=PurePath)

_BESIDE_CRITERION = ("benchmark.json", "estimates.json", "tukey.json")
_ASV_RESULT = re.compile(r"[0-9a-f]{8}-.*\.json(\.gz|\.zst)?", re.DOTALL)
_DOTNET_REPORT = re.compile(
    r"(?P<stem>.+)-(report(-brief|-default|-short)?|measurements)(-compressed)?\.(csv|json)", re.DOTALL
)


@dataclass(frozen=True)
class Source:
    """A file with its display name; the content is on disk, in a zip file or, for an upload, in memory."""

    name: str
    path: Path | None = None  # the path on disk, or the path of the zip file that contains it
    data: bytes = b""  # the content of an upload, if it is not on disk
    # The open zip file and the entry in this zip file, if the file is in a zip file.
    member: tuple[zipfile.ZipFile, zipfile.ZipInfo] | None = field(default=None, compare=False)
    unusable: str = ""  # the reason why the file cannot be used, if the reason is already known

    def __post_init__(self) -> None:
        """Replace bytes in the name that are not text."""
        object.__setattr__(self, "name", self.name.encode("utf-8", "backslashreplace").decode())

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Turn a ValueError that is raised inside into a refusal of this file."""
        try:
            yield
        except ValueError as error:
            raise Refused(self.name, str(error)) from None

    @property
    def plain_name(self) -> str:
        """The name without a compression ending such as .gz."""
        ending = next((packed for packed in PACKED if self.name.lower().endswith(packed)), "")
        return self.name[: len(self.name) - len(ending)]

    @property
    def size(self) -> int:
        """The size of the stored file in bytes, before any decompression; 0 if unknown."""
        if self.member:
            return self.member[1].compress_size
        try:
            return self.path.stat().st_size if self.path else len(self.data)
        except OSError:
            return 0

    def content(self) -> bytes:
        """Return all bytes, unpacked, with UTF-16 text as UTF-8; raises Refused for damaged or too large content."""
        if PurePath(self.plain_name).suffix.lower() in PROGRAMS:
            raise Refused(self.name, "this is a file of another program. Save the table as CSV in UTF-8")
        try:
            raw = self._raw()
            if raw[:2] == _GZIP:
                raw = self._unpacked(gzip.GzipFile(fileobj=BytesIO(raw)), len(raw))
            elif raw[:4] == _ZSTD:
                import pyarrow as pa

                raw = self._unpacked(pa.CompressedInputStream(pa.BufferReader(raw), "zstd"), len(raw))
        except (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
            reason = getattr(error, "strerror", None) or f"the {self._kind()} is damaged ({error})"
            raise Refused(self.name, str(reason)) from None
        if raw[:2] == _GZIP or raw[:4] == _ZSTD:
            raise Refused(self.name, "the file is compressed twice. Decompress it once")
        if raw[:2] in _UTF_16:
            try:
                raw = raw.decode("utf-16").encode()
            except UnicodeError:
                raise Refused(
                    self.name, "the file begins with a UTF-16 byte order mark, but is not UTF-16. Save it as UTF-8"
                ) from None
        if raw[:4] == _ZIPPED:
            raise Refused(
                self.name, "this zip file is inside another zip file, or its name does not end in .zip. Unpack it first"
            )
        return raw

    def beside(self, name: str) -> str:
        """Return the text of a small file in the same folder or zip folder; return "" if there is none."""
        try:
            if self.member:
                archive, entry = self.member
                with archive.open(str(PurePosixPath(entry.filename).with_name(name))) as file:
                    raw = file.read(MAX_BESIDE + 1)
            elif self.path and (self.path.parent / name).is_file():
                with (self.path.parent / name).open("rb") as file:
                    raw = file.read(MAX_BESIDE + 1)
            else:
                return ""
            return raw.decode() if len(raw) <= MAX_BESIDE else ""
        except (OSError, KeyError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile):
            return ""

    def _raw(self) -> bytes:
        if self.unusable:
            raise Refused(self.name, self.unusable)
        if self.member:
            archive, entry = self.member
            with archive.open(entry) as file:
                return self._unpacked(file, entry.compress_size)
        if self.path and self.path.exists() and not self.path.is_file():
            raise Refused(self.name, "this is not a file, but a folder, a device or a pipe")
        return self.path.read_bytes() if self.path else self.data

    def _unpacked(self, file: "IO[bytes] | gzip.GzipFile", packed_size: int) -> bytes:
        limit = most_unpacked(packed_size)
        content: bytes = file.read(limit + 1)
        if len(content) > limit:
            raise Refused(
                self.name, f"the file unpacks to more than {limit // 2**20} MiB. If you trust the file, unpack it first"
            )
        return content

    def _kind(self) -> str:
        if self.member:
            return "file in a zip file"
        return "zstd file" if self.name.lower().endswith(".zst") else "gzip file"


def content_hash(content: bytes) -> str:
    """Return the SHA-256 of the bytes of a file, to recognise the same file under another name."""
    return hashlib.sha256(content).hexdigest()


def sources(paths: Iterable[Path], *, check: Callable[[Path], None] = lambda _path: None) -> Iterator[Source]:
    """Find the files for the given paths; those of a folder, zip file or pattern in natural order of their names.

    A folder stands for all files in it and its subfolders whose extension is in `ENDINGS`, without hidden files. A path
    with `*`, `?` or `[` is a pattern, unless a file has this name; `**` matches any number of folders. `-` is standard
    input. `check` is called with the path of each file before it is opened, and may raise an error. Raises InputError
    if a path does not exist, no file matches a pattern, or a folder has no result files.
    """
    for path in paths:
        if str(path) == STDIN:
            yield from members(_of_standard_input())
        elif path.exists():
            yield from _of_path(path, check)
        elif glob.has_magic(str(path)):
            fitting = map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207 - may be absolute
            found = {one for one in fitting if one.is_file() or "**" not in str(path)}
            if not found:
                raise InputError(f"{path}: no file matches this pattern.")
            for one in _without_companions(found):
                yield from _of_path(one, check)
        else:
            raise InputError(f"{path}: no such file or folder.")


def _of_standard_input() -> Source:
    content = sys.stdin.buffer.read(MAX_STDIN + 1)
    if len(content) <= MAX_STDIN:
        return Source("standard input", data=content)
    reason = f"it has more than {MAX_STDIN // 2**20} MiB. Save it as a file, and give the name of the file"
    return Source("standard input", unusable=reason)


def _of_path(path: Path, check: Callable[[Path], None]) -> Iterator[Source]:
    if not path.is_dir():
        check(path)
        yield from members(Source(str(path), path=path))
        return
    found = {p for p in path.rglob("*") if may_hold_results(p.relative_to(path)) and p.is_file()}
    if not found:
        endings = ", ".join((*ENDINGS, ZIP))
        raise InputError(f"{path}: this folder has no result files ({endings}; also with {' or '.join(PACKED)}).")
    for one in _without_companions(found):
        check(one)
        yield from members(Source(str(one), path=one))


def _without_companions(paths: set[Path]) -> list[Path]:
    return sorted(paths - companions(paths), key=lambda path: natural(str(path)))


def companions(paths: Collection[P]) -> set[P]:
    """Return the files that tools wrote next to their results, such as estimates, if the results are there too.

    Examples
    --------
    >>> found = [PurePath("sort/new") / name for name in ("estimates.json", "sample.json", "x.json")]
    >>> companions(found)
    {PurePosixPath('sort/new/estimates.json')}
    """
    beside: dict[PurePath, set[str]] = {}
    for path in paths:
        beside.setdefault(path.parent, set()).add(path.name)
    return {path for path in paths if any(_accompanies(path, beside))}


def _accompanies(path: PurePath, beside: dict[PurePath, set[str]]) -> Iterator[bool]:
    names, folder = beside[path.parent], path.parent
    if path.name in _BESIDE_CRITERION:
        yield "sample.json" in names
        yield folder.name == "change" and "sample.json" in beside.get(folder.parent / "new", ())
    if path.name == "measurements.parquet":  # written by `labeler measure`, with the same content as the CSV table
        yield "measurements.csv" in names
    if path.name == "machine.json":
        yield any(map(_ASV_RESULT.fullmatch, names))
    if path.name == "benchmarks.json":
        yield any("machine.json" in beside[below] for below in beside if below.parent == folder)
    report = _DOTNET_REPORT.fullmatch(path.name)
    if report:
        yield any(f"{report['stem']}-report-full{end}.json" in names for end in ("", "-compressed"))


def may_hold_results(path: PurePath) -> bool:
    """Return whether a file may contain results, judged by its name; ignore hidden files and folders."""
    name = path.name.lower()
    plain = next((name.removesuffix(packed) for packed in PACKED if name.endswith(packed)), name)
    is_one = PurePath(plain).suffix in ENDINGS or plain == DATA_JS or name.endswith(ZIP)
    return is_one and not any(part.startswith(".") and part != ".." for part in path.parts)


def members(source: Source) -> Iterator[Source]:
    """Yield the file itself, or the files in a zip file as `FILE.zip/NAME`; `unusable` says why one cannot be used."""
    is_sent = source.path is None and source.data[:4] == _ZIPPED
    if not (source.name.lower().endswith(ZIP) or is_sent):
        yield source
        return
    try:
        archive = zipfile.ZipFile(source.path or BytesIO(source.data))
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        yield replace(source, unusable=f"this is not a readable zip file ({error})")
        return
    entries = [e for e in archive.infolist() if not e.is_dir() and may_hold_results(PurePath(e.filename.lstrip("/")))]
    reason = "" if entries else f"this zip file has no result files ({', '.join(ENDINGS)})"
    limit = max(FREELY, MAX_RATIO * source.size)
    if len(entries) > MAX_MEMBERS or sum(entry.file_size for entry in entries) > limit:
        most = f"{MAX_MEMBERS} files or {limit // 2**20} MiB in total"
        reason = f"the zip file unpacks to more than {most}. If you trust the file, unpack it first"
    if _share_data(archive):
        reason = "the zip file is damaged: several of its files share the same data"
    if reason:
        yield replace(source, unusable=reason)
        return
    beside = companions({PurePath(entry.filename) for entry in entries})
    results = (entry for entry in entries if PurePath(entry.filename) not in beside)
    for entry in sorted(results, key=lambda one: natural(one.filename)):
        yield replace(source, name=f"{source.name}/{entry.filename}", data=b"", member=(archive, entry))


def _share_data(archive: zipfile.ZipFile) -> bool:
    """Return whether files of a zip file overlap, so that a small file could hold any amount of content."""
    spans = sorted((entry.header_offset, entry.compress_size) for entry in archive.infolist())
    return any(begin + size >= following for (begin, size), (following, _) in pairwise(spans))
