"""Every table is exported as CSV with exact values, from a real broker."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.widgets.csv_file import cell
from app.widgets.export import ExportButton
from tests.app.windows import Stage, play
from tests.waiting import eventually

NEVER = 'Executable = "/bin/true";\nRequirements = other.GlueCEInfoTotalCPUs >= 100000;\n'


async def _written(on: Stage, button: ExportButton, path: Path) -> list[dict[str, str]]:
    said: list[str] = []
    on.context.noticed.connect(lambda notice: said.append(notice.text))
    button.save(path)
    await eventually(lambda: any(str(path) in text for text in said))
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_resources_queue_decisions_matches_and_attributes_are_written(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    from broker_core.wire.submission import Submission, SubmissionItem

    async def scenario(on: Stage) -> None:
        await on.ready()
        item = SubmissionItem(description=NEVER, name="=never")
        [waiting] = (await on.context.client.submit(Submission(key="never-in-a-test", items=[item]))).ids
        on.context.trigger("view.resources")
        pane = on.window.tabs.currentWidget()
        await eventually(lambda: pane.table.rowCount() == 1 and pane.detail.shown)
        [row] = await _written(on, pane.export, tmp_path / "resources.csv")
        assert row["state"] == "Up"
        assert row["ce"].startswith("localhost:")
        assert int(row["total_cpus"]) > 0
        [attributes] = pane.detail.findChildren(ExportButton)
        told = await _written(on, attributes, tmp_path / "attributes.csv")
        assert "GlueCEUniqueID" in {one["attribute"] for one in told}
        on.context.trigger("view.scheduler")
        pane = on.window.tabs.currentWidget()
        await eventually(lambda: pane.queue.rowCount() == 1 and pane.decisions.known)
        [row] = await _written(on, pane.export_queue, tmp_path / "queue.csv")
        assert (row["id"], row["name"]) == (waiting, "'=never")
        told = await _written(on, pane.export_decisions, tmp_path / "decisions.csv")
        assert waiting in {one["job"] for one in told}
        await eventually(lambda: on.window.jobs.view.choose(waiting))
        on.window.tabs.setCurrentWidget(on.window.jobs)
        on.context.trigger("view.match")
        page = on.window.tabs.currentWidget()
        await eventually(lambda: page.match.report and page.match.report.known)
        [row] = await _written(on, page.match.export, tmp_path / "matches.csv")
        assert (row["place"], row["matches"]) == ("1", "False")
        assert "CPUs" in row["why"]

    play(qapp, broker, scenario)


@pytest.mark.expected_log("The table cannot be saved")
def test_a_file_that_cannot_be_written_is_told(qapp: QApplication, broker: Path, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        said: list[str] = []
        on.context.noticed.connect(lambda notice: said.append(notice.text))
        on.context.trigger("view.resources")
        pane = on.window.tabs.currentWidget()
        await eventually(lambda: pane.table.rowCount())
        pane.export.save(tmp_path / "missing" / "resources.csv")
        await eventually(lambda: any("cannot be saved: No such file" in text for text in said))

    play(qapp, broker, scenario)


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [("=1+1", "name", "'=1+1"), ("-x", "id", "-x"), (-1.5, "rank", "-1.5"), (None, "rank", ""),
     (["a", "b"], "resources", "a b")],
)  # fmt: skip
def test_no_cell_is_a_formula(value: object, name: str, text: str) -> None:
    assert cell(value, name) == text
