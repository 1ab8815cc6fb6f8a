"""The actions of the audit log: what each event says, what follows from it, and what copies of a study show of it.

A new action is one row here. The log takes exactly its fields; the audit, anonymised and published copies, the history
in the report, and the age of written reports follow from the row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Literal, NotRequired, ParamSpec, TypedDict

from labeler.studies.store.log_state import Event, LogState

P = ParamSpec("P")


class Published(Enum):
    """When an event belongs to the data set of a published study."""

    ALWAYS = "always"
    BEFORE_UNBLINDING = "before unblinding"  # who saw something while the study was blind
    NEVER = "never"


@dataclass(frozen=True)
class LogAction(Generic[P]):
    """A kind of event in the audit log."""

    name: str
    fields: Callable[P, Mapping[str, Any]]  # a TypedDict: the details of the event
    change: Callable[[LogState, Event], None] | None = None  # how the event changes what the audit derives from the log
    # Fields that anonymised and published copies do not have. In all other fields, copies have new names of people.
    private: frozenset[str] = frozenset()
    published: Published = Published.ALWAYS
    stales: bool = True  # whether reports written before no longer show the present
    history: Literal["steps", "people"] | None = None  # the part of the history in the report that tells the event

    def check(self, details: Mapping[str, Any]) -> None:
        """Raise TypeError if the details lack a required field, or have a field that the action does not have."""
        fields: Any = self.fields  # for mypy a function, because a type of TypedDict cannot be written
        missing = sorted(fields.__required_keys__ - details.keys())
        unknown = sorted(details.keys() - fields.__required_keys__ - fields.__optional_keys__)
        if missing or unknown:
            raise TypeError(f"{self.name!r} in the log: missing fields {missing}, unknown fields {unknown}")


class _Nothing(TypedDict):
    """No details."""


# The study


class _Question(TypedDict):
    name: str
    question: str
    definition: Mapping[str, Any]


class _Protocol(TypedDict):
    axis_rule: str
    min_span: float
    asks_confidence: bool
    shows_numbers: bool
    instructions: str
    varies_pictures: bool


class _Study(_Question, _Protocol):
    secrets: str


class _Address(TypedDict):
    url: str


class _Day(TypedDict):
    day: str  # "" if there is none


class _Plan(TypedDict):
    seed: int
    per_item: int
    overlap: float
    retest: int
    paper: bool
    calibration: int
    attention: int
    stop_half_width: float | None
    hash: str
    items: Sequence[str]
    reviewers: Sequence[str]
    first: NotRequired[int]
    question: NotRequired[str]
    chosen: NotRequired[Sequence[str]]


_Step = TypedDict("_Step", {"from": str, "to": str, "why": NotRequired[str]})


class _Opening(_Step):
    calibration: NotRequired[str]


class _ThirdRound(_Step):
    reviewers: Sequence[str]
    answers: int
    offered: int
    hash: str


# With the real names, a few guesses would find the order of names that gives the hash of a changed plan.
HASH = frozenset({"hash"})

CREATE_STUDY = LogAction("create study", _Study, LogState.create, frozenset({"secrets"}))
DESCRIBE_STUDY = LogAction("describe study", _Question, LogState.describe)
SET_PROTOCOL = LogAction("set protocol", _Protocol, LogState.protocol)
FINISH_BY = LogAction("finish by", _Day)
# With which sign-in links begin.
SET_ADDRESS = LogAction("set address", _Address, private=frozenset({"url"}), published=Published.NEVER, stales=False)
DRAW_PLAN = LogAction("draw plan", _Plan, LogState.plan, frozenset({"seed"}))
OPEN_STUDY = LogAction("open study", _Opening, LogState.step, history="steps")
PAUSE_STUDY = LogAction("pause study", _Step, LogState.step, history="steps")
THIRD_ROUND = LogAction("third round", _ThirdRound, LogState.step, HASH, history="steps")
CLOSE_STUDY = LogAction("close study", _Step, LogState.step, history="steps")
REOPEN_STUDY = LogAction("reopen study", _Step, LogState.step, history="steps")
UNBLIND_STUDY = LogAction("unblind study", _Step, LogState.step, history="steps")


# People


class _NewPerson(TypedDict):
    name: str
    roles: Sequence[str]


class _Role(TypedDict):
    name: str
    role: str


class _NewName(TypedDict):
    name: str
    shown: str


class _Email(TypedDict):
    name: str
    email: str  # "" if the address was removed


class _Person(TypedDict):
    name: str


class _Pause(_Person):
    why: NotRequired[str]


# Before the plan, a change of people has no plan to change.
class _Leaving(_Pause):
    staying: NotRequired[Sequence[str]]
    answers: NotRequired[int]
    offered: NotRequired[int]
    hash: NotRequired[str]


class _Replacement(_Leaving):
    successor: str
    calibrating: NotRequired[bool]


class _Joining(_Person):
    calibrating: bool
    answers: int
    offered: int
    hash: str


class _Reviewer(TypedDict):
    reviewer: str


# People are often added in alphabetical order. The log of a copy therefore says that a person was added, but not who.
ADD_PERSON = LogAction("add person", _NewPerson, LogState.add_person, frozenset({"name"}))
ADD_ROLE = LogAction("add role", _Role, LogState.add_role)
RENAME_PERSON = LogAction("rename person", _NewName)
SET_EMAIL = LogAction(
    "set e-mail", _Email, LogState.email, frozenset({"name", "email"}), published=Published.NEVER, stales=False
)
PAUSE_REVIEWER = LogAction("pause reviewer", _Pause, LogState.pause, history="people")
RESUME_REVIEWER = LogAction("resume reviewer", _Person, LogState.resume, history="people")
REMOVE_REVIEWER = LogAction("remove reviewer", _Leaving, LogState.leave, HASH, history="people")
REPLACE_REVIEWER = LogAction("replace reviewer", _Replacement, LogState.replace, HASH, history="people")
JOIN = LogAction("join", _Joining, private=HASH, history="people")
ALLOW_OWN_RESULT = LogAction("allow own result", _Reviewer)
WITHDRAW_OWN_RESULT = LogAction("withdraw own result", _Reviewer)


# Sign-ins


class _Invitation(TypedDict):
    name: str
    expires: str
    link: str  # the hash of the secret


class _Revocation(TypedDict):
    name: str
    links: int
    sessions: int


class _Session(TypedDict):
    session: str  # the hash of the token


class _LinkForAll(TypedDict):
    link: str  # the hash of its secret
    admits: int  # people whom the link admits by itself; 0 if a coordinator admits them
    until: str  # its last day
    asks_email: bool


class _Request(TypedDict):
    name: str
    email: str  # "" if there is none
    link: str  # the hash of the secret of the link for all
    secret: str  # the hash of the personal secret, with which an admission also invites


class _Refusal(TypedDict):
    name: str
    secret: str


INVITE = LogAction(
    "invite", _Invitation, LogState.invite, frozenset({"name", "link"}), published=Published.NEVER, stales=False
)
REVOKE = LogAction("revoke", _Revocation, LogState.revoke, frozenset({"name"}), published=Published.NEVER, stales=False)
SIGN_IN = LogAction(
    "sign in", _Session, LogState.sign_in, frozenset({"session"}), published=Published.NEVER, stales=False
)
SIGN_OUT = LogAction(
    "sign out", _Session, LogState.sign_out, frozenset({"session"}), published=Published.NEVER, stales=False
)
# One link for all. Who is admitted is added and invited as everybody else.
OPEN_LINK = LogAction("open link", _LinkForAll, private=frozenset({"link"}), published=Published.NEVER, stales=False)
END_LINK = LogAction("end link", _Nothing, published=Published.NEVER, stales=False)
ASK_TO_JOIN = LogAction(
    "ask to join", _Request, private=frozenset({"name", "email", "link", "secret"}), published=Published.NEVER,
    stales=False,
)  # fmt: skip
TURN_AWAY = LogAction(
    "turn away", _Refusal, private=frozenset({"name", "secret"}), published=Published.NEVER, stales=False
)
# A reviewer has finished the introduction.
FIRST_VISIT = LogAction("first visit", _Nothing, published=Published.NEVER, stales=False)


class _Questionnaire(TypedDict):
    """The answers of a person by question, without those that were left out; own words stand in `texts`."""

    answers: Mapping[str, str]
    texts: Mapping[str, str]


ANSWER_QUESTIONNAIRE = LogAction("answer questionnaire", _Questionnaire, private=frozenset({"texts"}))


# Items


class _Import(TypedDict):
    sha256: str  # of the first file
    items: Sequence[str]
    files: Sequence[Sequence[str]]  # name, without folders, and SHA-256 of each new file


class _RefusedFiles(TypedDict):
    files: Sequence[Sequence[str]]  # name of each, and the reason


class _RemovedImport(TypedDict):
    imported_utc: str
    items: Sequence[str]
    files: Sequence[Sequence[str]]


class _Exclusion(TypedDict):
    item: str
    why: str


class _KnownChanges(TypedDict):
    benchmarks: Mapping[str, str]  # item -> what was done to its runs before they were measured


IMPORT_FILE = LogAction("import file", _Import, LogState.import_file)
REFUSE_FILES = LogAction(
    "refuse files", _RefusedFiles, private=frozenset({"files"}), published=Published.NEVER, stales=False
)
REMOVE_IMPORT = LogAction("remove import", _RemovedImport, LogState.remove_import)
EXCLUDE_ITEM = LogAction("exclude item", _Exclusion, LogState.exclude)
INCLUDE_ITEM = LogAction("include item", _Exclusion, LogState.include)
KNOWN_CHANGES = LogAction("known changes", _KnownChanges)


# Calibration and guide


class _Gate(TypedDict):
    on: NotRequired[str]  # neither field if there is no gate
    least: NotRequired[float]


class _Reference(TypedDict):
    items: int
    seal: str


class _Items(TypedDict):
    items: Sequence[str]


class _SecondRound(_Items):
    reviewers: Sequence[str]
    answers: int
    offered: int
    hash: str


class _Example(TypedDict):
    item: str
    category: str
    sentence: str
    use: str


class _Item(TypedDict):
    item: str


SET_GATE = LogAction("set gate", _Gate, LogState.gate)
SET_REFERENCE_LABELS = LogAction("set reference labels", _Reference, LogState.set_reference, frozenset({"seal"}))
CHOOSE_CALIBRATION_ITEMS = LogAction("choose calibration items", _Items)
CALIBRATE_AGAIN = LogAction("calibrate again", _SecondRound, private=HASH)
ADD_EXAMPLE = LogAction("add example", _Example)
REMOVE_EXAMPLE = LogAction("remove example", _Item)


# Labels and verdicts


class _ImportedLabels(TypedDict):
    rows: int
    new: int
    reviewers: Sequence[str]  # who were new, in the order in which they were added


class _NextItems(TypedDict):
    random: Sequence[str]
    chosen: Sequence[str]
    n_random: int
    random_share: float
    reviewers: Sequence[str]
    per_item: int
    by_model: bool
    answers: int
    offered: int
    hash: str


class _Decision(TypedDict):
    item: str
    category: str
    why: str


class _ComputedVerdicts(TypedDict):
    items: int
    drop: float | str  # the warm-up
    only_verdict: bool
    error: str | None
    settings: NotRequired[Sequence[str]]


class _ImportedVerdicts(TypedDict):
    file: str
    rows: int
    classifiers: Sequence[str]


class _RemovedVerdicts(TypedDict):
    names: Sequence[str]
    verdicts: int


class _AppliedModel(TypedDict):
    classifier: str
    model: str
    file: str
    verdicts: int


IMPORT_LABELS = LogAction("import labels", _ImportedLabels, LogState.import_labels)
NEXT_ITEMS = LogAction("next items", _NextItems, private=HASH)
ADJUDICATE = LogAction("adjudicate", _Decision)
COMPUTE_VERDICTS = LogAction("compute verdicts", _ComputedVerdicts)
IMPORT_VERDICTS = LogAction("import verdicts", _ImportedVerdicts, private=frozenset({"file"}))
REMOVE_SETTINGS = LogAction("remove settings", _RemovedVerdicts)
APPLY_MODEL = LogAction("apply model", _AppliedModel)
LEARN = LogAction("learn", _Nothing)


# Readings, which change nothing


class _Look(TypedDict):
    at: str  # the page or the command
    state: str


class _Report(TypedDict):
    state: str
    answers: int


class _Export(TypedDict):
    state: str


class _File(TypedDict):
    file: str


class _Flags(TypedDict):
    messages: int


class _Reply(TypedDict):
    item: str
    messages: int
    characters: int


class _Copy(TypedDict):
    file: NotRequired[str]  # not in the log of the copy itself
    comments: str
    benchmarks: str


class _Publication(TypedDict):
    file: str
    sha256: str
    venue: str | None
    measurements: bool


# In the new study, "from" is the study that it was made from; in the other study, "into" is the new study.
_Template = TypedDict("_Template", {"from": NotRequired[str], "into": NotRequired[str], "people": int})


def _reading(name: str, fields: Callable[P, Mapping[str, Any]], private: frozenset[str] = frozenset()) -> LogAction[P]:
    return LogAction(name, fields, private=private, published=Published.BEFORE_UNBLINDING, stales=False)


LOOK = _reading("look", _Look)
REPORT = _reading("report", _Report)
EXPORT_LABELS = _reading("export labels", _Export)
EXPORT_VERDICTS = _reading("export verdicts", _Nothing)
BACKUP = _reading("backup", _File, frozenset({"file"}))
LIST_FLAGS = _reading("list flags", _Flags)
ANSWER_COMMENT = _reading("answer comment", _Reply, frozenset({"messages"}))
ANONYMISE = _reading("anonymise", _Copy)
PUBLISH = _reading("publish", _Publication)
TEMPLATE = _reading("template", _Template)

# Every action above, by its name.
ACTIONS: Mapping[str, LogAction[...]] = {
    action.name: action for action in tuple(vars().values()) if isinstance(action, LogAction)
}


def in_history(part: Literal["steps", "people"]) -> list[LogAction[...]]:
    """Return the actions that a part of the history in the report tells."""
    return [action for action in ACTIONS.values() if action.history == part]
