"""A View tab in front of a broker whose answers are written down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.inspector.view.pane import ViewPane
from broker_core.jobs.published.records import FILE
from broker_core.worker.scripts.publish import crossdesk_publish as publish
from tests.app.inspector.recorded import TO_RUNNING, TestContext, row, story


class PublishingJob:
    """A job of which the broker has what the publisher wrote."""

    def __init__(self, desk: TestContext, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = desk
        self.path: Path = desk.client.folder / FILE
        monkeypatch.setenv("CROSSDESK_DATA", str(self.path))
        monkeypatch.setattr(publish, "_sink", publish._Sink())
        monkeypatch.setattr(publish, "_changes", publish._Changes())

    def stands(self, state: str) -> None:
        """The broker says that it is in this state."""
        ended = None if state in ("Running", "Waiting") else row(state)["started"] + 60
        begun = {} if state != "Waiting" else {"started": None}
        self.desk.put(row(state, ended=ended, **begun), story(*TO_RUNNING))

    def publish_all(self) -> None:
        """Some of everything."""
        for epoch in range(1, 41):
            publish.series(epoch, loss=2 / epoch, validation=2.2 / epoch + 0.05, accuracy=1 - 1 / epoch)
        y, x = np.mgrid[-1:1:48j, -1:1:64j]
        for version in range(3):
            publish.array("field", np.sin(4 * x + version) * np.cos(3 * y))
        publish.array("volume", np.arange(24.0).reshape(4, 2, 3))
        publish.array("spectrum", np.abs(np.sin(np.arange(200) / 9)))
        publish.table("layers", ["name", "weights"], [["first", 128], ["second", 64.5]])
        publish.progress(0.4, "epoch 40 of 100")


@pytest.fixture
def job(context: TestContext, monkeypatch: pytest.MonkeyPatch) -> PublishingJob:
    return PublishingJob(context, monkeypatch)


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> ViewPane:
    made = ViewPane(context)
    qtbot.addWidget(made)
    made.resize(480, 760)
    made.show()
    return made
