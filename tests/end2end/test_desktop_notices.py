"""Notices as a real notification daemon shows them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator

import pytest

from app.shell.news import show
from tests.end2end.screen import Screen
from tests.waiting import wait_until

pytestmark = pytest.mark.display


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session bus with dunst on a screen of its own."""
    screen = Screen()
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert bus.stdout is not None
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    daemon = subprocess.Popen(["dunst"], env={**os.environ, "DISPLAY": screen.name}, **quiet)
    yield
    for process in (daemon, bus):
        process.terminate()
        process.wait(60)
    bus.stdout.close()
    screen.close()


def _shown() -> list[str]:
    """Texts of the notices that were shown and closed."""
    subprocess.run(["dunstctl", "close-all"], check=True, timeout=60)
    said = subprocess.run(["dunstctl", "history"], capture_output=True, check=True, timeout=60).stdout
    return [one["body"]["data"] for one in json.loads(said)["data"][0]]


def test_a_notice_is_shown_and_its_text_is_no_markup(session: None) -> None:
    wait_until(lambda: show("Job <b>mine</b> is done, exit 0"), what="the desktop takes a notice")
    wait_until(lambda: "Job &lt;b&gt;mine&lt;/b&gt; is done, exit 0" in _shown(), what="the notice was shown")


def test_without_a_desktop_nothing_is_shown_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    assert show("Job mine is done") is False
