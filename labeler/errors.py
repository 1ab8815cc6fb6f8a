"""The errors that people see, in words.

    LabelerError
    ├── StudyError          the study file itself
    │   ├── NoStudy         there is no such file, or none was named
    │   ├── NotAStudy       the file is something else, or damaged
    │   ├── NewerStudy      made by a later version
    │   ├── StudyBusy       another process holds the write lock
    │   └── StudyReadOnly   it cannot be written to, or the disk is full
    ├── InputError          a file, option or text that cannot be used
    │   └── Refused         a result file that was not imported, with the place and the reason
    ├── NotAllowed          not in this state of the study, or not in this role
    │   └── SignInFailed    an unknown, expired or revoked link
    ├── NotAssigned         an answer to an item that is not on offer to this reviewer
    └── AnswerRefused       an answer that came too fast, or after another one

The message is a sentence for the person: what happened, where, and what to do. Pages and commands show only this
message. Messages about the study file name its path, which only coordinators may see: `for_anyone` hides it.
"""

from typing import ClassVar


class LabelerError(Exception):
    """Base of all errors whose message is meant for people."""


class StudyError(LabelerError):
    """Something is wrong with the study file."""

    outside: ClassVar[str] = "The study cannot be opened at the moment. Tell your coordinator."


class NoStudy(StudyError):
    """No study was named, or there is none at this path."""

    outside = "The study is not in its place at the moment. Tell your coordinator."


class NotAStudy(StudyError):
    """The file is no study."""

    outside = "The study cannot be read: its file is damaged. Tell your coordinator."


class NewerStudy(StudyError):
    """The file was written by a later version."""

    outside = "The study belongs to a newer version than this server. Tell your coordinator."


class StudyBusy(StudyError):
    """Another process is writing."""

    outside = "The study is busy at the moment: somebody else is writing. Try again."


class StudyReadOnly(StudyError):
    """The file cannot be written."""

    outside = "The study cannot be written to at the moment. Tell your coordinator."


class InputError(LabelerError):
    """An option, a file or a text that cannot be used."""


class Refused(InputError):
    """A result file, or one benchmark in it, that is not imported."""

    def __init__(self, file: str, reason: str, place: str = "") -> None:
        self.file, self.place, self.reason = file, place, reason
        super().__init__(f"{file}: {place + ': ' if place else ''}{reason}")


class NotAllowed(LabelerError):
    """Not allowed in this state of the study, or with this role."""


class SignInFailed(NotAllowed):
    """The sign-in link is unknown, expired or revoked."""


class NotAssigned(LabelerError):
    """The item is not on offer to this reviewer."""


class AnswerRefused(LabelerError):
    """The answer cannot be stored."""


def for_anyone(error: LabelerError) -> str:
    """The message for people who must not learn the study's path on the server.

    Examples
    --------
    >>> for_anyone(StudyBusy("/srv/labels/cache.study is busy: another process has been writing for 5 s. Try again."))
    'The study is busy at the moment: somebody else is writing. Try again.'
    >>> for_anyone(NotAssigned("Item K7 is not yours to label now. Reload to go on."))
    'Item K7 is not yours to label now. Reload to go on.'
    """
    return error.outside if isinstance(error, StudyError) else str(error)


def sentence(error: Exception) -> str:
    """The text of an error as a sentence; names in it keep their spelling.

    Examples
    --------
    >>> sentence(ValueError("there is no application 'Apache/Kafka'"))
    "There is no application 'Apache/Kafka'."
    """
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
