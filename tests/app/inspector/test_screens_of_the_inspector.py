"""Pictures of every tab in every condition, light and dark, narrow and wide, for people to look at."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.inspector.inspector import Inspector
from app.stores.link import ConnectionState
from broker_core.wire.views import TransferView
from tests.app.inspector.pictures import picture, shoot
from tests.app.inspector.recorded import (
    BEGUN,
    JOB,
    OTHER,
    TO_FAILED,
    TO_RUNNING,
    TestContext,
    row,
    story,
)

Until = Callable[..., Any]


@pytest.fixture
def inspector(qtbot: QtBot, context: TestContext) -> Inspector:
    made = Inspector(context)
    qtbot.addWidget(made)
    made.show()
    return made


def fill(folder: Path) -> None:
    lines = [
        f"\x1b[32m[epoch {n:3d}]\x1b[0m loss {math.exp(-n / 80):.5f}  accuracy {1 - math.exp(-n / 60):.4f}"
        for n in range(400)
    ]
    lines += ["Traceback (most recent call last):", '  File "train.py", line 88, in <module>',
              "ValueError: digits.csv: row 12 has 63 columns, 64 expected"]  # fmt: skip
    (folder / "out.txt").write_text("\n".join(lines) + "\n")
    (folder / "err.txt").write_text("warning: slow disk\n")
    rows = "".join(f"{n},{math.exp(-n / 80):.5f},{math.exp(-n / 90) + 0.1:.5f}\n" for n in range(400))
    (folder / "losses.csv").write_text("epoch,train loss,test loss\n" + rows)
    picture(folder / "weights.png")


def test_pictures_of_files_on_their_way(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    moving = inspector.header.moving
    for state, to_site in (("Ready", True), ("Running", False)):
        context.put(row(state), story(*TO_RUNNING))
        inspector.show_jobs([JOB])
        detail = context.client.details[JOB]
        context.client.details[JOB] = detail.model_copy(
            update={"transfer": TransferView(to_site=to_site, done=7_300_100, total=20_000_100)}
        )
        until(lambda: inspector.panes["story"].showing_content())
        words = f"{'Input sent' if to_site else 'Output brought'}: 7.0 MiB of 19.1 MiB"
        until(lambda words=words: moving.isVisible() and moving.words.text() == words, 15)
        assert moving.bar.value() == 365
    assert shoot(inspector, context, "moving", turn)
    context.client.details[JOB] = detail.model_copy(update={"transfer": None})
    until(lambda: not moving.isVisible())
    context.put(row("Done", exit_code=0, ended=BEGUN + 392), story(*TO_FAILED))
    inspector.show_jobs([JOB])
    assert not moving.isVisible()


def test_pictures_of_a_running_and_an_ended_job(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    fill(context.client.folder)
    assert shoot(inspector, context, "empty", turn)
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    until(lambda: inspector.panes["story"].showing_content())
    assert shoot(inspector, context, "story-running", turn)
    context.put(row("Done", exit_code=7, ended=BEGUN + 392), story(*TO_FAILED, exit_code=7))
    for name, pane in inspector.panes.items():
        inspector.show_tab(name)
        other = name in ("console", "view", "components")
        until(lambda pane=pane, other=other: pane.showing_content() or other)
        until(lambda pane=pane: not pane._refresh.under_way)
        turn()
        assert all(path.stat().st_size > 3000 for path in shoot(inspector, context, f"{name}-ended", turn))


def test_pictures_of_the_logs_and_of_each_kind_of_output(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    fill(context.client.folder)
    context.put(row("Done", exit_code=7, ended=BEGUN + 392), story(*TO_FAILED, exit_code=7))
    inspector.show_tab("logs")
    inspector.show_jobs([JOB])
    logs: Any = inspector.panes["logs"]
    until(lambda: logs.feed is not None and logs.feed.complete)
    logs.show_file("out.txt")
    until(lambda: logs.feed.path == "out.txt" and logs.feed.complete)
    logs.go_to_error()
    until(lambda: logs.finder.told.text().startswith("First error"))
    assert shoot(inspector, context, "logs-first-error", turn)
    inspector.show_tab("output")
    output: Any = inspector.panes["output"]
    until(lambda: output.list.files)
    for path, kind in (("losses.csv", "table"), ("weights.png", "image"), ("err.txt", "text")):
        output.list.choose(path)
        until(lambda kind=kind: output.preview.kind() == kind)
        assert shoot(inspector, context, f"output-{kind}", turn)


def test_pictures_of_many_jobs_and_of_a_lost_broker(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.put(row("Aborted", id=OTHER), [])
    inspector.show_jobs([JOB, OTHER])
    assert shoot(inspector, context, "many", turn)
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    until(lambda: inspector.panes["story"].showing_content())
    context.link.set(ConnectionState.RECONNECTING, "The broker ended; it is being started again.")
    assert shoot(inspector, context, "disconnected", turn)
