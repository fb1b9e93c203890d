"""A shell in a terminal, and when it is ready."""

from __future__ import annotations

from tests.interactive.pair import Bench, Screen
from tests.waiting import eventually

SHELL = ["/bin/sh", "-c", 'stty -echo; echo ready; while read line; do eval "$line"; done; exit 7']


async def ready(made: Bench) -> Screen:
    screen = Screen(made.desk())
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen
