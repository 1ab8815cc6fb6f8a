from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from labeler.plugins import classifier_plugins
from tests.labeler.packages import STEADY


def test_a_package_may_bring_several_classifiers(site):
    points = {"one": "steady:judge", "two": "steady:other"}
    site.install("steady", STEADY + "other = judge\n", version="1.4", points=points)
    found = classifier_plugins()
    assert found["one"].function is found["two"].function
    for name in points:
        assert (found[name].name, found[name].distribution, found[name].error) == (name, "steady 1.4", "")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def judge(runs:", "SyntaxError: '(' was never closed (broken.py, line 1)"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("other = None", "AttributeError: module 'broken' has no attribute 'judge'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
    ids=["import", "syntax", "error", "no function", "exit"],
)
def test_a_package_that_cannot_be_loaded_says_why_beside_the_others(site, source, reason):
    site.install("broken", source)
    site.install("steady", STEADY)
    found = classifier_plugins()
    assert (found["broken"].function, found["broken"].error) == (None, reason)
    assert found["broken"].distribution == "broken 1.0"
    assert found["steady"].function is not None


def test_a_newer_version_takes_the_place_of_the_older_one_until_it_is_removed(site):
    site.install("steady", STEADY, version="1.0")
    before = classifier_plugins()["steady"].function
    assert classifier_plugins() is classifier_plugins()  # packages are loaded once a process
    site.install("steady", STEADY, version="2.0")
    after = classifier_plugins()["steady"]
    assert (after.distribution, after.function is before) == ("steady 2.0", False)
    site.uninstall("steady")
    assert "steady" not in classifier_plugins()


@pytest.mark.slow
def test_a_process_started_anew_finds_the_package(site):
    site.install("steady", STEADY)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(classifier_plugins).result()
    assert found["steady"].distribution == "steady 1.0"
