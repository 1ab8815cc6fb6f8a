"""Give reviewers receipts of their labels, and compare a receipt with the study.

Only the study file can check a receipt, because the hashes in it are sealed with a secret of the study.
"""

import hmac
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from labeler.errors import InputError
from labeler.studies.store import Database, chain, labels, studies
from labeler.studies.store.chain import Fault

_FORM = {"what": "labeler receipt", "format": 1}


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
    return json.dumps({**_FORM, "made_utc": now.isoformat(), "labels": entries, "chain": end}, indent=1)


def _seal_of(db: Database) -> Callable[[str], str]:
    """Return the function that seals hashes in receipts with a secret of the study."""
    secret = f"receipt {studies.picture_secret(db)}".encode()
    return lambda digest: hmac.digest(secret, digest.encode(), "sha256").hex()


def is_receipt(content: object) -> bool:
    """Return whether the content of a JSON file is a receipt."""
    return isinstance(content, dict) and {name: content.get(name) for name in _FORM} == _FORM


def faults(db: Database, content: Mapping[str, Any], file: Path) -> list[Fault]:
    """Return each label of a receipt that the study no longer has, and whether its chain was longer then.

    Raises InputError if the receipt is incomplete.
    """
    seal = _seal_of(db)
    digests, heads = set(map(seal, chain.digests_of(db, "answer"))), {"", *map(seal, chain.all_heads(db))}
    try:
        end = content["chain"]
        entries = [(str(entry["code"]), str(entry["digest"])) for entry in content["labels"]]
    except (KeyError, TypeError):
        raise InputError(f"{file}: the receipt is incomplete. Give the file exactly as it was downloaded.") from None
    what = "the end of the chain in the receipt is missing: the study was rolled back, or the chain was rebuilt"
    return [
        *([] if end in heads else [Fault("chain", chain.head(db).n_links, what)]),
        *(
            Fault("answer", number, f"the answer to item {code} in the receipt is missing or changed in the study")
            for number, (code, digest) in enumerate(entries, start=1)
            if digest not in digests
        ),
    ]
