"""The study file is removed, moved away, or replaced by its own backup while the server runs."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from labeler.store import open_database
from tests.browser.hands import SAVED
from tests.reliability._mishaps_scene import BEN, Room, Scene, scene
from tests.reliability.outcome import Case

FALSE_WORDS = re.compile(r"not signed in|not valid|expired|revoked", re.I)


def backup_of(study: Path) -> Path:
    """Return a copy of the study beside it, made by `labeler backup`."""
    target = study.with_name("copy.study")
    with open_database(study) as db:
        db.backup(target)
    return target


def remove(study: Path) -> None:
    """Delete the file and the files that SQLite keeps beside it."""
    for path in study.parent.glob(f"{study.name}*"):
        path.unlink()


def removed(room: Room) -> Iterator[Case]:
    """The study is removed while a reviewer labels; then a backup replaces it."""
    with scene(room, room.copy()) as one:
        copy = backup_of(one.served.study)
        remove(one.served.study)
        yield _while_gone(one, "study removed", lambda: copy.replace(one.served.study))


def moved(room: Room) -> Iterator[Case]:
    """The folder with the study is moved away, then back."""
    with scene(room, room.copy()) as one:
        folder = one.served.study.parent
        away = Path(tempfile.mkdtemp(dir=room.folder)) / "away"
        shutil.move(folder, away)
        yield _while_gone(one, "study moved away", lambda: shutil.move(away, folder))


def _while_gone(one: Scene, what: str, bring_back: Callable[[], object]) -> Case:
    """Give two answers if possible, let another person open a sign-in link, and restore the file."""
    one.press("d")
    sentence = one.words(what).sentence
    if one.look().shows_item:
        one.press("s")
    refused = at_the_door(one)
    bring_back()
    one.comes_back()
    return one.judged(f"{what} while labelling", f"{sentence}”; a sign-in link shows “{refused}")


def at_the_door(one: Scene) -> str:
    """The page of a person who opens a sign-in link while there is no study."""
    page = one.room.browser.new_context(viewport={"width": 1000, "height": 600}).new_page()
    try:
        page.goto(one.served.link(BEN))
        said = page.inner_text("body")
        _check_door(one, said)
        one.room.take(page, "signing in while the study is gone")
    finally:
        page.context.close()
    return " ".join(said.split())


def _check_door(one: Scene, said: str) -> None:
    one.check_words(said)
    if false := FALSE_WORDS.search(said):
        one.problems.append(f"at the door it says what is not so: {false[0]!r}")


def reloaded_meanwhile(room: Room) -> Iterator[Case]:
    """The study is moved away while an answer is unsaved, and the page is reloaded before the study is back."""
    with scene(room, room.copy()) as one:
        study = one.served.study
        away = study.rename(study.with_name("away.study"))
        one.press("d")
        one.words("study moved away, before the reload")
        one.page.reload()
        said = " ".join(one.page.inner_text("body").split())
        one.room.take(one.page, "reloaded while the study is gone")
        _check_door(one, said)
        away.rename(study)
        one.comes_back()
        yield one.judged("study moved away, page reloaded meanwhile", said)


def replaced(room: Room) -> Iterator[Case]:
    """The study is replaced by its backup between two answers, while another process has it open."""
    with scene(room, room.copy()) as one:
        for _ in range(2):
            backup_of(one.served.study).replace(one.served.study)
            one.press("s", is_stored=True)
        with open_database(one.served.study) as held:
            held.execute("SELECT count(*) FROM labels").fetchone()
            one.press("d", is_stored=True)
            copy = one.served.study.with_name("copy.study")
            held.backup(copy)
            copy.replace(one.served.study)
            one.press("s")
            one.page.wait_for_timeout(1000)  # whether it was stored is checked below
        one.comes_back()
        seen = one.look().sentence or one.page.evaluate(f"() => ({SAVED})() && 'Saved'")
        yield one.judged("study replaced by its backup while labelling", str(seen))
