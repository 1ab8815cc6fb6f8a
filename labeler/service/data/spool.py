"""Benchmarks kept aside on the disk: of many files, no more than one benchmark's runs are in memory at a time."""

import json
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from labeler.errors import InputError
from labeler.model import Benchmark, Failure


@dataclass
class Spool:
    """A file for each key, to which benchmarks are appended.

    Attributes
    ----------
    folder : Path
        Which somebody else makes and removes.
    numbers : dict
        The key of each benchmark, in order of first appearance -> the number of its file.
    """

    folder: Path
    numbers: dict[Hashable, int] = field(default_factory=dict)

    def add(self, key: Hashable, mark: int, benchmark: Benchmark) -> None:
        """Keep a benchmark, marked with a number.

        Raises
        ------
        InputError
            If the folder cannot be written to.
        """
        path = self.folder / str(self.numbers.setdefault(key, len(self.numbers)))
        said = asdict(replace(benchmark, runs=()))
        head = json.dumps({"mark": mark, "lengths": [len(run) for run in benchmark.runs], "said": said}).encode()
        values = (np.ascontiguousarray(run, dtype="<f8").tobytes() for run in benchmark.runs)
        try:
            with path.open("ab") as out:
                out.write(b"".join((head, b"\n", *values)))
        except OSError as error:
            raise InputError(f"The temporary folder {self.folder} cannot be written to: {error.strerror}.") from None

    def kept(self, key: Hashable) -> Iterator[tuple[int, Benchmark]]:
        """(mark, benchmark) of everything kept under a key, in order."""
        with (self.folder / str(self.numbers[key])).open("rb") as file:
            while line := file.readline():
                head = json.loads(line)
                runs = tuple(np.frombuffer(file.read(8 * n), dtype="<f8") for n in head["lengths"])
                said = head["said"]
                said["conditions"] = {name: tuple(texts) for name, texts in said["conditions"].items()}
                said["failures"] = tuple(Failure(**failure) for failure in said["failures"])
                yield head["mark"], Benchmark(**{**said, "runs": runs})
