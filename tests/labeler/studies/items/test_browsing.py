"""The catalogue of a study's items, and the selection by filters."""

import json

import numpy as np
import pytest

from labeler.errors import InputError
from labeler.studies.items import browsing
from labeler.studies.items.browsing import COLUMNS, Filter
from labeler.studies.questions import SIMILAR
from labeler.studies.store import items, runs
from labeler.studies.verdicts import computing, stored_verdicts
from tests.making import WHO, import_all, item_name, result_file

CATEGORIES = SIMILAR.names

SAID = f"""item,classifier,verdict
{item_name(0)},mine,dissimilar
{item_name(0)},yours,similar
{item_name(1)},mine,similar
{item_name(1)},yours,similar
{item_name(2)},mine,dissimilar
{item_name(3)},mine,
{item_name(3)},yours,dissimilar
"""


def flat(*levels, n_iterations=60):
    """Runs without any variation."""
    return [[level] * n_iterations for level in levels]


def take_in_verdicts(db, folder, text):
    file = folder / "verdicts.csv"
    file.write_text(text)
    stored_verdicts.import_verdicts(db, file, None, **WHO)


@pytest.fixture
def judged_study(study, tmp_path):
    """Eight items; two external classifiers have verdicts on four; the second item is excluded."""
    take_in_verdicts(study, tmp_path, SAID)
    browsing.exclude(study, item_name(1), "measured on another machine", **WHO)
    return study


def numbers(table):
    """Return the numbers of the items in a table of the fixture."""
    return [int(name.rpartition("=")[2]) for name in table["item"]]


def test_the_catalogue_has_a_row_for_every_item_in_order_of_name(judged_study):
    table = browsing.catalogue(judged_study)
    assert tuple(table.columns) == COLUMNS
    assert numbers(table) == [0, 2, 4, 6, 1, 3, 5, 7]  # example__app0 comes before example__app1
    first = table.iloc[0]
    assert (first["runs"], first["iterations"], first["unit"]) == (3, 60, "s")
    assert set(table["application"]) == {"example/app0", "example/app1"}
    assert table["excluded"].dropna().tolist() == ["measured on another machine"]


def test_the_spread_is_the_distance_of_the_runs_medians_as_a_share_of_their_median(db):
    import_all(db, result_file("far", flat(1.0, 1.1, 1.3)), result_file("same", flat(2.0, 2.0)))
    spread = browsing.catalogue(db).set_index("item")["spread"]
    assert spread["far"] == pytest.approx((1.3 - 1.0) / 1.1, rel=1e-6)
    assert spread["same"] == 0


def test_the_spread_does_not_depend_on_the_version_of_the_bins(study):
    before = browsing.catalogue(study)["spread"]
    study.execute("UPDATE bins SET version = version - 1")
    assert browsing.catalogue(study)["spread"].tolist() == before.tolist()
    study.execute("DELETE FROM bins")
    assert browsing.catalogue(study)["spread"].tolist() == before.tolist()


def test_an_item_around_zero_has_no_spread(db):
    around = [np.array([-1.0, -1.0]), np.array([0.0, 0.0]), np.array([1.0, 1.0])]
    runs.add(db, items.add(db, "zero", benchmark="zero", unit="", n_runs=3, n_iterations=2), around)
    assert browsing.catalogue(db)["spread"].isna().tolist() == [True]


def test_an_item_without_measurements_has_no_spread_and_no_iterations(db, tmp_path):
    empty = browsing.catalogue(db, verdicts=True)
    assert tuple(empty.columns) == COLUMNS
    assert (
        browsing.json_rows(browsing.filtered(empty, Filter("x", spread=(0, 1), with_excluded=False), CATEGORIES)) == []
    )
    take_in_verdicts(db, tmp_path, "item,verdict,classifier\nx,similar,mine\n")
    (row,) = json.loads(json.dumps(browsing.json_rows(browsing.catalogue(db, verdicts=True))))
    assert row == {
        "item": "x", "application": "", "benchmark": "x", "runs": 0, "iterations": 0, "unit": "s", "spread": None,
        "excluded": None, "mine": "similar",
    }  # fmt: skip


def test_verdicts_are_columns_only_where_they_are_asked_for(judged_study):
    assert browsing.classifiers(browsing.catalogue(judged_study)) == []
    table = browsing.catalogue(judged_study, verdicts=True)
    assert browsing.classifiers(table) == ["mine", "yours"]
    said = table.set_index("item")[["mine", "yours"]]
    assert said.loc[item_name(0)].tolist() == ["dissimilar", "similar"]
    assert said.loc[item_name(2)].tolist() == ["dissimilar", None]  # not judged
    assert said.loc[item_name(3)].tolist() == [None, "dissimilar"]  # computed, but without a verdict


def test_the_verdict_of_the_classifier_spread_is_chosen_by_its_own_name(db):
    import_all(db, result_file("far", flat(1.0, 1.1, 1.3)), result_file("near", flat(1.0, 1.01, 1.02)))
    computing.compute_verdicts(db, actor="carol")
    table = browsing.catalogue(db, verdicts=True)
    for name in ("spread", "spread (classifier)"):  # by its name, and as its column
        assert browsing.filtered(table, Filter(verdict=(name, "dissimilar")), CATEGORIES)["item"].tolist() == ["far"]
    assert browsing.filtered(table, Filter(spread=(0.1, 1)), CATEGORIES)["item"].tolist() == ["far"]


def test_a_classifier_that_is_called_like_another_column_keeps_both_apart(study, tmp_path):
    said = ("runs,similar", "runs (classifier),dissimilar", "unit,similar")
    take_in_verdicts(study, tmp_path, "item,classifier,verdict\n" + "".join(f"{item_name(0)},{one}\n" for one in said))
    table = browsing.catalogue(study, verdicts=True)
    assert browsing.classifiers(table) == ["runs (classifier)", "runs (classifier) (classifier)", "unit (classifier)"]
    assert table["runs"].tolist() == [3] * 8
    chosen = browsing.filtered(table, Filter(verdict=("runs (classifier) (classifier)", "dissimilar")), CATEGORIES)
    assert numbers(chosen) == [0]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), [0, 2, 4, 6, 1, 3, 5, 7]),
        (Filter("BENCH_3"), [3]),
        (Filter("app1 bench"), [1, 3, 5, 7]),
        (Filter("bench app1 size=5"), [5]),
        (Filter("app.*"), []),
        (Filter(applications=("example/app0",)), [0, 2, 4, 6]),
        (Filter(applications=("example/app0", "example/app1")), [0, 2, 4, 6, 1, 3, 5, 7]),
        (Filter(verdict=("mine", "dissimilar")), [0, 2]),
        (Filter(verdict=("yours", "similar")), [0, 1]),
        (Filter(disagreeing=True), [0]),
        (Filter(iterations=(60, 60)), [0, 2, 4, 6, 1, 3, 5, 7]),
        (Filter(iterations=(61, float("inf"))), []),
        (Filter(spread=(1, 2)), []),
        (Filter(with_excluded=False), [0, 2, 4, 6, 3, 5, 7]),
        (Filter("bench_0", ("example/app0",), ("mine", "dissimilar"), True, (0, 1), (1, 100), False), [0]),
        (Filter("bench_0", ("example/app1",)), []),
    ],
)
def test_a_filter_chooses_what_fulfils_all_of_it(judged_study, wanted, expected):
    assert numbers(browsing.filtered(browsing.catalogue(judged_study, verdicts=True), wanted, CATEGORIES)) == expected


def test_the_limits_of_the_spread_belong_to_what_is_chosen_and_leave_out_what_has_none(study):
    table = browsing.catalogue(study)
    ordered = table["spread"].sort_values().tolist()
    assert len(browsing.filtered(table, Filter(spread=(ordered[2], ordered[5])), CATEGORIES)) == 4
    table.loc[0, "spread"] = None
    assert len(browsing.filtered(table, Filter(), CATEGORIES)) == 8
    assert len(browsing.filtered(table, Filter(spread=(0, float("inf"))), CATEGORIES)) == 7


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Filter(applications=("other",)), r"no application 'other'.*: example/app0, example/app1\."),
        (Filter(verdict=("his", "similar")), r"classifier 'his' has no verdicts .*: mine, yours\."),
        (Filter(verdict=("item", "similar")), "classifier 'item' has no verdicts"),
        (Filter(verdict=("mine", "odd")), "'odd'.*similar, dissimilar"),
        (Filter(spread=(0.2, 0.1)), r"limits of spread are 0.2 and 0.1"),
        (Filter(iterations=(100, 10)), "limits of iterations are 100 and 10"),
        (Filter(spread=(float("nan"), 1)), "limits of spread are nan and 1"),
    ],
)
def test_what_cannot_be_chosen_by_is_said(judged_study, wanted, words):
    with pytest.raises(InputError, match=words):
        browsing.filtered(browsing.catalogue(judged_study, verdicts=True), wanted, CATEGORIES)
    if wanted.verdict:
        for without in (wanted, Filter(disagreeing=True)):
            with pytest.raises(InputError, match="To compute verdicts"):
                browsing.filtered(browsing.catalogue(judged_study), without, CATEGORIES)


def test_long_names_differ_after_they_are_shortened():
    rows = [
        f"io.netty.microbench.headers.ReadOnlyHttp2HeadersBenchmark.{name}#size={n}" for name in "ab" for n in (1, 2)
    ]
    short = browsing.short_names([*rows, rows[0]])
    assert short == ["…a#size=1", "…a#size=2", "…b#size=1", "…b#size=2", "…a#size=1"]
    assert browsing.short_names(["a" * 60, "b" * 60], 20)[0].count("…") == 1
    middle = [f"{'x' * 40}{name}{'y' * 40}" for name in "ab"]  # they differ only where a name is shortened
    assert browsing.short_names(middle) == middle
    assert browsing.short_names([]) == []
    assert browsing.short_names(["short", "names"]) == ["short", "names"]
