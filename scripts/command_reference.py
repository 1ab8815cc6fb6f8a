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
    root = click.Context(
        main, info_name="labeler", terminal_width=100, max_content_width=100, help_option_names=["-h", "--help"]
    )
    return "\n".join([*parts, *_sections(root)])


def _sections(context: click.Context) -> list[str]:
    sections = [f"## {context.command_path}\n\n```\n{context.command.get_help(context)}\n```\n"]
    if isinstance(context.command, click.Group):
        for name, command in context.command.commands.items():
            sections += _sections(click.Context(command, info_name=name, parent=context))
    return sections


if __name__ == "__main__":
    print(reference(), end="")
