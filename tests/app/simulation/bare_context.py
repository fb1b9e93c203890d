"""What a page of replays needs around it, and how long its children may compute."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app.theme.theme import Theme
from app.theme.tokens import Mode

COMPUTED = 480.0
"""Seconds after which a child that computes all the time has failed: a busy machine takes minutes."""


class BareContext:
    """As much of a desk as the page asks for: a theme, and tasks that end with the window."""

    task: asyncio.Task[None]
    """The replay that goes on."""

    def __init__(self, app: QApplication, loop: asyncio.AbstractEventLoop, state_dir: Path) -> None:
        self.theme, self._loop, self.state_dir = Theme(app, Mode.LIGHT), loop, state_dir

    def run(self, work: Coroutine[Any, Any, None], doing: str) -> asyncio.Task[None]:
        task = self._loop.create_task(work, name=doing)
        if doing == "replaying a trace":
            self.task = task
        return task

    finish = run
