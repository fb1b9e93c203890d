"""Tables without a button of their own are exported from their context menus, as they are shown."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.statistics.pane import FactsTable, StageTable, StatisticsPane
from app.widgets.export import as_shown
from broker_core.wire.views import StageCounts, Statistics
from tests.app.windows import Stage, play
from tests.waiting import eventually


def test_names_of_rows_and_columns_and_plain_numbers_are_written(qapp: QApplication) -> None:
    stages = StageTable()
    counts = StageCounts(submitted=1200, accepted=600, matched=0, run=0, completed=0, cleared=0)
    stages.show_statistics(Statistics(kinds={"sequential": counts}, months=[], sizes=[], waits=[]))
    written = as_shown(stages)
    assert written.header == ["", "All jobs", "%", "sequential", "%"]
    assert list(written.rows)[:2] == [
        ["Submitted", "1200", "100.0", "1200", "100.0"],
        ["Accepted", "600", "50.0", "600", "50.0"],
    ]
    sites = FactsTable("Use by site", "Site", "Jobs", "CPU hours")
    sites.show_rows([("a, b", "1,000,000", "1,234.50"), ("=1", "2", "0.10")])
    sites.setColumnHidden(1, True)
    assert as_shown(sites).header == ["Site", "CPU hours"]
    assert list(as_shown(sites).rows) == [["a, b", "1234.50"], ["=1", "0.10"]]


@pytest.mark.expected_log(r"\d+ failed")
def test_statistics_of_real_jobs_are_saved(qapp: QApplication, broker: Path, tmp_path: Path) -> None:
    file = tmp_path / "stages.csv"

    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.finished("fails")
        on.context.trigger("view.statistics")
        pane = on.window.tabs.currentWidget()
        assert isinstance(pane, StatisticsPane)
        await eventually(lambda: pane.table.columnCount() > 2, what="the stages are shown")
        for table in (pane.table, pane.sites, pane.reasons):
            assert table.contextMenuPolicy() is Qt.ContextMenuPolicy.ActionsContextMenu
            assert [one.text().startswith("Export ") for one in table.actions()] == [True]
        pane.export.save(file)
        await eventually(lambda: file.exists() and file.read_text().count("\n") == 7, what="it is written")

    play(qapp, broker, scenario)
    header, first, *_ = csv.reader(file.read_text().splitlines())
    assert header[:3] == ["", "All jobs", "%"]
    assert first[:3] == ["Submitted", "1", "100.0"]
