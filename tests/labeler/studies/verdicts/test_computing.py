import os

import numpy as np
import pandas as pd
import pytest

from analysis.learning._features import shape_names
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.classifiers._kruskal import BY_CHANCE
from analysis.runs.dissimilarity import TOO_SHORT
from labeler.studies import background
from labeler.studies.model import measurement_hash
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.store import items, open_database, runs
from labeler.studies.verdicts import computing, stored_verdicts
from labeler.studies.verdicts.computing import ComputationResult
from tests.labeler.cli.test_cli import run
from tests.making import WHO, import_all, item_name, log, make_study, report_of_files, result_file, series

CATEGORIES = SIMILAR.names

NAMES = tuple(sorted(CLASSIFIERS))  # in the form of tables
LONG_RUNS_ONLY = [name for name in NAMES if name != "spread"]
COLUMNS = [
    "item", "benchmark", "classifier", "verdict", "score", "threshold", "m1", "m2", "m3", "m4", "m5", "clusters",
    "iterations", "parameters", "version", "error", "cosine", "wave_hedges", "kumar_hassebrook", "scaled_rmse",
    "apart_m1", "apart_m2", "apart_m3", "apart_m4", "apart_m5", "apart_cosine", "apart_wave_hedges",
    "apart_kumar_hassebrook", "apart_scaled_rmse", *(name for name, _ in shape_names()), "application",
]  # fmt: skip


def compute(db, **more):
    return computing.compute_verdicts(db, actor="carol", **more)


def shown(db):
    """Return all columns of the verdicts except the time; None if there are no verdicts."""
    rows = stored_verdicts.verdict_table(db).to_dict("records")
    return [{name: None if value is None or value != value else value for name, value in row.items()} for row in rows]


def export(db):
    return stored_verdicts.export_table(db, **WHO)


def change_measurements(db, name, factor=1.0, added=0.0):
    item = items.by_name(db, name)
    changed = [values * factor + added for values in runs.of_item(db, item.item_id)]
    for number, values in enumerate(changed):
        db.execute(
            "UPDATE runs SET measurements = ? WHERE item_id = ? AND run = ?", (values.tobytes(), item.item_id, number)
        )
    db.execute("UPDATE items SET data_hash = ? WHERE item_id = ?", (measurement_hash(changed), item.item_id))


def test_the_verdicts_kept_are_those_of_the_classifiers_themselves(study):
    assert compute(study) == ComputationResult(n_items=8, n_computed=8, n_without_verdict=0)
    table = stored_verdicts.verdict_table(study)
    assert list(zip(table["item"], table["classifier"], strict=True)) == [
        (item.name, name) for item in items.all_items(study) for name in NAMES
    ]
    for row in table.itertuples():
        measured = runs.of_item(study, items.by_name(study, row.item).item_id)
        direct = CLASSIFIERS[row.classifier](measured)
        assert (row.verdict, row.score, row.threshold) == (direct.verdict, direct.score, direct.threshold)
        assert (row.means, row.clusters, row.iterations) == (direct.means, direct.clusters, direct.n_iterations)
        assert row.error is None
    item = items.all_items(study)[0]
    direct = CLASSIFIERS["same"](runs.of_item(study, item.item_id))
    pairs, linkage = study.execute(
        "SELECT pairs, linkage FROM verdicts WHERE item_id = ? AND classifier = 'same'", (item.item_id,)
    ).fetchone()
    assert np.frombuffer(pairs, "<f4").reshape(4, 3) == pytest.approx(np.stack(list(direct.pairs.values())), rel=1e-6)
    assert np.frombuffer(linkage, "<f8").tolist() == direct.linkage.ravel().tolist()


def test_what_was_computed_on_other_measurements_is_computed_again(study):
    compute(study)
    before = shown(study)
    change_measurements(study, item_name(3), factor=2, added=5)
    assert computing.n_missing(study) == 1
    assert len(shown(study)) == 7 * len(NAMES)  # a verdict on other measurements does not count
    assert compute(study).n_computed == 1
    after = shown(study)
    changed = [(row["item"], row["classifier"]) for row, old in zip(after, before, strict=True) if row != old]
    assert changed == [(item_name(3), name) for name in NAMES if name != "kruskal"]  # the ranks are the same


@pytest.mark.parametrize("change", ["version = 0", "parameters = '{}'"])
def test_what_an_older_classifier_said_is_computed_again_and_the_new_verdict_is_shown(study, change):
    compute(study)
    before = shown(study)
    study.execute(f"UPDATE verdicts SET {change}, score = 99 WHERE classifier = 'same'")
    assert computing.n_missing(study) == 8
    assert compute(study) == ComputationResult(8, 8, 0)
    assert shown(study) == before


def test_a_negative_measurement_is_an_error_of_same_alone(db):
    measured = series(1)
    measured[2][7] = -0.5
    import_all(db, result_file("negative", measured), result_file("positive", series(2)))
    assert compute(db) == ComputationResult(2, 2, 1)
    rows = {(row["item"], row["classifier"]): row for row in shown(db)}
    same = rows["negative", "same"]
    assert (same["verdict"], same["error"]) == (None, "run 2, iteration 7: -0.5 is negative")
    assert all(row["verdict"] for key, row in rows.items() if key != ("negative", "same"))


def test_runs_too_short_get_the_reason_instead_of_a_verdict(db):
    import_all(db, result_file("short", series(1, n_iterations=49)), result_file("long", series(1, n_iterations=50)))
    assert compute(db) == ComputationResult(2, 2, 4)
    errors = {(row["item"], row["classifier"]): row["error"] for row in shown(db) if row["error"]}
    assert errors == {("short", name): TOO_SHORT for name in LONG_RUNS_ONLY} | {("short", "kruskal"): BY_CHANCE}
    assert [row["verdict"] is not None for row in shown(db) if row["item"] == "short"] == [
        name not in LONG_RUNS_ONLY for name in NAMES
    ]
    assert computing.n_missing(db) == 0


def test_items_without_measurements_are_not_judged_and_bad_ones_are_an_error_of_every_classifier(db):
    items.add(db, "x", benchmark="x", n_runs=0, n_iterations=0)
    assert (compute(db), computing.n_missing(db)) == (ComputationResult(0, 0, 0), 0)
    judged = computing.judge([np.array([1.0, np.nan]), np.array([1.0, 2.0])], NAMES)
    assert [verdict.classifier for verdict in judged] == list(NAMES)
    assert {verdict.reason for verdict in judged} == {"run 0, iteration 1: nan is not a finite measurement"}
    assert {verdict.verdict for verdict in judged} == {None}


def test_stopping_keeps_the_batches_that_were_finished_and_marks_the_job(study_path, monkeypatch):
    monkeypatch.setattr(computing, "MAX_BATCH", 25)
    monkeypatch.setattr(computing, "MAX_BATCH_S", 1e9)
    make_study(study_path, n_items=60, reviewers=())
    progress = []

    def stop_after_two(n_done, n_total):
        progress.append((n_done, n_total))
        if len(progress) == 2:
            raise KeyboardInterrupt("enough")

    with open_database(study_path) as db:
        with pytest.raises(KeyboardInterrupt):
            compute(db, advance=stop_after_two)
        assert progress == [(25, 60), (50, 60)]
        job = computing.latest_job(db)
        assert (job.n_done, job.n_total, job.error) == (50, 60, "KeyboardInterrupt: enough")
        assert job.finished_utc is not None
        assert len(shown(db)) == 50 * len(NAMES)
        assert log(db)[-1] == ("carol", "compute verdicts")
        assert compute(db) == ComputationResult(60, 10, 0)
        assert len(shown(db)) == 60 * len(NAMES)


def test_progress_is_said_and_kept_and_nothing_is_computed_twice(study):
    assert computing.latest_job(study) is None
    seen = []
    compute(study, advance=lambda *counts: seen.append(counts))
    job = computing.latest_job(study)
    assert seen == [(8, 8)]
    assert (job.n_done, job.n_total, job.pid, job.error) == (8, 8, os.getpid(), None)
    assert job.finished_utc >= job.updated_utc >= job.started_utc
    assert not background.is_running(job)
    made = study.execute("SELECT verdict_id, created_utc FROM verdicts").fetchall()
    assert (computing.n_missing(study), compute(study)) == (0, ComputationResult(8, 0, 0))
    assert study.execute("SELECT verdict_id, created_utc FROM verdicts").fetchall() == made


def test_the_exported_columns_are_those_of_the_command_contract(study):
    assert export(study).columns.tolist() == COLUMNS  # also without a row
    compute(study)
    table = export(study)
    assert table.columns.tolist() == COLUMNS
    assert log(study)[-1] == ("carol", "export verdicts")
    measures = table.set_index("classifier")[["m1", "m2", "m3", "m4", "m5"]]
    assert measures.loc[["heuristic", "heuristic-printed"]].notna().all().all()
    assert measures.loc[["same", "spread", "kruskal"]].isna().all().all()
    assert (table["clusters"].notna() == (table["classifier"] == "same")).all()
    assert set(table["iterations"]) == {60}
    first = table.iloc[0]
    assert (first["item"], first["benchmark"]) == (item_name(0), "bench_0#size=0")
    assert np.median(first[["m1", "m2", "m3", "m4", "m5"]].astype(float)) == first["score"]


def test_an_export_is_read_back_as_the_verdict_table_of_a_report(study, tmp_path):
    compute(study)
    path = tmp_path / "verdicts.csv"
    path.write_text(reporting.as_csv(export(study)), encoding="utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text("item,reviewer,label\n", encoding="utf-8")
    report = report_of_files(labels, path, options=reporting.QUICK)
    counted = {
        row["classifier"]: row
        for row in stored_verdicts.verdict_counts(stored_verdicts.verdict_table(study), CATEGORIES)
    }
    for name in NAMES:
        threshold = counted[name].pop("threshold")
        assert threshold == next(iter(CLASSIFIERS[name].parameters.values()))
        assert report["classifiers"][name]["verdicts"] | {"classifier": name} == counted[name]


def test_verdicts_are_counted_by_classifier():
    table = pd.DataFrame(
        [("b", "similar", 0.3), ("a", "dissimilar", 0.2), ("a", None, None), ("b", "dissimilar", 0.4)],
        columns=["classifier", "verdict", "threshold"],
    )
    assert stored_verdicts.verdict_counts(table, CATEGORIES) == [
        {"classifier": "a", "threshold": 0.2, "dissimilar": 1, "similar": 0, "none": 1},
        {"classifier": "b", "threshold": None, "dissimilar": 1, "similar": 1, "none": 0},
    ]
    assert stored_verdicts.verdict_counts(table.iloc[:0], CATEGORIES) == []


# --- the options of the command for verdicts, compared with direct calls of functions of `analysis`


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


def test_dropping_everything_is_the_error_of_each_item(study):
    verdicts(study, "--warmup", 99999)
    for row in shown(study):
        assert row["verdict"] is None
        assert row["error"].startswith("run 0 has 60 iterations, all of them warm-up")


@pytest.mark.parametrize(
    ("drop", "reason"),
    [("-1", "-1.0 is not in the range x>=0"),
     *((drop, f"number of iterations or a share below 1, got {drop}") for drop in ("2.5", "nan", "inf"))],
)  # fmt: skip
def test_dropping_what_is_neither_a_number_of_iterations_nor_a_share_is_refused(study, drop, reason):
    assert reason in verdicts(study, "--warmup", drop, code=2).stderr
    assert shown(study) == []


def test_only_verdicts_are_the_same_verdicts_without_the_scores_that_cost(study):
    verdicts(study, "--only-verdict")
    assert kept(study) == [
        (item, name, verdict, None if name in LAZY else score, n) for item, name, verdict, score, n in direct(study)
    ]
    assert all(row["means"] == {} for row in shown(study) if row["classifier"] in LAZY)


def test_everything_is_computed_where_only_verdicts_are_there_and_nothing_the_other_way_round(study):
    verdicts(study, "--only-verdict")
    assert "8 of 8 items" in verdicts(study).stderr
    assert kept(study) == direct(study)
    before, at = shown(study), made(study)
    assert "0 of 8 items" in verdicts(study, "--only-verdict").stderr
    assert (shown(study), made(study)) == (before, at)


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
