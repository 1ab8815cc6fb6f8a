"""Read benchmark result files as `Benchmark`.

The format is detected from the content. A module reads one family of formats, by the shape of the file.

A reader is a function that takes the name and content of a file and yields benchmarks. If the content is invalid, the
reader raises `ValueError` with the place and the reason. `read` turns this error into `Refused`, which also names the
file. `read_benchmarks` reads many files.
"""

from analysis.runs.benchmark import Benchmark as Benchmark, Failure as Failure, Run as Run
from labeler.files.formats.joining import (
    Advance as Advance,
    Part as Part,
    ReadFile as ReadFile,
    Spool as Spool,
    file_name_pattern as file_name_pattern,
    in_one_line as in_one_line,
    read_benchmarks as read_benchmarks,
    without_file_name as without_file_name,
)
from labeler.files.formats.known import (
    FILE_IS as FILE_IS,
    FORMATS as FORMATS,
    VALUES_ARE as VALUES_ARE,
    Format as Format,
    formats_table as formats_table,
)
from labeler.files.formats.reading import (
    DEFAULTS as DEFAULTS,
    ReadOptions as ReadOptions,
    checked_options as checked_options,
    format_of as format_of,
    read as read,
    read_options as read_options,
)
from labeler.files.formats.source import (
    ENDINGS as ENDINGS,
    PACKED as PACKED,
    ZIP as ZIP,
    Source as Source,
    content_hash as content_hash,
    may_hold_results as may_hold_results,
    members as members,
    sources as sources,
)
from labeler.files.formats.units import BETTER_OF as BETTER_OF
