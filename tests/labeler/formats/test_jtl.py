from pathlib import Path

import pytest

from analysis.benchmark import Failure
from labeler.formats import FORMATS
from tests.labeler.formats.mutations import read_with, refusal

jtl = FORMATS["jmeter"]
FILES = Path(__file__).parent / "files"  # with the columns that JMeter writes by default
HEAD = "timeStamp,elapsed,label,success\n"


def test_requests_are_iterations_in_the_order_in_which_they_began_and_failed_ones_are_left_out():
    home, search = read_with(jtl, "a.jtl", (FILES / "jmeter.jtl").read_bytes())
    assert (home.name, [run.tolist() for run in home.values]) == ("Home, sweet home", [[0.012, 0.010, 0.011]])
    assert (search.name, [run.tolist() for run in search.values]) == ("Search", [pytest.approx([0.009, 0.008])])
    assert search.failures == (Failure({}, "1 of 3 requests failed"),)
    assert (home.unit, home.better, home.failures) == ("s", "lower", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "1,x,a,true\n", "line 2, 'elapsed': 'x'"),
        (HEAD + "1,5,a,true\n,5,a,true\n", "line 3, 'timeStamp'"),
        (HEAD + "1,5\n", "line 2: the row has 2 cells"),
        (HEAD + "1,5,a,false\n", "1 of 1 requests failed"),
        ("timeStamp,elapsed,labels\n1,5,a\n", "column 'label'"),
        (HEAD, "the file contains no benchmarks"),
    ],
)
def test_invalid_content_is_refused_with_line_and_value(text, message):
    assert message in refusal(jtl, "a.jtl", text.encode())
