"""Check the paths that pages read and write on the server's disk, and describe the results of an import."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from analysis.text import counted
from labeler.errors import InputError
from labeler.files.formats import ENDINGS, PACKED, ZIP, Source, may_hold_results
from labeler.studies.items import importing

UPLOADED = [ending.removeprefix(".") for ending in (*ENDINGS, *PACKED, ZIP)]
STUDY_ENDING = ".study"
MAX_NAME_BYTES = 200

Files = list[Source]


def below(root: Path, path: str | Path) -> Path:
    """Return a path as an absolute path inside the root folder.

    The path must not leave the folder, neither through `..` nor through a symbolic link. The result is absolute and
    without symbolic links. Raises InputError if the path is outside the root or invalid.
    """
    try:
        allowed = root.resolve()
        target = (allowed / path).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links is a RuntimeError
        raise InputError(f"{str(path)!r} is not a file or folder.") from None
    if any(os.path.islink(part) for part in (target, *target.parents)):  # noqa: PTH114 - is_symlink raises on a long name
        raise InputError(f"{str(path)!r} is not a file or folder.")  # from Python 3.13, a loop of links is not resolved
    if not target.is_relative_to(allowed):
        raise InputError(
            f"{str(path)!r} is outside the folder {allowed}. Only files inside this folder can be imported."
        )
    return target


def result_files(root: Path, path: str, *, study: Path) -> Files:
    """Return the result file at this path; if the path is a folder, return all result files in it and in its zip files.

    The names of the files are relative to the root. Only SQLite may open the study itself (see `store.open_database`),
    so it is never one of the files. Raises InputError if a path is outside the root or cannot be read, no file is
    found, or a file is not a result file.
    """
    start, allowed = below(root, path), below(root, "")

    def check(file: Path) -> None:
        below(root, file)
        if not file.is_file():  # reading a pipe would block
            raise InputError(f"{path!r}: {file.name} is not a regular file.")
        if not may_hold_results(PurePath(file.name.lstrip("."))) or file.samefile(study):
            raise InputError(
                f"{path!r}: {file.name} is not a result file. Result files end in {', '.join((*ENDINGS, ZIP))}."
            )

    try:
        sources = list(importing.files_below([start], check=check))
    except OSError as error:
        raise InputError(f"{path!r} cannot be read: {error.strerror}.") from None
    return [replace(source, name=source.name.removeprefix(f"{allowed}/")) for source in sources]


def path_in_study_folder(study: Path, name: str, ending: str = STUDY_ENDING) -> Path:
    """Return the path of a file with this name and ending in the folder of the study.

    If the ending is "", the path is meant for a folder. Raises InputError if the name is not a plain file name.

    Examples
    --------
    >>> path_in_study_folder(Path("studies/cache.study"), "split items").name
    'split items.study'
    """
    name = name.strip().removesuffix(ending)
    is_plain = name.isprintable() and not name.startswith(".") and not set(name) & set('/\\:*?"<>|')
    if not name or not is_plain or len(name.encode()) > MAX_NAME_BYTES:
        raise InputError(
            f"{name[:80]!r} is not a valid file name. Use letters, digits and spaces. Do not use "
            f'/ \\ : * ? " < > | or a dot at the start. The name can have at most {MAX_NAME_BYTES} bytes.'
        )
    return study.with_name(name + ending)


def describe_file_state(file_is: str | None) -> str:
    """Return the meaning of a value of `--file-is`, as the text of an option in a list."""
    return {
        None: "the usual content for this tool", "run": "one run of each benchmark", "study": "all runs",
    }[file_is]  # fmt: skip


@dataclass
class ImportProgress:
    """A counter of files and bytes that shows the progress and the remaining time while files are read."""

    files: Files
    clock: Callable[[], float]  # returns the time in seconds
    show: Callable[[float, str], object]  # called with (finished share from 0 to 1, text)

    def __post_init__(self) -> None:
        self.began, self.n_done, self.done = self.clock(), 0, 0
        self.total = sum(file.size for file in self.files) or 1

    def __call__(self, file: Source) -> None:
        """Count a file that was read, and show the progress."""
        self.n_done, self.done = self.n_done + 1, min(self.done + file.size, self.total)
        remaining_s = (self.clock() - self.began) / max(self.done, 1) * (self.total - self.done)
        self.show(
            self.done / self.total,
            f"{self.n_done} of {counted(len(self.files), 'file')}, {self.done / 1e6:.1f} of {self.total / 1e6:.1f} MB, "
            f"{remaining_s:.0f} s left",
        )


def outcome(result: importing.FileResult) -> dict[str, str | int]:
    """Return the result of importing a file, as a row for the list of files."""
    benchmarks = result.benchmarks
    if result.refused:
        became = f"refused: {result.refused}"
    elif result.names:
        there = (
            f", {len(benchmarks) - len(result.names)} imported before" if len(benchmarks) > len(result.names) else ""
        )
        became = f"{counted(len(result.names), 'item')} imported{there}"
    else:
        became = "imported before"
    return {
        "file": result.file,
        "outcome": became,
        "benchmarks": len(benchmarks),
        "runs": _range([benchmark.runs for benchmark in benchmarks]),
        "iterations": _range([int(end) for benchmark in benchmarks for end in benchmark.iterations.split(" to ")]),
        "warnings": "; ".join(dict.fromkeys(warning for benchmark in benchmarks for warning in benchmark.warnings)),
    }


def _range(numbers: Sequence[int]) -> str:
    ends = sorted({min(numbers), max(numbers)}) if numbers else ()
    return " to ".join(map(str, ends))
