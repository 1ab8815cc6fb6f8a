"""Read the versions of benchmarks for `labeler trend`, and the decisions of people about changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.benchmark import VERSION, Benchmark, by_name, natural, sorted_by_name
from analysis.trend import ChangeDecision
from labeler.errors import InputError, sentence
from labeler.formats import ReadOptions, Source, sources, tables
from labeler.service.files.gathering import Advance, Gathered, from_files

DECIDED = {"accepted": True, "refused": False}


def versions_of(paths: Sequence[Path]) -> list[Path]:
    """Return the folders of versions: those in a given folder that has only folders, in natural order."""
    return [folder for path in paths for folder in _version_folders(path)]


def _version_folders(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    if not entries or not all(entry.is_dir() for entry in entries):
        return []
    return sorted(entries, key=lambda entry: natural(entry.name))


def gather_history(
    files: Sequence[Source],
    folders: Sequence[Path],
    options: ReadOptions,
    *,
    advance: Advance = lambda _source: None,
) -> Gathered:
    """Read the benchmarks of all versions and join the runs of equal names; raises InputError like `from_files`.

    The runs of files in one of `folders` have the name of the folder as version.
    """
    options = replace(options, accept_means=True)  # a history has one number per version
    own: dict[Path | None, list[Source]] = {None: [], **{folder: [] for folder in folders}}
    for file in files:
        own[next((folder for folder in folders if file.path and file.path.is_relative_to(folder)), None)].append(file)
    parts = {folder: from_files(inside, options, advance=advance) for folder, inside in own.items() if inside}
    benchmarks = [
        benchmark if folder is None else _with_version(benchmark, folder.name)
        for folder, part in parts.items()
        for benchmark in part.benchmarks
    ]
    try:
        joined = sorted_by_name(by_name(benchmarks))
    except ValueError as error:
        raise InputError(sentence(error)) from None
    return Gathered(
        tuple(joined),
        tuple(error for part in parts.values() for error in part.refused),
        tuple(remark for part in parts.values() for remark in part.remarks),
    )


def _with_version(benchmark: Benchmark, version: str) -> Benchmark:
    runs = tuple(replace(run, conditions={**run.conditions, VERSION: version}) for run in benchmark.runs)
    return replace(benchmark, runs=runs)


def read_decisions(path: Path) -> list[ChangeDecision]:
    """Read a table with the columns benchmark, version and decision (accepted or refused)."""
    return list(_decisions(path))


def _decisions(path: Path) -> Iterator[ChangeDecision]:
    (source,) = sources([path])
    table = tables.read_table(source, ("benchmark", "version", "decision"))
    for line, row in table.iterrows():
        if row["decision"] not in DECIDED:
            raise InputError(f"{path}, line {line}: the decision is {row['decision']!r}. Write accepted or refused.")
        yield ChangeDecision(row["benchmark"], row["version"], DECIDED[row["decision"]])
