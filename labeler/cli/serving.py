"""Commands that start the browser application."""

import socket
import sys
from pathlib import Path

import click

from labeler.cli.common import COORDINATOR, link, named, now, remark, study_option
from labeler.config import bundled
from labeler.errors import InputError
from labeler.service.plan import coordinating
from labeler.store import open_database

DEFAULT_PORT = 8501
LOOPBACK = "127.0.0.1"


@click.command(epilog="Example: labeler serve --study cache.study --port 8501")
@study_option
@click.option(
    "--port", type=click.IntRange(1, 65535), default=None, help=f"[default: {DEFAULT_PORT}, or the next free one]"
)
@click.option("--address", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option("--url", default=None, metavar="URL",
              help="Where people reach it, as through a proxy. Other host names are refused.")  # fmt: skip
def serve(study: Path | None, port: int | None, address: str, url: str | None) -> None:
    """Start the browser application on a study; stop it with Ctrl+C.

    Where there is no such study yet, an empty one is made and its coordinator's sign-in link printed: everything else
    can be done in the browser.
    """
    path = named(study)
    chosen = free_port(address, port)
    reached = url or f"http://{address}:{chosen}"
    if not path.exists():
        secret = coordinating.create_study(
            path, name=path.stem, question=coordinating.DEFAULT_QUESTION, coordinator=COORDINATOR, now=now()
        )
        remark(f"Made the empty study {path}. Open this link to set it up:")
        click.echo(f"{COORDINATOR}: {link(reached, secret)}")
    with open_database(path) as db:
        name = coordinating.get_study(db).name
    remark(f"Serving {name} ({path}). Make sign-in links with: labeler reviewers link NAME --url {reached}")
    _run(path, address, chosen, url)


@click.command(epilog="Example: labeler demo --port 8600")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=None, help=f"[default: {DEFAULT_PORT}, or the next free one]"
)
@click.option("--study", type=click.Path(path_type=Path, dir_okay=False), default=Path("demo.study"), show_default=True,
              help="Where the demo study is made, or was made before.")  # fmt: skip
def demo(port: int | None, study: Path) -> None:
    """Make the demo study, print a sign-in link for everyone in it, and start the browser application.

    The study holds 24 really measured benchmarks, ten runs each; half of them had a known intervention in some runs.
    """
    from labeler.service.data import demo as demo_study  # here, as it computes verdicts, which `serve` need not

    chosen = free_port(LOOPBACK, port)
    if study.exists():
        remark(f"Going on with the demo study {study}. Remove the file to begin again.")
    else:
        remark(f"Making the demo study {study} ...")
        with click.progressbar(length=24, label="Judging", file=sys.stderr) as bar:
            measurements = bundled("data", "demo", "demo.parquet")
            demo_study.build(study, measurements, advance=lambda done, _total: bar.update(done - bar.pos), now=now())
    with open_database(study) as db:
        secrets = demo_study.invitations(db, now=now())
    remark("\nOpen one of these links in a browser (a link signs one person in, on any device):\n")
    for name, secret in secrets.items():
        click.echo(f"{name}: {link(f'http://{LOOPBACK}:{chosen}', secret)}")
    remark("\nNext: label a few items as two of the reviewers, then look at Progress and Report as the coordinator.")
    remark("Stop with Ctrl+C. The labels stay in the file.\n")
    _run(study, LOOPBACK, chosen)


def free_port(address: str, requested: int | None) -> int:
    """The wanted port if it is free; without a wish the first free one from 8501 on.

    Raises
    ------
    InputError
        If the port is taken, or the address is not this machine's.
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
    raise InputError(f"Cannot listen on {address}, port {candidates[0]}: {reason}. Name another with --port.")


def _run(study: Path, address: str, port: int, url: str | None = None) -> None:
    sys.stdout.flush()
    from labeler.ui.server import serve as run  # only here: the other commands start without Streamlit

    run(study, address=address, port=port, url=url)
