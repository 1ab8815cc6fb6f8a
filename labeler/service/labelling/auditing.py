"""Check that nobody has altered the data of a study.

The audit checks the hash chain of the study, and can compare the chain with an earlier report, backup or receipt.
"""

import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler.errors import InputError, NotAllowed, NotAStudy
from labeler.model import counted
from labeler.service.labelling import log_replay
from labeler.service.plan import verifying
from labeler.service.study import calibrating, coordinating
from labeler.store import Database, chain, copies, damage, labels, schema_differences, studies
from labeler.store.chain import Fault

N_TOLD = 20  # maximum number of faults in the text; the JSON has all faults
_RECEIPT = "labeler receipt"  # as earlier versions wrote them, with unsealed hashes
_SEALED_RECEIPT = "labeler receipt 2"
_HEAD = re.compile(r"0-|([0-9]{1,18})-([0-9a-f]{64})")


@dataclass(frozen=True)
class Audit:
    """The result of an audit of the hash chain."""

    head: str  # the current end of the chain: the number of links and the last hash
    # Number of rows that are older than the chain. An audit cannot detect changes to these rows from before the
    # chain began.
    n_before: int
    faults: tuple[Fault, ...]
    against: str | None = None  # the file or the end of a chain that the study was compared with

    def describe(self) -> list[str]:
        """Return the result as lines of text: the summary, the faults, and what the audit cannot detect."""
        more = len(self.faults) - N_TOLD
        return [
            f"{counted(len(self.faults), 'fault')} found." if self.faults else "No fault found.",
            *(f"{fault.part} {fault.row_id}: {fault.what}." for fault in self.faults[:N_TOLD]),
            *([f"{counted(more, 'more fault')} not shown. To list all faults, add --json."] if more > 0 else []),
            *([f"The study was compared with {self.against}."] if self.against else []),
            *([f"Rows older than the hash chain: {self.n_before}. Earlier changes to these rows cannot be detected."]
              if self.n_before else []),
            f"Chain: {self.head}",
        ]  # fmt: skip


def head(db: Database) -> str:
    """Return the end of the chain as text: the number of links and the last hash. Store it outside the study."""
    return str(chain.head(db))


def audit(db: Database, against: str | Path | None = None) -> Audit:
    """Check each row of the study against its link in the chain, and each link against the previous link.

    `against` is an earlier state of the chain: its end as a backup or report printed it (for example "145-84d7..."), a
    report (report.json), a backup of the study, or a reviewer's receipt. Raises InputError if `against` is none of
    these.
    """
    changed = schema_differences(db)
    if changed:  # reading such tables could give anything, or never end
        found = [Fault("schema", 0, difference) for difference in changed]
        return Audit("unknown", 0, tuple(found), None if against is None else str(against))
    damaged = [Fault("file", 0, what) for what in damage(db)]
    try:
        faults = [
            *damaged,
            *chain.faults(db),
            *_differences_from_log(db),
            *(_against(db, against) if against is not None else ()),
        ]
        return Audit(head(db), chain.n_before(db), tuple(faults), None if against is None else str(against))
    except NotAStudy:
        if not damaged:
            raise
        return Audit("unknown", 0, tuple(damaged), None if against is None else str(against))


def _differences_from_log(db: Database) -> list[Fault]:
    """Return the differences between the log and what follows from it, which includes the plan and its changes."""
    try:
        reference = calibrating.seal_of_reference(db) if calibrating.reference(db) else None
        found = list(log_replay.faults(db, coordinating.logged_secrets(db), reference))
        found += [Fault("plan", 0, problem) for problem in verifying.verify_plan(db).problems]
    except NotAllowed:  # no plan, or a copy without the seed
        return found
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return [Fault("event", 0, f"the log or a table cannot be read: {error!r}")]
    return found


def receipt(
    db: Database,
    person_id: int,
    *,
    now: datetime,
    as_shown: Callable[[str, str], str] = lambda _code, answer: answer,
) -> str:
    """Return a reviewer's labels as JSON, with a sealed hash for each label and for the chain up to the last label.

    `audit` can later check whether the study still has these labels. Only the study file can check a seal, so a receipt
    says nothing of the items, or of what other people did. `as_shown` turns the code of an item and the stored answer
    into the answer that the reviewer gave, which differs if the picture had its sides swapped.
    """
    rows, seal = labels.links_of(db, person_id), _seal_of(db)
    entries = [
        {"code": code, "label": as_shown(code, answer), "created_utc": at, "digest": seal(digest)}
        for code, answer, at, digest, _ in rows
    ]
    end = seal(rows[-1][-1]) if rows else ""
    return json.dumps({"what": _SEALED_RECEIPT, "made_utc": now.isoformat(), "labels": entries, "chain": end}, indent=1)


def _seal_of(db: Database) -> Callable[[str], str]:
    """Return the function that seals hashes in receipts with a secret of the study."""
    secret = f"receipt {studies.picture_secret(db)}".encode()
    return lambda digest: hmac.digest(secret, digest.encode(), "sha256").hex()


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
    if isinstance(content, dict) and content.get("what") in (_RECEIPT, _SEALED_RECEIPT):
        return _from_receipt(db, content, file)
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


def _from_receipt(db: Database, content: Mapping[str, Any], file: Path) -> list[Fault]:
    digests, heads = chain.digests_of(db, "answer"), chain.all_heads(db)
    if content["what"] == _SEALED_RECEIPT:
        seal = _seal_of(db)
        digests, heads = set(map(seal, digests)), {"", *map(seal, heads)}
    try:
        entries = [(str(entry["code"]), str(entry["digest"])) for entry in content["labels"]]
    except (KeyError, TypeError):
        raise InputError(f"{file}: the receipt has no labels. Give the file exactly as it was downloaded.") from None
    what = "the end of the chain in the receipt is missing: the study was rolled back, or the chain was rebuilt"
    known = content.get("chain", "") in heads
    return [
        *([] if known else [Fault("chain", chain.head(db).n_links, what)]),
        *(
            Fault("answer", number, f"the answer to item {code} in the receipt is missing or changed in the study")
            for number, (code, digest) in enumerate(entries, start=1)
            if digest not in digests
        ),
    ]
