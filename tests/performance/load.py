"""Many reviewers at once, one label a second each: how long until a label is acknowledged, and what it takes.

    python -m tests.performance.load [--levels 1 4 16 64] [--labels 30] [--json FILE]

The server is `labeler serve` in its own process; the reviewers share this one, on the same machine (wire.py). Measured
from the moment a label is due, so that a label that has to wait for the one before it counts its waiting, too. After
each level the study must hold every acknowledged label exactly once.
"""

import argparse
import asyncio
import json
import random
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labeler.store import labels, open_database
from tests.browser.conftest import Served
from tests.performance.measuring import busy_s, cpu_s, machine, memory_mb, percentiles, print_table
from tests.performance.rig import make_study, serving
from tests.performance.wire import Refused, Visit

INTERVAL_S = 1.0
GOAL = "16 reviewers: p95 <= 100 ms"


@dataclass
class Outcome:
    """What the reviewers of one level saw."""

    ms: list[float] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 4, 16, 64], help="reviewers at once")
    parser.add_argument("--labels", type=int, default=30, help="a reviewer")
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    print(f"Machine: {machine()}", flush=True)
    rows = [level(n, arguments.labels) for n in arguments.levels]
    print_table(f"Labels acknowledged, one a second from every reviewer; times in ms (goal: {GOAL})", rows)
    if arguments.json:
        result = {"machine": machine(), "goal": GOAL, "rows": rows}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def level(n_reviewers: int, n_labels: int) -> dict[str, Any]:
    """One level on a new study and a new server."""
    with tempfile.TemporaryDirectory() as folder:
        made = make_study(Path(folder) / "load.study", n_reviewers)
        n_labels = min(n_labels, made.n_items)
        with serving(made) as served:
            outcome, use = asyncio.run(at_work(served, list(made.secrets)[:n_reviewers], n_labels))
        kept = kept_once(made.study, outcome.event_ids)
    p50, p95, p99 = percentiles(outcome.ms, 50, 95, 99)
    return {
        "reviewers": n_reviewers, "labels": len(outcome.ms), "p50": p50, "p95": p95, "p99": p99,
        "errors": ", ".join(f"{n} {what}" for what, n in outcome.errors.items()) or "none", "kept once": kept, **use,
    }  # fmt: skip


async def at_work(served: Served, names: list[str], n_labels: int) -> tuple[Outcome, dict[str, float]]:
    """All reviewers label at once; what they saw, and what it took of the machine."""
    outcome, pid = Outcome(), served.process.pid
    first = await Visit.open(served.url, served.secrets[names[0]])
    memory_of_one = memory_mb(pid)
    visits = [first] + [await Visit.open(served.url, served.secrets[name]) for name in names[1:]]
    before = cpu_s(pid), cpu_s("self"), busy_s(), time.perf_counter()
    begin, phases = time.perf_counter() + 0.2, random.Random(1)
    await asyncio.gather(*(reviewer(visit, begin, phases.random(), n_labels, outcome) for visit in visits))
    after = cpu_s(pid), cpu_s("self"), busy_s(), time.perf_counter()
    server, client, machine_s, wall = (later - earlier for earlier, later in zip(before, after, strict=True))
    memory = memory_mb(pid)
    for visit in visits:
        await visit.close()
    return outcome, {
        "labels a second": len(outcome.ms) / wall,
        "server cores": server / wall,
        "reviewers' cores": client / wall,
        "others' cores": (machine_s - server - client) / wall,
        "server MB": memory,
        "MB a further session": (memory - memory_of_one) / (len(names) - 1) if len(names) > 1 else 0.0,
    }


async def reviewer(visit: Visit, begin: float, phase: float, n_labels: int, outcome: Outcome) -> None:
    """One label a second, beginning at a phase of their own."""
    due = begin + phase * INTERVAL_S
    for number in range(n_labels):
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        waited = max(0.0, time.perf_counter() - due)
        try:
            event_id, taken = await visit.label(("similar", "dissimilar")[number % 2])
            outcome.ms.append(1e3 * (waited + taken))
            outcome.event_ids.append(event_id)
        except Refused as error:
            outcome.errors[re.sub(r"\S*/", "", str(error))] += 1  # without the folder of the study
        except Exception as error:  # noqa: BLE001 - counted
            outcome.errors[type(error).__name__] += 1
            return
        await visit.finish()
        due += INTERVAL_S


def kept_once(study: Path, event_ids: list[str]) -> str:
    """Whether the study holds exactly what was acknowledged, each label once."""
    with open_database(study) as db:
        kept = Counter(labels.table(db)["event_id"])
    acknowledged = Counter(event_ids)
    if kept == acknowledged:
        return "yes"
    return f"no: {(acknowledged - kept).total()} missing, {(kept - acknowledged).total()} not acknowledged"


if __name__ == "__main__":
    main()
