"""Random reviewers in several windows at once, compared with an independent model of the saved answers."""

import shutil
import tempfile
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from analysis.raters.tables import first_labels
from labeler.errors import AnswerRefused, NotAllowed, NotAssigned
from labeler.studies.course import coordinating
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.labelling.reviewing import N_OFFERED, OwnProgress
from labeler.studies.model import NewLabel, PlanParameters, Protocol, State
from labeler.studies.preparing import assigning
from labeler.studies.questions import SIMILAR
from labeler.studies.store import labels, open_database, studies
from tests.making import NOW, WHO, id_of, new_study

NAMES = ("ada", "ben", "cleo")
CATEGORIES = ("similar", "dissimilar")

names = st.sampled_from(NAMES)
answers = st.sampled_from((*CATEGORIES, "not sure"))
minutes = st.integers(-600, 600)  # the clock jumps back and forth
places = st.integers(0, 99)
words = st.fixed_dictionaries(
    {
        "confidence": st.sampled_from([None, 1, 2, 3, 3]),
        "flag": st.booleans(),
        "comment": st.sampled_from([None, "a step", "two\nlines", "\U0001f600 'x'"]),
    }
)
NOTHING_SAID = {"confidence": None, "flag": False, "comment": None}


class Labelling(RuleBasedStateMachine):
    """Each rule sends something; the model says what must happen."""

    master: Path
    asks_confidence: bool

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "cache.study"
        shutil.copy(self.master, path)
        self.db = open_database(path)
        rows = self.db.execute(
            """SELECT p.name, a.code, i.name
               FROM assignments a JOIN people p USING (person_id) JOIN items i USING (item_id)
               ORDER BY a.person_id, a.position"""
        ).fetchall()
        self.owner = {code: name for name, code, _ in rows}
        self.all_codes = {name: [code for owner, code, _ in rows if owner == name] for name in NAMES}
        self.item = {code: item for _, code, item in rows}
        self.excluded = set()
        self.said = {code: [] for code in self.owner}
        self.kept = []  # (submission, reviewer) in the order of saving
        self.windows = {}  # (reviewer, window) -> tasks when it was loaded
        self.frozen = {}
        self.n_sent = 0

    def teardown(self):
        self.db.close()
        self.folder.cleanup()

    # the model

    @property
    def codes(self):
        """The codes of each reviewer whose items are not excluded."""
        return {name: list(filter(self.counts, codes)) for name, codes in self.all_codes.items()}

    def counts(self, code):
        return self.item[code] not in self.excluded

    def stands(self, code):
        return bool(self.said[code]) and self.said[code][-1] != "withdrawn"

    def n_not_sure(self, code):
        """Return the number of "not sure" answers on the item, without those that were undone."""
        followed = zip(self.said[code], [*self.said[code][1:], None], strict=True)
        return sum(answer == "not sure" and after != "withdrawn" for answer, after in followed)

    def answered_last(self, name):
        """Return the only item whose answer can be undone."""
        answered = [sent.code for sent, by in self.kept if by == name and self.counts(sent.code)]
        standing = [code for code in answered if self.stands(code)]
        return standing[-1] if standing else None

    def on_offer(self, name):
        still_open = [code for code in self.codes[name] if not self.stands(code)]
        again = [c for c in self.codes[name] if self.said[c][-1:] == ["not sure"] and self.n_not_sure(c) == 1]
        return (still_open + again)[:N_OFFERED]

    def fate(self, name, sent):
        """None if it must be saved, otherwise the expected error."""
        if any(by == name and own.event_id == sent.event_id for own, by in self.kept):
            return NotAssigned
        if sent.code not in self.codes[name] or not (self.stands(sent.code) or sent.code in self.on_offer(name)):
            return NotAssigned
        if sent.revision != len(self.said[sent.code]):
            return AnswerRefused
        if sent.answer == "withdrawn":
            return None if self.answered_last(name) == sent.code else AnswerRefused
        if self.asks_confidence and answer_is_a_label(sent) and sent.confidence is None:
            return AnswerRefused
        return None if sent.dwell_ms is not None and sent.dwell_ms >= 250 else AnswerRefused

    def send(self, name, code, revision, answer, minute, dwell_ms=900, said=NOTHING_SAID, event_id=""):
        self.n_sent += 1
        event_id = event_id or f"event {self.n_sent}"
        sent = NewLabel(event_id, code, revision, answer, dwell_ms, **said)
        refusal = self.fate(name, sent)
        if refusal is None:
            self.submit(name, sent, minute)
            self.said[code].append(answer)
            self.kept.append((sent, name))
        else:
            with pytest.raises(refusal):
                self.submit(name, sent, minute)

    def submit(self, name, sent, minute):
        reviewing.submit(self.db, id_of(self.db, name), sent, now=NOW + timedelta(minutes=minute))

    def refused(self, error, name, sent, minute):
        with pytest.raises(error):
            self.submit(name, sent, minute)

    def words_of(self, sent):
        """Return the (confidence, flag, comment) that must be saved."""
        return sent.confidence if self.asks_confidence else None, int(sent.flag), sent.comment

    def said_last(self, code):
        """Return the details shown with an item again: those of its newest answer that is not an undo."""
        given = [sent for sent, _ in self.kept if sent.code == code and sent.answer != "withdrawn"]
        return self.words_of(given[-1]) if given else (None, 0, None)

    def own_labels_of(self, name):
        """(code, answer, number, revisions, time, details), latest answer first."""
        mine = [sent for sent, by in self.kept if by == name and self.counts(sent.code)]
        numbers = {code: number for number, code in enumerate(dict.fromkeys(sent.code for sent in mine), start=1)}
        newest = [code for code in dict.fromkeys(sent.code for sent in reversed(mine)) if self.stands(code)]
        times = {code: sum(sent.dwell_ms or 0 for sent in mine if sent.code == code) for code in newest}
        return [
            (code, self.said[code][-1], numbers[code], self.n_revisions(code), times[code], *self.said_last(code))
            for code in newest
        ]

    def n_revisions(self, code):
        """Return the number of answers after the first, without those that were undone."""
        followed = zip(self.said[code], [*self.said[code][1:], None], strict=True)
        return sum("withdrawn" not in (answer, after) for answer, after in followed) - 1

    # actions

    @rule(name=names, answer=answers, minute=minutes, ahead=st.sampled_from([0, 0, 0, 1]), said=words)
    def answer_what_is_offered(self, name, answer, minute, ahead, said):
        for task in reviewing.review_queue(self.db, id_of(self.db, name)).offers[ahead : ahead + 1]:
            self.send(name, task.code, task.revision, answer, minute, said=said)

    @rule(name=names, minute=minutes)
    def undo(self, name, minute):
        task = reviewing.review_queue(self.db, id_of(self.db, name)).last
        assert (task.code if task else None) == self.answered_last(name)
        if task:
            self.send(name, task.code, task.revision, "withdrawn", minute, dwell_ms=None)

    @rule(name=names, answer=answers, place=places, minute=minutes, said=words)
    def revise_an_own_label(self, name, answer, place, minute, said):
        mine = reviewing.own_labels(self.db, id_of(self.db, name))
        if mine:
            task = mine[place % len(mine)].task
            self.send(name, task.code, task.revision, answer, minute, said=said)

    @rule(place=places, minute=minutes)
    def send_an_old_event_again(self, place, minute):
        if self.kept:
            sent, name = self.kept[place % len(self.kept)]
            self.submit(name, sent, minute)

    @rule(
        place=places, minute=minutes, said=words, dwell_ms=st.sampled_from([None, 0, 5000]), offset=st.integers(-1, 2)
    )
    def send_an_old_event_again_with_other_words(self, place, minute, said, dwell_ms, offset):
        if self.kept:
            sent, name = self.kept[place % len(self.kept)]
            revision = max(0, sent.revision + offset)
            self.submit(name, replace(sent, dwell_ms=dwell_ms, revision=revision, **said), minute)

    @rule(name=names, place=places, other=places, answer=st.sampled_from(SIMILAR.answers), minute=minutes)
    def send_an_old_event_as_another_answer(self, name, place, other, answer, minute):
        if self.kept:
            sent, _ = self.kept[place % len(self.kept)]
            code = list(self.owner)[other % len(self.owner)]
            own = [kept for kept, by in self.kept if by == name and kept.event_id == sent.event_id]
            if own and (own[0].code, own[0].answer) == (code, answer):
                return  # the same again: tried above
            self.send(name, code, sent.revision, answer, minute, sent.dwell_ms, event_id=sent.event_id)

    @rule(name=names, place=places, answer=st.sampled_from(SIMILAR.answers), minute=minutes)
    def send_to_a_paused_study(self, name, place, answer, minute):
        studies.set_state(self.db, State.PAUSED)
        code = self.all_codes[name][place % len(self.all_codes[name])]
        self.refused(NotAllowed, name, NewLabel("paused", code, len(self.said[code]), answer, 900), minute)
        self.send_an_old_event_again(place, minute)  # it was saved while the study was open
        studies.set_state(self.db, State.OPEN)

    @rule(place=places)
    def exclude_an_item_or_include_it_again(self, place):
        item = sorted(set(self.item.values()))[place % len(set(self.item.values()))]
        change = browsing.include if item in self.excluded else browsing.exclude
        change(self.db, item, "because", **WHO)
        self.excluded ^= {item}

    @rule(place=places, answer=answers, minute=minutes)
    def send_as_one_who_labels_nothing(self, place, answer, minute):
        code = list(self.owner)[place % len(self.owner)]
        self.refused(NotAllowed, "carol", NewLabel("carol's", code, len(self.said[code]), answer, 900), minute)

    @rule(name=names, window=st.sampled_from("xy"))
    def load_a_window(self, name, window):
        reviewer_id = id_of(self.db, name)
        last = reviewing.review_queue(self.db, reviewer_id).last
        self.windows[name, window] = [*reviewing.review_queue(self.db, reviewer_id).offers, *([last] if last else [])]

    @rule(
        name=names, window=st.sampled_from("xy"), place=places, answer=st.sampled_from(SIMILAR.answers), minute=minutes,
        said=words,
    )  # fmt: skip
    def answer_in_a_window_loaded_before(self, name, window, place, answer, minute, said):
        tasks = self.windows.get((name, window))
        if tasks:
            task = tasks[place % len(tasks)]
            self.send(name, task.code, task.revision, str(answer), minute, said=said)

    @rule(
        name=names, place=places, known=st.booleans(), offset=st.integers(-1, 2), answer=answers, minute=minutes,
        dwell_ms=st.sampled_from([None, 0, 249, 250, 900]), said=words,
    )  # fmt: skip
    def tamper(self, name, place, known, offset, answer, minute, dwell_ms, said):
        code = list(self.owner)[place % len(self.owner)] if known else "ZZZZZZ"
        revision = max(0, len(self.said.get(code, [])) + offset)
        self.send(name, code, revision, answer, minute, dwell_ms, said)

    # invariants

    @invariant()
    def exactly_what_was_accepted_is_there_once_and_in_order(self):
        rows = self.db.execute(
            """SELECT l.event_id, p.name, a.code, l.revision, l.answer, l.dwell_ms, l.confidence, l.flag, l.comment
               FROM labels l JOIN assignments a USING (assignment_id) JOIN people p USING (person_id)
               ORDER BY l.label_id"""
        ).fetchall()
        assert rows == [
            (sent.event_id, by, sent.code, sent.revision, sent.answer, sent.dwell_ms, *self.words_of(sent))
            for sent, by in self.kept
        ]
        revisions = defaultdict(list)
        for _, name, code, revision, *_ in rows:
            assert self.owner[code] == name
            revisions[code].append(revision)
        assert all(numbers == list(range(len(numbers))) for numbers in revisions.values())

    @invariant()
    def offers_and_progress_are_those_of_the_model(self):
        shown = {row.reviewer: row for row in coordinating.status(self.db).reviewers}
        for name in NAMES:
            last = [self.said[code][-1] for code in self.codes[name] if self.said[code]]
            n_done, n_not_sure = sum(answer in CATEGORIES for answer in last), last.count("not sure")
            reviewer_id = id_of(self.db, name)
            assert [task.code for task in reviewing.review_queue(self.db, reviewer_id).offers] == self.on_offer(name)
            expected = OwnProgress(n_done, len(self.codes[name]), n_not_sure)
            assert reviewing.review_queue(self.db, reviewer_id).progress == expected
            assert (shown[name].n_done, shown[name].n_not_sure) == (n_done, n_not_sure)

    @invariant()
    def what_was_said_comes_back_to_who_said_it(self):
        for name in NAMES:
            reviewer_id = id_of(self.db, name)
            desk = reviewing.desk(self.db, reviewer_id)
            for task in desk.offers:
                shown = reviewing.task_at(desk, task)
                said = shown.get("confidence"), shown.get("flag", False), shown.get("comment")
                assert said == self.said_last(task.code)
            assert [
                (own.task.code, own.task.answer, own.number, own.n_revisions, own.time_on_task_ms, own.confidence,
                 own.flag, own.comment)
                for own in reviewing.own_labels(self.db, reviewer_id)
            ] == self.own_labels_of(name)  # fmt: skip

    @invariant()
    def first_labels_do_not_change_once_another_task_was_answered(self):
        if not self.kept:
            return
        table = labels.table(self.db).rename(columns={"reviewer": "rater", "label": "answer"})
        last_task = dict(zip(table["rater"], table["assignment"], strict=True))
        first = {row.assignment: (row.rater, row.event_id) for row in first_labels(table).itertuples()}
        assert {task: first.get(task) for task in self.frozen} == self.frozen
        self.frozen |= {task: label for task, label in first.items() if last_task[label[0]] != task}


def answer_is_a_label(sent):
    return sent.answer in CATEGORIES


@pytest.mark.parametrize("n_examples", [2, pytest.param(60, marks=pytest.mark.slow, id="many times")])
@pytest.mark.parametrize("asks_confidence", [False, True], ids=["plain", "confidence asked"])
def test_whatever_reviewers_do_every_accepted_answer_is_kept_once_and_nothing_else(
    tmp_path, asks_confidence, n_examples
):
    path = tmp_path / "cache.study"
    with new_study(path, n_items=6, reviewers=NAMES) as db:
        coordinating.set_protocol(db, Protocol(asks_confidence=asks_confidence), **WHO)
        plan = PlanParameters(seed=3, overlap=0.34, retest=0)
        assigning.confirm_plan(db, plan, **WHO)
    machine = type("Machine", (Labelling,), {"master": path, "asks_confidence": asks_confidence})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_examples, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


def test_of_eight_windows_that_answer_one_task_at_once_one_is_kept(planned):
    ada, barrier = id_of(planned, "ada"), threading.Barrier(8)
    task = reviewing.review_queue(planned, ada).offers[0]

    def answer(number):
        sent = NewLabel(f"window {number}", task.code, task.revision, CATEGORIES[number % 2], 900)
        with open_database(planned.path) as window:
            barrier.wait(60)
            try:
                reviewing.submit(window, ada, sent, now=NOW)
            except AnswerRefused as error:
                return str(error)
        return sent.event_id

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(answer, range(8)))
    assert labels.table(planned)["event_id"].tolist() == [text for text in outcomes if text.startswith("window")]
    assert sum("answered in another window" in text for text in outcomes) == 7
