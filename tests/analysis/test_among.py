"""Agreement between classifiers on items without labels."""

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from analysis.agreement import classifiers_among_themselves, cohen_kappa, send_first

S, D = "similar", "dissimilar"


def table(**verdicts):
    """Build a verdict table from one list per classifier, for items 1, 2, ..."""
    rows = [(item, name, one) for name, given in verdicts.items() for item, one in enumerate(given, 1)]
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict"])


def test_two_classifiers_by_hand():
    # both judge 1, 2, 3, 5: DD, DS, SS, DD
    found = classifiers_among_themselves(table(a=[D, D, S, S, D], b=[D, S, S, None, D]))[0]
    assert (found.a, found.b, found.n, found.agree.value) == ("a", "b", 4, 0.75)
    assert found.a_finds.value == 1  # of the 2 that b calls dissimilar
    assert found.b_finds.value == pytest.approx(2 / 3)  # of the 3 that a calls dissimilar
    assert (found.a_clears.value, found.b_clears.value) == (0.5, 1)
    assert found.kappa.ends == pytest.approx(cohen_kappa([[2, 1], [0, 1]]).ends)


def test_every_two_classifiers_are_compared_in_order_of_appearance():
    found = classifiers_among_themselves(table(c=[S], a=[S], b=[D]))
    assert [(one.a, one.b) for one in found] == [("c", "a"), ("c", "b"), ("a", "b")]


def test_what_is_undefined_says_why():
    found = classifiers_among_themselves(table(a=[S, S], b=[S, S]))[0]
    assert (found.a_finds.value, found.a_finds.reason) == (None, "no observations")
    assert found.kappa.value is None and found.kappa.reason
    assert classifiers_among_themselves(table(a=[S, None], b=[None, S]))[0].agree.value is None


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.sampled_from([S, D, None])] * 2), max_size=12))
def test_the_two_ways_are_each_others_mirror(pairs):
    a, b = ([one[i] for one in pairs] for i in (0, 1))
    if not pairs:
        assert classifiers_among_themselves(table(a=a, b=b)) == []
        return
    one, other = (classifiers_among_themselves(t)[0] for t in (table(a=a, b=b), table(b=b, a=a)))
    assert (one.a_finds, one.b_clears, one.agree, one.n) == (other.b_finds, other.a_clears, other.agree, other.n)


def test_items_with_the_most_even_split_are_sent_first_and_unanimous_ones_never():
    found = send_first(table(a=[D, D, S, S], b=[D, S, S, None], c=[D, S, S, D], d=[D, D, S, D]))
    assert found["item"].tolist() == [2, 4]
    # 2 against 2: 4 of 6 pairs; 1 against 2: 2 of 3
    assert found["disagreement"].tolist() == pytest.approx([4 / 6, 2 / 3])
    assert (found["dissimilar"][0], found["similar"][0]) == (["a", "d"], ["b", "c"])


def test_of_equally_split_items_the_one_nearest_to_a_threshold_is_first():
    verdicts = table(a=[D, D], b=[S, S])
    verdicts["score"], verdicts["threshold"] = [0.9, 0.26, 0.1, 0.1], 0.25
    found = send_first(verdicts)
    assert found["item"].tolist() == [2, 1]
    assert found["margin"].tolist() == pytest.approx([0.04, 0.6])
    assert send_first(verdicts, n=1)["item"].tolist() == [2]


def test_without_scores_margins_are_missing():
    assert send_first(table(a=[D], b=[S]))["margin"].isna().all()
    verdicts = table(a=[D], b=[S]).assign(score=None, threshold=0.0)
    assert send_first(verdicts)["margin"].isna().all()


@pytest.mark.parametrize("ask", [classifiers_among_themselves, send_first])
def test_invalid_tables_of_verdicts_are_rejected(ask):
    with pytest.raises(ValueError, match="column verdict"):
        ask(pd.DataFrame({"item": [1], "classifier": ["a"]}))
    with pytest.raises(ValueError, match=r"'unclear'.*similar, dissimilar"):
        ask(table(a=["unclear"]))
    with pytest.raises(ValueError, match=r"classifier 'a'.*'1'"):
        ask(pd.concat([table(a=[S]), table(a=[D])]))
