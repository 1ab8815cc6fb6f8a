"""Print docs/commands.md: the help of every command, as the command itself prints it.

python scripts/command_reference.py > docs/commands.md
"""

import click

from labeler.cli import main


def reference() -> str:
    """The whole page."""
    parts = [
        "# Commands\n\nMade from the commands themselves by `scripts/command_reference.py`; a test compares the two.\n"
    ]
    parts += [_section("labeler", main)]
    parts += [_section(name, command) for name, command in _below(main, "labeler")]
    return "\n".join(parts)


def _below(group: click.Group, prefix: str) -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for name, command in group.commands.items():
        found.append((f"{prefix} {name}", command))
        if isinstance(command, click.Group):
            found += _below(command, f"{prefix} {name}")
    return found


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
    return f"## {name}\n\n```\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
