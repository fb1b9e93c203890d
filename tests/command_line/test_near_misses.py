"""Words that are no commands lead to the right one, and help is written as people write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from broker_core.command_line.program import application
from tests.command_line.calling import crossdesk


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("submit x.jdl", ["job submit x.jdl"]),
        ("submit", ["job submit FILE"]),
        ("list", ["job list"]),
        ("status", ["job status ID"]),
        ("cancel 5GzFQ2", ["job cancel 5GzFQ2"]),
        ("job rm -aaaaaaaaaaaaaaaaaaaaa", ["job cancel -aaaaaaaaaaaaaaaaaaaaa"]),
        ("qsub job.sh", ["job submit job.sh"]),
        ("sbatch --mem=4G none.sh", ["job submit FILE"]),
        ("squeue -u somebody", ["job list"]),
        ("scancel 12", ["job cancel 12"]),
        ("sinfo", ["site list"]),
        ("jobs list --all", ["job list --all"]),
        ("sites", ["site list"]),
        ("job sites", ["site list"]),
        ("jbo list", ["job list"]),
        ("sumbit 'my job.jdl'", ["job submit 'my job.jdl'"]),
        ("job sumbit x.jdl", ["job submit x.jdl"]),
        ("job show abcd", ["job status abcd"]),
        ("site rm lab", ["site remove lab"]),
        ("stop", ["broker stop", "job cancel ID"]),
        ("start", ["broker start"]),
    ],
)
def test_a_near_miss_is_answered_with_the_line_to_type(typed: str, meant: list[str]) -> None:
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", typed)]
    said = crossdesk(*words)
    assert (said.code, said.out) == (2, "")
    assert re.findall(r"`crossdesk (.*?)`", said.err) == meant


@pytest.mark.parametrize("typed", ["desktop", "gui"])
def test_the_desktop_opens_without_a_word(typed: str) -> None:
    said = crossdesk(typed)
    assert (said.code, said.out) == (2, "")
    assert "Did you mean `crossdesk`?" in said.err


def test_what_is_like_nothing_leads_to_the_help() -> None:
    said = crossdesk("xyzzy")
    assert said.code == 2
    assert "There is no command 'xyzzy'." in said.err
    assert "`crossdesk --help`" in said.err


def test_the_line_to_type_has_the_state_directory_and_is_json_if_asked_for(tmp_path: Path) -> None:
    said = crossdesk("--state-dir", str(tmp_path), "--json", "submit", "x.jdl")
    assert said.code == 2
    assert said.json["error"]["code"] == "usage"
    assert f"crossdesk --state-dir {tmp_path} job submit x.jdl" in said.json["error"]["remedy"]


@pytest.mark.parametrize("words", [("jdl", "check"), ("job", "list-match"), ("job", "submit")])
def test_a_missing_file_is_said_once(words: tuple[str, str], state_dir: Path) -> None:
    said = crossdesk(*words, "nothing.jdl")
    assert said.code == 1
    assert (said.out + said.err).count("There is no such file") == 1
    assert "description has" not in said.err
    assert "Correct what is marked" not in said.err


_TYPES = r"<\w+|list\[|\{\w+"


def test_the_first_help_shows_no_types_of_the_programming_language() -> None:
    said = crossdesk("--help", COLUMNS="100")
    assert said.code == 0
    assert re.findall(_TYPES, said.out) == []


def test_no_help_of_a_command_shows_types(capsys: pytest.CaptureFixture[str]) -> None:
    helps = dict(_helps(get_command(application()), ["crossdesk"], None, capsys))
    assert {"crossdesk", "crossdesk job submit", "crossdesk site add"} <= set(helps)
    assert {name: found for name, text in helps.items() if (found := re.findall(_TYPES, text))} == {}


def _helps(command: Any, words: list[str], parent: Any, capsys: Any) -> Iterator[tuple[str, str]]:
    """The line of a command and of all below it, each with its help."""
    context = command.make_context(words[-1], ["--help"], parent, resilient_parsing=True)
    command.get_help(context)
    yield " ".join(words), capsys.readouterr().out
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _helps(command.get_command(context, name), [*words, name], context, capsys)


def test_renamed_commands_answer_to_their_old_names_too(broker: Path) -> None:
    assert "list" in crossdesk("desk", "--help").out
    assert "desks" not in crossdesk("broker", "--help").out
    assert crossdesk("broker", "desks", "--json").json == crossdesk("desk", "list", "--json").json == []
    assert "elsewhere" not in crossdesk("job", "--help").out
    for verb in ("elsewhere", "rematch"):
        assert "There is no job" in crossdesk("job", verb, "nonsense").err
