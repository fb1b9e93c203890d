"""Windows of the job's own program, shown by whichever desk offers a display (CB-I2G-03)."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.interactive.channel.x_setup import BadSetup, Setup, read_setup, server_of
from tests.interactive.pair import QUICK, Bench, Screen
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.display]
SHELL = ["/bin/sh", "-c", 'stty -echo; echo ready; while read line; do eval "$line"; done']


def shown(display: dict[str, str], name: str) -> bool:
    """Whether the desk's X server has such a window."""
    words = ["xprop", "-display", display["DISPLAY"], "-name", name, "WM_NAME"]
    asked = subprocess.run(words, env=os.environ | display, capture_output=True, text=True, check=False)
    return asked.returncode == 0 and name in asked.stdout


def offering(display: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The desk's display, whose cookie is where X programs look for it."""
    monkeypatch.setenv("XAUTHORITY", display["XAUTHORITY"])
    return display["DISPLAY"]


async def test_a_program_shows_its_window_at_the_desk_that_attached(
    made: Bench, display: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await made.start_agent(SHELL, x11=True)
    screen = Screen(made.desk(replace(QUICK, display=offering(display, monkeypatch))))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    assert screen.session.status.display.startswith("127.0.0.1:")
    screen.session.write(b"xmessage -name ours -title ours hello & echo started\n")
    await eventually(lambda: shown(display, "ours"))
    (forward,) = screen.session.forwards.views()
    assert (forward.kind, forward.connections, forward.problem) == ("x11", 1, "")
    assert forward.received > 0
    screen.session.write(b"kill $!; wait; exit 3\n")
    await screen.ended()
    assert screen.session.status.exit_code == 3
    await eventually(lambda: not shown(display, "ours"))
    assert made.agent is not None
    await made.agent.wait()
    assert os.listdir(made.job.parent) == ["job"]


async def test_a_window_that_opens_before_a_desk_can_show_it_waits_and_desks_are_told(
    made: Bench, display: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await made.start_agent(["/bin/sh", "-c", "echo ready; xdpyinfo | grep dimensions"], x11=True)
    blind = Screen(made.desk())
    await blind.shows(b"ready")
    await eventually(lambda: blind.session.status.windows == 1)
    made.desk(replace(QUICK, attached=False, display=offering(display, monkeypatch)))
    await blind.shows(b"640x480 pixels")
    await blind.ended()


async def test_a_window_that_no_desk_shows_is_refused_after_the_time_set(made: Bench) -> None:
    script = "echo ready; xdpyinfo; echo code=$?"
    await made.start_agent(["/bin/sh", "-c", script], x11=True, display_wait=0.1)
    screen = Screen(made.desk())
    await screen.shows(b"code=1")
    assert b"No desk showed its windows" in screen.streams[1]


async def test_who_has_not_the_job_s_cookie_opens_no_window(
    made: Bench, display: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await made.start_agent(SHELL, x11=True)
    screen = Screen(made.desk(replace(QUICK, display=offering(display, monkeypatch))))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.display)
    stranger = {"DISPLAY": screen.session.status.display, "XAUTHORITY": str(tmp_path / "none")}
    told = subprocess.run(
        ["xdpyinfo"], env=os.environ | stranger, capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert "belongs to another job" in told.stderr
    (forward,) = screen.session.forwards.views()
    assert forward.connections == forward.received == 0


async def test_a_program_without_a_display_is_told_to_the_desk_that_offers_one(
    made: Bench, display: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await made.start_agent(SHELL)
    screen = Screen(made.desk(replace(QUICK, display=offering(display, monkeypatch))))
    await screen.shows(b"ready")
    await eventually(lambda: "InteractiveX11" in screen.session.forwards.views()[0].problem)
    assert screen.session.status.display == ""


@pytest.mark.parametrize("order", [">", "<"])
async def test_first_words_are_read_as_they_are_written(order: str) -> None:
    said = Setup(order, 11, 0, b"MIT-MAGIC-COOKIE-1", b"0123456789abcdef").words()

    async def read(size: int) -> bytes:
        nonlocal said
        taken, said = said[:size], said[size:]
        return taken

    assert await read_setup(read) == Setup(order, 11, 0, b"MIT-MAGIC-COOKIE-1", b"0123456789abcdef")
    assert said == b""
    said = b"GET / HTTP/1"
    with pytest.raises(BadSetup):
        await read_setup(read)


def test_displays_have_their_places() -> None:
    assert server_of(":3.1") == server_of("unix:3") == "/tmp/.X11-unix/X3"
    assert server_of("far:2") == ("far", 6002)
    assert server_of("[::1]:0.0") == ("::1", 6000)
    assert server_of("/run/x:0") == "/run/x:0"
    with pytest.raises(ValueError, match="names no display"):
        server_of("here")
