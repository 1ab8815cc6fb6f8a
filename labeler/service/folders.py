"""What a page may read and write on the server's disk, and what became of the files that it took in."""

from collections.abc import Sequence
from pathlib import Path

from labeler.errors import InputError
from labeler.formats import Source
from labeler.service import importing

ENDINGS = (".json", ".csv", ".parquet")  # each also with .gz behind it
STUDY_ENDING = ".study"
MAX_NAME_BYTES = 200

Files = list[Source]


def below(root: Path, path: str | Path) -> Path:
    """The file or folder of this path, where neither `..` nor a link leads out of the root.

    Parameters
    ----------
    root : Path
        The folder from which files may be read.
    path : str or Path
        As from the root, or absolute.

    Returns
    -------
    Path
        Absolute and without links.

    Raises
    ------
    InputError
        If it lies elsewhere, or cannot be a path.
    """
    try:
        allowed = root.resolve()
        found = (allowed / path).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links is a RuntimeError
        raise InputError(f"{str(path)!r} leads to no file or folder.") from None
    if not found.is_relative_to(allowed):
        raise InputError(f"{str(path)!r} lies outside of {allowed}; only what lies below it can be imported.")
    return found


def result_files(root: Path, path: str, *, study: Path) -> Files:
    """The result file of this path, or those below the folder, named as from the root.

    Parameters
    ----------
    root : Path
        The folder from which files may be read.
    path : str
    study : Path
        The open study, which must not be opened beside SQLite (see `store.open_database`).

    Raises
    ------
    InputError
        If something lies outside of the root or cannot be looked at, there is nothing, or a file is none of results.
    """
    start, allowed = below(root, path), below(root, "")
    try:
        found = [source.path for source in importing.files_below([start]) if source.path is not None]
        for file in found:
            below(root, file)
            if not file.name.lower().removesuffix(".gz").endswith(ENDINGS) or file.samefile(study):
                raise InputError(f"{path!r}: {file.name} is no result file (.json, .json.gz, .csv, .parquet).")
    except OSError as error:
        raise InputError(f"{path!r} cannot be looked at: {error.strerror}.") from None
    return [Source(str(file.relative_to(allowed)), path=file) for file in found]


def beside(study: Path, name: str) -> Path:
    """A file of this name in the folder of the study, ending in `.study`.

    Raises
    ------
    InputError
        If it is no plain file name.

    Examples
    --------
    >>> beside(Path("studies/cache.study"), "split items").name
    'split items.study'
    """
    name = name.strip().removesuffix(STUDY_ENDING)
    is_plain = name.isprintable() and not name.startswith(".") and not set(name) & set('/\\:*?"<>|')
    if not name or not is_plain or len(name.encode()) > MAX_NAME_BYTES:
        raise InputError(
            f"{name[:80]!r} cannot be the name of a file: it needs letters, digits or spaces, without a dot in front, "
            f'and none of / \\ : * ? " < > |, and has at most {MAX_NAME_BYTES} bytes.'
        )
    return study.with_name(name + STUDY_ENDING)


def outcome(result: importing.FileResult) -> dict[str, str | int]:
    """What became of a file, in one row for the list of all files."""
    found = result.found
    if result.refused:
        became = f"refused: {result.refused}"
    elif result.names:
        there = f", {len(found) - len(result.names)} there already" if len(found) > len(result.names) else ""
        became = f"{len(result.names)} items imported{there}"
    else:
        became = "there already"
    return {
        "file": result.file,
        "what became of it": became,
        "benchmarks": len(found),
        "runs": _range([one.runs for one in found]),
        "iterations": _range([int(end) for one in found for end in one.iterations.split(" to ")]),
        "warnings": "; ".join(dict.fromkeys(warning for one in found for warning in one.warnings)),
    }


def _range(numbers: Sequence[int]) -> str:
    ends = sorted({min(numbers), max(numbers)}) if numbers else ()
    return " to ".join(map(str, ends))
