"""The Matching tab of a job that has not started tells how its choices fared (SA-UI-01)."""

from __future__ import annotations

import time
from typing import Any

from app.inspector.inspector import Inspector
from app.match.candidates import SITE
from app.match.choices import FAILED
from app.widgets.cells import BADGE
from broker_core.wire.queue import FailedChoice, WhyView
from tests.app.inspector.recorded import JOB, TO_RUNNING, RecordedBroker, TestContext, row, story


class _Choosing(RecordedBroker):
    """A broker whose job waits after one choice failed."""

    next_round = 0.0

    async def why(self, job: str) -> WhyView:
        self.asked.append(f"why {job}")
        failed = [FailedChoice(ces=["here:0/jobmanager-fork-all"], error="the disk is full")]
        return WhyView(job=job, headline="It waits", failed=failed, next_round=self.next_round)


def test_the_tab_of_a_waiting_job_tells_its_failed_choice_and_asks_again_after_the_next_round(
    context: TestContext, qtbot: Any, until: Any
) -> None:
    broker = context.client = _Choosing(context.client.folder)
    broker.next_round = time.time() + 30
    inspector = Inspector(context)
    qtbot.addWidget(inspector)
    inspector.show()
    context.put(row("Waiting", site=""), story(*TO_RUNNING[:2]))
    inspector.show_tab("where")
    inspector.show_jobs([JOB])
    pane: Any = inspector.panes["where"]
    until(lambda: pane.match.candidates.rowCount() == 2)
    told = pane.note.text().replace("\u200b", "").splitlines()[0]
    assert told == "here:0/jobmanager-fork-all did not take it: the disk is full."
    assert pane.match.candidates.index(0, SITE).data(BADGE) == FAILED
    broker.next_round = 0.0
    context.jobs.changed.emit(set())
    until(lambda: broker.asked.count(f"why {JOB}") >= 3)
    context.put(row("Running"), story(*TO_RUNNING))
    until(lambda: pane.match.candidates.index(0, SITE).data(BADGE) == "first")
    assert "did not take it" not in pane.note.text()
