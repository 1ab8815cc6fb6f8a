"""The options of the command for verdicts, compared with direct calls of functions of `analysis`."""

import pytest

from analysis.classifiers import CLASSIFIERS
from labeler.store import items, runs
from tests.labeler.service.test_computing import NAMES, shown
from tests.labeler.test_cli import run

LAZY = ("heuristic", "heuristic-printed")


def verdicts(db, *options, code=0):
    return run("verdicts", "--study", db.path, *options, code=code)


def direct(db, **options):
    """(item, classifier, verdict, score, iterations) of every item and classifier, without the application."""
    judged = [
        (item.name, name, CLASSIFIERS[name](runs.of_item(db, item.item_id), **options))
        for item in items.all_items(db)
        for name in NAMES
    ]
    return [(item, name, one.verdict, one.score, one.n_iterations) for item, name, one in judged]


def kept(db):
    return [(row["item"], row["classifier"], row["verdict"], row["score"], row["iterations"]) for row in shown(db)]


def made(db):
    return db.execute("SELECT verdict_id, created_utc FROM verdicts ORDER BY verdict_id").fetchall()


@pytest.mark.parametrize(("drop", "n_left"), [(10, 50), (0.1, 54), (0, 60)])
def test_warmup_that_is_dropped_is_dropped_by_every_classifier(study, drop, n_left):
    verdicts(study, "--warmup", drop)
    assert kept(study) == direct(study, drop=drop)
    assert {row["iterations"] for row in shown(study)} == {n_left}


def test_dropping_a_number_and_its_share_are_the_same_but_computed_each(study):
    verdicts(study, "--warmup", 6)
    by_number = kept(study)
    assert "8 of 8 items" in verdicts(study, "--warmup", 0.1).stderr
    assert kept(study) == by_number


def test_dropping_everything_is_the_error_of_each_item(study):
    verdicts(study, "--warmup", 99999)
    for row in shown(study):
        assert row["verdict"] is None
        assert row["error"].startswith("run 0 has 60 iterations, all of them warm-up")


def test_dropping_less_than_nothing_is_refused(study):
    assert "-1.0 is not in the range x>=0" in verdicts(study, "--warmup", -1, code=2).stderr
    assert shown(study) == []


@pytest.mark.parametrize("drop", ["2.5", "nan", "inf"])
def test_dropping_what_is_neither_a_number_of_iterations_nor_a_share_is_refused(study, drop):
    verdicts(study)
    before = shown(study)
    result = run("verdicts", "--study", study.path, "--warmup", drop, code=2)
    assert f"number of iterations or a share below 1, got {drop}" in result.stderr
    assert shown(study) == before


def test_only_verdicts_are_the_same_verdicts_without_the_scores_that_cost(study):
    verdicts(study, "--only-verdict")
    assert kept(study) == [
        (item, name, verdict, None if name in LAZY else score, n) for item, name, verdict, score, n in direct(study)
    ]
    assert all(row["means"] == {} for row in shown(study) if row["classifier"] in LAZY)


def test_only_verdicts_and_warmup_go_together(study):
    verdicts(study, "--only-verdict", "--warmup", 10)
    assert [row[:3] for row in kept(study)] == [row[:3] for row in direct(study, drop=10)]


def test_only_verdicts_computes_nothing_where_everything_is_there(study):
    verdicts(study)
    before, at = shown(study), made(study)
    assert "0 of 8 items" in verdicts(study, "--only-verdict").stderr
    assert (shown(study), made(study)) == (before, at)


def test_everything_is_computed_where_only_verdicts_are_there(study):
    verdicts(study, "--only-verdict")
    assert "8 of 8 items" in verdicts(study).stderr
    assert kept(study) == direct(study)


def test_the_verdicts_asked_for_last_are_shown_without_being_computed_again(study):
    shown_for = {}
    for options in ((), ("--warmup", 10), ("--warmup", 0.1)):
        verdicts(study, *options)
        shown_for[options] = shown(study)
    at = made(study)
    assert len({str(one) for one in shown_for.values()}) == 3
    for options in (("--warmup", 10), (), ("--warmup", 0.1), ("--warmup", "10.0"), ()):
        assert "0 of 8 items" in verdicts(study, *options).stderr
        assert shown(study) == shown_for[tuple(10 if option == "10.0" else option for option in options)]
    assert made(study) == at
