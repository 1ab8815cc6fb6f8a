"""Read benchmark result files as `Benchmark`.

The format is detected from the content. A module reads one family of formats, by the shape of the file.

A reader is a function that takes the name and content of a file and yields benchmarks. If the content is invalid, the
reader raises `ValueError` with the place and the reason. `read` turns this error into `Refused`, which also names the
file. `read_benchmarks` reads many files.
"""

from analysis.benchmark import Benchmark, Failure, Run
from labeler.formats.joining import Advance, Part, Spool, file_name_pattern, read_benchmarks, without_file_name
from labeler.formats.known import FILE_IS, FORMATS, VALUES_ARE, Format, table
from labeler.formats.reading import DEFAULTS, ReadOptions, format_of, read, read_options, with_others
from labeler.formats.source import ENDINGS, PACKED, ZIP, Source, content_hash, may_hold_results, members, sources

__all__ = [
    "DEFAULTS",
    "ENDINGS",
    "FILE_IS",
    "FORMATS",
    "PACKED",
    "VALUES_ARE",
    "ZIP",
    "Advance",
    "Benchmark",
    "Failure",
    "Format",
    "Part",
    "ReadOptions",
    "Run",
    "Source",
    "Spool",
    "content_hash",
    "file_name_pattern",
    "format_of",
    "may_hold_results",
    "members",
    "read",
    "read_benchmarks",
    "read_options",
    "sources",
    "table",
    "with_others",
    "without_file_name",
]  # fmt: skip
