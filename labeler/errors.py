"""Define the errors whose messages people see.

    LabelerError
    ├── StudyError          a problem of the study file
    │   ├── NoStudy         the file does not exist, or none was given
    │   ├── NotAStudy       the file is not a study, or it is damaged
    │   ├── ChangedSchema   another program changed its tables, views or triggers
    │   ├── NewerStudy      created by a newer version
    │   ├── StudyBusy       another process is writing
    │   └── StudyReadOnly   the file cannot be written to, or the disk is full
    ├── InputError          an invalid file, option or text
    │   └── Refused         a result file that was not imported, with the place and the reason
    ├── NotAllowed          not allowed in this state of the study, or for this role
    │   └── SignInFailed    an expired or revoked link
    │       └── UnknownLink no link of this study
    ├── NotAssigned         an answer to an item that is not offered to this reviewer
    └── AnswerRefused       an answer that was too fast, or came after another answer

The message of an error says what happened, where, and what to do. Pages and commands show only this message. Messages
about the study file contain the path of the file, which only coordinators may see. `for_anyone` hides the path.
"""

from typing import ClassVar


class LabelerError(Exception):
    """The base class of all errors whose message people see."""


class StudyError(LabelerError):
    """The study file has a problem."""

    outside: ClassVar[str] = "The study cannot be opened at the moment. Tell your coordinator."


class NoStudy(StudyError):
    """No study was given, or the path has no study."""

    outside = "The study file is missing at the moment. Tell your coordinator."


class NotAStudy(StudyError):
    """The file is not a study, or is damaged."""

    outside = "The study cannot be read: its file is damaged. Tell your coordinator."


class ChangedSchema(StudyError):
    """Another program changed the tables, views or triggers of the file."""

    outside = "The study cannot be used: another program changed its file. Tell your coordinator."


class NewerStudy(StudyError):
    """A newer version of labeler wrote the file."""

    outside = "The study needs a newer version of this server. Tell your coordinator."


class StudyBusy(StudyError):
    """Another process is writing to the study."""

    outside = "The study is busy at the moment. Try again."


class StudyReadOnly(StudyError):
    """The file cannot be written to, or the disk is full."""

    outside = "The study cannot be written to at the moment. Tell your coordinator."


class InputError(LabelerError):
    """An invalid option, file or text."""


class Refused(InputError):
    """A result file, or a benchmark in a result file, cannot be imported."""

    def __init__(self, file: str, reason: str, place: str = "") -> None:
        self.file, self.place, self.reason = file, place, reason
        super().__init__(f"{file}: {place + ': ' if place else ''}{reason}")


class NotAllowed(LabelerError):
    """The action is not allowed in this state of the study, or for this role."""


class SignInFailed(NotAllowed):
    """The sign-in link is unknown, expired or revoked."""


class UnknownLink(SignInFailed):
    """The study has no such sign-in link, or it is a link for all that cannot be used now."""

    def __init__(self) -> None:
        super().__init__(
            "This sign-in link is not valid. Open the link exactly as you received it, or ask your coordinator for a "
            "new one."
        )


class NotAssigned(LabelerError):
    """The reviewer answered or opened an item that the reviewer cannot label now."""


class AnswerRefused(LabelerError):
    """An answer cannot be stored, because it was too fast, came too late or is invalid."""


def for_anyone(error: LabelerError) -> str:
    """Return the message of an error without the path of the study, for people who must not see the path.

    Examples
    --------
    >>> for_anyone(StudyBusy("/srv/labels/cache.study is busy: another process has been writing for 5 s. Try again."))
    'The study is busy at the moment. Try again.'
    >>> for_anyone(NotAssigned("Item K7 is not yours to label now. Reload to go on."))
    'Item K7 is not yours to label now. Reload to go on.'
    """
    return error.outside if isinstance(error, StudyError) else str(error)


def sentence(error: Exception) -> str:
    """Return the text of an error as a sentence, with a capital letter and a full stop; names do not change.

    Examples
    --------
    >>> sentence(ValueError("there is no application 'Apache/Kafka'"))
    "There is no application 'Apache/Kafka'."
    """
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
