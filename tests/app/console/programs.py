"""Programs in a console, and consoles of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from app.console.pane import ConsolePane
from app.console.view import ConsoleView
from broker_core.client.interactive import SessionState
from broker_core.client.prepare import prepare
from tests.app.windows import Stage
from tests.waiting import eventually

SHELL = 'Environment = {"PS1=ready> "};'


LINES = 'InteractiveAgent = "bypass"; Arguments = "-c \'while read line; do echo got $line; done\'";'


async def opened(stage: Stage, text: str) -> ConsoleView:
    """Submit a description and open the console of its job."""
    await stage.ready()
    prepared = await prepare(f'Executable = "/bin/sh"; JobType = "Interactive"; {text}', Path("/"))
    job = (await stage.context.client.submit_prepared(prepared)).ids[0]
    return await shown(stage, job)


async def shown(stage: Stage, job: str) -> ConsoleView:
    """Open the console of a job that is there."""
    await eventually(lambda: stage.context.jobs.row(job) is not None)
    stage.context.show_job(job)
    inspector = stage.window.inspector
    assert inspector is not None
    inspector.show_tab("console")
    pane = inspector.panes["console"]
    assert isinstance(pane, ConsolePane)
    await eventually(lambda: pane.views.get(job), what="the console opens")
    view = pane.views[job]
    await eventually(partial(at_hand, view), what="it is connected")
    return view


def at_hand(view: ConsoleView) -> bool:
    """It is connected, and knows who has the input: from then on it can be typed at."""
    return view.status.state is SessionState.CONNECTED and view.status.viewers > 0
