"""When this process first sent each picture, so that the time that a browser claims for an answer can be checked."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from labeler.studies.screen.timing import SINCE_SENT

MAX_REVIEWERS = 2000  # those who were not seen for longest are forgotten, and met again at their next request
Reviewer = tuple[Path, int]  # the file of the study, and the id of the person


@dataclass
class SentPictures:
    """The pictures that were sent, by reviewer and code; safe to use in several threads.

    A browser may have pictures that an earlier process sent. Therefore, nothing is known about the items that a
    reviewer could open when this process met the reviewer, until the browser asks for their pictures.
    """

    clock: Callable[[], float] = time.monotonic  # seconds; nobody can set this clock
    sent: OrderedDict[Reviewer, dict[str, float | None]] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def has_met(self, reviewer: Reviewer) -> bool:
        """Return whether `meet` was called for this reviewer."""
        return reviewer in self.sent

    def meet(self, reviewer: Reviewer, codes: Iterable[str]) -> None:
        """Note, at the first request of a reviewer, the codes of the items that the reviewer can open."""
        with self.lock:
            self.sent.setdefault(reviewer, dict.fromkeys(codes))
            while len(self.sent) > MAX_REVIEWERS:
                self.sent.popitem(last=False)

    def note(self, reviewer: Reviewer, codes: Iterable[str], *, asked: bool) -> None:
        """Note that pictures are sent now; only the first time counts.

        `asked`: the browser asked for these pictures, so it does not have them from an earlier process.
        """
        with self.lock:
            if reviewer in self.sent:
                self.sent.move_to_end(reviewer)
                known = self.sent[reviewer]
                for code in codes:
                    if code not in known or (asked and known[code] is None):
                        known[code] = self.clock()

    def facts(self, reviewer: Reviewer, code: str) -> dict[str, int | None]:
        """Return what to store with an answer to an item."""
        with self.lock:
            of_reviewer = self.sent.get(reviewer, {code: None})
            if code not in of_reviewer:
                return {SINCE_SENT: None}
            at = of_reviewer[code]
            return {} if at is None else {SINCE_SENT: round((self.clock() - at) * 1000)}


PICTURES = SentPictures()  # of this process
