"""Check that nobody has altered the data of a study.

The audit checks the hash chain of the study, and can compare the chain with an earlier report, backup or receipt. The
chain protects the log; what the log says is compared with the other tables. A table that the chain does not cover can
be changed in the file, but not without a difference to the log.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from analysis.text import counted
from labeler.errors import InputError, NotAllowed, NotAStudy
from labeler.studies.audit import derived, receipts
from labeler.studies.preparing import verifying
from labeler.studies.store import Database, chain, copies, damage, schema_differences
from labeler.studies.store.chain import Fault

N_TOLD = 20  # maximum number of faults in the text; the JSON has all faults
_HEAD = re.compile(r"0-|([0-9]{1,18})-([0-9a-f]{64})")


@dataclass(frozen=True)
class Audit:
    """The result of an audit of the hash chain."""

    head: str  # the current end of the chain: the number of links and the last hash
    faults: tuple[Fault, ...]
    against: str | None = None  # the file or the end of a chain that the study was compared with
    verdicts: str | None = None  # what was done with the verdicts; None if they were not computed again

    def describe(self) -> list[str]:
        """Return the result as lines of text: the summary, the faults, and the end of the chain."""
        more = len(self.faults) - N_TOLD
        return [
            f"{counted(len(self.faults), 'fault')} found." if self.faults else "No fault found.",
            *(f"{fault.part} {fault.row_id}: {fault.what}." for fault in self.faults[:N_TOLD]),
            *([f"{counted(more, 'more fault')} not shown. To list all faults, add --json."] if more > 0 else []),
            *([f"The study was compared with {self.against}."] if self.against else []),
            *([self.verdicts] if self.verdicts else []),
            f"Chain: {self.head}",
        ]  # fmt: skip


def head(db: Database) -> str:
    """Return the end of the chain as text: the number of links and the last hash. Store it outside the study."""
    return str(chain.head(db))


def audit(db: Database, against: str | Path | None = None, *, verdicts: bool = False) -> Audit:
    """Check each row of the study against its link in the chain, and each link against the previous link.

    What the log says is compared with the tables. With `verdicts`, the verdicts are also computed again.

    `against` is an earlier state of the chain: its end as a backup or report printed it (for example "145-84d7..."), a
    report (report.json), a backup of the study, or a reviewer's receipt. Raises InputError if `against` is none of
    these.
    """
    changed = schema_differences(db)
    if changed:  # reading such tables could give anything, or never end
        found = [Fault("schema", 0, difference) for difference in changed]
        return Audit("unknown", tuple(found), None if against is None else str(against))
    damaged = [Fault("file", 0, what) for what in damage(db)]
    try:
        faults = [
            *damaged,
            *chain.faults(db),
            *_differences_from_log(db),
            *(_against(db, against) if against is not None else ()),
        ]
        found, remark = _recomputed(db) if verdicts else ([], None)
        return Audit(head(db), (*faults, *found), None if against is None else str(against), remark)
    except NotAStudy:
        if not damaged:
            raise
        return Audit("unknown", tuple(damaged), None if against is None else str(against))


def _recomputed(db: Database) -> tuple[list[Fault], str]:
    """Compute the verdicts again; return each that differs, and how many were computed."""
    from labeler.studies.verdicts import computing  # imported here because it takes long, and few audits need it

    done = computing.recompute_verdicts(db)
    remark = f"{counted(done.n_computed, 'verdict')} computed again."
    if done.n_others:
        remark += (
            f" {counted(done.n_others, 'other verdict')} cannot be computed here: from a file, a learned model, or "
            "another package or version."
        )
    return [Fault("verdict", verdict_id, what) for verdict_id, what in done.differences], remark


def _differences_from_log(db: Database) -> list[Fault]:
    """Return the differences between the log and what follows from it, which includes the plan and its changes."""
    found: list[Fault] = []
    try:
        for fault in derived.faults(db):
            found.append(fault)  # noqa: PERF402 - those before an error count
        found += [Fault("plan", 0, problem) for problem in verifying.verify_plan(db).problems]
    except NotAllowed:  # no plan, or a copy without the seed
        pass
    except NotAStudy as error:
        found.append(Fault("study", 0, str(error)))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        found.append(Fault("event", 0, f"the log or a table cannot be read: {error!r}"))
    return found


def _against(db: Database, earlier: str | Path) -> list[Fault]:
    if _HEAD.fullmatch(str(earlier)):
        return _from_head(db, str(earlier))
    file = Path(earlier)
    try:
        if file.exists() and not file.is_file():
            raise InputError(f"{file} is not a file.")
        is_study = file.read_bytes()[:16] == b"SQLite format 3\0"
        content = None if is_study else json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        content = {}
    if content is None:
        with copies.read_only(file) as backup:
            return _from_head(db, str(chain.head(backup)))
    if receipts.is_receipt(content):
        return receipts.faults(db, content, file)
    study = content.get("study") if isinstance(content, dict) else None
    printed = study.get("chain") if isinstance(study, dict) else None
    if not isinstance(printed, str) or not _HEAD.fullmatch(printed):
        raise InputError(
            f"{file} cannot be compared with the study. Give --against the printed end of a chain, a report with a "
            "chain, a backup or a receipt."
        )
    return _from_head(db, printed)


def _from_head(db: Database, printed: str) -> list[Fault]:
    number, _, digest = printed.partition("-")
    n_links = int(number)
    now = "" if n_links == 0 else chain.digest_at(db, n_links)
    if now == digest:
        return []
    if now is None:
        return [Fault("chain", n_links, f"the study was rolled back: its chain ends at link {chain.head(db).n_links}")]
    return [Fault("chain", n_links, "the chain was rebuilt: this link had another hash before")]
