"""The sample that is talked to, from the command line."""

from __future__ import annotations

import re

import pytest

from tests.command_line.calling import crossdesk
from tests.running import RunningBroker

pytestmark = pytest.mark.usefixtures("running_broker")
_LOOK = re.compile(r"\x1b\[[0-9;]*m")


def test_following_it_attaches_and_what_is_typed_is_answered() -> None:
    told = crossdesk("sample", "run", "explore", "--follow", text="help\nwhere\ndraw\nflub\nquit\n")
    assert told.code == 0, told.out + told.err
    assert "Ctrl-] leaves it" in told.err
    plain = _LOOK.sub("", told.out)
    for answer in ("rows and columns of your terminal", "  machine  ", "flub is no command here", "Goodbye."):
        assert answer in plain
    assert "\x1b[1;32mexplore\x1b[0m> " in told.out
    assert told.out.count("\x1b[48;2;") == 23 * 64
    offered = plain[plain.index("  where  ") : plain.index("  quit  ")].splitlines()
    assert max(map(len, offered)) <= 45, "it fits into the inspector as it is at first"


def test_without_following_it_is_told_how_to_attach(running_broker: RunningBroker) -> None:
    told = crossdesk("sample", "run", "explore")
    job = told.out.strip()
    assert told.code == 0
    assert f"crossdesk job attach {job}" in " ".join(told.err.split())
    attached = crossdesk("job", "attach", job, text="quit\n")
    assert (attached.code, "Goodbye." in attached.out) == (0, True)
