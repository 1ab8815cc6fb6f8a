"""Items of each kind: from the files to the picture that a reviewer sees."""

import json
import re
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from labeler.errors import InputError
from labeler.files import outputs
from labeler.files.formats import ReadOptions
from labeler.studies.audit import audit
from labeler.studies.course import coordinating
from labeler.studies.handover import anonymising
from labeler.studies.items import browsing, drawing, importing
from labeler.studies.labelling import guide, reviewing
from labeler.studies.model import NewLabel, PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.questions import Category, Question, read_question, to_toml
from labeler.studies.results import reporting
from labeler.studies.screen import binning, blinding
from labeler.studies.screen.kinds import KINDS, QUESTIONS, examples_of
from labeler.studies.store import Database, assignments, items, labels, open_database, studies
from labeler.studies.verdicts import evidence
from tests.making import NOW, WHO, answer_next, id_of, offers

QUESTION = Question("Steady?", (Category("yes", "y", "It stays."), Category("no", "x", "It moves.")))
RNG = np.random.default_rng(4)
HISTORY = "benchmark,version,run,value\n" + "".join(
    f"parse,v{version},{run},{(1.0 if version < 12 else 1.1) * RNG.uniform(0.99, 1.01):.6f}\n"
    for version in range(20) for run in range(3)
)  # fmt: skip
RUNS = "benchmark,run,iteration,value\n" + "".join(
    f"parse,{run},{i},{(2.0 if i < 15 else 1.0) * RNG.uniform(0.99, 1.01):.6f}\n" for run in range(4) for i in range(80)
)


CHANGE = "benchmark,version,run,iteration,value\n" + "".join(
    f"{name},{version},{run},{i},{(1.1 if version == 'v2' else 1.0) * RNG.uniform(0.99, 1.01):.6f}\n"
    for name in ("parse", "sum") for version in ("v1", "v2") for run in range(3) for i in range(60)
)  # fmt: skip


def study_of_kind(path, shows, change=lambda table: table):
    """A study with what each kind of item needs."""
    table = {"history": HISTORY, "change": CHANGE}.get(shows, RUNS)
    chosen = importing.RunSelection(before="v1", after="v2") if shows == "change" else importing.RunSelection()
    return study_of(path, shows, change(table), selection=chosen)


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
    tasks = offers(db, reviewer)
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


def test_a_history_needs_versions_and_a_run_enough_iterations(tmp_path):
    few = "".join(HISTORY.splitlines(keepends=True)[:7])
    results = study_of(tmp_path / "h.study", "history", few, RUNS.replace("parse", "sum"))
    short, undated = (result.refused for result in results)
    assert short == "benchmark 'parse': only 2 versions, but a history needs at least 3"
    assert undated.startswith("benchmark 'sum': its runs have no versions, and no times on more than one day.")
    (result,) = study_of(tmp_path / "r.study", "run", HISTORY)
    needed = "a run has 1 of the 10 iterations that are needed to see how a run develops"
    assert result.refused == f"benchmark 'parse': {needed}"


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
    chosen = importing.RunSelection(runs_per_benchmark=2, seed=5)
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


@pytest.mark.parametrize("shows", KINDS)
def test_what_a_reviewer_gets_names_neither_item_nor_versions(tmp_path, shows):
    path = tmp_path / "b.study"
    study_of_kind(path, shows, lambda table: table.replace("parse,", "secretname,"))
    with open_database(path) as db:
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        shown = [reviewing.task_data(db, task) for task in offers(db, "ada")]
        assert shown
        assert not re.search('secret|"v1"', json.dumps(shown))
        for task in offers(db, "ada"):
            still = reviewing.thumbnail(db, task, "An item")
            assert still.startswith("<svg ")
            assert "secret" not in still


def test_a_long_run_keeps_its_extremes_when_it_is_shortened():
    from labeler.studies.screen import points

    values = np.ones(5 * points.MAX_POINTS)
    values[77_777] = 9.0
    drawn, at = points.shortened(values)
    assert len(drawn) == len(at) == points.MAX_POINTS
    assert at[int(drawn.argmax())] == 77_770


def side_file(name, value, n_runs=2, unit="s"):
    """A file with the runs of two benchmarks; every file has the benchmark `shared`."""
    rows = [
        f"{benchmark},{run},{i},{value + 0.001 * run + 0.0001 * i},{unit}"
        for benchmark in ("shared", name) for run in range(n_runs) for i in range(12)
    ]  # fmt: skip
    return importing.upload(f"{name}.csv", "\n".join(["benchmark,run,iteration,value,unit", *rows]).encode())


def import_sides(db, before, after):
    return list(importing.import_files(db, [before], after=[after], **WHO))


@pytest.fixture
def comparing(tmp_path):
    """A study whose items compare two versions, with the built-in question, and no items yet."""
    path = tmp_path / "change.study"
    coordinating.create_study(
        path, name="Change", question=QUESTIONS["change"], coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(path) as db:
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        yield db


def test_files_before_and_after_become_one_item_per_benchmark_and_the_others_are_listed(comparing):
    results = import_sides(comparing, side_file("old", 1.0), side_file("new", 1.2, n_runs=3))
    assert [result.names for result in results] == [("shared",), ()]
    assert results[-1].left_out() == [
        "2 benchmarks on one side only: new is left out: no runs before the change.",
        "2 benchmarks on one side only: old is left out: no runs after the change.",
    ]
    (item,) = items.all_items(comparing)
    first, second, means = drawing.panels_of_item(comparing, item.item_id)
    assert (first["title"], len(first["runs"]), second["title"], len(second["runs"])) == ("A", 2, "B", 3)
    assert first["axes"] == second["axes"] == means["axes"]
    assert means["note"] == "lower is better"
    before, after = (np.mean(group["values"]) for group in means["groups"])
    assert after - before == pytest.approx(0.2, abs=0.002)
    again = import_sides(comparing, side_file("old", 1.0), side_file("new", 1.2, n_runs=3))
    assert again[0].already_there
    assert len(items.all_items(comparing)) == 1


SIDES_REFUSED = [
    (("x", 1.0), ("y", 1.0, 2, "ops/s"), "its unit is s .lower is better. before the change and ops/s .higher is"),
    (("x", 1.0), ("y", 1.0), "it has the same measurements before and after the change"),
    (("x", 1.0, 101), ("y", 1.2), "it has 101 runs before the change, and a picture shows at most 100"),
]


@pytest.mark.parametrize(("before", "after", "why"), SIDES_REFUSED)
def test_sides_that_cannot_be_compared_are_refused_with_the_reason(comparing, tmp_path, before, after, why):
    refused = [result.refused for result in import_sides(comparing, side_file(*before), side_file(*after))]
    assert re.match(f"benchmark 'shared': {why}", refused[0])
    assert items.all_items(comparing) == []
    study_of(tmp_path / "r.study", "runs", RUNS)
    with open_database(tmp_path / "r.study") as db, pytest.raises(InputError, match="labeler init --question change"):
        import_sides(db, side_file("x", 1.0), side_file("y", 1.2))  # other studies refuse two sides


def test_one_run_before_and_a_hundred_after_and_sides_measured_in_the_other_order_have_a_warning(comparing):
    (result, _alone) = import_sides(comparing, side_file("x", 1.0, 1), side_file("y", 1.2, 100))
    assert (result.names, result.benchmarks[0].runs) == (("shared",), 101)
    assert "one side has only one run, so nobody can see how much its runs vary" in result.benchmarks[0].warnings
    days = {"v1": "2026-02-02", "v2": "2026-01-01"}
    rows = [f"sum,{version},{day},{run},{1.0 + run}" for version, day in days.items() for run in range(2)]
    table = importing.upload("t.csv", "\n".join(["benchmark,version,date,run,value", *rows]).encode())
    chosen = importing.RunSelection(before="v1", after="v2")
    (result,) = importing.import_files(comparing, [table], selection=chosen, **WHO)
    assert not result.refused
    assert any("are the two sides swapped?" in warning for warning in result.benchmarks[0].warnings)


def test_a_table_with_versions_needs_two_of_them_by_name_if_it_has_more(comparing):
    def imported(text, **versions):
        file = importing.upload("t.csv", text.encode())
        return next(importing.import_files(comparing, [file], selection=importing.RunSelection(**versions), **WHO))

    three = CHANGE + "".join(line.replace("v2", "v3") + "\n" for line in CHANGE.splitlines()[1:] if "v2" in line)
    assert "it has the versions v1, v2, v3. Say which to compare: --before NAME --after NAME" in imported(three).refused
    assert "no runs of version 'v9'" in imported(three, before="v1", after="v9").refused
    assert imported(three, before="v3", after="v1").names == ("parse", "sum")


@pytest.fixture
def blind(comparing):
    """A planned study of 24 changes whose sides are hidden from the reviewers, with retests."""
    rng = np.random.default_rng(2)
    rows = [
        f"b{number},{version},{run},{i},{(1.1 if version == 'newversion' else 1.0) * rng.uniform(0.99, 1.01):.6f}"
        for number in range(24) for version in ("oldversion", "newversion") for run in range(2) for i in range(12)
    ]  # fmt: skip
    table = importing.upload("t.csv", "\n".join(["benchmark,version,run,iteration,value", *rows]).encode())
    chosen = importing.RunSelection(before="oldversion", after="newversion")
    (result,) = importing.import_files(comparing, [table], selection=chosen, **WHO)
    assert len(result.names) == 24
    assigning.confirm_plan(comparing, PlanParameters(7, per_item=2, overlap=0, retest=2), **WHO)
    return comparing


def second_side_is_slower(panels):
    first, second = (np.mean(group["values"]) for group in panels[-1]["groups"])
    return second > first


def test_answers_about_swapped_sides_are_mapped_back(blind):
    now, shown_answers = NOW, {}
    for name in ("ada", "ben"):
        person = id_of(blind, name)
        while offers := reviewing.review_queue(blind, person).offers:
            task, now = offers[0], now + timedelta(seconds=9)
            answer = "slower" if second_side_is_slower(reviewing.panels(blind, task)) else "faster"
            shown_answers[task.code] = answer
            sent = NewLabel(f"{task.code}-0", task.code, task.revision, answer, 900, {"swapped": "mine"})
            for _ in range(2):  # as after a lost reply
                reviewing.submit(blind, person, sent, now=now)
    assert set(labels.table(blind)["label"]) == {"slower"}  # all benchmarks became slower
    swapped = labels.table(blind)["swapped"].map(bool)
    assert 0.3 < swapped.mean() < 0.7
    codes = [event.removesuffix("-0") for event in labels.table(blind)["event_id"]]
    given = {(shown_answers[code], other) for code, other in zip(codes, swapped, strict=True)}
    assert given == {("slower", False), ("faster", True)}
    own = {label.task.code: label.task.answer for label in reviewing.own_labels(blind, id_of(blind, "ada"))}
    assert own == {code: answer for code, answer in shown_answers.items() if code in own}
    assert audit.audit(blind).faults == ()
    receipt = json.loads(reviewing.receipt(blind, id_of(blind, "ada"), now=now))
    assert {row["code"]: row["label"] for row in receipt["labels"]} == own


def test_a_reviewer_cannot_tell_the_sides_by_what_is_sent_or_by_its_form(blind):
    kind = KINDS["change"]
    for task in reviewing.review_queue(blind, id_of(blind, "ada")).offers:
        shown = reviewing.task_data(blind, task)
        assert [panel.get("title") for panel in shown["panels"]] == ["A", "B", None]
        assert "before" not in shown
        assert not re.search("After|swapped|[dw]version", json.dumps(shown))
        payload = reviewing.picture(blind, task)
        of_runs, other = (
            [{**panel, "runs": [{**run, "beyond": {}} for run in panel.get("runs", [])]} for panel in panels]
            for panels in (kind.panels(drawn, sides=("A", "B")) for drawn in (payload, kind.swapped(payload)))
        )
        assert form(of_runs) == form(other)
        assert [panel.get("title") for panel in other] == ["A", "B", None]


def test_the_small_picture_has_the_order_of_the_large_one(blind):
    secret = studies.picture_secret(blind)
    tasks = assignments.tasks_of(blind, id_of(blind, "ada"))
    task = next(task for task in tasks if blinding.is_swapped(secret, task.code))
    kind, payload = KINDS["change"], reviewing.picture(blind, task)
    assert reviewing.thumbnail(blind, task, "x") == kind.thumbnail(payload, label="x")
    assert payload["sides"] == [0, 0, 1, 1]
    assert np.mean(payload["means"][:2]) > np.mean(payload["means"][2:])  # the slower runs come first


def test_built_in_questions_can_be_written_to_a_file_and_read_again():
    for question in QUESTIONS.values():
        again = read_question(to_toml(question), "q.toml", KINDS)
        assert replace(again, categories=()) == replace(question, categories=())
        assert [(c.name, c.key, c.meaning) for c in again.categories] == [
            (c.name, c.key, c.meaning) for c in question.categories
        ]


EXTRA = """
text = "Which?"
ordered = true
facts = ["unit", "benchmark"]
[extra]
text = "How difficult was it?"
answers = [1, 2, 3]
[[category]]
name = "yes"
key = "y"
meaning = "Yes."
[[category]]
name = "no"
key = "x"
meaning = "No."
"""


def test_an_extra_answer_and_facts_are_shown_and_stored_and_never_required(tmp_path):
    question = read_question(EXTRA, "q.toml", KINDS)
    assert read_question(to_toml(question), "again.toml", KINDS) == question
    other, options = RUNS.replace("parse", "sum"), ReadOptions(unit="s")
    study_of(tmp_path / "e.study", "runs", RUNS, other, question=question, options=options)
    with open_database(tmp_path / "e.study") as db:
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        person = id_of(db, "ada")
        for extra in ("2", None):
            task = reviewing.review_queue(db, person).offers[0]
            shown = reviewing.task_data(db, task)
            assert dict(shown["facts"]) == {"benchmark": shown["facts"][0][1], "unit": "s"}
            assert "extra" not in shown
            event = {"event_id": task.code, "code": task.code, "revision": 0, "answer": "yes", "dwell_ms": 900}
            sent = reviewing.submission_from(event | ({"extra": extra} if extra else {}))
            reviewing.submit(db, person, sent, now=NOW)
            assert reviewing.review_queue(db, person).last.remarks.extra == extra


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1, 2, 3]", "[1]", "answers must be a list of 2 to 6"),
        ("[1, 2, 3]", "[1, 1]", "each answer is a different number or word"),
        ('facts = ["unit", "benchmark"]', 'facts = ["author"]', "facts is a list of some of these: application"),
        ("ordered = true", "blind_side = true", "the answers can be mapped back only if the categories are ordered"),
        ("ordered = true", 'shows = "tea"', "'tea' is not one of: runs, change, history, run"),
    ],
)
def test_a_question_with_a_wrong_extra_answer_fact_or_side_is_refused(old, new, message):
    with pytest.raises(InputError, match=message):
        read_question(EXTRA.replace(old, new), "q.toml", KINDS)


def test_the_examples_of_each_built_in_question_are_what_they_are_said_to_be():
    for name, question in QUESTIONS.items():
        if (examples := examples_of(question)) and not question.is_marked:
            titles = [recipe.title for recipe in (*examples.worked, *examples.practice)]
            answers = {recipe.category for recipe in examples.practice}
            assert answers <= set(question.names), name
            assert {recipe.category for recipe in examples.worked} - {None} == set(question.names), name
            for example in guide.worked_examples(question):
                assert example.title in titles
                assert example.thumbnail("x", (34, 26)).startswith("<svg ")
                assert json.loads(json.dumps(example.panels, allow_nan=False)) == list(example.panels)


@pytest.mark.parametrize("seed", range(5))
def test_practice_examples_have_the_difference_that_their_answer_says(seed):
    for example in guide.practice_round(seed, QUESTIONS["change"]):
        means = np.array(example.picture["means"])
        before, after = (means[np.array(example.picture["sides"]) == side] for side in (0, 1))
        apart = {"slower": after.min() > before.max(), "faster": after.max() < before.min()}
        assert apart.get(str(example.category), not any(apart.values())), example.title


NOT_OF_AN_ITEM = ("percentiles", "min_span", "at", "beyond")  # the same in many pictures; bytes of shares are few


def numbers_sent(value, key=""):
    """Every number of a picture, packed or not, that could be compared with another picture."""
    if key in NOT_OF_AN_ITEM:
        return set()
    if isinstance(value, dict):
        return set().union(*(numbers_sent(inner, name) for name, inner in value.items()))
    if isinstance(value, list | tuple):
        return set().union(*(numbers_sent(inner, key) for inner in value))
    if isinstance(value, float):
        return {value}
    is_packed = (
        isinstance(value, str) and len(value) >= 8 and key not in ("rule", "kind", "title", "note", "name", "names")
    )
    return set(binning.unpacked(value).tolist()) - {0.0} if is_packed else set()


@pytest.mark.parametrize("shows", KINDS)
def test_items_of_each_kind_have_a_chart_and_nobody_can_match_two_pictures_by_their_numbers(tmp_path, shows):
    study_of_kind(tmp_path / "m.study", shows)
    with open_database(tmp_path / "m.study") as db:
        assert b"<svg" in outputs.as_file(evidence.runs_of_item(db, items.all_items(db)[0]), "svg")
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        seen, other = pictures(db, "ada"), pictures(db, "ben")
        for name in seen.keys() & other.keys():
            first, second = numbers_sent(list(seen[name])), numbers_sent(list(other[name]))
            assert len(first) > 20
            assert first & second == set()
        item_id = items.all_items(db)[0].item_id
        stored = [numbers_sent(drawing.panels_of_item(db, item_id)) for _ in range(2)]
        assert stored[0] & stored[1]  # without variation, they are found


def form(value):
    """The structure of what is sent, without its numbers and texts."""
    if isinstance(value, dict):
        return {name: form(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [form(inner) for inner in value]
    return type(value).__name__


def test_facts_beside_the_picture_are_named_in_the_report_as_a_limit_of_blindness(tmp_path):
    question = replace(QUESTION, facts=("benchmark", "unit"))
    study_of(tmp_path / "f.study", "runs", RUNS, RUNS.replace("parse", "sum"), question=question)
    with open_database(tmp_path / "f.study") as db:
        assigning.confirm_plan(db, PlanParameters(7, per_item=2, overlap=0, retest=0), **WHO)
        for name in ("ada", "ben"):
            for _ in range(2):
                answer_next(db, name, "yes")
        text = reporting.files_of_study(db, reporting.QUICK, **WHO)["report.md"]
    assert "The benchmark and unit of each item stood beside the picture, so reviewers were not blind to this." in text
    assert "without access to other reviewers' answers or verdicts" in text


@pytest.mark.parametrize("shows", ["change", "history"])
def test_an_anonymised_copy_keeps_its_pictures_and_no_names_of_versions(tmp_path, shows):
    table = re.sub(r",v(\d+),", r",winter\1,", {"history": HISTORY, "change": CHANGE}[shows])
    chosen = (
        importing.RunSelection(before="winter1", after="winter2") if shows == "change" else importing.RunSelection()
    )
    study_of(tmp_path / "n.study", shows, table, selection=chosen)
    with open_database(tmp_path / "n.study") as db:
        before = [drawing.panels_of_item(db, item.item_id) for item in items.all_items(db)]
        anonymising.anonymise(db, tmp_path / "a.study", **WHO)
    assert b"winter" not in (tmp_path / "a.study").read_bytes()
    with open_database(tmp_path / "a.study") as db:
        after = [drawing.panels_of_item(db, item.item_id) for item in items.all_items(db)]
        assert [form(panels) for panels in after] == [form(panels) for panels in before]
        assert numbers_sent(after) == numbers_sent(before)
        assert audit.audit(db).faults == ()
