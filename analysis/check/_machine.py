"""Compare the machines on which two sets of runs were measured, as far as the files name them."""

from collections.abc import Mapping, Sequence

from analysis.benchmark import RECORDED, Run

CPU, RUNTIME, BUILD = ALLOWED = ("cpu", "runtime", "build")  # "cpu" includes the architecture and GOMAXPROCS
# What decides whether machines differ -> the conditions that name it; the first known condition counts.
PARTS: Mapping[str, tuple[str, ...]] = {
    "CPU": (f"{RECORDED}cpu", f"{RECORDED}processor"),
    "architecture": (f"{RECORDED}architecture",),
    "build": (f"{RECORDED}build",),
    "runtime": (f"{RECORDED}runtime",),
    "GOMAXPROCS": ("GOMAXPROCS",),
}
NAMED_ONLY: Mapping[str, tuple[str, ...]] = {
    "host": (f"{RECORDED}host", f"{RECORDED}machine"), "clock rate": (f"{RECORDED}clock",),
}  # fmt: skip
KIND = {"CPU": CPU, "architecture": CPU, "build": BUILD, "runtime": RUNTIME, "GOMAXPROCS": CPU}

Machine = tuple[str, ...]  # one text for each of `PARTS`, "" if unknown


def machine_of(run: Run) -> Machine:
    """Return what the file says about the machine of a run."""
    if not run.conditions:
        return ("",) * len(PARTS)
    return tuple(_first(run, names) for names in PARTS.values())


def _first(run: Run, names: Sequence[str]) -> str:
    return next((run.conditions[name] for name in names if run.conditions.get(name)), "")


def label(machine: Machine, others: Sequence[Machine]) -> str:
    """Name a machine by the parts in which it differs from other machines."""
    parts = [text or "unknown" for text, *rest in zip(machine, *others, strict=True) if len({text, *rest}) > 1]
    return ", ".join(parts)


def differences(old: Machine, new: Machine, allowed: Sequence[str] = ()) -> dict[str, tuple[str, str]]:
    """Return the parts in which two machines differ, except allowed ones; an unknown part does not count."""
    return {
        part: (before, after)
        for part, before, after in zip(PARTS, old, new, strict=True)
        if before and after and before != after and KIND[part] not in allowed
    }


def named_only(old: Sequence[Run], new: Sequence[Run]) -> dict[str, tuple[str, str]]:
    """Return differences that are named but do not decide anything, such as another host name."""
    found = {}
    for part, names in NAMED_ONLY.items():
        sides = [sorted({_first(run, names) for run in runs} - {""}) for runs in (old, new)]
        if all(sides) and sides[0] != sides[1]:
            found[part] = (", ".join(sides[0][:3]), ", ".join(sides[1][:3]))
    return found


def describe(found: Mapping[str, tuple[str, str]]) -> str:
    """Describe differences in words, such as "CPU: A, then B"."""
    return "; ".join(f"{part}: {old} for the baseline, {new} for the candidate" for part, (old, new) in found.items())
