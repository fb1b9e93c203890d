"""Consoles in tabs."""

from __future__ import annotations

from functools import partial

from app.console.pane import ConsolePane
from app.console.view import ConsoleView
from app.inspector.inspector import Inspector
from tests.app.console.programs import at_hand
from tests.app.windows import Stage
from tests.waiting import eventually


async def in_a_tab(stage: Stage, job: str) -> tuple[Inspector, ConsoleView]:
    """Open a job in a tab of the main area, with its console in front."""
    stage.window.open_job(job)
    page = stage.window.tabs.currentWidget()
    assert isinstance(page, Inspector)
    page.show_tab("console")
    pane = page.panes["console"]
    assert isinstance(pane, ConsolePane)
    await eventually(lambda: pane.views.get(job), what="the console opens")
    view = pane.views[job]
    await eventually(partial(at_hand, view), what="it is connected")
    return page, view
