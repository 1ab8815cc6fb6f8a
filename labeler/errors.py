"""The errors that people see.

    LabelerError
    ├── StudyError          the study file itself
    │   ├── NoStudy         the file does not exist, or none was given
    │   ├── NotAStudy       the file is something else, or damaged
    │   ├── NewerStudy      created by a newer version
    │   ├── StudyBusy       another process is writing
    │   └── StudyReadOnly   it cannot be written to, or the disk is full
    ├── InputError          an invalid file, option or text
    │   └── Refused         a result file that was not imported, with the place and the reason
    ├── NotAllowed          not allowed in this state of the study, or for this role
    │   └── SignInFailed    an unknown, expired or revoked link
    ├── NotAssigned         an answer to an item that is not offered to this reviewer
    └── AnswerRefused       an answer that was too fast, or came after another answer

The message is a sentence for people: what happened, where, and what to do. Pages and commands show only this
message. Messages about the study file name its path, which only coordinators may see: `for_anyone` hides it.
"""

from typing import ClassVar


class LabelerError(Exception):
    """Base of all errors whose message is meant for people."""


class StudyError(LabelerError):
    """The study file has a problem."""

    outside: ClassVar[str] = "The study cannot be opened at the moment. Tell your coordinator."


class NoStudy(StudyError):
    """No study was given, or the path has no study."""

    outside = "The study file is missing at the moment. Tell your coordinator."


class NotAStudy(StudyError):
    """The file is not a study, or is damaged."""

    outside = "The study cannot be read: its file is damaged. Tell your coordinator."


class NewerStudy(StudyError):
    """The file was written by a newer version."""

    outside = "The study needs a newer version of this server. Tell your coordinator."


class StudyBusy(StudyError):
    """Another process is writing to the study."""

    outside = "The study is busy at the moment. Try again."


class StudyReadOnly(StudyError):
    """The file cannot be written."""

    outside = "The study cannot be written to at the moment. Tell your coordinator."


class InputError(LabelerError):
    """An invalid option, file or text."""


class Refused(InputError):
    """A result file, or a benchmark in it, that is not imported."""

    def __init__(self, file: str, reason: str, place: str = "") -> None:
        self.file, self.place, self.reason = file, place, reason
        super().__init__(f"{file}: {place + ': ' if place else ''}{reason}")


class NotAllowed(LabelerError):
    """The action is not allowed in this state of the study, or for this role."""


class SignInFailed(NotAllowed):
    """The sign-in link is unknown, expired or revoked."""


class NotAssigned(LabelerError):
    """The item is not offered to this reviewer."""


class AnswerRefused(LabelerError):
    """The answer cannot be stored."""


def for_anyone(error: LabelerError) -> str:
    """Return the message for people who must not see the path of the study on the server.

    Examples
    --------
    >>> for_anyone(StudyBusy("/srv/labels/cache.study is busy: another process has been writing for 5 s. Try again."))
    'The study is busy at the moment. Try again.'
    >>> for_anyone(NotAssigned("Item K7 is not yours to label now. Reload to go on."))
    'Item K7 is not yours to label now. Reload to go on.'
    """
    return error.outside if isinstance(error, StudyError) else str(error)


def sentence(error: Exception) -> str:
    """Return the text of an error as a sentence, with unchanged names.

    Examples
    --------
    >>> sentence(ValueError("there is no application 'Apache/Kafka'"))
    "There is no application 'Apache/Kafka'."
    """
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
