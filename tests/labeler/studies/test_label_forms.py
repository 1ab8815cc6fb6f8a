"""Labels in the formats of other tools can be read by these tools, and read back."""

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from labeler.errors import Refused
from labeler.files.formats import Source
from labeler.files.formats.label_tables import read_label_table
from labeler.studies.label_forms import COLUMNS, FORMS
from labeler.studies.questions import SIMILAR

LABELS = pd.DataFrame(
    [
        ("b", "org/app", "ben", "dissimilar", "2026-11-20T12:00:00+00:00", 1500),
        ("a", "org/app", "ada", "similar", "2026-11-20T12:00:05+00:00", None),
        ("a", "org/app", "ben", "dissimilar", "2026-11-20T12:00:09+00:00", 2000),
    ],
    columns=list(COLUMNS),
).astype({"dwell_ms": object})
READ = [name for name in FORMS if name != "rater"]  # it loses the names


def read(form, text):
    layout = "wide" if form in ("wide", "irrcac") else None
    return read_label_table(Source("there/labels", data=text.encode()), declared=SIMILAR.answers, layout=layout).frame


def rows(table):
    return sorted(table[["item", "reviewer", "label"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("form", READ)
def test_labels_read_back_as_they_were_written(form):
    assert rows(read(form, FORMS[form].write(LABELS, SIMILAR.names))) == rows(LABELS)


awkward = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs"]), min_size=1)


@pytest.mark.parametrize("form", READ)
@given(items=st.lists(awkward, min_size=1, max_size=4, unique=True), reviewer=awkward)
def test_awkward_names_survive(form, items, reviewer):
    if reviewer in ("item", "application", "benchmark"):
        return
    labels = pd.DataFrame(
        {
            "item": items, "application": "", "reviewer": reviewer, "label": "similar",
            "created_utc": "2026-11-20T12:00:00+00:00", "dwell_ms": None,
        }
    )  # fmt: skip
    assert rows(read(form, FORMS[form].write(labels, SIMILAR.names))) == rows(labels)


def test_a_wide_table_has_a_column_for_each_reviewer():
    text = FORMS["wide"].write(LABELS, SIMILAR.names)
    assert list(csv.reader(io.StringIO(text))) == [
        ["item", "application", "ada", "ben"],
        ["a", "org/app", "similar", "dissimilar"],
        ["b", "org/app", "", "dissimilar"],
    ]


def test_ratings_for_irrcac_have_na_where_a_reviewer_has_no_label():
    assert FORMS["irrcac"].write(LABELS, SIMILAR.names) == "item,ada,ben\na,similar,dissimilar\nb,NA,dissimilar\n"


def test_ratings_for_rater_are_numbers_and_the_legend_says_of_what():
    assert FORMS["rater"].write(LABELS, SIMILAR.names) == "item,rater,rating\n1,1,1\n1,2,2\n2,2,2\n"
    assert FORMS["rater"].legend(LABELS, SIMILAR.names) == (
        "Items are numbered by name. Raters: 1 = ada, 2 = ben. Ratings: 1 = similar, 2 = dissimilar."
    )


def test_label_studio_gets_tasks_with_choices_and_the_time():
    tasks = json.loads(FORMS["label-studio"].write(LABELS, SIMILAR.names))
    assert [task["data"] for task in tasks] == [
        {"item": "a", "application": "org/app"}, {"item": "b", "application": "org/app"},
    ]  # fmt: skip
    (annotation,) = tasks[1]["annotations"]
    assert annotation["lead_time"] == 1.5
    assert annotation["result"][0]["value"] == {"choices": ["dissimilar"]}
    assert "completed_by" not in annotation  # Label Studio refuses unknown accounts
    assert read("label-studio", json.dumps(tasks))["dwell_ms"].tolist() == ["1500", "", "2000"]  # by time


def test_a_reviewer_named_like_a_column_has_no_place_in_a_wide_table():
    with pytest.raises(Refused, match="called 'item'"):
        FORMS["wide"].write(LABELS.assign(reviewer="item").drop_duplicates("item"), SIMILAR.names)
