"""`labeler serve`: who can reach the server, and what it refuses before it starts."""

import re

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.studies.commands import serving
from labeler.studies.ui import server
from tests.making import make_study


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Run `labeler serve` up to the start of the server; return its output and with what the server starts."""
    seen = {}

    def serve(studies, **options):
        seen.update(options, studies=studies)

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(serving, "_when_answering", lambda _address, _port, announce: announce())
    monkeypatch.setattr(serving.streams, "release", lambda: None)

    def run(*options):
        result = CliRunner().invoke(main, ["serve", *map(str, options)])
        assert result.exit_code == 0, result.output
        return result.output, seen

    return run


@pytest.mark.parametrize(
    ("hosts", "tls", "says"),
    [
        ([], False, "This computer is in no network, so only this computer can open the studies."),
        (["10.0.0.2"], False, ("Everyone in the network of this computer can reach the server at http://10.0.0.2:8600. "
         "Connections are not encrypted, so others in the network can read along; --tls encrypts them.")),
        (["10.0.0.2", "192.168.1.5"], True, ("Everyone in the networks of this computer can reach the server at "
         "https://10.0.0.2:8600 or https://192.168.1.5:8600. Connections are encrypted.")),
    ],
)  # fmt: skip
def test_who_can_reach_the_server_is_said_for_any_number_of_networks(hosts, tls, says):
    assert serving.who_can_reach(hosts, 8600, "https" if tls else "http") == says


def test_a_shared_server_listens_to_the_network_and_its_links_begin_with_that_address(started, monkeypatch, tmp_path):
    monkeypatch.setattr(serving.network, "addresses", lambda: ["10.0.0.2"])
    output, seen = started("--study", tmp_path / "new.study", "--share", "--port", 8600)
    assert (seen["address"], seen["studies"].address) == ("0.0.0.0", "http://10.0.0.2:8600")
    assert re.search(r"^coordinator: http://10\.0\.0\.2:8600/s/\w{12}/join/[\w-]{32}$", output, re.MULTILINE)
    assert "Everyone in the network of this computer" in output


def test_a_server_for_this_computer_says_no_address_for_others(started, tmp_path):
    output, seen = started("--study", make_study(tmp_path / "a.study", n_items=0), "--port", 8600)
    assert (seen["address"], seen["studies"].address) == ("127.0.0.1", None)
    assert "Everyone" not in output and "--url http://127.0.0.1:8600" in output


def test_a_folder_is_served_with_a_start_link_and_a_file_without(started, tmp_path):
    make_study(tmp_path / "a.study", n_items=0)
    output, seen = started("--study", tmp_path, "--port", 8600, "--url", "https://labels.example.org/")
    assert f"start: https://labels.example.org/start/{seen['studies'].start_secret}\n" in output
    assert [study.path.name for study in seen["studies"].all()] == ["a.study"]
    output, _ = started("--study", tmp_path / "a.study", "--port", 8600)
    assert "start" not in output


def test_files_that_are_no_certificate_and_key_are_refused(tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("nothing")
    study = make_study(tmp_path / "a.study", n_items=0)
    files = [str(tmp_path / name) for name in ("cert.pem", "key.pem")]
    result = CliRunner().invoke(main, ["serve", "--study", str(study), "--port", "8600", "--tls", *files])
    assert (result.exit_code, "Give a certificate in PEM form" in result.output) == (2, True)
