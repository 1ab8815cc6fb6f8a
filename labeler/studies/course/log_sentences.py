"""Say what happened in a study: the events of the audit log as sentences, the newest first."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.text import counted, joined, minute
from labeler.studies.people import identity
from labeler.studies.store import Database, actions, events
from labeler.studies.store.actions import LogAction

Details = Mapping[str, Any]
MAX_NAMED = 6  # names in a sentence; of more names, only the number


def _named(names: Sequence[str], noun: str, plural: str = "") -> str:
    """Return the names, or of many names the number."""
    if not 0 < len(names) <= MAX_NAMED:
        return counted(len(names), noun, plural) if plural else counted(len(names), noun)
    return joined(list(names), "and")


def _because(details: Details) -> str:
    return f": {details['why']}" if details.get("why") else ""


def _went_to(details: Details) -> str:
    """Say who took over open items; before the plan there were none."""
    staying = details.get("staying")
    return f"; open items went to {_named(staying, 'reviewer')}" if staying else ""


def _plan(details: Details) -> str:
    numbers = {"calibration item": details.get("calibration"), "attention check": details.get("attention")}
    with_ = joined([counted(n, noun) for noun, n in numbers.items() if n], "and")
    n_items = counted(len(details["items"]), "item")
    return f"made the plan: {n_items} for {_named(details['reviewers'], 'reviewer')}{with_ and f', with {with_}'}"


def _verdicts(details: Details) -> str:
    failed = f"; it failed: {details['error']}" if details.get("error") else ""
    return f"computed verdicts for {counted(details['items'], 'item')}{failed}"


_PHRASES: Mapping[LogAction[...], Callable[[Details], str]] = {
    actions.CREATE_STUDY: lambda d: f"created the study “{d['name']}”",
    actions.DESCRIBE_STUDY: lambda d: f"set the name “{d['name']}” and the question “{d['question']}”",
    actions.SET_PROTOCOL: lambda _: "changed the guide or the pictures",
    actions.FINISH_BY: lambda d: f"asked to finish by {d['day']}" if d["day"] else "removed the day to finish by",
    actions.SET_ADDRESS: lambda d: f"set the address of sign-in links to {d['url']}",
    actions.ANSWER_QUESTIONNAIRE: lambda _: "answered the questions about themselves",
    actions.DRAW_PLAN: _plan,
    actions.OPEN_STUDY: lambda d: f"opened the study{_because(d)}",
    actions.PAUSE_STUDY: lambda d: f"paused the study{_because(d)}",
    actions.THIRD_ROUND: lambda d: f"began the third-label round with {_named(d['reviewers'], 'reviewer')}",
    actions.CLOSE_STUDY: lambda d: f"closed the study{_because(d)}",
    actions.REOPEN_STUDY: lambda d: f"reopened the study{_because(d)}",
    actions.UNBLIND_STUDY: lambda d: f"unblinded the study{_because(d)}",
    actions.ADD_PERSON: lambda d: f"added {d['name']} as {joined(list(d['roles']), 'and')}",
    actions.ADD_ROLE: lambda d: f"made {d['name']} also a {d['role']}",
    actions.RENAME_PERSON: lambda d: f"showed {d['name']} as {d['shown']} from then on",
    actions.SET_EMAIL: lambda d: f"{'set' if d['email'] else 'removed'} the e-mail address of {d['name']}",
    actions.PAUSE_REVIEWER: lambda d: f"paused {d['name']}{_because(d)}",
    actions.RESUME_REVIEWER: lambda d: f"let {d['name']} take part again",
    actions.REMOVE_REVIEWER: lambda d: f"removed {d['name']}{_because(d)}{_went_to(d)}",
    actions.REPLACE_REVIEWER: lambda d: f"replaced {d['name']} by {d['successor']}{_because(d)}",
    actions.JOIN: lambda d: f"gave {d['name']} open items of the other reviewers",
    actions.ALLOW_OWN_RESULT: lambda d: f"allowed {d['reviewer']} to see their own result",
    actions.WITHDRAW_OWN_RESULT: lambda d: f"no longer allowed {d['reviewer']} to see their own result",
    actions.INVITE: lambda d: f"created a sign-in link for {d['name']}",
    actions.OPEN_LINK: lambda d: (
        f"created one link for all until {d['until']}"
        + (f", which admits up to {counted(d['admits'], 'person', 'people')}" if d["admits"] else "")
    ),
    actions.END_LINK: lambda _: "ended the link for all",
    actions.ASK_TO_JOIN: lambda d: f"got the request of {d['name']} to take part",
    actions.TURN_AWAY: lambda d: f"turned {d['name']} away",
    actions.REVOKE: lambda d: f"signed {d['name']} out everywhere",
    actions.SIGN_IN: lambda _: "signed in",
    actions.SIGN_OUT: lambda _: "signed out",
    actions.FIRST_VISIT: lambda _: "read the introduction",
    actions.IMPORT_FILE: lambda d: (
        f"imported {counted(len(d['items']), 'item')} from {_named([name for name, _ in d['files']], 'new file')}"
    ),
    actions.REFUSE_FILES: lambda d: f"got a refusal for {_named([name for name, _ in d['files']], 'file')}",
    actions.REMOVE_IMPORT: lambda d: f"took an import back: {counted(len(d['items']), 'item')}",
    actions.EXCLUDE_ITEM: lambda d: f"excluded {d['item']}{_because(d)}",
    actions.INCLUDE_ITEM: lambda d: f"included {d['item']} again{_because(d)}",
    actions.KNOWN_CHANGES: lambda d: f"recorded known changes of {counted(len(d['benchmarks']), 'item')}",
    actions.SET_GATE: lambda d: (
        f"required {100 * d['least']:.0f} % agreement in calibration" if d else "required no agreement in calibration"
    ),
    actions.SET_REFERENCE_LABELS: lambda d: f"set reference labels of {counted(d['items'], 'item')}",
    actions.CHOOSE_CALIBRATION_ITEMS: lambda d: (
        f"chose {_named(d['items'], 'item')} for calibration" if d["items"] else "let the plan choose calibration items"
    ),
    actions.CALIBRATE_AGAIN: lambda d: f"began a second calibration round with {counted(len(d['items']), 'item')}",
    actions.ADD_EXAMPLE: lambda d: f"added {d['item']} as a {d['use']}",
    actions.REMOVE_EXAMPLE: lambda d: f"removed the example {d['item']}",
    actions.IMPORT_LABELS: lambda d: (
        f"imported {counted(d['new'], 'new label')} from {counted(d['rows'], 'row')}"
        + (f"; new reviewers: {_named(d['reviewers'], 'reviewer')}" if d["reviewers"] else "")
    ),
    actions.NEXT_ITEMS: lambda d: f"added {counted(len(d['random']) + len(d['chosen']), 'item')} to the plan",
    actions.ADJUDICATE: lambda d: f"decided that {d['item']} is {d['category']}{_because(d)}",
    actions.COMPUTE_VERDICTS: _verdicts,
    actions.IMPORT_VERDICTS: lambda d: f"imported verdicts of {_named(d['classifiers'], 'classifier')}",
    actions.REMOVE_SETTINGS: lambda d: f"removed verdicts of {_named(d['names'], 'classifier')}",
    actions.APPLY_MODEL: lambda d: f"added the verdicts of {d['classifier']}",
    actions.LEARN: lambda _: "compared learned classifiers",
    actions.LOOK: lambda d: f"looked at {d['at']} while the study was {d['state']}",
    actions.LIST_FLAGS: lambda d: f"listed {counted(d['messages'], 'comment', 'comments or flags')} with names",
    actions.ANSWER_COMMENT: lambda d: f"answered a comment on {d['item']}",
    actions.REPORT: lambda d: f"wrote the report of {counted(d['answers'], 'answer')}",
    actions.EXPORT_LABELS: lambda _: "exported the labels",
    actions.EXPORT_VERDICTS: lambda _: "exported the verdicts",
    actions.BACKUP: lambda d: f"backed up the study as {d['file']}",
    actions.ANONYMISE: lambda _: "wrote an anonymised copy",
    actions.PUBLISH: lambda d: f"wrote the data set {d['file']}",
    actions.TEMPLATE: lambda d: (
        f"copied the study as a template into {d['into']}" if "into" in d
        else f"made the study from the template {d.get('from', '')}".strip()
    ),
}  # fmt: skip


def log_sentences(db: Database, *, with_details: bool) -> list[dict[str, str]]:
    """Return the events as rows of a table: time, person and what happened; the newest event comes first.

    Without details, which may contain decisions of other people, only the kind of an event is named.
    """
    shown = identity.shown_names(db)
    return [
        {
            "time (UTC)": minute(event.at_utc),
            "by": shown.get(event.actor, event.actor),
            "what": _phrase(event.action, event.details) if with_details else event.action,
        }
        for event in reversed(events.everything(db))
    ]


def _phrase(name: str, details: Details) -> str:
    """Return what happened; of an event of another version, or of a copy that lacks details, the name."""
    action = actions.ACTIONS.get(name)
    try:
        return name if action is None else _PHRASES[action](details)
    except (KeyError, TypeError, ValueError):
        return name
