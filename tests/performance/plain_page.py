"""A plain Streamlit page to compare with: native buttons with shortcuts, and an Altair chart of the item.

streamlit run tests/performance/plain_page.py -- STUDY REVIEWER points|bins
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from labeler.model import Category, Submission, Task
from labeler.screen import charts
from labeler.service.labelling import reviewing
from labeler.store import Database, open_database, people, runs

alt.data_transformers.disable_max_rows()
# Streamlit draws a chart with many marks on a canvas, in which probe.js cannot find the title.
AS_SVG = {"embedOptions": {"renderer": "svg"}}


def main(study: str, reviewer: str, kind: str) -> None:
    st.set_page_config(layout="wide")
    with open_database(Path(study)) as db:
        person = people.by_name(db, reviewer)
        assert person is not None
        task = reviewing.review_queue(db, person.person_id).offers[0]
        st.subheader(f"Item {task.code}")
        st.altair_chart(CHARTS[kind](db, task).properties(title=f"Item {task.code}", usermeta=AS_SVG))
    for answer in (Category.SIMILAR, Category.DISSIMILAR):
        arguments = (study, person.person_id, task, answer)
        st.button(answer, key=f"{answer}-{task.code}", shortcut=answer[0], on_click=keep, args=arguments)


def keep(study: str, reviewer_id: int, task: Task, answer: str) -> None:
    submission = Submission(uuid4().hex, task.code, task.revision, answer, dwell_ms=1000)
    with open_database(Path(study)) as db:
        reviewing.submit(db, reviewer_id, submission, now=datetime.now(UTC))


def every_point(db: Database, task: Task) -> Any:
    """Return all measurements as small multiples, one line per run."""
    series = runs.of_item(db, task.item_id)
    frame = pd.DataFrame(
        {
            "run": np.repeat(np.arange(1, len(series) + 1), [len(run) for run in series]),
            "iteration": np.concatenate([np.arange(len(run)) for run in series]),
            "seconds": np.concatenate(series),
        }
    )
    line = alt.Chart(frame).mark_line(strokeWidth=1).encode(x="iteration:Q", y=alt.Y("seconds:Q").scale(zero=False))
    return line.properties(width=170, height=110).facet("run:O", columns=5)


def binned(db: Database, task: Task) -> Any:
    """300 bins per run, as on the coordinators' pages."""
    picture = reviewing.picture(db, task)
    assert picture is not None
    return charts.runs(picture)


CHARTS = {"points": every_point, "bins": binned}

if __name__ == "__main__":
    main(*sys.argv[1:])
