"""Whatever happens to the output of a command, it ends with a sentence and the right exit code."""

import errno
import io
import os
import resource
import subprocess
import sys

import pytest
from click.testing import CliRunner

from labeler.cli import all_places, main
from labeler.cli.common import describe
from labeler.errors import InputError
from labeler.studies.commands import serving
from tests.conftest import some_slow

ENCODINGS = ("utf-8", "ascii", "latin-1", "cp1252", "cp437", "cp850", "iso8859-15", "koi8-r", "shift_jis", "gb2312")
UTF_8 = {**os.environ, "PYTHONIOENCODING": "utf-8"}


@pytest.mark.parametrize("encoding", some_slow(ENCODINGS, set(ENCODINGS) - {"ascii", "shift_jis"}))
def test_every_command_writes_its_help_in_any_encoding(encoding):
    for name in all_places():
        done = CliRunner(charset=encoding).invoke(main, [name, "--help"])
        assert (done.exit_code, done.exception) == (0, None), name
        assert done.stdout_bytes.decode(encoding).startswith("Usage:")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_characters_that_an_encoding_lacks_are_replaced_in_data_and_errors(encoding, tmp_path):
    table = tmp_path / "t.csv"
    lines = [f"sörting − 漢,{run},{1 + 0.01 * run}" for run in range(8)]
    table.write_text("\n".join(["benchmark,run,value", *lines]), encoding="utf-8")
    done = CliRunner(charset=encoding).invoke(main, ["import", "--dry-run", str(table)])
    assert (done.exit_code, type(done.exception)) in {(0, type(None)), (1, SystemExit)}, done.stderr
    assert "s" in done.stdout_bytes.decode(encoding)
    refused = CliRunner(charset=encoding).invoke(main, ["status", "--study", "x−漢.study"])
    assert (refused.exit_code, "There is no study x" in refused.stderr_bytes.decode(encoding)) == (2, True)


class Failing(io.RawIOBase):
    """An output that fails with one of the errors of the operating system."""

    def __init__(self, number):
        self.number = number

    def writable(self):
        return True

    def write(self, _data):
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(("number", "code"), [(errno.EPIPE, 0), (errno.EFBIG, 2), (errno.ENOSPC, 2), (errno.EBADF, 2)])
@pytest.mark.parametrize("words", [["check", "--help"], ["reviewers", "--help"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_an_error_and_a_reader_who_has_gone_is_not(
    monkeypatch, capsys, words, number, code
):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Failing(number)), write_through=True))
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == code
    assert capsys.readouterr().err.startswith("Error: " if code else "")
    with pytest.raises(OSError, match=os.strerror(number)):  # what is left in the buffer of this test
        sys.stdout.flush()
    sys.stdout.buffer.raw.write = len


def of_process(stdout, *arguments, env=UTF_8, **options):
    command = [sys.executable, "-m", "labeler", *(arguments or ["check", "--help"])]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=env, check=False, **options)


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def test_a_process_whose_output_is_closed_full_or_no_longer_read_ends_as_documented(tmp_path):
    closed = of_process(None, preexec_fn=lambda: os.close(1))
    with (tmp_path / "out").open("w") as out:
        full = of_process(out, preexec_fn=limited)
    with (tmp_path / "out").open("w") as out:
        unbuffered = of_process(out, preexec_fn=limited, env={**UTF_8, "PYTHONUNBUFFERED": "1"})
    reading, writing = os.pipe()
    os.close(reading)
    gone = of_process(writing)
    os.close(writing)
    ends = (closed, full, unbuffered, gone)
    assert [done.returncode for done in ends] == [2, 2, 2, 0], ends
    assert [done.stderr.count("\n") for done in ends] == [1, 1, 1, 0]
    assert all("cannot be written" in done.stderr for done in ends[:3])


def test_the_exit_code_of_a_check_stays_its_result_if_nobody_reads_its_output(tmp_path):
    for name, level in (("old", 1), ("new", 2)):
        rows = [f"b,{run},{level + 0.01 * run},s" for run in range(5)]
        (tmp_path / name).with_suffix(".csv").write_text("\n".join(["benchmark,run,value,unit", *rows]))
    compare = ("check", tmp_path / "new.csv", "--against", tmp_path / "old.csv", "--json", tmp_path / "all.json")
    reading, writing = os.pipe()
    os.close(reading)
    found = of_process(writing, *compare)
    os.close(writing)
    assert (found.returncode, found.stderr, (tmp_path / "all.json").exists()) == (1, "", True)
    alone = of_process(subprocess.DEVNULL, "check", tmp_path / "old.csv", preexec_fn=lambda: os.close(2))
    assert alone.returncode == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError("runs.csv, line 3: no number."), "runs.csv, line 3: no number."),
        (FileNotFoundError(2, "No such file or directory", "a.json"), "a.json: No such file or directory."),
        (MemoryError(), "There is not enough memory for this input."),
        (RecursionError(), "The input is nested too deep"),
        (
            ZeroDivisionError("division by zero"),
            "The command failed unexpectedly (ZeroDivisionError: division by zero)",
        ),
    ],
)
def test_any_error_is_one_sentence_and_exit_code_2(monkeypatch, error, words):
    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr("labeler.files.exploring.explore", fail)
    monkeypatch.setattr("labeler.cli.common.Commands.get_command", fail)
    done = CliRunner().invoke(main, ["formats"])
    assert describe(error).startswith(words)
    assert (done.exit_code, words in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_nothing_that_controls_a_terminal_reaches_it_through_an_error():
    done = CliRunner().invoke(main, ["status", "--study", "x\x1b]52;c;eA==\x07\u202e.study"])
    assert done.exit_code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stderr)


def test_a_link_that_leads_back_to_itself_is_called_so(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for command in (
        ["check", tmp_path / "a"],
        ["audit", "--study", tmp_path / "a"],
        ["status", "--study", tmp_path / "b"],
    ):
        done = CliRunner().invoke(main, list(map(str, command)))
        assert (done.exit_code, "leads back to itself" in " ".join(done.stderr.split())) == (2, True), done.stderr


@pytest.mark.parametrize("name", ["check", "import", "spread", "convert"])
def test_a_device_or_a_pipe_is_refused_before_it_is_read(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    more = ["--to", "csv", "-o", str(tmp_path / "o.csv")] if name == "convert" else []
    for path in ("/dev/zero", tmp_path / "pipe"):
        done = CliRunner().invoke(main, [name, str(path), *more])
        assert (done.exit_code, "Give a file, or - for standard input" in " ".join(done.stderr.split())) == (2, True)


def test_the_log_of_the_server_cannot_control_a_terminal():
    record = serving._harmless_record("any", 30, "x.py", 1, "the provider says %s", ("\x1b]0;x\x07\u202e",), None)
    assert record.getMessage() == "the provider says \ufffd]0;x\ufffd\ufffd"
