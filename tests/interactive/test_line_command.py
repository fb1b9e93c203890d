"""`crossdesk job attach` with programs that read lines: from a pipe, and at a terminal that edits them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.interactive.keyboard import Keyboard
from tests.running import RunningBroker
from tests.waiting import wait_until

TEXT = """Executable = "/bin/sh"; Interactive = true; InteractiveAgent = "{agent}";
Arguments = "-c 'echo ready; while read line; do eval $line; done; echo over; exit 7'";"""


@pytest.fixture(params=["lines", "bypass"])
def job(request: pytest.FixtureRequest, running_broker: RunningBroker, tmp_path: Path) -> str:
    (tmp_path / "lines.jdl").write_text(TEXT.format(agent=request.param))
    told = crossdesk("job", "submit", "--json", str(tmp_path / "lines.jdl"))
    assert told.code == 0, told.out + told.err
    return str(told.json["ids"][0])


def test_a_pipe_that_ends_is_the_end_of_the_input(job: str) -> None:
    told = crossdesk("job", "attach", job, text="echo $((6*7))\necho wrong >&2\n")
    assert (told.code, told.out) == (7, "ready\n42\nover\n")
    assert "wrong\n" in told.err


def test_at_a_terminal_lines_are_edited_and_shown_and_keys_mean_what_they_mean(job: str) -> None:
    first = Keyboard("job", "attach", job)
    wait_until(first.shows(b"ready\r\n"))
    first.type(b"echo on\x7f\x7fonce$((1 + 1))\r")
    wait_until(first.shows(b"\nonce2\r\n"))
    first.type(b"\x1d")
    wait_until(first.shows(b"Left."))
    assert first.process.wait(60) == 0
    first.close()
    second = Keyboard("job", "attach", job)
    wait_until(second.shows(b"once2\r\n"))
    second.type(b"trap 'echo asked' INT\r")
    second.type(b"echo trapped\r")
    wait_until(second.shows(b"\ntrapped\r\n"))
    second.process.send_signal(signal.SIGINT)  # what Ctrl-C is at a terminal that is the shell's own
    second.type(b"echo\r")
    wait_until(second.shows(b"\nasked\r\n"))
    second.type(b"\x04")
    wait_until(second.shows(b"\nover\r\n"))
    assert second.process.wait(60) == 7
    second.close()
