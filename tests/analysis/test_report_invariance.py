"""A report depends on the seed, but not on the order of rows or on names; and it reproduces the paper's counts."""

import re
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Resampling, differences
from tests.analysis.reports import summarise
from tests.analysis.test_report_identities import REVIEWERS, SMALL, cells, report, study

REPLICATION = Path(__file__).parents[2] / "data" / "replication"
RESAMPLED = ("bootstrap", "mcc", ".advantage.", "latent", "threshold", "resampling")


def test_the_same_seed_gives_the_same_bytes():
    made = study("k = 3 with overlap")
    again = summarise(made.answers, made.verdicts, resampling=SMALL)
    assert to_json(again) == to_json(report("k = 3 with overlap"))


@pytest.mark.slow
def test_another_seed_changes_nothing_but_what_is_resampled():
    made, content = study("k = 3 with overlap"), report("k = 3 with overlap")
    other = summarise(made.answers, made.verdicts, resampling=Resampling(2, 40, 40, 19))
    changed = [d.place for d in differences(content, other)]
    assert "parameters.resampling.seed" in changed
    assert any(".bootstrap." in place for place in changed)
    assert [place for place in changed if not any(part in place for part in RESAMPLED)] == []


def test_without_resampling_all_other_numbers_are_the_same():
    made, content = study("k = 3 with overlap"), report("k = 3 with overlap")
    changed = differences(content, summarise(made.answers, made.verdicts, resampling=Resampling.none()))
    assert [d.place for d in changed if not any(part in d.place for part in RESAMPLED)] == []


def shuffled(made, seed):
    """Shuffle the rows, but keep the order of each reviewer's answers."""
    order = np.random.default_rng(seed).permutation(sorted(set(made.answers["reviewer"])))
    answers = pd.concat([made.answers[made.answers["reviewer"] == name] for name in order])
    return answers, made.verdicts.sample(frac=1, random_state=seed)


@cache
def plain(name):
    return summarise(study(name).answers, study(name).verdicts)


@cache
def in_another_order(name):
    return summarise(*shuffled(study(name), 1))


@pytest.mark.parametrize("name", ["k = 2 with overlap", "k = 3"])
def test_the_order_of_rows_changes_no_number(name):
    found = differences(plain(name), in_another_order(name))
    assert [d.place for d in found if ".scores.threshold." not in d.place] == []


def test_the_order_of_rows_changes_no_threshold():
    assert not differences(plain("k = 3"), in_another_order("k = 3"))


@pytest.mark.slow
def test_the_order_of_rows_changes_no_resampled_number():
    answers, verdicts = shuffled(study("k = 3"), 1)
    assert not differences(report("k = 3"), summarise(answers, verdicts, resampling=SMALL))


def indexed(table, index):
    return table.set_axis(index[: len(table)], axis=0)


def test_an_index_that_is_not_counted_from_0_changes_no_number():
    made = study("k = 2 with overlap")
    answers, verdicts = (indexed(table, range(1000, 0, -1)) for table in (made.answers, made.verdicts))
    assert differences(plain("k = 2 with overlap"), summarise(answers, verdicts)) == []


def test_verdicts_put_together_from_two_tables_change_no_number():
    made = study("k = 2 with overlap")
    verdicts = indexed(made.verdicts, [n // 2 for n in range(1000)])
    assert differences(plain("k = 2 with overlap"), summarise(made.answers, verdicts)) == []


def test_answers_put_together_from_two_tables_change_no_number():
    made = study("k = 2 with overlap")
    answers = indexed(made.answers, [n // 2 for n in range(1000)])
    assert differences(plain("k = 2 with overlap"), summarise(answers, made.verdicts)) == []


@pytest.mark.slow
def test_reviewers_by_other_names_in_the_same_order_have_the_same_numbers():
    made = study("k = 3 with overlap")
    renamed = made.answers.assign(reviewer="Dr. " + made.answers["reviewer"])
    changed = differences(report("k = 3 with overlap"), summarise(renamed, made.verdicts, resampling=SMALL))
    assert changed
    name = re.compile("|".join(rf"\b{rater.name}\b" for rater in REVIEWERS))
    assert [d.recomputed for d in changed] == [name.sub(r"Dr. \g<0>", d.reported) for d in changed]


def test_names_in_the_other_order_change_nothing_but_the_sides_of_pairs():
    made = study("k = 2 with overlap")
    names = dict(zip(["ada", "ben", "cleo", "dan"], ["dan", "cleo", "ben", "ada"], strict=True))
    one = plain("k = 2 with overlap")
    other = summarise(made.answers.replace({"reviewer": names}), made.verdicts)
    for part in ("consensus", "classifiers", "comparisons", "left_out"):
        assert differences(one[part], other[part]) == [] if isinstance(one[part], dict) else one[part] == other[part]
    for part in ("percent", "fleiss_kappa", "gwet_ac1", "krippendorff_alpha", "by_application"):
        assert differences({"x": one["agreement"][part]}, {"x": other["agreement"][part]}) == []
    turned = {frozenset(names[pair[x]] for x in "ab"): pair["agree"] for pair in one["agreement"]["pairs"]}
    assert turned == {frozenset(pair[x] for x in "ab"): pair["agree"] for pair in other["agreement"]["pairs"]}


@pytest.fixture(scope="module")
def replication():
    return summarise(pd.read_csv(REPLICATION / "labels.csv"), pd.read_csv(REPLICATION / "verdicts.csv"))


def test_the_papers_counts_come_out_of_the_replication_data(replication):
    decided = replication["consensus"]
    assert [decided[name] for name in ("n_items", "agreed_dissimilar", "agreed_similar", "split")] == [
        586,
        189,
        135,
        262,
    ]
    assert replication["agreement"]["fleiss_kappa"]["value"] == pytest.approx(4177 / 42560)
    assert replication["agreement"]["percent"]["value"] == pytest.approx(324 / 586)


def test_table_1_comes_out_of_the_replication_data(replication):
    pairs = {(pair["a"], pair["b"]): (pair["agree"], pair["n"]) for pair in replication["agreement"]["pairs"]}
    counts = [(46, 98), (56, 98), (34, 97), (52, 98), (75, 97), (61, 98)]
    assert pairs == dict(zip(combinations(["R1", "R2", "R3", "R4"], 2), counts, strict=True))
    assert replication["agreement"]["pair_equality"]["p"] < 1e-5  # Pearson's test: 1.4e-7


def test_tables_2_and_3_come_out_of_the_replication_data(replication):
    found = {name: cells(row["confusion"]) for name, row in replication["classifiers"].items()}
    assert found == {"same": [52, 23, 137, 112], "heuristic": [173, 82, 16, 53]}


def test_same_and_always_dissimilar_do_not_differ_on_the_replication_data(replication):
    same = replication["classifiers"]["same"]
    assert same["accuracy"]["value"] == pytest.approx(164 / 324)
    assert same["baseline"]["accuracy"]["value"] == pytest.approx(189 / 324)
    # only SAME is right on 112 similar items, and only the rule on 137 dissimilar items
    assert (same["baseline"]["mcnemar"]["b"], same["baseline"]["mcnemar"]["c"]) == (112, 137)
    assert same["baseline"]["verdict"] == "cannot tell"


def test_the_replication_data_do_not_identify_a_latent_class(replication):
    told = replication["consensus"]["latent"]["identifiability"]
    assert (told["identified"], told["rank"], told["n_parameters"]) == (False, 8, 9)


@pytest.mark.parametrize("resampling", [SMALL, Resampling.none()])
def test_progress_rises_to_all_of_it(resampling):
    made, shares = study("k = 3 with overlap"), []
    summarise(made.answers, made.verdicts, resampling=resampling, progress=shares.append)
    assert shares == sorted(set(shares))
    assert shares[-1] == 1
