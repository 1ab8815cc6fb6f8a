"""Separate the benchmarks of the same files into a baseline and candidates: by version, name, or word in a name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.methods.check import STEP
from analysis.runs.benchmark import VERSION, Benchmark, natural
from labeler.errors import InputError
from labeler.files.gathering import Gathered

OPTION = "--between"
N_NAMED = 6  # maximum number of names in an error message
MIN_PREFIX = 4  # characters, as in git
_HASH = re.compile(r"[0-9a-f]{7,64}")

Key = tuple[str, str, str]  # application, what the names have in common, unit


@dataclass(frozen=True)
class Candidate:
    """A candidate and the baseline that it is compared with."""

    name: str  # of the candidate
    gathered: Gathered
    baseline: Gathered


def versions_of(gathered: Gathered) -> list[str]:
    """Return the versions that the runs have, in natural order."""
    known = {
        text for benchmark in gathered.benchmarks for text in (*benchmark.of(VERSION), *_failed_versions(benchmark))
    }
    return sorted(known - {""}, key=natural)


def _failed_versions(benchmark: Benchmark) -> list[str]:
    return [failure.conditions.get(VERSION, "") for failure in benchmark.failures]


def separate(gathered: Gathered, names: Sequence[str]) -> list[Candidate]:
    """Return one candidate for each name but the first, which is the baseline.

    The names are versions (a version that is a hash can be named by its beginning), or names of benchmarks, or words in
    the names of benchmarks, such as `old` and `new` in `sort/old/10` and `sort/new/10`. Raises InputError if names are
    repeated or mean nothing in these files.
    """
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"{OPTION} needs two or more different names. The first one is the baseline.")
    versions = versions_of(gathered)
    parts = next((parts for parts in _ways_to_separate(gathered, names, versions) if _are_comparable(parts)), None)
    if parts is None:
        raise InputError(_no_pair(names, versions, gathered.benchmarks))
    (baseline, *candidates), (_first, *others) = parts, names
    rest = replace(gathered, refused=(), remarks=(), hashes={})  # remarks are reported once, with the first candidate
    return [
        Candidate(
            name,
            replace(gathered if at == 0 else rest, benchmarks=tuple(candidate.values())),
            replace(rest, benchmarks=tuple(_renamed(baseline, candidate))),
        )
        for at, (name, candidate) in enumerate(zip(others, candidates, strict=True))
    ]


def _ways_to_separate(
    gathered: Gathered, names: Sequence[str], versions: Sequence[str]
) -> Iterator[list[dict[Key, Benchmark]]]:
    """Yield what each name can mean, as versions, as names of benchmarks, as words in names, and as parameters."""
    named = [_version(name, versions) for name in names]
    if None not in named:
        yield [_of_version(gathered.benchmarks, version or "") for version in named]
    ordered = _in_order_of_measurement(gathered)
    yield [_of_name(ordered, name) for name in names]
    yield [_of_word(ordered, name, names) for name in names]
    yield [_of_parameter(ordered, name) for name in names]


def _are_comparable(parts: Sequence[dict[Key, Benchmark]]) -> bool:
    return all(part.keys() & parts[0].keys() for part in parts)


def by_version(gathered: Gathered, baseline: str) -> list[Candidate]:
    """Return one candidate for each version but the baseline; raises InputError if there are not two versions."""
    versions = versions_of(gathered)
    version = _version(baseline, versions)
    if version is None or len(versions) < 2:
        raise InputError(
            f"--against-version {baseline}: the files must have results of at least two versions, one of which is "
            f"{baseline}. {_known_versions(versions)} To compare two benchmarks, use {OPTION}."
        )
    return separate(gathered, [version, *(other for other in versions if other != version)])


def _version(name: str, versions: Sequence[str]) -> str | None:
    """Return the version that a name means: the version itself, or the beginning of only one hash."""
    if name in versions:
        return name
    begun = [version for version in versions if version.startswith(name) and _HASH.fullmatch(version)]
    if len(name) < MIN_PREFIX or not begun:
        return None
    if len(begun) > 1:
        raise InputError(f"{name} is the beginning of {len(begun)} versions: {', '.join(begun[:N_NAMED])}.")
    return begun[0]


def _of_version(benchmarks: Sequence[Benchmark], version: str) -> dict[Key, Benchmark]:
    found = {}
    for benchmark in benchmarks:
        runs = tuple(run for run in benchmark.runs if run.of(VERSION) == version)
        failures = tuple(failure for failure in benchmark.failures if failure.conditions.get(VERSION, "") == version)
        if runs or failures:
            key = benchmark.application, benchmark.name, benchmark.unit
            found[key] = replace(benchmark, runs=runs, failures=failures)
    return found


def _of_name(benchmarks: Sequence[Benchmark], name: str) -> dict[Key, Benchmark]:
    return {("", "", benchmark.unit): benchmark for benchmark in benchmarks if benchmark.name == name}


def _of_word(benchmarks: Sequence[Benchmark], word: str, words: Sequence[str]) -> dict[Key, Benchmark]:
    """Return the benchmarks whose names contain only this word, by what remains of their names without it."""
    found: dict[Key, Benchmark] = {}
    for benchmark in benchmarks:
        if [each for each in words if _whole(each).search(benchmark.name)] == [word]:
            key = benchmark.application, _whole(word).sub("\0", benchmark.name), benchmark.unit
            found[key] = benchmark
    return found


def _of_parameter(benchmarks: Sequence[Benchmark], level: str) -> dict[Key, Benchmark]:
    """Return the benchmarks with a parameter of this level, written as `LEVEL` or `PARAMETER=LEVEL`."""
    found: dict[Key, Benchmark] = {}
    for benchmark in benchmarks:
        value = next((text for name, text in benchmark.parameters.items() if level in (text, f"{name}={text}")), "")
        if value:
            found[benchmark.application, benchmark.name.replace(value, "\0"), benchmark.unit] = benchmark
    return found


def _whole(word: str) -> re.Pattern[str]:
    """Return a pattern for a word that is not a part of a longer word or number."""
    begin = r"(?<!\d[.])" if word[:1].isdigit() else ""
    end = r"(?![.]\d)" if word[-1:].isdigit() else ""
    return re.compile(rf"(?<![^\W_]){begin}{re.escape(word)}{end}(?![^\W_])")


def _renamed(baseline: dict[Key, Benchmark], candidate: dict[Key, Benchmark]) -> Iterator[Benchmark]:
    """Yield the benchmarks of the baseline under the names that the candidate has."""
    for key, benchmark in baseline.items():
        new = candidate.get(key, benchmark)
        yield replace(benchmark, name=new.name, benchmark=new.benchmark, parameters=new.parameters)


def _in_order_of_measurement(gathered: Gathered) -> Sequence[Benchmark]:
    """Return the benchmarks; if one file shows the order of their runs, the runs get their position in this order."""
    is_ordered = len(gathered.hashes) == 1 and all(file_format.in_file_order for file_format in gathered.formats)
    if not is_ordered or not gathered.formats:
        return gathered.benchmarks
    ordered, n_before = [], 0
    for benchmark in gathered.benchmarks:
        runs = tuple(
            replace(run, conditions={**run.conditions, STEP: str(n_before + at)})
            for at, run in enumerate(benchmark.runs)
        )
        n_before += len(runs)
        ordered.append(replace(benchmark, runs=runs))
    return ordered


def _no_pair(wanted: Sequence[str], versions: Sequence[str], benchmarks: Sequence[Benchmark]) -> str:
    names = [benchmark.name for benchmark in benchmarks]
    more = f", and {len(names) - N_NAMED} more" if len(names) > N_NAMED else ""
    return (
        f"{OPTION} {' '.join(wanted)}: the files have neither such versions, nor such benchmarks, nor benchmarks whose "
        "names differ only in these words or parameters. "
        f"{_known_versions(versions)} Benchmarks: {', '.join(names[:N_NAMED])}{more}."
    )


def _known_versions(versions: Sequence[str]) -> str:
    return f"Versions: {', '.join(versions)}." if versions else "The files name no versions."
