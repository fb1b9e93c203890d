"""Names and texts of others on the terminal: shown as they are written, never obeyed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.text import Text

from broker_core.client.printable import printable, printable_text
from broker_core.command_line import output, tables
from broker_core.command_line.invocation import begin
from broker_core.errors import CrossDeskError
from tests.command_line.calling import crossdesk

HOSTILE = "[red]x[/red]\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066\x00\x7f\r"
"""Markup, a title, a cleared screen, C1, turned around text, and what ends a line."""
SHOWN = r"[red]x[/red]\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066\x00\x7f\r"
_WRONG = re.compile(r"[^\t\n\x20-\x7e\u00a1-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\uffff]")


def _is_clean(text: str) -> bool:
    return _WRONG.search(text) is None and all(char.isprintable() or char in "\n\t" for char in text)


def test_what_moves_a_cursor_or_turns_text_around_is_written_as_an_escape() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable_text(f"a\n{HOSTILE}") == f"a\n{SHOWN}"
    every = "".join(map(chr, [*range(0xA0), 0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
                              *range(0x2060, 0x2070), 0xFEFF]))  # fmt: skip
    assert printable(every).isprintable()
    assert printable("añ 漢字 ✔") == "añ 漢字 ✔"


@pytest.mark.parametrize("value", [HOSTILE, Text(HOSTILE, style="bold"), Text("ok ") + Text(HOSTILE, "red")])
def test_tables_and_facts_obey_no_text_however_it_is_styled(
    value: str | Text, capsys: pytest.CaptureFixture[str]
) -> None:
    tables.table(("ID", "NAME"), [("1", value)])
    tables.facts([("Reason", value), (HOSTILE, "x")])
    said = capsys.readouterr().out
    assert _is_clean(said)
    assert said.count(r"\x1b[2J\x9b31m\u202egnp\u2066") == 3
    assert said.count("[red]x[/red]") == 3


def test_messages_and_errors_obey_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    begin([])
    output.say(HOSTILE)
    output.line(HOSTILE)
    output.error(CrossDeskError(HOSTILE, place=HOSTILE, remedy=HOSTILE))
    said = capsys.readouterr()
    assert (said.out, _is_clean(said.err)) == (f"{SHOWN}\n", True)
    assert said.err.count(SHOWN) == 4


@pytest.mark.usefixtures("broker")
def test_planted_names_are_only_shown_by_the_commands_that_tell_of_jobs(tmp_path: Path) -> None:
    hostile = HOSTILE.replace("\x00", "")
    description = tmp_path / "job.jdl"
    description.write_text('Executable = "/bin/true"; Requirements = other.GlueSiteName == "\u202e[red]";')
    sent = crossdesk("job", "submit", str(description), "--name", hostile[:60], "--hold", hostile, "--json")
    assert sent.code == 0, sent.err
    job = sent.json["ids"][0]
    commands = (
        ("job", "list"), ("job", "status", job), ("job", "log", job), ("job", "why", job), ("queue",),
        ("job", "list-match", str(description)), ("job", "files", hostile), ("site", "show", hostile),
        ("job", "submit", str(tmp_path / hostile)), ("slots",),
    )  # fmt: skip
    told = ""
    for words in commands:
        said = crossdesk(*words)
        assert _is_clean(said.out + said.err), (words, said.out, said.err)
        told += said.out
    assert r"[red]x[/red]\x1b]0;owned\x07" in told
