"""A whole random study: reviewers and coordinators act at random, and the invariants hold at every point."""

import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from analysis.categories import CATEGORIES
from analysis.raters.tables import counted_labels
from labeler.errors import LabelerError, NotAllowed
from labeler.studies.audit import audit
from labeler.studies.course import course, staffing
from labeler.studies.handover import exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import label_file, reviewing
from labeler.studies.model import Kind, NewLabel, Origin, PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.questions import WITHDRAWN
from labeler.studies.results import splits
from labeler.studies.store import assignments, events, items, labels, open_database, people, studies
from labeler.studies.store.assignments import StoredAssignment
from tests.making import NOW, WHO, id_of, item_name, new_study

N_ITEMS, PER_ITEM = 8, 2
AT_FIRST, LATER, ELSEWHERE = ("ada", "ben", "cleo"), ("eve", "fay"), "zed"
BOTH = "dan"  # reviewer and coordinator
COUNTED, ONCE = (Kind.FRESH, Kind.OVERLAP), (Kind.FRESH, Kind.OVERLAP, Kind.THIRD)
TABLES = ("studies", "people", "items", "assignments", "labels", "decisions", "events")
NEXT = {
    ("draft", "open"): "open", ("calibration", "open"): "open", ("open", "third"): "third", ("open", "close"): "closed",
    ("third", "close"): "closed", ("closed", "unblind"): "unblinded",
}  # fmt: skip

coordinators = st.sampled_from(("carol", "chris", BOTH))
reviewers = st.sampled_from((*AT_FIRST, BOTH, *LATER))
anybody = st.sampled_from((*AT_FIRST, BOTH, *LATER, ELSEWHERE, "chris", "nobody"))
answers = st.sampled_from((*CATEGORIES, *CATEGORIES, "not sure"))
imports = st.fixed_dictionaries(
    {
        "item": st.integers(0, N_ITEMS - 1).map(item_name),
        "reviewer": st.sampled_from((ELSEWHERE, ELSEWHERE, *AT_FIRST)),
        "label": st.sampled_from((*CATEGORIES, *CATEGORIES, "not sure", "withdrawn")),
        "kind": st.sampled_from(("fresh", "fresh", "fresh", "third", "retest", "calibration")),
    }
)
numbers = st.integers(0, N_ITEMS)  # one too many: this item does not exist
patterns = st.integers(0, 2**60)  # everybody's answer to each item
reasons = st.sampled_from(("because", "because", "because", "because", " "))


class Life(RuleBasedStateMachine):
    """Every action is either saved with its event or refused without a trace."""

    master: Path
    takes_anything: bool  # whether a label file was imported; then the reviewers of an item are not counted

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "cache.study"
        shutil.copy(self.master, path)
        self.db = open_database(path)
        self.by = {}  # event id of an answer -> reviewer
        self.n_sent = 0
        self.closed_from = None  # the state that a reopened study goes back to
        self.planned = Counter()  # item -> slots drawn for the study itself
        self.given_up = Counter()  # kind -> slots
        self.n_third = 0
        self.left = set()
        self.kept = ([], [])  # labels and events at the last check
        self.frozen = {}  # assignment -> its first label, once its reviewer answered another item

    def teardown(self):
        try:
            assert audit.audit(self.db).faults == ()
        finally:
            self.db.close()
            self.folder.cleanup()

    # actions

    def attempt(self, actor, logged, action):
        """Try an action; returns None if it is refused, and checks that nothing was added."""
        before = self.everything()
        try:
            result = action({"actor": actor, "now": NOW})
        except LabelerError:
            assert self.everything() == before
            return None
        new = self.everything()["events"][len(before["events"]) :]
        wanted = logged(result) if callable(logged) else logged
        assert [(by, what) for _, _, by, what, _ in new] == [(actor, what) for what in wanted]
        return (result,)

    def everything(self):
        return {name: self.db.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() for name in TABLES}

    @initialize(
        n_steps=st.integers(0, 4), calibration=st.sampled_from((0, 0, 2)), seed=st.integers(0, 99), pattern=patterns
    )
    def begin(self, n_steps, calibration, seed, pattern):
        """Start at any point of a study without errors so far."""
        if n_steps:
            self.draw_a_plan("carol", calibration, seed, 0.25)
        for step in (Step.OPEN, Step.THIRD, Step.CLOSE)[: max(0, n_steps - 1)]:
            self.everybody_answers_everything(pattern)
            self.take_a_step("carol", step, "because", True)

    @rule(
        actor=coordinators, calibration=st.integers(0, 9), seed=st.integers(0, 99), overlap=st.sampled_from((0, 0.25))
    )
    def draw_a_plan(self, actor, calibration, seed, overlap):
        wanted = PlanParameters(seed, per_item=PER_ITEM, overlap=overlap, retest=0, calibration=calibration)
        done = self.attempt(actor, ["draw plan"], lambda who: assigning.confirm_plan(self.db, wanted, **who))
        if done:
            drawn = [one for one in done[0].assignments if one.kind in COUNTED]
            self.planned, self.given_up = Counter(one.item for one in drawn), Counter()
            n_people = sum(person.active for person in people.reviewers(self.db))
            assert all(self.planned[one.item] == (PER_ITEM if one.kind == "fresh" else n_people) for one in drawn)

    @rule(actor=coordinators, name=st.sampled_from((*LATER, *LATER, "ADA", " ")))
    def add_a_reviewer(self, actor, name):
        logged = ["add person", *(["join"] if studies.get(self.db).plan_hash else [])]
        self.attempt(actor, logged, lambda who: staffing.add(self.db, name, [Role.REVIEWER], **who))

    @rule(actor=coordinators, name=anybody, why=reasons)
    def pause_a_reviewer(self, actor, name, why):
        if self.attempt(actor, ["pause reviewer"], lambda who: staffing.pause(self.db, name, why=why, **who)):
            self.left.discard(name)

    @rule(actor=coordinators, name=anybody)
    def let_a_reviewer_go_on(self, actor, name):
        logged = ["resume reviewer", *(["join"] if name in self.left and studies.get(self.db).plan_hash else [])]
        if self.attempt(actor, logged, lambda who: staffing.resume(self.db, name, **who)):
            self.left.discard(name)

    @rule(actor=coordinators, name=anybody, why=reasons)
    def remove_a_reviewer(self, actor, name, why):
        done = self.attempt(actor, ["remove reviewer"], lambda who: staffing.remove(self.db, name, why=why, **who))
        if done:
            self.left.add(name)
            self.count_given_up(done[0])

    @rule(actor=coordinators, name=reviewers, successor=anybody)
    def replace_a_reviewer(self, actor, name, successor):
        logged = [*([] if people.by_name(self.db, successor) else ["add person"]), "replace reviewer"]
        done = self.attempt(actor, logged, lambda who: staffing.replace(self.db, name, successor, why="because", **who))
        if done:
            self.left.add(name)
            self.count_given_up(done[0][1])

    def count_given_up(self, change):
        dropped = re.findall(r"(\d+) open (?:(\w+) )?items? no longer assigned", "\n".join(change.shortfalls))
        self.given_up.update({kind or Kind.FRESH: int(number) for number, kind in dropped})
        assert sum(int(number) for number, _ in dropped) == change.n_given_up

    @rule(actor=coordinators, number=numbers, why=reasons, is_wrong=st.sampled_from((False, False, False, True)))
    def leave_an_item_out_or_take_it_back_in(self, actor, number, why, is_wrong):
        item = items.by_name(self.db, item_name(number))
        change, logged = browsing.exclude, "exclude item"
        if (item is not None and item.excluded_why is not None) != is_wrong:
            change, logged = browsing.include, "include item"
        self.attempt(actor, [logged], lambda who: change(self.db, item_name(number), why, **who))

    @rule(actor=coordinators, step=st.sampled_from((*Step, Step.OPEN)), why=reasons, force=st.booleans())
    def take_a_step(self, actor, step, why, force):
        """A second definition of where each step leads."""
        study = studies.get(self.db)
        was, way = study.state.value, step.value
        logged = [] if (was, way) == ("open", "open") else ["third round" if way == "third" else f"{way} study"]
        done = self.attempt(actor, logged, lambda who: course.change_state(self.db, step, why=why, force=force, **who))
        now = studies.get(self.db)
        if not done:
            to = NEXT.get((was, way))
            no_labels = to == "open" and was == "draft" and not labels.n_labels(self.db)
            not_passed = was == "calibration" and not force
            assert to is None or no_labels or not_passed or way == "third" or why == " "
        elif was == "paused":
            assert (way, now.state, now.resumes_to) == ("open", study.resumes_to, None)
        elif way == "pause":
            assert (now.state, now.resumes_to) == (State.PAUSED, was)
        else:
            assert now.state.value == (self.closed_from if way == "reopen" else NEXT.get((was, way), "open"))
            self.closed_from = was if way == "close" else self.closed_from
            assert done[0].state is now.state
        if done and step is Step.THIRD:
            self.n_third = sum(kept.assignment.kind is Kind.THIRD for kept in self.standing())

    @rule(actor=coordinators, place=st.integers(0, 99), category=st.sampled_from(CATEGORIES), number=numbers)
    def decide_a_split_item(self, actor, place, category, number):
        split = [one.item.name for one in splits.split_items(self.db)] or [item_name(number)]
        before = counted_labels(label_file.all_answers(self.db))
        name = split[place % len(split)]
        self.attempt(actor, ["adjudicate"], lambda who: splits.adjudicate(self.db, name, category, "because", **who))
        assert counted_labels(label_file.all_answers(self.db)).equals(before)

    @rule(actor=coordinators, rows=st.lists(imports, min_size=1, max_size=4))
    def take_in_labels_made_elsewhere(self, actor, rows):
        rows = [row for row in rows if self.takes_anything or self.fits(**row)]
        self.n_sent += len(rows)
        table = pd.DataFrame([row | {"event_id": f"elsewhere {self.n_sent - at}"} for at, row in enumerate(rows)])
        if rows and self.attempt(actor, ["import labels"], lambda who: exchange.import_labels(self.db, table, **who)):
            self.by |= dict(zip(table["event_id"], table["reviewer"], strict=True))

    def fits(self, item, reviewer, label, kind):
        """A label on an assigned item, or by a person without assignments on an unassigned item."""
        on = [kept.assignment.kind for kept in self.standing() if self.whose(kept) == (reviewer, item)]
        is_free = reviewer == ELSEWHERE and not on
        return label in CATEGORIES and kind == "fresh" and (is_free or any(one in COUNTED for one in on))

    @rule(name=reviewers, given=st.lists(answers, min_size=1, max_size=6))
    def answer_what_is_offered(self, name, given):
        for answer in given:
            person = people.by_name(self.db, name)
            offers = reviewing.review_queue(self.db, person.person_id).offers if person and person.active else ()
            if offers:
                self.send(name, offers[0], answer)

    @rule(pattern=patterns)
    def everybody_answers_everything(self, pattern):
        """Without this, no study would reach its end."""
        for person in people.reviewers(self.db):
            while person.active and (offers := reviewing.review_queue(self.db, person.person_id).offers):
                said = CATEGORIES[pattern >> (5 * person.person_id + offers[0].item_id) % 60 & 1]
                if not self.send(person.name, offers[0], said):
                    break

    @rule(name=anybody)
    def take_the_last_answer_back(self, name):
        person = people.by_name(self.db, name)
        if name == ELSEWHERE and not self.takes_anything:
            return  # otherwise their open items would be in no plan
        if (
            person
            and Role.REVIEWER in person.roles
            and person.active
            and (last := reviewing.review_queue(self.db, person.person_id).last)
        ):
            self.send(name, last, "withdrawn")

    @rule(name=reviewers, place=st.integers(0, 99), answer=answers)
    def revise_an_own_label(self, name, place, answer):
        person = people.by_name(self.db, name)
        if person and person.active and (own := reviewing.own_labels(self.db, person.person_id)):
            self.send(name, own[place % len(own)].task, answer)

    @rule(name=anybody, place=st.integers(0, 999), answer=answers)
    def answer_any_item_at_all(self, name, place, answer):
        """Also items of other people, of another round, items that went to somebody else, and excluded items."""
        codes = self.db.execute(
            "SELECT p.name, a.code, a.ended_utc IS NOT NULL FROM assignments a JOIN people p USING (person_id)"
        ).fetchall()
        person = people.by_name(self.db, name)
        if not codes or person is None:
            return
        owner, code, is_moved = codes[place % len(codes)]
        task = assignments.task_by_code(self.db, id_of(self.db, owner), code)
        desk = reviewing.review_queue(self.db, person.person_id) if self.labels_here(person) else None
        offered = {one.code for one in desk.offers} if desk else set()
        if self.send(name, task, answer):
            assert owner == name
            assert not desk.closed
            assert code in offered or is_moved or (task.answer and task.answer is not WITHDRAWN)

    def labels_here(self, person):
        return person.active and Role.REVIEWER in person.roles

    def send(self, name, task, answer):
        self.n_sent += 1
        said = f"{name} says so"
        sent = NewLabel(f"event {self.n_sent}", task.code, task.revision, answer, 900, {}, comment=said)
        person_id = people.by_name(self.db, name).person_id
        done = self.attempt(name, [], lambda who: reviewing.submit(self.db, person_id, sent, now=who["now"]))
        if done:
            self.by[sent.event_id] = name
        return done

    # invariants

    def standing(self) -> list[StoredAssignment]:
        return [kept for kept in assignments.everything(self.db) if not kept.ended]

    @staticmethod
    def whose(kept):
        return kept.assignment.reviewer, kept.assignment.item

    @invariant()
    def nobody_is_on_an_item_twice(self):
        if self.takes_anything:
            return
        places = Counter(self.whose(kept) for kept in self.standing() if kept.assignment.kind in ONCE)
        assert set(places.values()) <= {1}

    @invariant()
    def every_item_keeps_its_reviewers_but_for_slots_that_were_given_up(self):
        if self.takes_anything:
            return
        of_plan = [kept.assignment for kept in self.standing() if kept.origin is not Origin.IMPORT]
        on = Counter(one.item for one in of_plan if one.kind in COUNTED)
        assert all(n <= self.planned[item] for item, n in on.items())
        n_given_up = sum(self.given_up[kind] for kind in COUNTED)
        assert sum((self.planned - on).values()) == n_given_up
        n_third = sum(one.kind is Kind.THIRD for one in of_plan)
        assert n_third == self.n_third - self.given_up[Kind.THIRD]

    @invariant()
    def the_plan_follows_from_seed_and_log(self):
        if studies.get(self.db).plan_hash:
            assert verifying.verify_plan(self.db).problems == ()

    @invariant()
    def labels_and_events_are_only_appended_and_each_is_its_reviewers(self):
        table = labels.table(self.db)
        rows, log = table.to_numpy().tolist(), events.table(self.db).to_numpy().tolist()
        for now, before in zip((rows, log), self.kept, strict=True):
            assert now[: len(before)] == before
        self.kept = (rows, log)
        assert dict(zip(table["event_id"], table["reviewer"], strict=True)) == self.by

    @invariant()
    def first_labels_stay_once_another_item_was_answered(self):
        table = labels.table(self.db)
        last = dict(zip(table["reviewer"], table["assignment"], strict=True))
        first = {row.assignment: (row.rater, row.category, row.event_id) for row in counted_labels(table).itertuples()}
        assert {task: first.get(task) for task in self.frozen} == self.frozen
        self.frozen |= {task: label for task, label in first.items() if last[label[0]] != task}

    @invariant()
    def a_reviewer_is_shown_own_items_that_count_and_own_words_alone(self):
        names = {item.name: item.excluded_why is None for item in items.all_items(self.db)}
        calibrating = studies.get(self.db).phase is State.CALIBRATION
        own_codes = self.codes_in_play(names, calibrating)
        said = [*Kind, *names, *(f"{person.name} says so" for person in people.all_people(self.db))]
        for person in people.reviewers(self.db):
            if not person.active:
                self.nothing_is_shown_to(person)
                continue
            desk = reviewing.desk(self.db, person.person_id)
            queue, own = reviewing.queue_of(desk), reviewing.own_labels(self.db, person.person_id)
            feedback = reviewing.feedback(self.db, person.person_id)
            shown = [reviewing.task_at(desk, task) for task in queue.offers]
            tasks = [*queue.offers, *([queue.last] if queue.last else []), *(one.task for one in own)]
            assert {task.code for task in tasks} <= own_codes[person.name]
            text = repr((queue, own, shown, feedback))
            assert [word for word in said if word in text] in ([], [f"{person.name} says so"])

    def codes_in_play(self, counts, calibrating):
        found = self.db.execute(
            """SELECT p.name, a.code, i.name, a.kind = 'calibration' FROM assignments a
               JOIN people p USING (person_id) JOIN items i USING (item_id) WHERE a.ended_utc IS NULL"""
        ).fetchall()
        return {
            name: {code for owner, code, item, is_of_round in found
                   if owner == name and counts[item] and bool(is_of_round) == calibrating}
            for name in (person.name for person in people.all_people(self.db))
        }  # fmt: skip

    def nothing_is_shown_to(self, person):
        for look in (reviewing.review_queue, reviewing.own_labels, reviewing.feedback):
            try:
                look(self.db, person.person_id)
            except NotAllowed:
                continue
            raise AssertionError(f"{person.name} left, and is shown something")


MANY = pytest.mark.slow
SIZES = [
    pytest.param(False, 2, 25, id="counted"),
    pytest.param(True, 4, 40, marks=MANY, id="any label file"),
    pytest.param(False, 60, 40, marks=MANY, id="counted, many times"),
    pytest.param(True, 40, 40, marks=MANY, id="any label file, many times"),
]


@pytest.mark.parametrize(("takes_anything", "n_examples", "n_steps"), SIZES)
def test_whatever_people_do_a_study_stays_whole(tmp_path, takes_anything, n_examples, n_steps):
    path = tmp_path / "cache.study"
    with new_study(path, n_items=N_ITEMS, reviewers=AT_FIRST) as db:
        identity.add_person(db, BOTH, [Role.REVIEWER, Role.COORDINATOR], **WHO)
        identity.add_person(db, "chris", [Role.COORDINATOR], **WHO)
    run_state_machine_as_test(
        type("Machine", (Life,), {"master": path, "takes_anything": takes_anything}),
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=n_steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
