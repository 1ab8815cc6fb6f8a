"""Which of their own labels reviewers can ask for, and how far they are in words."""

from collections.abc import Callable

from labeler.service.reviewing import OwnLabel, OwnProgress

FILTERS: dict[str, Callable[[OwnLabel], bool]] = {
    "all": lambda _own: True,
    "similar": lambda own: own.task.answer == "similar",
    "dissimilar": lambda own: own.task.answer == "dissimilar",
    "not sure": lambda own: own.task.answer == "not sure",
    "flagged": lambda own: own.flag,
    "with a comment": lambda own: bool(own.comment),
    "answered by the coordinator": lambda own: bool(own.replies),
    "revised": lambda own: own.n_revisions > 0,
}


def seconds(time_s: float) -> str:
    """A time on task in words: to a tenth below ten seconds."""
    return f"{time_s:.1f} s" if time_s < 10 else f"{time_s:.0f} s"


def pace(progress: OwnProgress, typical_s: float | None) -> str:
    """How far and how fast, in words."""
    words = f"{progress.n_done} of {progress.n_assigned} done, {progress.n_not_sure} not sure."
    n_left = progress.n_assigned - progress.n_done
    if typical_s is None:
        return words
    left = f" At this pace about {max(round(n_left * typical_s / 60), 1)} min are left." if n_left else ""
    return f"{words} You look at an item for {seconds(typical_s)} (median; pauses do not count).{left}"
