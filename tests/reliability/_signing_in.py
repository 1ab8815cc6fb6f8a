"""Links that no longer work, wrong secrets, forms of other sites, and the timing of refusals."""

import secrets
import time
from collections.abc import Iterator
from urllib.parse import urlencode

import numpy as np

from labeler.ui import limits
from labeler.ui.sign_in import MAX_FORM_BYTES
from tests.reliability._asking import Reply, ask
from tests.reliability._ground import COORDINATOR, OWN, Ground, session_of
from tests.reliability._tally import Tally
from tests.reliability.outcome import Case

FORM = "application/x-www-form-urlencoded"
IMAGE = {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site"}
ALPHA, N_PERMUTATIONS = 0.001, 4999  # a server that reveals nothing fails once in a thousand runs
FOREIGN_ORIGINS = (
    "http://evil.test",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "https://127.0.0.1",
    "x",
    "http://[",
)


def cases(ground: Ground, *, quick: bool) -> Iterator[Case]:
    """All attempts to sign in."""
    yield ended_links(ground)
    yield rate_limit(ground)
    yield posted_forms(ground)
    if not quick:  # chance decides it once in a thousand runs
        yield time_of_refusals(ground, n=400)


def paste(ground: Ground, text: str, *, source: str, origin: str | None = "", **more: str) -> Reply:
    """Send the form of the sign-in page."""
    headers = {"Content-Type": FORM, "Origin": ground.url if origin == "" else origin, **more}
    return ask(ground.url, "POST", "/sign-in", headers=headers, body=urlencode({"link": text}).encode(), source=source)


def ended_links(ground: Ground) -> Case:
    """Revoked, replaced and expired links state the reason and give no access."""
    tally = Tally("ended links", "attempts")
    words = {"revoked": b"was revoked on", "expired": b"expired on", "replaced": b"was replaced by a newer link"}
    for how, secret in ground.ended.items():
        for answer in (
            ask(ground.url, "GET", f"/join/{secret}", source="127.0.1.3"),
            paste(ground, secret, source="127.0.1.3"),
        ):
            refused = answer.status == 403 and not session_of(answer) and words[how] in answer.body
            tally.check(refused and not ground.leaks(answer.raw), f"{how}: {answer.status}")
    return tally.case()


def rate_limit(ground: Ground) -> Case:
    """After ten wrong secrets, every attempt from the address is refused; other addresses and open sessions work."""
    tally, source = Tally("wrong secrets: rate limit", "attempts"), "127.0.1.4"
    cookie = ground.sign_in(OWN, source=source)
    for number in range(limits.N_WRONG):
        wrong = _noted(ground, secrets.token_urlsafe(24))
        answer = (
            ask(ground.url, "GET", f"/join/{wrong}", source=source)
            if number % 2
            else paste(ground, wrong, source=source)
        )
        tally.check(answer.status == 403, f"wrong secret {number}: {answer.status}")
    forged = {"X-Forwarded-For": "198.51.100.9", "X-Real-IP": "198.51.100.9", "Forwarded": "for=198.51.100.9"}
    right = f"/join/{ground.secrets[OWN]}"
    tries = {
        "a wrong one": ask(ground.url, "GET", "/join/wrong", source=source),
        "a right one": ask(ground.url, "GET", right, source=source),
        "a pasted right one": paste(ground, ground.secrets[OWN], source=source),
        "a right one through a made-up proxy": ask(ground.url, "GET", right, headers=forged, source=source),
    }
    for what, answer in tries.items():
        waits = answer.status == 429 and 0 < int(answer.header("retry-after") or 0) <= limits.WITHIN_S
        tally.check(waits and not session_of(answer), f"{what}: {answer.status}")
    for what, more in {"the head only": ("HEAD", {}), "an image": ("GET", IMAGE)}.items():
        answer = ask(ground.url, more[0], right, headers=more[1], source="127.0.1.5")
        tally.check(answer.status == 403 and not session_of(answer), f"a right one for {what}: {answer.status}")
    goes_on = ask(ground.url, "GET", "/", headers={"Cookie": cookie}, source=source).status == 200
    tally.check(goes_on, "the session that was open before is out")
    elsewhere = ask(ground.url, "GET", right, source="127.0.1.5")
    tally.check(bool(session_of(elsewhere)), "another address has to wait, too")
    ground.private.append(session_of(elsewhere).partition("=")[2] or ground.url)
    return tally.case()


def posted_forms(ground: Ground) -> Case:
    """Forms that are too long, and forms of other sites, sign nobody in or out."""
    tally, source = Tally("forms: too long, from another site", "forms"), "127.0.1.6"
    secret, cookie = ground.secrets[OWN], ground.sign_in(OWN)
    for length in (MAX_FORM_BYTES, 10 * MAX_FORM_BYTES, 2**22):
        answer = paste(ground, secret + "/" + "x" * length, source=source)
        tally.check(answer.status in (0, 413) and not session_of(answer), f"{length} characters: {answer.status}")
    for origin in FOREIGN_ORIGINS:
        answer = paste(ground, secret, source=source, origin=origin)
        tally.check(answer.status == 403 and not session_of(answer), f"origin {origin}: {answer.status}")
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Origin": origin})
    for site in ("cross-site", "same-site"):
        answer = paste(ground, secret, source=source, origin=None, **{"Sec-Fetch-Site": site})
        tally.check(
            answer.status == 403 and not session_of(answer), f"Sec-Fetch-Site {site}, no origin: {answer.status}"
        )
        ask(ground.url, "POST", "/sign-out", headers={"Cookie": cookie, "Sec-Fetch-Site": site})
    ask(ground.url, "GET", "/sign-out", headers={"Cookie": cookie})
    tally.check(
        ask(ground.url, "GET", "/", headers={"Cookie": cookie}).status == 200, "another site signed somebody out"
    )
    return tally.case()


def time_of_refusals(ground: Ground, *, n: int) -> Case:
    """The time to refuse a secret does not depend on how much of it is right.

    A permutation test of the difference of medians. Each attempt comes from a separate address, so that rate limiting
    does not apply.
    """
    rng, real = np.random.default_rng(), ground.secrets[COORDINATOR]
    alike, taken_ms = rng.permutation(np.arange(2 * n) % 2 == 0), np.empty(2 * n)
    for number in range(2 * n):
        made = secrets.token_urlsafe(24)
        wrong = _noted(ground, real[: len(real) // 2] + made[len(real) // 2 :] if alike[number] else made)
        begun = time.perf_counter()
        answer = ask(ground.url, "GET", f"/join/{wrong}", source=f"127.2.{number // 250}.{number % 250 + 1}")
        taken_ms[number] = 1000 * (time.perf_counter() - begun)
        if answer.status != 403:
            return Case("wrong secrets: timing of refusals", f"status {answer.status} for {wrong!r}", False)
    p, difference_ms = permutation_test(taken_ms, alike, rng)
    figures = f"{n} that share half of a real secret, {n} that do not: {difference_ms:+.3f} ms, p = {p:.4f}"
    return Case("wrong secrets: timing of refusals", figures, p >= ALPHA)


def permutation_test(values: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the p-value of the difference of two medians, and the difference."""

    def difference(members: np.ndarray) -> float:
        return float(np.median(values[members]) - np.median(values[~members]))

    observed = difference(group)
    made = np.array([difference(rng.permutation(group)) for _ in range(N_PERMUTATIONS)])
    return (1 + int((np.abs(made) >= abs(observed)).sum())) / (1 + N_PERMUTATIONS), observed


def _noted(ground: Ground, wrong: str) -> str:
    ground.wrong.append(wrong)
    return wrong
