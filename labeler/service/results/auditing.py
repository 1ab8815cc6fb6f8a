"""Check that nobody has altered the data of a study.

The audit checks the hash chain of the study, and can compare the chain with an earlier report, backup or receipt.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler.errors import InputError
from labeler.model import counted
from labeler.store import Database, chain, copies, labels, studies
from labeler.store.chain import Fault

N_TOLD = 20  # maximum number of faults in the text; the JSON has all faults
_RECEIPT = "labeler receipt"
_HEAD = re.compile(r"0-|([0-9]{1,18})-([0-9a-f]{64})")


@dataclass(frozen=True)
class Audit:
    """The result of an audit of the hash chain.

    Attributes
    ----------
    head : str
        The current end of the chain: the number of links and the last hash.
    n_before : int
        Number of rows that are older than the chain. An audit cannot detect changes to these rows from before the
        chain began.
    faults : tuple of Fault
    against : str or None
        The file or the end of a chain that the study was compared with.
    """

    head: str
    n_before: int
    faults: tuple[Fault, ...]
    against: str | None = None

    def in_words(self) -> list[str]:
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

    Parameters
    ----------
    db : Database
    against : str or Path, optional
        An earlier state of the chain to compare with: the end of the chain as a backup or report printed it (for
        example "145-84d7..."), or a report (report.json), a backup of the study, or a reviewer's receipt.

    Raises
    ------
    InputError
        If `against` is none of these.
    """
    faults = [*chain.faults(db), *(_against(db, against) if against is not None else ())]
    return Audit(head(db), chain.n_before(db), tuple(faults), None if against is None else str(against))


def receipt(db: Database, person_id: int, *, now: datetime) -> str:
    """Return a reviewer's labels as JSON, with a hash for each label.

    `audit` can later check whether the study still has these labels.
    """
    rows = labels.links_of(db, person_id)
    entries = [
        {"code": code, "label": answer, "created_utc": at, "digest": digest} for code, answer, at, digest in rows
    ]
    content = {"what": _RECEIPT, "study": studies.get(db).name, "made_utc": now.isoformat(), "labels": entries}
    return json.dumps({**content, "chain": chain.head(db).digest}, indent=1)


def _against(db: Database, earlier: str | Path) -> list[Fault]:
    if _HEAD.fullmatch(str(earlier)):
        return _from_head(db, str(earlier))
    file = Path(earlier)
    try:
        is_study = file.read_bytes()[:16] == b"SQLite format 3\0"
        content = None if is_study else json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        content = {}
    if content is None:
        with copies.read_only(file) as backup:
            return _from_head(db, str(chain.head(backup)))
    if isinstance(content, dict) and content.get("what") == _RECEIPT:
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
    digests = chain.digests_of(db, "answer")
    try:
        entries = [(str(entry["code"]), str(entry["digest"])) for entry in content["labels"]]
    except (KeyError, TypeError):
        raise InputError(f"{file}: the receipt has no labels. Give the file exactly as it was downloaded.") from None
    what = "the end of the chain in the receipt is missing: the study was rolled back, or the chain was rebuilt"
    known = chain.contains(db, str(content.get("chain", "")))
    return [
        *([] if known else [Fault("chain", chain.head(db).n_links, what)]),
        *(
            Fault("answer", number, f"the answer to item {code} in the receipt is missing or changed in the study")
            for number, (code, digest) in enumerate(entries, start=1)
            if digest not in digests
        ),
    ]
