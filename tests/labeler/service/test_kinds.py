"""Items of each kind: from the files to the picture that a reviewer sees."""

import json
from dataclasses import replace

import numpy as np
import pytest

from labeler.model import PlanParameters, Role
from labeler.questions import Category, Question
from labeler.screen import binning
from labeler.screen.kinds import KINDS
from labeler.service.items import browsing, drawing, importing
from labeler.service.labelling import reviewing
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.study import coordinating
from labeler.store import Database, items, open_database
from tests.labeler.conftest import NOW, id_of

WHO = {"actor": "carol", "now": NOW}
QUESTION = Question("Steady?", (Category("yes", "y", "It stays."), Category("no", "x", "It moves.")))
RNG = np.random.default_rng(4)
HISTORY = "benchmark,version,run,value\n" + "".join(
    f"parse,v{version},{run},{(1.0 if version < 12 else 1.1) * RNG.uniform(0.99, 1.01):.6f}\n"
    for version in range(20) for run in range(3)
)  # fmt: skip
RUNS = "benchmark,run,iteration,value\n" + "".join(
    f"parse,{run},{i},{(2.0 if i < 15 else 1.0) * RNG.uniform(0.99, 1.01):.6f}\n" for run in range(4) for i in range(80)
)


def study_of(path, shows, *tables, question=QUESTION, **options):
    question = replace(question, shows=shows)
    coordinating.create_study(path, name="Kinds", question=question, coordinator="carol", plan_secret="", now=NOW)
    with open_database(path) as db:
        files = [importing.upload(f"{number}.csv", table.encode()) for number, table in enumerate(tables)]
        results = list(importing.import_files(db, files, **options, **WHO))
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
    return results


def pictures(db: Database, reviewer):
    """The panels of the tasks of a reviewer, by the name of the item."""
    tasks = reviewing.review_queue(db, id_of(db, reviewer)).offers
    return {items.by_id(db, task.item_id).name: reviewing.panels(db, task) for task in tasks}


def numbers(panel, name):
    return binning.series_of(panel, panel, name)


def test_a_history_is_one_item_whose_versions_are_in_order_and_unnamed(tmp_path):
    (result,) = study_of(tmp_path / "h.study", "history", HISTORY)
    assert result.names == ("parse",)
    with open_database(tmp_path / "h.study") as db:
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        (seen,), (other,) = pictures(db, "ada")["parse"], pictures(db, "ben")["parse"]
        assert (seen["kind"], seen["n"], "names" in seen) == ("points", 20, False)
        assert binning.unpacked(seen["at"]).tolist() == [version for version in range(20) for _ in range(3)]
        line = numbers(seen, "middles")
        assert line[11] < 1.03 < 1.07 < line[12]
        assert not set(numbers(seen, "values")) & set(numbers(other, "values"))  # nobody can match two pictures
        (own,) = drawing.panels_of_item(db, items.by_name(db, "parse").item_id)
        assert own["names"][:2] == ["v0", "v1"]
        assert browsing.catalogue(db)["spread"][0] == pytest.approx(0.1, abs=0.03)


def test_a_history_needs_versions(tmp_path):
    results = study_of(
        tmp_path / "h.study", "history", "".join(HISTORY.splitlines(keepends=True)[:7]), RUNS.replace("parse", "sum")
    )
    short, undated = (result.refused for result in results)
    assert short == "benchmark 'parse': only 2 versions, but a history needs at least 3"
    assert undated.startswith("benchmark 'sum': its runs have neither a version nor a date. Add a column")


def test_dates_are_in_order_whatever_the_order_of_the_rows(tmp_path):
    days = ["2026-03-02", "2026-01-31", "2026-02-01"]
    table = "benchmark,date,run,value\n" + "".join(f"sum,{day},0,{day[6]}.5\n" for day in days)
    (result,) = study_of(tmp_path / "h.study", "history", table)
    assert not result.refused
    with open_database(tmp_path / "h.study") as db:
        (panel,) = drawing.panels_of_item(db, items.by_name(db, "sum").item_id)
        assert panel["names"] == sorted(days)
        assert numbers(panel, "middles").tolist() == [1.5, 2.5, 3.5]


def test_each_run_is_an_item_or_some_runs_that_the_seed_chooses(tmp_path):
    (every,) = study_of(tmp_path / "all.study", "run", RUNS)
    assert every.names == tuple(f"parse : run {run}" for run in range(4))
    chosen = importing.Selection(runs_per_benchmark=2, seed=5)
    (some,) = study_of(tmp_path / "some.study", "run", RUNS, selection=chosen)
    assert len(some.names) == 2
    assert set(some.names) < set(every.names)
    with open_database(tmp_path / "some.study") as db:
        assert [item.n_runs for item in items.all_items(db)] == [1, 1]
        assert browsing.catalogue(db)["spread"].isna().all()
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        (panel,) = pictures(db, "ada")[some.names[0]]
        values = numbers(panel, "values")
        assert (panel["n"], panel["at"], len(values)) == (80, None, 80)
        assert values[:15].min() > 1.9
        assert values[15:].max() < 1.1


def test_a_run_of_few_iterations_is_no_item(tmp_path):
    (result,) = study_of(tmp_path / "r.study", "run", HISTORY)
    assert result.refused == (
        "benchmark 'parse': a run has 1 of the 10 iterations that are needed to see how a run develops"
    )


@pytest.mark.parametrize("shows", KINDS)
def test_what_a_reviewer_gets_names_neither_item_nor_versions(tmp_path, shows):
    path = tmp_path / "b.study"
    table = HISTORY if shows == "history" else RUNS
    study_of(path, shows, table.replace("parse,", "secretname,").replace(",v1", ",secret1"))
    with open_database(path) as db:
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        shown = [reviewing.shown(db, task) for task in reviewing.review_queue(db, id_of(db, "ada")).offers]
        assert shown
        assert "secret" not in json.dumps(shown)
        for task in reviewing.review_queue(db, id_of(db, "ada")).offers:
            still = reviewing.thumbnail(db, task, "An item")
            assert still.startswith("<svg ")
            assert "secret" not in still


def test_a_long_run_keeps_its_extremes_when_it_is_shortened():
    from labeler.screen import points

    values = np.ones(100_000)
    values[77_777] = 9.0
    drawn, at = points.shortened(values)
    assert len(drawn) == len(at) == points.MAX_POINTS
    assert at[int(drawn.argmax())] == 77_770
