"""The protocol of `labeler init`, and the commands about people and sign-in links, as a person runs them."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from labeler.errors import SignInFailed
from labeler.studies.course import coordinating
from labeler.studies.model import Protocol, Role
from labeler.studies.people import identity
from labeler.studies.store import events, open_database
from tests.labeler.cli.test_cli import SECRET_LINK, run
from tests.sentences import says

NOW = datetime.now(UTC)  # commands use the current time


@pytest.fixture
def study(tmp_path):
    """A study with the reviewers ada and ben and the coordinator grace."""
    path = tmp_path / "people.study"
    run("init", "--study", path, "--coordinator", "grace")
    run("reviewers", "add", "--study", path, "ada", "ben")
    return path


def protocol_of(path):
    with open_database(path) as db:
        return coordinating.get_study(db).protocol


def secret_in(result):
    return re.search(r"/join/([\w-]{32})$", result.stdout.strip())[1]


def sign_in(path, secret, now=NOW):
    with open_database(path) as db:
        return identity.sign_in(db, secret, now=now)


def who(path, token):
    with open_database(path) as db:
        person = identity.person_of_session(db, token, now=NOW)
    return person.name if person else None


def actions(path):
    with open_database(path) as db:
        return events.table(db)["action"].tolist()


@pytest.mark.parametrize(
    ("options", "protocol"),
    [
        ([], Protocol()),
        (["--min-span", "0"], Protocol(min_span=0.0)),
        (["--one-picture", "--instructions", "Mind the warm-up."],
         Protocol(varies_pictures=False, instructions="Mind the warm-up.")),
        (["--axis", "pooled", "--min-span", "0.25", "--confidence", "--numbers"], Protocol("pooled", 0.25, True, True)),
    ],
    ids=str,
)  # fmt: skip
def test_init_takes_the_protocol(tmp_path, options, protocol):
    run("init", "--study", tmp_path / "new.study", *options)
    assert protocol_of(tmp_path / "new.study") == protocol


@pytest.mark.parametrize("group", ["reviewers", "coordinators"])
def test_a_link_is_valid_for_the_days_asked_for(study, group):
    role, name = Role(group.removesuffix("s")), {"reviewers": "ada", "coordinators": "grace"}[group]
    with open_database(study) as db:
        assert role in next(p.roles for p in identity.everyone(db) if p.name == name)
    for days, options in ((90, []), (7, ["--valid-days", "7"])):
        result = run(group, "link", name, "--study", study, *options)
        assert re.fullmatch(rf"{name}: {SECRET_LINK}\n", result.stdout)
        assert says(result.stderr, "previous link no longer")
        now = datetime.now(UTC)
        assert sign_in(study, secret_in(result), now + timedelta(days=days, minutes=-1))
        with pytest.raises(SignInFailed, match="link expired"):
            sign_in(study, secret_in(result), now + timedelta(days=days, minutes=5))


@pytest.mark.parametrize(("group", "name"), [("reviewers", "ada"), ("coordinators", "grace")])
def test_revoke_ends_the_link_and_signs_out_everywhere(study, group, name):
    secret = secret_in(run(group, "link", name, "--study", study))
    ben = sign_in(study, secret_in(run("reviewers", "link", "ben", "--study", study)))
    tokens = [sign_in(study, secret) for _ in range(2)]
    result = run(group, "revoke", name, "--study", study)
    assert result.stdout == ""
    assert says(result.stderr, f"link of {name}", f"{name} is signed out")
    assert [who(study, token) for token in (*tokens, ben)] == [None, None, "ben"]
    with pytest.raises(SignInFailed, match="link was revoked"):
        sign_in(study, secret)
    assert sign_in(study, secret_in(run(group, "link", name, "--study", study)))
    assert actions(study).count("revoke") == 1


def test_an_address_is_set_and_taken_away(study):
    result = run("reviewers", "email", "ada", "Ada@example.org", "--study", study)
    assert (result.stdout, result.stderr) == ("", "ada can sign in through the provider as Ada@example.org.\n")
    with open_database(study) as db:
        assert who(study, identity.sign_in_as(db, "ada@example.org", now=NOW)) == "ada"
    taken = run("coordinators", "email", "grace", "ADA@example.org", "--study", study, code=2)
    assert says(taken.stderr, "ADA@example.org", "address of ada")
    run("reviewers", "email", "ada", "", "--study", study)
    with open_database(study) as db, pytest.raises(SignInFailed, match="nobody in this study"):
        identity.sign_in_as(db, "ada@example.org", now=NOW)


def test_each_group_has_the_same_commands_each_with_words_of_its_own():
    for group, other in (("reviewers", "coordinator"), ("coordinators", "reviewer")):
        listed = re.findall(r"^  (\w+) ", run(group, "--help").output.partition("Commands:")[2], re.MULTILINE)
        while_it_goes_on = ["answers", "pause", "remove", "replace", "result", "resume"] if group == "reviewers" else []
        assert sorted(listed) == sorted(["add", "email", "link", "list", "rename", "revoke", *while_it_goes_on])
        for command in listed:
            text = run(group, command, "--help").output
            assert "{" not in text
            assert other not in text.lower()


def test_a_renamed_person_is_listed_with_both_names(study):
    assert (
        "Pages show ada as Ada Lovelace." in run("reviewers", "rename", "ada", "Ada Lovelace", "--study", study).stderr
    )
    rows = json.loads(run("reviewers", "list", "--study", study, "--json").stdout)
    assert [row["shown as"] for row in rows if row["reviewer"] == "ada"] == ["Ada Lovelace"]
