"""The View tab: curves, arrays, tables and progress of a job, live and after its end."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QImage

from app.inspector.view.pane import ViewPane
from broker_core.errors import CrossDeskError
from broker_core.worker.scripts.publish import crossdesk_publish as publish
from tests.app.inspector.recorded import JOB, OTHER, TestContext
from tests.app.inspector.view.conftest import PublishingJob

Until = Callable[..., Any]


def shown(pane: ViewPane, until: Until) -> ViewPane:
    """The pane with the job's data in it."""
    pane.show_job(JOB)
    until(lambda: pane.curves is not None and pane.arrays is not None and pane.showing_content())
    return pane


def test_all_that_was_published_is_there_without_any_settings(
    job: PublishingJob, pane: ViewPane, until: Until
) -> None:
    job.publish_all()
    job.stands("Done")
    shown(pane, until)
    assert pane.curves is not None
    assert pane.arrays is not None
    assert [one.name for one in pane.curves.curves] == ["loss", "validation", "accuracy"]
    assert pane.curves.words_at(2.2) == "x 2   loss 1   validation 1.15   accuracy 0.5"
    assert pane.arrays.chooser.currentText() == "field"
    assert pane.arrays.image.canvas.image.size().toTuple() == (64, 48)
    assert pane.tables.cells.model().index(1, 1).data() == "64.5"
    assert (pane.progress.value(), pane.doing.text()) == (400, "40%   epoch 40 of 100")
    assert not pane.remark.isVisible()


def test_a_running_program_is_followed_and_one_that_ended_is_not_asked_again(
    job: PublishingJob, context: TestContext, pane: ViewPane, until: Until
) -> None:
    job.stands("Running")
    publish.series(1, loss=3.0)
    shown(pane, until)
    publish.series(2, loss=2.0)
    until(lambda: len(pane.recording.curves["loss"]) == 2)
    publish.series(3, loss=1.0)
    job.stands("Done")
    until(lambda: len(pane.recording.curves["loss"]) == 3)
    until(lambda: not pane._again.isActive())
    assert pane.curves is not None
    (item,) = pane.curves._items
    until(lambda: [list(one) for one in item.getData()] == [[1, 2, 3], [3, 2, 1]])


def test_logarithmic_axes_leave_out_what_they_cannot_show(
    job: PublishingJob, pane: ViewPane, until: Until
) -> None:
    publish.points({"gain": [0.0, 10.0, 1000.0]}, [0, 1, 100])
    job.stands("Done")
    shown(pane, until)
    assert pane.curves is not None
    pane.curves.log_y.click()
    pane.curves.log_x.click()
    (item,) = pane.curves._items
    assert [one.tolist() for one in item.getData()] == [[0, 2], [1, 3]]
    pane.curves.log_x.click()
    pane.curves.log_y.click()
    assert item.getData()[1].tolist() == [0, 10, 1000]


def test_who_zooms_keeps_the_part_and_sees_it_in_full(
    job: PublishingJob, pane: ViewPane, until: Until
) -> None:
    publish.points({"noise": np.sin(np.arange(100_000.0)).tolist()})
    job.stands("Done")
    shown(pane, until)
    assert pane.curves is not None
    (item,) = pane.curves._items
    until(lambda: 0 < len(item.getData()[0]) < 5000)
    box = pane.curves.plot.getViewBox()
    box.setRange(xRange=(500, 520), padding=0)
    box.sigRangeChangedManually.emit([True, True])
    until(lambda: len(item.getData()[0]) < 30)
    assert item.getData()[0][0] <= 500
    pane.curves.fit_button.click()
    assert len(item.getData()[0]) > 900


def test_planes_versions_and_distributions_of_arrays_can_be_chosen(
    job: PublishingJob, pane: ViewPane, until: Until
) -> None:
    job.publish_all()
    job.stands("Done")
    arrays = shown(pane, until).arrays
    assert arrays is not None
    assert arrays.frame.words.text() == "Version 3 of 3"
    newest = arrays.values
    arrays.frame.slider.setValue(0)
    until(lambda: arrays.values is not newest)
    assert arrays.values is not None
    y, x = np.mgrid[-1:1:48j, -1:1:64j]
    assert np.allclose(arrays.values, np.sin(4 * x) * np.cos(3 * y))
    arrays.chooser.setCurrentText("volume")
    assert (arrays.plane.isVisible(), arrays.frame.isVisible()) == (True, False)
    arrays.plane.slider.setValue(2)
    assert arrays.about.text() == "4 × 2 × 3, 12 to 17"
    arrays.as_distribution.click()
    edges, counts = arrays._line.getData()
    assert (len(edges), int(counts.sum())) == (len(counts) + 1, 6)
    arrays.as_distribution.click()
    arrays.chooser.setCurrentText("spectrum")
    assert len(arrays._line.getData()[0]) == 200


def test_plots_and_values_are_saved_as_files(
    job: PublishingJob, pane: ViewPane, until: Until, tmp_path: Path, context: TestContext
) -> None:
    job.publish_all()
    job.stands("Done")
    shown(pane, until)
    assert pane.curves is not None
    assert pane.arrays is not None
    pane.curves.write_picture(tmp_path / "curves.png")
    pane.arrays.write_picture(tmp_path / "field.png")
    until(lambda: len(context.notices) == 2)
    assert not QImage(str(tmp_path / "curves.png")).isNull()
    assert QImage(str(tmp_path / "field.png")).size().toTuple() == (64, 48)
    from app.widgets.export import export_to

    export_to(context, tmp_path / "curves.csv", "row", pane.curves.gather)
    export_to(context, tmp_path / "field.csv", "row", pane.arrays.gather)
    until(lambda: len(context.notices) == 4)
    rows = list(csv.reader((tmp_path / "curves.csv").read_text().splitlines()))
    assert (rows[0], len(rows)) == (["x", "loss", "validation", "accuracy"], 41)
    assert len((tmp_path / "field.csv").read_text().splitlines()) == 49
    pane.curves.write_picture(tmp_path / "no folder" / "curves.png")
    until(lambda: len(context.notices) == 5)
    assert "cannot be saved" in context.notices[-1]


@pytest.mark.parametrize(
    ("state", "heading", "button"),
    [
        ("Waiting", "It has not started", ""),
        ("Running", "Nothing published yet", "How programs publish"),
        ("Done", "Nothing was published", "How programs publish"),
    ],
)
def test_a_job_that_publishes_nothing_says_why_the_page_is_empty(
    job: PublishingJob, pane: ViewPane, context: TestContext, turn: Callable[[], None],
    state: str, heading: str, button: str,
) -> None:  # fmt: skip
    job.stands(state)
    pane.show_job(JOB)
    turn()
    assert (pane.empty_state.heading.text(), pane.empty_state.button.text()) == (heading, button)


def test_what_makes_no_sense_is_told(job: PublishingJob, pane: ViewPane, turn: Callable[[], None]) -> None:
    job.path.write_text("hello\nworld\n")
    job.stands("Done")
    pane.show_job(JOB)
    turn()
    assert pane.empty_state.heading.text() == "Nothing that can be shown"
    assert pane.empty_state.sentence.text() == (
        "2 lines could not be read. The first: It is no line of JSON."
    )


def test_an_answer_that_fails_is_told_and_asked_again(
    job: PublishingJob, pane: ViewPane, context: TestContext, until: Until, turn: Callable[[], None]
) -> None:
    job.publish_all()
    job.stands("Done")
    context.client.error = CrossDeskError("The disk is gone.")
    pane.show_job(JOB)
    turn()
    assert pane.empty_state.heading.text() == "This could not be read"
    context.client.error = None
    pane.empty_state.button.click()
    until(pane.showing_content)


def test_another_job_does_not_show_what_the_one_before_published(
    job: PublishingJob, pane: ViewPane, until: Until
) -> None:
    job.publish_all()
    job.stands("Done")
    shown(pane, until)
    job.path.unlink()
    pane.show_job(OTHER)
    assert pane.recording.records == 0
    until(lambda: not pane.showing_content())


def test_a_job_that_was_started_again_begins_anew(job: PublishingJob, pane: ViewPane, until: Until) -> None:
    job.publish_all()
    job.stands("Running")
    shown(pane, until)
    job.path.write_bytes(b'{"series":{"loss":7}}\n')
    until(lambda: len(pane.recording.curves.get("loss", ())) == 1 and pane.recording.records == 1)
    assert list(pane.recording.curves) == ["loss"]
