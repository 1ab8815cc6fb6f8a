import json
from pathlib import Path

import pytest

from analysis.benchmark import Failure
from labeler.formats import FORMATS
from tests.labeler.formats.examples import plain
from tests.labeler.formats.mutations import HOSTILE, read_with, readers, refusal

hyperfine = FORMATS["hyperfine"]
FILES = Path(__file__).parent / "files"  # written by hyperfine 1.15.0
TIMES = [0.5, 0.25, 0.125]


def result(command="sleep 1", times=TIMES, codes=(0, 0, 0), **more):
    told = {"command": command, "mean": 0.3, "times": times, "exit_codes": codes} | more
    return {key: value for key, value in told.items() if value is not None}


def written(*results):
    return json.dumps({"results": results}).encode()


read, refused = readers(hyperfine, "a.json", written)


@pytest.mark.parametrize("file", ["hyperfine.json", "hyperfine-parameters.json"])
def test_every_process_of_a_file_of_the_tool_is_a_run_unless_it_failed(file):
    content = (FILES / file).read_bytes()
    benchmarks = {one.name: one for one in read_with(hyperfine, file, content)}
    for there in json.loads(content)["results"]:
        good = [at for at, code in enumerate(there["exit_codes"]) if code == 0]
        name = there["command"] + "".join(f"#{key}={value}" for key, value in there.get("parameters", {}).items())
        if not good:
            assert name not in benchmarks
            continue
        one = benchmarks.pop(name)
        assert plain(one) == [[there["times"][at]] for at in good]
        assert one.conditions == {"run": tuple(map(str, good))}
        assert (one.unit, one.better, one.application) == ("s", "lower", "")
        assert one.parameters == there.get("parameters", {})
        assert [failure.conditions["run"] for failure in one.failures] == [
            str(at) for at in range(len(there["times"])) if at not in good
        ]
    assert not benchmarks


def test_the_tools_csv_is_refused_with_the_option_that_keeps_every_time():
    message = "this file has only averages. hyperfine saves the time of each process with --export-json FILE"
    assert refusal(hyperfine, "a.csv", (FILES / "hyperfine.csv").read_bytes()) == message
    assert "--export-json FILE" in refused(result("a", None))


def test_processes_that_failed_are_told_and_left_out():
    (one,) = read(result(codes=[0, 2, None]))
    assert plain(one) == [[0.5]]
    assert one.failures == (Failure({"run": "1"}, "exit code 2"), Failure({"run": "2"}, "ended by a signal"))


def test_a_command_of_which_every_process_failed_is_left_out():
    assert [one.name for one in read(result("a", codes=[1, 1, 1]), result("b"))] == ["b"]
    assert "'a': exit code 1" in refused(result("a", codes=[1, 1, 1]))


def test_parameters_are_part_of_the_name():
    benchmarks = read(*(result("named", parameters={"n": at, "text": "a b"}) for at in ("1", "2")))
    assert [one.name for one in benchmarks] == ["named#n=1&text=a b", "named#n=2&text=a b"]
    assert benchmarks[1].parameters == {"n": "2", "text": "a b"}


def test_files_without_exit_codes_are_read():
    assert plain(read(result(codes=None))[0]) == [[0.5], [0.25], [0.125]]


def test_a_command_that_appears_twice_is_refused_with_the_option_that_names():
    message = refused(result("a"), result("a"))
    assert message.startswith("benchmark 'a' appears twice; ")
    assert message.endswith("with --command-name")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (result("a", [1.0, "x", 2.0]), "benchmark 'a', run 1: 'x' is not a number"),
        (result("a", [1.0, None, 2.0]), "benchmark 'a', run 1: None is not a number"),
        (result("a", [1.0, float("nan"), 2.0]), "benchmark 'a', run 1, iteration 0: nan"),
        (result("a", 3), "benchmark 'a': 'times' is 3, not a list"),
        (result("a", [1.0]), "benchmark 'a': 'times' and 'exit_codes' differ in length (1 and 3)"),
        (result("a", codes=[0, "1", 0]), "benchmark 'a', run 1: exit code '1'"),
        (result("a", codes=[0, True, 0]), "exit code True"),
        (result("a", codes=0), "benchmark 'a': 'exit_codes' is 0, not a list"),
        (result("a", parameters=[]), "result 0: 'parameters' is [], not an object"),
        (result(None), "result 0: 'command' is missing"),
        (5, "result 0: 5 is not an object"),
    ],
)
def test_invalid_content_is_refused_with_place_and_value(bad, message):
    assert message in refused(bad)


def test_a_file_without_results_is_refused():
    assert refused() == "the file contains no benchmarks"
    assert hyperfine.detect("a.json", b'{"results": []}')


@pytest.mark.parametrize("name", HOSTILE)
def test_a_command_is_kept_as_it_is(name):
    (one,) = read(result(name, parameters={name: name}))
    assert (one.name, one.parameters) == (f"{name}#{name}={name}", {name: name})
