"""Tables of labels, counts and answers, the three forms of ratings, and what is rejected in each."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

from analysis.categories import CATEGORIES, NO_CATEGORY
from analysis.raters.agreement import (
    bootstrap_coefficient,
    brennan_prediger,
    by_group,
    by_order,
    classifiers_among_themselves,
    cohen_kappa,
    fleiss_kappa,
    fleiss_kappa_test,
    gwet_ac1,
    gwet_ac2,
    if_given,
    jackknife_over_raters,
    krippendorff_alpha,
    leniency,
    order_test,
    pair_agreements,
    pair_tables,
    partner_agreement,
    percent_agreement,
    retest_agreement,
    send_first,
    specific_agreement,
    two_by_two_tables,
)
from analysis.raters.consensus import agreed_only, dawid_skene, identifiability, latent_class, majority
from analysis.raters.evaluation import confusion_matrix
from analysis.raters.tables import (
    Counts,
    WideRatings,
    checked_labels,
    count_table,
    counted_labels,
    counts_of,
    first_labels,
    positive_category,
)
from tests.conftest import examples


def label_table(*rows):
    return pd.DataFrame(rows, columns=["item", "rater", "category"])


def test_count_tables_keep_declared_categories_in_their_order():
    labels = label_table(("b", "ada", "similar"), ("a", "ada", "similar"), ("b", "ben", "similar"))
    counts = count_table(labels)
    assert counts.index.tolist() == ["b", "a"]
    assert counts.columns.tolist() == ["similar", "dissimilar"]
    assert counts.to_numpy().tolist() == [[2, 0], [1, 0]]
    assert count_table(label_table()).shape == (0, 2)
    counts = pd.DataFrame({"high": [0, 1], "low": [2, 1], "medium": [0, 0]})
    assert counts_of(counts, LEVELS).tolist() == [[2, 0, 0], [1, 0, 1]]
    with pytest.raises(ValueError, match="are high, low, medium, but the categories are low, high, none"):
        counts_of(counts, ["low", "high", "none"])
    scale = [1, 2, 3, 4, 5]
    assert counts_of([[1, 2], [3, 0]]).tolist() == [[1, 2], [3, 0]]
    assert counts_of(Counts([[1, 2], [4, 0]])).tolist() == [[1, 2], [4, 0]]
    assert counts_of([[1, 2], [3, 5]], scale).tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 0, 1]]
    assert counts_of(pd.DataFrame({"ada": [1, 2], "ben": [1, None]}), scale).tolist() == [
        [2, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
    ]
    as_counts = pd.DataFrame([[1, 0, 0, 1, 0]], columns=scale)
    assert counts_of(Counts(as_counts), scale).tolist() == [[1, 0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "ada", "maybe")], "'maybe' \\(item 'a'\\) is not one of: similar, dissimilar"),
        ([("a", "ada", "similar"), ("a", "ada", "dissimilar")], "rater 'ada'.*'a'"),
    ],
)
def test_invalid_label_tables_are_rejected(rows, message):
    with pytest.raises(ValueError, match=message):
        checked_labels(label_table(*rows))


def test_counts_rows_and_columns_that_cannot_be_are_rejected_or_left_out():
    with pytest.raises(ValueError, match="lacks the column rater"):
        checked_labels(pd.DataFrame({"item": ["a"], "category": ["similar"]}))
    with pytest.raises(ValueError, match="'maybe' is not one of"):
        first_labels(answers(("ada", 1, "maybe")))
    with pytest.raises(ValueError, match="lacks the column answer"):
        first_labels(pd.DataFrame({"rater": [], "assignment": []}))
    table = pd.DataFrame({"item": [1, 1], "rater": ["x", "y"], "category": [0, 1]})
    with pytest.raises(ValueError, match=r"^0 \(item 1\) is not one of: similar, dissimilar$"):
        count_table(table)


@pytest.mark.parametrize("counts", [[[1, -1]], [[0.5, 1]], [[np.nan, 1]], [[1], [2]], [1, 2], [[1, 2], [1]]])
def test_invalid_counts_are_rejected(counts):
    with pytest.raises(ValueError, match="counts must"):
        counts_of(counts)


def answers(*rows):
    return pd.DataFrame(rows, columns=["rater", "assignment", "answer"])


@pytest.mark.parametrize(
    ("given_answers", "first"),
    [
        ([("ada", 1, "similar"), ("ada", 2, "similar"), ("ada", 1, "dissimilar")], [0, 1]),  # a later revision
        ([("ada", 1, "similar"), ("ada", 1, "dissimilar"), ("ada", 2, "similar")], [1, 2]),  # corrected immediately
        ([("ada", 1, "similar"), ("ada", 1, "withdrawn"), ("ada", 1, "dissimilar")], [2]),  # undo
        ([("ada", 1, "similar"), ("ada", 1, "withdrawn")], []),
        ([("ada", 1, "not sure"), ("ada", 2, "similar"), ("ada", 1, "similar")], [1, 2]),  # shown again
        ([("ada", 1, "similar"), ("ben", 1, "similar"), ("ada", 1, "dissimilar")], [1, 2]),  # others do not fix it
        ([("ada", 1, "similar"), ("ada", 2, "not sure"), ("ada", 1, "withdrawn")], [0]),  # fixed by the next assignment
    ],
)
def test_which_answer_is_the_first_label(given_answers, first):
    assert first_labels(answers(*given_answers)).index.tolist() == first


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from((*CATEGORIES, *NO_CATEGORY))), max_size=40
    ),
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from((*CATEGORIES, *NO_CATEGORY))), max_size=10
    ),
)
def test_first_labels_are_frozen_once_another_task_was_answered(earlier, later):
    last_task = {rater: task for rater, task, _ in earlier}
    before = {
        (row.rater, row.assignment): row.Index
        for row in first_labels(answers(*earlier)).itertuples()
        if last_task[row.rater] != row.assignment
    }
    after = {(row.rater, row.assignment): row.Index for row in first_labels(answers(*earlier, *later)).itertuples()}
    assert {key: after.get(key) for key in before} == before
    assert all(answers(*earlier, *later)["answer"][index] in CATEGORIES for index in after.values())


# Tables of a new user that are almost right


LABEL_FILE = pd.DataFrame({"item": ["a", "a", "b", "b"], "reviewer": ["x", "y"] * 2, "label": ["similar"] * 4})
EITHER = r"counts or ratings. Pass Counts\(table\) if .* or WideRatings\(table\) with"
NUMBERS = pd.DataFrame([[1, 0, 1], [0, 0, 1], [1, 1, 1]], columns=["ada", "ben", "cleo"])
TOTALS = pd.DataFrame({"similar": [2, 1], "dissimilar": [0, 1], "Total": [2, 2]})
READS_LABELS = (count_table, fleiss_kappa, cohen_kappa, pair_agreements, leniency, agreed_only, dawid_skene)


@pytest.mark.parametrize("function", READS_LABELS)
def test_a_label_file_is_rejected_with_the_names_to_use(function):
    with pytest.raises(ValueError, match="Rename the columns: reviewer to rater, label to category"):
        function(LABEL_FILE)
    renamed = LABEL_FILE.rename(columns={"reviewer": "rater", "label": "category"})
    assert function(renamed) is not None


@pytest.mark.parametrize("function", READS_LABELS[:-1])
@pytest.mark.parametrize("wrong", [None, "labels.csv", {"item": ["a"]}], ids=["None", "path", "dict"])
def test_a_value_that_is_no_table_is_named_by_its_type(function, wrong):
    with pytest.raises(ValueError, match=rf"got {type(wrong).__name__}\b"):
        function(wrong)


@pytest.mark.parametrize("k", [2, 3])
def test_numbers_are_counts_or_ratings_as_they_are_called(k):
    ratings = pd.DataFrame([[0] * k, [0] * k, [1] * k, [0] * (k - 1) + [1]])
    counts = pd.DataFrame({0: [k, k, 0, k - 1], 1: [0, 0, k, 1]})
    texts = ratings.replace({0: "similar", 1: "dissimilar"})
    assert fleiss_kappa(WideRatings(ratings), (0, 1)) == fleiss_kappa(Counts(counts), (0, 1)) == fleiss_kappa(texts)
    if k == 2:
        assert cohen_kappa(WideRatings(ratings), (0, 1)) == cohen_kappa(Counts([[2, 1], [0, 1]]), (0, 1))


def test_tables_that_only_look_like_counts_are_rejected():
    with pytest.raises(ValueError, match=EITHER):
        fleiss_kappa(NUMBERS)
    texts = NUMBERS.replace({0: "similar", 1: "dissimilar"})
    assert fleiss_kappa(NUMBERS, categories=(0, 1)) == fleiss_kappa(texts)
    with pytest.raises(ValueError, match="column Total of the count table is the sum of the others"):
        fleiss_kappa(TOTALS)
    assert fleiss_kappa(TOTALS.drop(columns="Total")).value == fleiss_kappa([[2, 0], [1, 1]]).value
    with pytest.raises(ValueError, match="does not show who gave which label"):
        cohen_kappa([[2, 0], [1, 1], [0, 2]])


COEFFICIENTS = [percent_agreement, fleiss_kappa, gwet_ac1, gwet_ac2, brennan_prediger, krippendorff_alpha]
LEVELS = ("low", "medium", "high")


@st.composite
def wide_ratings(draw, categories=LEVELS, max_raters=4):
    n_raters = draw(st.integers(2, max_raters))
    entry = st.sampled_from([*categories, None])
    rows = draw(st.lists(st.lists(entry, min_size=n_raters, max_size=n_raters), min_size=1, max_size=15))
    assume(any(entry is not None for row in rows for entry in row))
    return pd.DataFrame(rows, columns=[f"rater {j}" for j in range(n_raters)], dtype=object)


def labels_of(wide):
    long = wide.rename_axis("item").reset_index().melt("item", var_name="rater", value_name="category")
    return long.dropna().reset_index(drop=True)


@given(wide_ratings(), st.sampled_from(COEFFICIENTS))
def test_the_three_forms_of_the_same_ratings_give_the_same_coefficient(wide, coefficient):
    labels = labels_of(wide)
    of_wide = coefficient(wide, LEVELS)
    for ratings in (wide.to_numpy(), labels, count_table(labels, LEVELS), count_table(labels, LEVELS).to_numpy()):
        other = coefficient(ratings, LEVELS)
        assert of_wide.reason == other.reason
        if other.value is not None:
            assert (of_wide.value, of_wide.se) == pytest.approx((other.value, other.se))


@given(wide_ratings(max_raters=2), st.sampled_from([None, "linear"]))
def test_cohens_kappa_of_wide_ratings_labels_and_the_table_is_one_number(wide, weights):
    labels = labels_of(wide)
    tables = pair_tables(labels, LEVELS)
    table = next(iter(tables.values()), np.zeros((3, 3), dtype=int))
    expected = cohen_kappa(table, weights=weights)
    assert cohen_kappa(wide, LEVELS, weights=weights) == cohen_kappa(labels, LEVELS, weights=weights) == expected


@pytest.mark.parametrize(
    ("ratings", "categories", "message"),
    [
        ([[1, 2], [2, 2]], [1, 2], EITHER),
        (pd.DataFrame([[0, 0], [1, 1], [0, 1]]), [0, 1], EITHER),  # the columns are called as the categories
        (pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [2, 2]}), None, EITHER),
        ([[1, 3], [2, 2], [5, 5]], None, EITHER),
        ([[1, None], [2, 2]], None, "row 0 .*WideRatings"),
        ([[1, 7]], [1, 2, 3], r"7 \(row 0, column 1\) is not one of: 1, 2, 3"),
        ([["low", "hihg"]], LEVELS, r"'hihg' \(row 0, column 1\) is not one of: low, medium, high"),
        ([["low", 3]], LEVELS, r"3 \(row 0, column 1\) is not one of"),
        ([[True, False]], None, r"True \(row 0, column 0\) is not one of"),
        ([[1, 2]], LEVELS, "2 columns for 3 categories"),
        ([["low", "high"]], ["low"], "at least two different names"),
        ([["low", "high"]], ["low", "high", "low"], "at least two different names"),
        ([["l", "h"]], "lh", "at least two different names"),
        (pd.DataFrame({"item": [1], "category": ["low"]}), LEVELS, "label table lacks the column rater"),
    ],
)
def test_what_has_no_form_or_could_have_two_is_refused(ratings, categories, message):
    with pytest.raises(ValueError, match=message):
        fleiss_kappa(ratings, categories)


def test_cohens_kappa_and_the_positive_category_refuse_more_than_two():
    wide = pd.DataFrame({"a": ["similar"], "b": ["similar"], "c": ["similar"]})
    with pytest.raises(ValueError, match=r"shape \(1, 3\)"):
        cohen_kappa(wide)
    with pytest.raises(ValueError, match="Use pair_agreements"):
        cohen_kappa(labels_of(wide))
    assert positive_category(LEVELS, "medium") == "medium"
    for wrong in (None, "hihg"):
        with pytest.raises(ValueError, match=r"positive.*low, medium, high"):
            positive_category(LEVELS, wrong)


@settings(max_examples=examples(40))
@given(wide_ratings(categories=("no", "yes")))
def test_the_names_of_two_categories_change_nothing(wide):
    labels = labels_of(wide).assign(position=lambda table: range(len(table)))
    same = labels.assign(category=labels["category"].map({"no": "similar", "yes": "dissimilar"}))
    named = {"categories": ("no", "yes")}
    for function in (leniency, two_by_two_tables, order_test, pair_agreements):
        assert function(labels, **named) == function(same)
    assert by_group(labels, "rater", **named) == by_group(same, "rater")
    assert by_order(labels, **named) == by_order(same)
    assert list(specific_agreement(labels, **named).values()) == list(specific_agreement(same).values())
    verdicts = [table.set_axis(["item", "classifier", "verdict", "position"], axis=1) for table in (labels, same)]
    assert classifiers_among_themselves(verdicts[0], **named) == classifiers_among_themselves(verdicts[1])
    assert send_first(verdicts[0], **named)["yes"].tolist() == send_first(verdicts[1])["dissimilar"].tolist()


def test_retest_of_three_categories_by_hand():
    # 4 of 6 equal; PABAK (3 * 4/6 - 1) / 2; high: both 2, first only 1, second only 0, neither 3
    pairs = pd.DataFrame({"rater": "ada", "first": ["low", "low", "medium", "high", "high", "high"],
                          "second": ["low", "medium", "medium", "high", "high", "low"]})  # fmt: skip
    (retest,) = retest_agreement(pairs, LEVELS, positive="high")
    assert (retest.percent.value, retest.pabak.value) == (pytest.approx(4 / 6), pytest.approx(0.5))
    assert (retest.table.a, retest.table.b, retest.table.c, retest.table.d) == (2, 1, 0, 3)
    assert retest.cohen_kappa == cohen_kappa([[1, 1, 0], [0, 1, 0], [1, 0, 2]])


# For any error in the rows of a label table, every function reports it or gives the right result.

FUNCTIONS = {
    "checked_labels": checked_labels,
    "count_table": count_table,
    **{function.__name__: function for function in COEFFICIENTS},
    "fleiss_kappa_test": fleiss_kappa_test,
    "specific_agreement": specific_agreement,
    "bootstrap": lambda labels: bootstrap_coefficient(fleiss_kappa, labels, rng=np.random.default_rng(1), n_draws=20),
    "leniency": leniency,
    "pair_agreements": pair_agreements,
    "pair_tables": pair_tables,
    "two_by_two_tables": two_by_two_tables,
    "partner_agreement": partner_agreement,
    "by_group": lambda labels: by_group(labels, "position"),
    "by_order": by_order,
    "order_test": order_test,
    "cohen_kappa": cohen_kappa,
    "agreed_only": agreed_only,
    "majority": majority,
    "dawid_skene": dawid_skene,
    "latent_class": lambda labels: latent_class(labels, rng=np.random.default_rng(1), n_sweeps=20),
    "first_labels": lambda labels: first_labels(
        labels.rename(columns={"item": "assignment", "category": "answer"})
    ),
    "counted_labels": lambda labels: counted_labels(
        labels.rename(columns={"rater": "reviewer", "category": "label"}).assign(kind="fresh")
    ),
    "classifiers": lambda labels: classifiers_among_themselves(
        labels.rename(columns={"rater": "classifier", "category": "verdict"})
    ),
    "send_first": lambda labels: send_first(labels.rename(columns={"rater": "classifier", "category": "verdict"})),
    "identifiability of verdicts": lambda labels: identifiability(
        six_items(), labels.rename(columns={"rater": "classifier", "category": "verdict"})
    ),
    "identifiability": identifiability,
    "jackknife_over_raters": jackknife_over_raters,
    "if_given": lambda labels: if_given(labels, pd.DataFrame({"item": ["i0"], "rater": ["cleo"]})),
}  # fmt: skip
MISSING = [None, float("nan"), pd.NA, pd.NaT]
NO_VALUE_HERE = {("classifiers", "category"), ("send_first", "category"), ("identifiability of verdicts", "category")}


def six_items(n_items=6):
    rows = [(f"i{i}", rater, "similar" if (i * j) % 3 else "dissimilar")
            for i in range(n_items) for j, rater in enumerate(("ada", "ben"))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "rater", "category"], dtype=object)
    return table.assign(position=range(len(table)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_row_without_an_entry_is_refused_and_named(name):
    for column, missing in product(("item", "rater", "category"), MISSING):
        labels = six_items()
        labels.loc[5, column] = missing
        if (name, column) not in NO_VALUE_HERE:
            with pytest.raises(ValueError, match="row 5"):
                FUNCTIONS[name](labels)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_damaged_rows_and_columns_are_refused_and_numbers_may_name_items_and_raters(name):
    function = FUNCTIONS[name]
    for column, wrong in (("category", "simlar"), ("category", ["similar"]), ("item", ["i1"]), ("rater", {"ada": 1})):
        labels = six_items()
        labels.at[5, column] = wrong
        with pytest.raises(ValueError, match=r"row 5|is not one of"):
            function(labels)
    labels = six_items()
    if name not in ("first_labels", "counted_labels"):
        with pytest.raises(ValueError, match=r"'ada' has two (labels|verdicts) on item 'i2'"):
            function(pd.concat([labels, labels.iloc[[4]]]))
    for columns in (pd.concat([labels, labels[["item"]]], axis=1), labels.drop(columns="rater")):
        with pytest.raises(ValueError, match="column"):
            function(columns)
    mixed = labels.assign(
        item=[7 if item == "i3" else item for item in labels["item"]],
        rater=[1 if rater == "ada" else rater for rater in labels["rater"]],
    )
    function(mixed)  # neither an error nor a warning


def test_verdicts_without_a_label_table_are_checked_too():
    verdicts = pd.DataFrame({"item": ["i0", None], "classifier": "same", "verdict": "similar"})
    with pytest.raises(ValueError, match="row 1"):
        latent_class(six_items(), verdicts, rng=np.random.default_rng(1))
    with pytest.raises(ValueError, match="consensus"):
        confusion_matrix(["similar", None], ["similar", "similar"])


BAD = [*MISSING, "", "  ", ["similar"], {"ada": 1}, np.array([1, 2])]
BAD_CATEGORY = ["simlar", "SIMILAR", " similar", b"similar", 1, 1.0, True, float("inf")]
QUICK = sorted(set(FUNCTIONS) - {"latent_class", "dawid_skene"})  # the same check comes first in these


COUNTS = [[2, 0], [1, 1], [0, 2], [2, 0], [1, 1], [0, 2]]
WIDE = [["similar", "similar"], ["similar", "dissimilar"], ["dissimilar", "dissimilar"]] * 2


@settings(max_examples=examples(80))
@given(
    st.sampled_from(sorted(COEFFICIENTS, key=lambda coefficient: coefficient.__name__)),
    st.integers(0, 5),
    st.integers(0, 1),
    st.one_of(
        st.tuples(st.just(COUNTS), st.sampled_from([*BAD, *BAD_CATEGORY[:4], True, -1, 0.5, float("inf")])),
        st.tuples(st.just(WIDE), st.sampled_from([*BAD[len(MISSING) :], *BAD_CATEGORY])),
    ),
    st.sampled_from([list, pd.DataFrame]),
)
def test_any_damaged_count_or_wide_rating_is_refused_and_named(coefficient, row, column, damage, form):
    rows = [list(pair) for pair in damage[0]]
    rows[row][column] = damage[1]
    with pytest.raises(ValueError, match=f"row {row}"):
        coefficient(form(rows))


@settings(max_examples=examples(60))
@given(st.sampled_from(QUICK), st.permutations(range(12)), st.sampled_from(["category", "string", "object"]))
def test_types_and_index_of_a_table_do_not_change_the_result(name, index, dtype):
    labels = six_items()
    same = labels.astype({"item": dtype, "rater": dtype, "category": dtype}).set_axis(index).assign(note="x")
    expected, result = FUNCTIONS[name](labels), FUNCTIONS[name](same)
    assert to_text(expected) == to_text(result)


def to_text(result):
    """Return a result as text, without the dtypes and the index."""
    if isinstance(result, pd.DataFrame):
        return str(result[[column for column in result if column != "note"]].astype(object).values.tolist())
    return str(result.tolist() if isinstance(result, pd.Series) else result)
