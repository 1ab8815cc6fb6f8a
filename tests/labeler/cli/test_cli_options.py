"""Options that are made from the fields of a frozen dataclass."""

from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from labeler.cli.common import Commands
from labeler.cli.options import given_of, options_of


@dataclass(frozen=True)
class Brew:
    cups: int = field(metadata={"within": "[1, )", "help": "Cups."})
    heat: float = field(default=0.9, metadata={"within": "(0, 1]", "help": "Heat."})
    milk: float = field(default=0.1, metadata={"share": True, "help": "Milk."})
    sort: str = field(default="black", metadata={"choices": ("black", "green"), "help": "Sort."})
    sugar: bool = field(default=False, metadata={"help": "Add sugar."})
    lid: bool = field(default=True, metadata={"flag": "--open", "help": "Leave the lid off."})
    herbs: tuple[str, ...] = field(default=(), metadata={"choices": ("mint", "sage"), "help": "Herbs."})
    minutes: tuple[float, ...] = field(default=(), metadata={"flag": "--minute", "within": "[0, )", "help": "Minutes."})
    names: dict[str, str] = field(default_factory=dict, metadata={"pairs": "cup=NAME", "help": "Names."})
    book: Path | None = field(default=None, metadata={"metavar": "FILE", "help": "Book."})
    inner: int = 7

    def __post_init__(self):
        if self.cups > 9:
            raise ValueError(f"the pot is too small for {self.cups} cups")


def run(decorator, *arguments):
    seen = []

    @click.command()
    @decorator
    def brew(**values):
        seen.append(values)

    group = Commands(commands={"brew": brew})
    result = CliRunner().invoke(group, ["brew", *arguments])
    return (seen[0] if seen else None), result


def test_a_command_gets_one_value_with_the_defaults_of_its_class():
    seen, result = run(options_of(Brew, "brewed"), "--cups", "2")
    assert result.exit_code == 0
    assert seen == {"brewed": Brew(2)}


def test_each_kind_of_field_is_read():
    seen, _ = run(
        options_of(Brew), "--cups", "3", "--heat", "1", "--milk", "25%", "--sort", "green", "--sugar", "--open",
        "--herbs", "sage, mint", "--minute", "2", "--minute", "0", "--names", "a=b,c=d", "--book", "tea.txt",
    )  # fmt: skip
    assert seen == {
        "options": Brew(
            3, 1.0, 0.25, "green", sugar=True, lid=False, herbs=("sage", "mint"), minutes=(2.0, 0.0),
            names={"a": "b", "c": "d"}, book=Path("tea.txt"),
        )
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--cups", "0"], "0 is not in the range x>=1"),
        (["--cups", "1", "--heat", "0"], "0.0 is not in the range 0<x<=1"),
        (["--cups", "1", "--milk", "25"], "If you mean 25 percent, write 25%"),
        (["--cups", "1", "--sort", "white"], "'white' is not one of 'black', 'green'"),
        (["--cups", "1", "--herbs", "mint,basil"], "'basil' is not one of mint, sage"),
        (["--cups", "1", "--names", "a="], "'a=' is incomplete. Write it as cup=NAME"),
        (["--cups", "12"], "The pot is too small for 12 cups."),
    ],
)
def test_a_value_that_the_field_or_its_class_refuses_ends_the_command(arguments, reason):
    seen, result = run(options_of(Brew), *arguments)
    assert (seen, result.exit_code) == (None, 2)
    assert reason in result.output


def test_only_the_values_that_were_given_are_handed_on():
    assert run(given_of(Brew, without=("book",)))[0] == {"given": {}}
    assert run(given_of(Brew), "--heat", "0.9", "--open")[0] == {"given": {"heat": 0.9, "lid": False}}


def test_the_help_shows_each_default_once_and_no_field_without_a_help_text():
    text = " ".join(run(options_of(Brew, without=("minutes",)), "--help")[1].output.split())
    assert "Heat. [default: 0.9; 0<x<=1]" in text
    assert "Milk. [default: 10%]" in text
    assert "Sort. [default: black]" in text
    assert "--inner" not in text
    assert "--minute" not in text
