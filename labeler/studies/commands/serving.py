"""Commands that start the browser application."""

import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import click

from labeler.cli import streams
from labeler.cli.common import now, out_option, remark
from labeler.config import DEMO_MORE, DEMO_REPORT, bundled
from labeler.errors import InputError
from labeler.safe_text import multiline
from labeler.studies.commands.opening import COORDINATOR, link, required_study, study_option
from labeler.studies.course import coordinating
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database

DEFAULT_PORT = 8501
LOOPBACK = "127.0.0.1"
LOOK_EVERY_S = 0.1


@click.command(epilog="Example: labeler serve --study cache.study --port 8501")
@study_option
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=None,
    help=f"Port [default: {DEFAULT_PORT}, or the next free port].",
)
@click.option("--address", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option("--url", default=None, metavar="URL",
              help="Public address, such as the address of a proxy. Other host names are refused.")  # fmt: skip
@click.option(
    "--until-stdin-ends", is_flag=True, hidden=True, help="Stop when the process that started this command stops."
)
def serve(study: Path | None, port: int | None, address: str, url: str | None, until_stdin_ends: bool) -> None:
    """Start the browser application for a study.

    If the file does not exist, the command creates an empty study and prints the sign-in link of its coordinator, who
    can do everything else in the browser. Stop the application with Ctrl+C.
    """
    path = required_study(study)
    if until_stdin_ends:
        _end_with_stdin()
    chosen = free_port(address, port)
    reached = url or f"http://{address}:{chosen}"
    secret = None
    if not path.exists():
        secret = coordinating.create_study(path, name=path.stem, coordinator=COORDINATOR, now=now())
        remark(f"Created the empty study {path}.")
    with open_database(path) as db:
        name = coordinating.get_study(db).name

    def announce() -> None:
        how = f"labeler reviewers link NAME --url {shlex.quote(reached)}"
        remark(f"Serving {name} ({path}). To create a sign-in link: {how}")
        if secret is not None:
            remark("Open this link to set up the study:")
            click.echo(f"{COORDINATOR}: {link(reached, secret)}")

    _when_answering(address, [chosen], announce)
    _run(path, address, chosen, url)


@click.command(epilog="Example: labeler demo --port 8600")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=None,
    help=f"Port [default: {DEFAULT_PORT}, or the next free port].",
)
@out_option(
    "FILE", "Study file to create, or to continue with [default: demo.study, or demo-fresh.study].", required=False,
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Start with a study that has no labels yet.")
@click.option(
    "--question",
    default=None,
    metavar="NAME",
    help="Show a finished study of another built-in question: change or mark-changes.",
)
def demo(port: int | None, out: Path | None, fresh: bool, question: str | None) -> None:
    """Show a finished demo study in the browser, and a second study in which you label ten items yourself.

    Both studies have real measurements of benchmarks with ten runs each; half of the benchmarks had a known
    intervention in some runs. The labels of the finished study are simulated. With --fresh, the study has the same
    items but no labels, and the command prints sign-in links for a coordinator and four reviewers.
    """
    from labeler.studies import demo as demo_study

    if question is not None:
        _demo_of_question(question, out or Path(f"demo-{question}{'-fresh' if fresh else ''}.study"), port, fresh=fresh)
        return
    study = out or Path("demo-fresh.study" if fresh else "demo.study")
    chosen = free_port(LOOPBACK, port)
    if study.exists():
        remark(f"Continuing with the demo study {study}. Remove the file to start again.")
    else:
        remark(f"Creating the demo study {study} ...")
        build = demo_study.build if fresh else demo_study.build_finished
        with click.progressbar(length=1, label="Judging", file=sys.stderr) as bar:

            def advance(done: int, total: int) -> None:
                bar.length = total
                bar.update(done - bar.pos)

            build(study, bundled("data", "demo"), advance=advance, now=now())
    with open_database(study) as db:
        secrets = demo_study.invitations(db, now=now())
    if fresh:
        _when_answering(LOOPBACK, [chosen], lambda: _say_links(chosen, secrets))
        _run(study, LOOPBACK, chosen)
        return
    report = f"{link(f'http://{LOOPBACK}:{chosen}', secrets[demo_study.COORDINATOR])}?page=report"
    yours, more = (study.with_name(f"{study.stem}-{name}{study.suffix}") for name in ("yours", "more"))
    second = free_port(LOOPBACK, None, after=chosen)
    third = free_port(LOOPBACK, None, after=second)
    links = [_ten_items(study, file, which, port) for file, which, port in ((yours, 0, second), (more, 1, third))]
    remark("Starting the server ...")
    with ExitStack() as servers:
        servers.enter_context(_beside(yours, second, {DEMO_REPORT: report, DEMO_MORE: links[1]}))
        demo_study.prepare_report(study)

        def serve_more() -> None:
            servers.enter_context(_beside(more, third, {DEMO_REPORT: report}))
            demo_study.unblind_when_labelled(more, then=lambda: None, clock=now)

        demo_study.unblind_when_labelled(yours, then=serve_more, clock=now)
        lines = [f"{demo_study.COORDINATOR}: {report}", f"{demo_study.YOU}: {links[0]}"]
        _when_answering(LOOPBACK, [chosen, second], lambda: _say_two_links(lines))
        _run(study, LOOPBACK, chosen)


def _demo_of_question(name: str, study: Path, port: int | None, *, fresh: bool) -> None:
    """Serve the demo study of a built-in question; create the study if it does not exist."""
    from labeler.studies import demo as demo_study

    chosen = free_port(LOOPBACK, port)
    if not study.exists():
        remark(f"Creating the demo study {study} ...")
        demo_study.build_for_question(study, bundled("data", "demo"), name, fresh=fresh, now=now())
    with open_database(study) as db:
        secrets = demo_study.invitations(db, now=now())
    if not fresh:
        demo_study.prepare_report(study)
        secrets = {COORDINATOR: secrets[COORDINATOR]}
    _when_answering(LOOPBACK, [chosen], lambda: _say_links(chosen, secrets))
    _run(study, LOOPBACK, chosen)


def _ten_items(finished: Path, study: Path, which: int, port: int) -> str:
    """Create a study of ten items of the finished study, if it does not exist; return the link of the visitor."""
    from labeler.studies import demo as demo_study

    if not study.exists():
        demo_study.build_yours(finished, study, which=which, now=now())
    with open_database(study) as db:
        secret = identity.invite(db, demo_study.YOU, Role.REVIEWER, actor="demo", now=now())
    return link(f"http://{LOOPBACK}:{port}", secret)


def _say_links(port: int, secrets: Mapping[str, str]) -> None:
    remark("\nOpen one of these links in a browser (a link signs one person in, on any device):\n")
    for name, secret in secrets.items():
        click.echo(f"{name}: {link(f'http://{LOOPBACK}:{port}', secret)}")
    if len(secrets) > 1:
        remark("\nNext: label a few items as two of the reviewers, then look at Progress as the coordinator.")
    remark("Stop with Ctrl+C. The labels stay in the file.\n")


def _say_two_links(lines: Sequence[str]) -> None:
    remark("\nOpen these links in a browser:\n")
    remark(
        "1. See the report of a finished study as its coordinator. The measurements are real; the labels are simulated."
    )
    click.echo(lines[0])
    remark(
        "\n2. Label ten of these benchmarks yourself, as a reviewer. After the tenth label, you see your result: your"
    )
    remark("   labels beside those of the simulated reviewers and of the classifiers.")
    click.echo(lines[1])
    remark(
        "\nStop with Ctrl+C. The labels stay in the files. labeler demo --fresh begins with a study without labels.\n"
    )


@contextmanager
def _beside(study: Path, port: int, environment: Mapping[str, str]) -> Iterator[None]:
    """Serve another study in a separate process at the same time."""
    child = subprocess.Popen(  # noqa: S603 - our own command, no shell
        [sys.executable, "-m", "labeler", "serve", "--study", str(study), "--port", str(port), "--until-stdin-ends"],
        stdin=subprocess.PIPE,  # the child ends when this process ends, for any reason
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment},
    )  # fmt: skip
    try:
        yield
    finally:
        child.terminate()
        child.communicate()


def free_port(address: str, requested: int | None, *, after: int = DEFAULT_PORT - 1) -> int:
    """Return a port on which the server can listen.

    If a port is requested, only this port is tried. Otherwise, the fifty ports above `after` are tried in order. Raises
    InputError if no tried port is free, or the address does not belong to this machine.
    """
    candidates = [requested] if requested else range(after + 1, after + 51)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    reason = ""
    for port in candidates:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError as error:
                reason = error.strerror or str(error)
            else:
                return port
    raise InputError(f"Cannot listen on {address}, port {candidates[0]}: {reason}. Choose another port with --port.")


def _when_answering(address: str, ports: Sequence[int], announce: Callable[[], object]) -> None:
    """Call `announce` as soon as the servers on these ports respond.

    A background thread waits for the servers, so that this function returns at once.
    """
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(address, address)  # noqa: S104 - where to look, not to listen
    host = f"[{host}]" if ":" in host else host

    def wait() -> None:
        for port in ports:
            while not _answers(f"http://{host}:{port}/_stcore/health"):
                time.sleep(LOOK_EVERY_S)
        announce()

    Thread(target=wait, daemon=True).start()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):  # noqa: S310 - this server
            return True
    except HTTPError:
        return True  # an error status is also an answer
    except OSError:
        return False


def _end_with_stdin() -> None:
    """Stop this process in the same way as Ctrl+C when its standard input is closed."""

    def wait() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=wait, daemon=True).start()


def _run(study: Path, address: str, port: int, url: str | None = None) -> None:
    logging.setLogRecordFactory(_harmless_record)
    sys.stdout.flush()
    streams.release()
    from labeler.studies.ui.server import serve as run

    run(study, address=address, port=port, url=url)


def _harmless_record(*arguments: Any, **options: Any) -> logging.LogRecord:
    """Return an entry of the server's log whose text cannot control the terminal, whoever wrote parts of it."""
    record = logging.LogRecord(*arguments, **options)
    if record.name != "uvicorn.access":  # its formatter needs the parts of the text
        with suppress(TypeError, ValueError):
            record.msg, record.args = multiline(record.getMessage()), None
    return record
