"""Curves of several jobs that really ran, in one plot of a real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.inspector.compare.page import ComparePage
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play
from tests.waiting import eventually

_TEXT = """
Executable = "/bin/sh"; StdOutput = "out.txt"; JobName = "run-_PARAM_";
Arguments = "-c '%s'";
"""
_PUBLISHES = "crossdesk-publish series -x 1 loss=_PARAM_.5; crossdesk-publish series -x 2 loss=_PARAM_.25"


async def _compared(on: Stage, *commands: str) -> ComparePage:
    await on.ready()
    items = [SubmissionItem(description=_TEXT % one, values=["1", "2"]) for one in commands]
    receipt = await on.context.client.submit(Submission(key=f"curves-{len(items):012d}", items=items))
    await eventually(lambda: all(on.ended(job) for job in receipt.ids), 90)
    on.window.show_jobs(list(receipt.ids))
    await eventually(lambda: sorted(on.window.jobs.view.chosen()) == sorted(receipt.ids))
    on.context.trigger("job.compare")
    page = on.window.tabs.currentWidget()
    assert isinstance(page, ComparePage)
    await eventually(lambda: len(page.jobs) == len(receipt.ids))
    page.show_tab("curves")
    return page


@pytest.mark.parametrize("silent", [False, True])
def test_curves_of_several_runs_share_a_plot(silent: bool, qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        page = await _compared(on, _PUBLISHES, *(["true"] if silent else []))
        await eventually(lambda: page.curves.curves is not None and len(page.curves.curves.curves) == 2)
        shown = page.curves.curves
        assert shown is not None
        assert {one.name.partition(",")[0] for one in shown.curves} == {"loss"}
        assert sorted(one.curve.points()[1].tolist() for one in shown.curves) == [[1.5, 1.25], [2.5, 2.25]]
        assert len({one.run for one in shown.curves}) == 2
        assert page.curves.remark.isVisible() == silent
        assert page.heads.isHidden()
        page.show_tab("overview")
        assert page.heads.isVisible()
        page.close_all()

    play(qapp, broker, scenario)
