"""Commands that start the browser application."""

import logging
import shlex
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from analysis.text import joined
from labeler import network
from labeler.cli import streams
from labeler.cli.common import now, out_option, remark
from labeler.config import bundled, settings
from labeler.errors import InputError
from labeler.safe_text import multiline
from labeler.studies.commands.opening import COORDINATOR, OWNER, link, required_study
from labeler.studies.course import coordinating
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database

if TYPE_CHECKING:
    from labeler.studies.demo import DemoLinks

DEFAULT_PORT = 8501
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - only with --share, or if asked for
LOOK_EVERY_S = 0.1
NO_LINKS: "Mapping[Path, DemoLinks]" = {}


@click.command(epilog="Example: labeler serve --study cache.study --port 8501")
@click.option(
    "--study", type=click.Path(path_type=Path), default=lambda: settings().study, metavar="PATH",
    help="Study file, or folder whose study files are served [default: environment variable LABELER_STUDY].",
)  # fmt: skip
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=None,
    help=f"Port [default: {DEFAULT_PORT}, or the next free port].",
)
@click.option("--address", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option("--share", is_flag=True, help="Let others in the networks of this computer open the studies.")
@click.option("--tls", nargs=2, type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="CERT KEY",
              help="Files with a certificate and its key, with which connections are encrypted.")  # fmt: skip
@click.option("--url", default=None, metavar="URL",
              help="Public address, such as the address of a proxy. Other host names are refused.")  # fmt: skip
def serve(
    study: Path | None,
    port: int | None,
    address: str,
    share: bool,
    tls: tuple[Path, Path] | None,
    url: str | None,
) -> None:
    """Start the browser application for a study, or for all studies in a folder.

    If the file does not exist, the command creates an empty study and prints the sign-in link of its coordinator, who
    can do everything else in the browser. Stop the application with Ctrl+C.
    """
    path, secret = required_study(study), None
    if share and address == LOOPBACK:
        address = EVERYWHERE
    if not (port or url or share or tls) and address == LOOPBACK and path.is_file():
        port, url = _address_of(path)
    chosen, scheme = free_port(port, address), "https" if tls else "http"
    hosts = network.addresses() if address == EVERYWHERE else [address]
    reached = [url] if url else [f"{scheme}://{_in_url(host)}:{chosen}" for host in (*hosts, LOOPBACK)]
    if not path.exists():
        secret = coordinating.create_study(path, name=path.stem, coordinator=COORDINATOR, now=now())
        remark(f"Created the empty study {path}.")
    first_link = ""
    if path.is_file():
        with open_database(path) as db:
            keeps = secret is not None or coordinating.address(db) is not None
            if keeps and (url or address == LOOPBACK):
                coordinating.set_address(db, reached[0], actor=OWNER, now=now())
            first_link = "" if secret is None else link(reached[0], db, secret)

    def announce(start_secret: str) -> None:
        one = "" if path.is_file() else " --study FILE"
        how = f"labeler reviewers link NAME{one} --url {shlex.quote(reached[0])}"
        remark(f"Serving {path if path.is_file() else f'the studies in {path}'}. To create a sign-in link: {how}")
        if address == EVERYWHERE and not url:
            remark(who_can_reach(hosts, chosen, scheme))
        if first_link:
            remark("Open this link to set up the study:")
            click.echo(f"{COORDINATOR}: {first_link}")
        elif start_secret:
            remark("Open this link to create a study in the browser:")
            click.echo(f"start: {reached[0].rstrip('/')}/start/{start_secret}")
        if address == EVERYWHERE and hosts and sys.stderr.isatty():
            remark(f"{reached[0]}\n{network.qr_text(reached[0])}")

    shared = None if url or not hosts or network.is_of_this_machine_only(hosts[0]) else reached[0]
    files, folder = ([], path) if path.is_dir() else ([path], None)
    _run(*files, folder=folder, address=address, port=chosen, url=url, shared=shared, tls=tls, announce=announce)


def _address_of(study: Path) -> tuple[int | None, str | None]:
    """Return the port that the address of a study names, or the address itself if it is that of another server.

    Raises InputError if the port is taken, because the sign-in links of the study would lead elsewhere.
    """
    with open_database(study) as db:
        url = coordinating.address(db)
    if url is None:
        return None, None
    parts = urlsplit(url)
    if parts.hostname != LOOPBACK or not parts.port:
        return None, url
    try:
        return free_port(parts.port), None
    except InputError as error:
        raise InputError(
            f"The sign-in links of {study} begin with {url}. {error} New links are then needed: "
            "labeler reviewers link NAME"
        ) from None


def local_address(port: int) -> str:
    """Return the address of a server that only this computer can reach."""
    return f"http://{LOOPBACK}:{port}"


def who_can_reach(hosts: Sequence[str], port: int, scheme: str) -> str:
    """Return who can open the studies of a server that listens on the network, and whether others can read along.

    Examples
    --------
    >>> who_can_reach([], 8501, "http")
    'This computer is in no network, so only this computer can open the studies.'
    """
    if not hosts:
        return "This computer is in no network, so only this computer can open the studies."
    where = [f"{scheme}://{host}:{port}" for host in hosts]
    networks = "the network" if len(hosts) == 1 else "the networks"
    risk = (
        "Connections are encrypted."
        if scheme == "https"
        else f"Connections are not encrypted, so others in {networks} can read along; --tls encrypts them."
    )
    return f"Everyone in {networks} of this computer can reach the server at {joined(where, 'or')}. {risk}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
    chosen = free_port(port)
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
    links = _links(study, chosen)
    if fresh:
        _run(study, port=chosen, announce=lambda _secret: _say_links(links))
        return
    report = f"{links[demo_study.COORDINATOR]}?page=results"
    yours, more = (study.with_name(f"{study.stem}-{name}{study.suffix}") for name in ("yours", "more"))
    first, second = (_ten_items(study, file, which, chosen) for which, file in enumerate((yours, more)))
    remark("Starting the server ...")
    demo_study.prepare_report(study)
    for file in (yours, more):
        demo_study.unblind_when_labelled(file, clock=now)
    lines = [f"{demo_study.COORDINATOR}: {report}", f"{demo_study.YOU}: {first}"]
    shown = {yours: demo_study.DemoLinks(report, second), more: demo_study.DemoLinks(report)}
    _run(study, yours, more, port=chosen, demo_links=shown, announce=lambda _secret: _say_two_links(lines))


def _demo_of_question(name: str, study: Path, port: int | None, *, fresh: bool) -> None:
    """Serve the demo study of a built-in question; create the study if it does not exist."""
    from labeler.studies import demo as demo_study

    chosen = free_port(port)
    if not study.exists():
        remark(f"Creating the demo study {study} ...")
        demo_study.build_for_question(study, bundled("data", "demo"), name, fresh=fresh, now=now())
    links = _links(study, chosen)
    if not fresh:
        demo_study.prepare_report(study)
        links = {COORDINATOR: links[COORDINATOR]}
    _run(study, port=chosen, announce=lambda _secret: _say_links(links))


def _links(study: Path, port: int) -> dict[str, str]:
    """Return a new sign-in link for each person of a demo study."""
    from labeler.studies import demo as demo_study

    with open_database(study) as db:
        secrets = demo_study.invitations(db, now=now())
        return {name: link(f"http://{LOOPBACK}:{port}", db, secret) for name, secret in secrets.items()}


def _ten_items(finished: Path, study: Path, which: int, port: int) -> str:
    """Create a study of ten items of the finished study, if it does not exist; return the link of the visitor."""
    from labeler.studies import demo as demo_study

    if not study.exists():
        demo_study.build_yours(finished, study, which=which, now=now())
    with open_database(study) as db:
        secret = identity.invite(db, demo_study.YOU, Role.REVIEWER, actor="demo", now=now())
        return link(f"http://{LOOPBACK}:{port}", db, secret)


def _say_links(links: Mapping[str, str]) -> None:
    remark("\nOpen one of these links in a browser (a link signs one person in, on any device):\n")
    for name, address in links.items():
        click.echo(f"{name}: {address}")
    if len(links) > 1:
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


def free_port(requested: int | None = None, address: str = LOOPBACK) -> int:
    """Return a port on which the server can listen.

    If a port is requested, only this port is tried. Otherwise, fifty ports from the default port on are tried in order.
    Raises InputError if no tried port is free, or the address does not belong to this machine.
    """
    candidates = [requested] if requested else range(DEFAULT_PORT, DEFAULT_PORT + 50)
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


def _when_answering(address: str, port: int, announce: Callable[[], object]) -> None:
    """Call `announce` as soon as the server accepts connections.

    A background thread waits for the server, so that this function returns at once.
    """
    host = {EVERYWHERE: LOOPBACK, "::": "::1"}.get(address, address)

    def wait() -> None:
        while not _accepts(host, port):
            time.sleep(LOOK_EVERY_S)
        announce()

    Thread(target=wait, daemon=True).start()


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def _run(
    *files: Path,
    folder: Path | None = None,
    address: str = LOOPBACK,
    port: int,
    url: str | None = None,
    shared: str | None = None,
    tls: tuple[Path, Path] | None = None,
    demo_links: "Mapping[Path, DemoLinks]" = NO_LINKS,
    announce: Callable[[str], object],
) -> None:
    """Serve some studies, or those in a folder.

    `announce` is called as soon as the server responds, with the secret of the start link.
    """
    logging.setLogRecordFactory(_harmless_record)
    sys.stdout.flush()
    streams.release()
    from labeler.studies.ui.server import serve as run, studies_of

    studies = studies_of(files, folder, demo_links)
    studies.address = url or shared
    _when_answering(address, port, lambda: announce(studies.start_secret))
    run(studies, address=address, port=port, url=url, tls=tls)


def _harmless_record(*arguments: Any, **options: Any) -> logging.LogRecord:
    """Return an entry of the server's log whose text cannot control the terminal, whoever wrote parts of it."""
    record = logging.LogRecord(*arguments, **options)
    if record.name != "uvicorn.access":  # its formatter needs the parts of the text
        with suppress(TypeError, ValueError):
            record.msg, record.args = multiline(record.getMessage()), None
    return record
