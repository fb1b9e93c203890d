"""An interactive job that no place has room for: refused with the reason, and what can be done about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from app.console.pane import ConsolePane
from app.shell.toasts import Toast
from broker_core.client.prepare import prepare
from broker_core.client.programs.as_batch import batch_text
from broker_core.jobs.states import JobState
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually

NOWHERE = (
    'Executable = "/bin/echo"; Arguments = "as batch"; JobType = "Interactive"; '
    "Requirements = other.GlueCEStateFreeCPUs > 100000 || !isUndefined(self.Marked);"
)


@pytest.mark.expected_log("An interactive job cannot start here at once")
def test_a_refused_job_says_why_and_is_queued_as_batch(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.ready()
        prepared = await prepare(NOWHERE, Path("/"))
        job = (await stage.context.client.submit_prepared(prepared)).ids[0]
        offers = await eventually(lambda: notice_of(stage), what="a notice offers both, for a while")
        assert offers == ["Resubmit", "Queue as batch job"]
        await eventually(lambda: stage.ended(job), what="it is refused")
        stage.context.show_job(job)
        assert stage.window.inspector is not None
        stage.window.inspector.show_tab("console")
        pane = stage.window.inspector.panes["console"]
        assert isinstance(pane, ConsolePane)
        await eventually(lambda: pane.empty_state.other.isVisible(), what="the pane offers what can be done")
        assert pane.empty_state.button.text() == "Resubmit"
        assert "cannot start here at once" in pane.empty_state.sentence.text()
        assert "goes into files" in pane.empty_state.sentence.text(), "what the second button does"
        pane.empty_state.other.click()
        await eventually(lambda: len(stage.context.jobs) == 2, what="a second job is there")
        jobs = stage.context.jobs
        again = next(row for row in map(jobs.by_number, jobs.numbers()) if row["id"] != job)
        assert not again["interactive"]
        await eventually(lambda: (jobs.row(again["id"]) or {})["state"] == JobState.WAITING)

    play(qapp, running_broker.state_dir, scenario)


def notice_of(stage: Stage) -> list[str]:
    """The actions of the notice about the refusal."""
    for toast in stage.window.findChildren(Toast):
        if "could not start" in toast.accessibleName():
            return [button.text() for button in toast.findChildren(QPushButton)]
    return []


@pytest.mark.parametrize(
    ("written", "batch"),
    [
        ('JobType = "Interactive"; StdOutput = "o"; StdError = "e";', 'StdOutput = "o"; StdError = "e";'),
        (
            'Interactive = true; // now\nInteractiveAgent = "bypass";\nStdOutput = "o";\nStdError = "e";',
            '// now\nStdOutput = "o";\nStdError = "e";',
        ),
        (
            'JobType = {"Parallel", "interactive"}; StdOutput = "o"; StdError = "e";',
            'JobType = {"Parallel"}; StdOutput = "o"; StdError = "e";',
        ),
        (
            'JobType = "Normal"; StdOutput = "o"; StdError = "e";',
            'JobType = "Normal"; StdOutput = "o"; StdError = "e";',
        ),
    ],
)
def test_what_makes_a_description_interactive_is_left_out(written: str, batch: str) -> None:
    assert batch_text(written).strip() == batch


def test_what_the_console_would_have_shown_goes_into_files() -> None:
    text = batch_text('[\n  Executable = "a";\n  Interactive = true;\n]')
    assert text == '[\n  Executable = "a";\n  StdOutput = "output.txt";\n  StdError = "errors.txt";\n]'
