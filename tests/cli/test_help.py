"""Every --help has examples, and these are commands as one can give them."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from seqtag.cli import COMMAND_GROUPS, COMMANDS, cli
from seqtag.cli.base import GROUPS, Option, option_groups


def commands(command: click.Command, *names: str) -> dict[str, click.Command]:
    """A command and all below it, by the words that call them."""
    found = {" ".join(names): command}
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found |= commands(command.get_command(click.Context(command), name), *names, name)
    return found


ALL = commands(cli, "seqtag")


def help_of(command: click.Command, name: str) -> str:
    return command.get_help(click.Context(command, info_name=name))


def examples(text: str) -> list[str]:
    """The lines below the word Examples, to the next blank one."""
    return [
        line.strip()
        for block in re.findall(r"^ *Examples:\n((?:.+\n?)+)", text, re.M)
        for line in block.splitlines()
    ]


def parsed(line: str) -> list[str]:
    """The commands that a line calls, after their options were read without complaint."""
    words = shlex.split(line.partition(" > ")[0].rpartition(" | ")[2])
    assert words[0] == "seqtag", line
    context = cli.make_context("seqtag", words[1:])
    called = ["seqtag"]
    while isinstance(context.command, click.Group):
        name = "_protected_args" if hasattr(context, "_protected_args") else "protected_args"
        group, rest = context.command, [*getattr(context, name), *context.args]
        if not rest:
            break
        name, command, left = group.resolve_command(context, rest)
        called.append(name)
        context = command.make_context(name, left, parent=context)
    return called


@pytest.mark.parametrize("name", ALL)
def test_help_has_examples_that_can_be_parsed(name):
    found = examples(help_of(ALL[name], name))
    assert found, f"{name} --help has no examples"
    for line in found:
        called = " ".join(parsed(line))
        assert called.startswith(name), line


def test_an_example_that_cannot_be_parsed_is_found():
    for line in ("seqtag train x", "seqtag tag --too tagged", "seqtag no-such-command"):
        with pytest.raises(click.UsageError):
            parsed(line)


@pytest.mark.parametrize("name", ALL)
def test_help_fits_a_terminal(name):
    lines = help_of(ALL[name], name).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0].startswith(f"Usage: {name}")


@pytest.mark.parametrize("name", ALL)
def test_each_option_is_in_a_group_and_says_what_it_does(name):
    context = click.Context(ALL[name], info_name=name)
    options = [each for each in ALL[name].params if isinstance(each, click.Option)]
    grouped = option_groups(ALL[name], context)
    assert {*options} <= {each for group in grouped.values() for each in group}
    for each in options:
        assert isinstance(each, Option), each.opts
        assert each.help.endswith("."), each.opts
        assert "default:" not in each.help, each.opts
        names, _ = each.get_help_record(context)
        assert not re.search("TEXT|INTEGER|FLOAT|RANGE", names), names


def test_groups_come_in_one_order_and_advanced_ones_last():
    for name, command in ALL.items():
        groups = [*option_groups(command, click.Context(command))]
        assert groups == [group for group in GROUPS if group in groups], name
    shown = help_of(ALL["seqtag train"], "seqtag train")
    assert shown.index("Training settings:") < shown.index("General:") < shown.index("Advanced:")
    assert "--epochs N" in shown
    assert "[default: from the preset, else 10]" in shown


def test_the_list_of_commands_says_what_each_is():
    assert all(text.endswith(".") and len(text) < 60 for text in COMMANDS.values())


def test_each_command_is_in_one_group_of_the_help():
    assert sum(map(len, COMMAND_GROUPS.values())) == len(COMMANDS)
    shown = help_of(cli, "seqtag")
    for group, texts in COMMAND_GROUPS.items():
        block = shown.split(f"\n{group}:\n")[1].split("\n\n")[0]
        assert [line.split()[0] for line in block.splitlines()] == [*texts]
