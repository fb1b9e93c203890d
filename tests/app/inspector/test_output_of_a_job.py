"""The Output tab: files of every kind looked at, saved, and handed out."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.inspector.output.file_list import urls_of
from app.inspector.output.pane import OutputPane
from app.inspector.output.table_data import across_of, read_table
from app.inspector.save_files import save_to
from app.theme.tokens import Mode
from app.widgets.plots.thinning import thinned
from broker_core.jobs.outcome import may_have_output
from broker_core.wire.views import LeftFileView, LeftView
from tests.app.inspector.pictures import picture
from tests.app.inspector.recorded import BEGUN, JOB, TO_FAILED, TO_RUNNING, TestContext, row, story

SCREENS = Path(__file__).parents[3] / "build" / "screenshots"
Until = Callable[..., Any]
CELL = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> OutputPane:
    made = OutputPane(context)
    qtbot.addWidget(made)
    made.resize(420, 700)
    made.show()
    return made


@pytest.fixture
def folder(context: TestContext) -> Path:
    context.put(row("Done", exit_code=0, ended=BEGUN + 392), story(*TO_FAILED))
    return context.client.folder


def test_how_long_ago_a_file_changed_moves_on(
    pane: OutputPane, folder: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.dat", "b.dat"):
        (folder / name).write_text("x\n")
    pane.show_job(JOB)
    until(lambda: len(pane.list.files) == 2)
    begun = pane.list.files["a.dat"].modified
    monkeypatch.setattr("app.inspector.output.file_list.time.time", lambda: begun + 20.5)
    item = pane.list.topLevelItem(0)
    assert item is not None
    until(lambda: item.text(3) == "20 s ago")


def choose(pane: OutputPane, until: Until, path: str) -> None:
    until(lambda: path in pane.list.files)
    pane.list.choose(path)


def test_files_are_listed_with_results_first(pane: OutputPane, folder: Path, until: Until) -> None:
    for name in ("out.txt", "err.txt", "z-result.dat"):
        (folder / name).write_text("x\n")
    pane.show_job(JOB)
    until(lambda: len(pane.list.files) == 3)
    assert list(pane.list.files) == ["z-result.dat", "out.txt", "err.txt"]


def test_input_files_are_no_results_and_are_shown_when_asked_for(
    pane: OutputPane, context: TestContext, folder: Path, until: Until
) -> None:
    for name in ("analyse.py", "run.csv", "result.csv"):
        (folder / name).write_text("x\n")
    context.client.roles = {"analyse.py": "input", "run.csv": "input"}
    pane.show_job(JOB)
    until(lambda: list(pane.list.files) == ["result.csv"])
    assert pane.inputs.text() == "Show 2 input files"
    pane.inputs.click()
    assert list(pane.list.files) == ["result.csv", "analyse.py", "run.csv"]
    last = pane.list.topLevelItem(2)
    assert last is not None
    assert last.text(1) == "input file"
    assert pane.inputs.text() == "Hide 2 input files"
    context.client.roles = {}
    pane.refresh()
    until(lambda: pane.inputs.isHidden())


def test_text_is_shown_as_text_and_its_beginning_if_it_is_long(
    pane: OutputPane, folder: Path, until: Until
) -> None:
    (folder / "long.txt").write_text("a line\n" * 100_000)
    pane.show_job(JOB)
    until(lambda: pane.preview.kind() == "text")
    assert "more. The Logs tab shows all of it." in pane.preview.text.toPlainText()


def test_an_image_is_fitted_and_can_be_zoomed(pane: OutputPane, folder: Path, until: Until) -> None:
    picture(folder / "map.png")
    pane.show_job(JOB)
    until(lambda: pane.preview.kind() == "image")
    assert pane.preview.image.canvas.shown_scale() == 1.0
    pane.preview.image.zoom(2.0)
    assert pane.preview.image.canvas.shown_scale() == 2.0
    assert "200 %" in pane.preview.image.told.text()


def test_a_broken_image_says_so_and_offers_another_program(
    pane: OutputPane, folder: Path, until: Until
) -> None:
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    pane.show_job(JOB)
    until(lambda: pane.preview.empty_state.heading.text() == "This image cannot be shown")
    assert pane.preview.empty_state.button.text() == "Open outside"


def test_a_csv_is_drawn_over_its_rising_column_and_shown_as_a_table(
    pane: OutputPane, folder: Path, until: Until
) -> None:
    rows = "".join(f"{n},{100 - n},{n % 7},name{n}\n" for n in range(100))
    (folder / "losses.csv").write_text("epoch,train loss,test loss,label\n" + rows)
    pane.show_job(JOB)
    until(lambda: pane.preview.kind() == "table")
    plot = pane.preview.table.plot
    assert plot is not None
    assert plot.accessibleName() == "Plot of train loss, test loss over epoch"
    pane.preview.table.as_table.click()
    model = pane.preview.table.cells.model()
    assert (model.rowCount(), model.columnCount()) == (100, 4)
    assert model.index(99, 3).data() == "name99"


def test_a_growing_file_is_shown_anew_as_it_grows(
    pane: OutputPane, context: TestContext, until: Until
) -> None:
    context.client.growing = True
    path = context.client.folder / "notes.txt"
    path.write_text("first\n")
    context.put(row("Running"), story(*TO_RUNNING))
    pane.show_job(JOB)
    until(lambda: "first" in pane.preview.text.toPlainText())
    path.write_text("first\nsecond\n")
    until(lambda: "second" in pane.preview.text.toPlainText())
    assert not pane.all.isEnabled()


def test_each_condition_without_files_has_its_own_words(
    pane: OutputPane, context: TestContext, until: Until
) -> None:
    said = []
    for state in ("Waiting", "Running", "Done"):
        context.put(row(state), story(*TO_RUNNING))
        pane.show_job(None)
        pane.show_job(JOB)
        until(lambda: pane.empty_state.heading.text() not in ("", "No job selected"))
        said.append(pane.empty_state.heading.text())
        pane.empty_state.say("", "", "")
    assert said == ["Not yet", "No files yet", "No files"]


def test_a_file_is_saved_where_the_user_said(
    context: TestContext, folder: Path, loop: Any, tmp_path: Path
) -> None:
    (folder / "a result.txt").write_text("42\n")
    loop.run_until_complete(save_to(context, JOB, "a result.txt", tmp_path / "saved.txt"))
    assert (tmp_path / "saved.txt").read_text() == "42\n"
    assert context.notices == [f"Saved saved.txt (3 B) in {tmp_path}."]


def test_saving_into_a_folder_that_is_not_there_names_it(
    context: TestContext, folder: Path, loop: Any
) -> None:
    (folder / "a").write_text("42\n")
    loop.run_until_complete(context.run(save_to(context, JOB, "a", Path("/proc/none/a")), "saving a"))
    assert "/proc/none" in context.notices[0]


def test_save_all_makes_a_folder_and_the_job_becomes_cleared(
    pane: OutputPane, context: TestContext, folder: Path, until: Until, tmp_path: Path
) -> None:
    (folder / "out.txt").write_text("out\n")
    (folder / "map.dat").write_text("map\n")
    pane.show_job(JOB)
    until(lambda: pane.all.isEnabled())
    pane.save_all(JOB, tmp_path / "saved")
    until(lambda: context.client.cleared == [JOB])
    until(lambda: pane.progress.isHidden())
    made = next((tmp_path / "saved").iterdir())
    assert sorted(path.name for path in made.iterdir()) == ["map.dat", "out.txt"]


def test_a_file_dragged_out_is_a_local_copy_with_its_own_name(
    pane: OutputPane, folder: Path, context: TestContext, until: Until, loop: Any
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "map.dat").write_text("map\n")
    pane.show_job(JOB)
    choose(pane, until, "sub/map.dat")
    file = pane.list.chosen()[0]
    path = loop.run_until_complete(pane.copies.bring(JOB, file.path, file.size, file.modified))
    url = urls_of([path]).urls()[0]
    assert url.isLocalFile()
    assert Path(url.toLocalFile()).read_text() == "map\n"
    assert path.name == "map.dat"
    assert pane.copies.ready(JOB, file.path, file.size, file.modified) == path


@settings(deadline=None)
@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=6))
def test_any_table_that_was_written_is_read_or_shown_as_less(cells: list[list[str]]) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows(cells)
    table = read_table(stream.getvalue().encode(), "a.csv")
    assert len(table.rows) <= len(cells)
    assert all(len(row) <= len(table.names) for row in table.rows)


@given(st.binary(max_size=300))
def test_any_bytes_named_as_a_table_do_no_harm(content: bytes) -> None:
    table = read_table(content, "a.tsv", whole=False)
    assert all(len(values) == len(table.rows) for values in table.numbers.values())


def test_thinning_keeps_every_peak() -> None:
    y = np.zeros(1_000_000)
    y[123_456], y[777_777] = 5.0, -3.0
    xs, ys = thinned(np.arange(len(y), dtype=float), y, 1000)
    assert len(ys) <= 2001
    assert (ys.max(), ys.min()) == (5.0, -3.0)
    assert np.all(np.diff(xs) >= 0)


def test_a_column_that_falls_is_not_an_axis() -> None:
    assert across_of(read_table(b"a,b\n3,1\n2,2\n1,3\n", "x.csv")) is None
    assert across_of(read_table(b"a,b\n1,1\n2,2\n3,3\n", "x.csv")) == 0


STAYED = LeftView(
    site="labhost",
    files=[LeftFileView(path="result.csv", size=347), LeftFileView(path="x<b>\x1b[1m", size=2048)],
    more=3, more_bytes=4096, goes=1_798_000_000.0,
)  # fmt: skip


def test_what_stayed_at_the_site_is_told_and_fetched(
    pane: OutputPane, context: TestContext, folder: Path, until: Until
) -> None:
    (folder / "out.txt").write_text("x\n")
    context.client.left = LeftView(site="labhost", files=STAYED.files[:1], goes=STAYED.goes)
    pane.show_job(JOB)
    until(pane.stayed.isVisible)
    assert pane.stayed.text.text() == "1 file stayed at labhost: result.csv (347 B)."
    assert pane.stayed.goes.text().startswith("It is removed there on ")
    pane.stayed.fetch.click()
    until(lambda: "result.csv" in pane.list.files)
    assert not pane.stayed.isVisible()


def test_names_of_others_are_shown_as_they_are_and_the_rest_is_counted(
    pane: OutputPane, context: TestContext, folder: Path, until: Until
) -> None:
    context.client.left = STAYED
    pane.show_job(JOB)
    until(pane.stayed.isVisible)
    said = pane.stayed.text.text()
    assert said == "5 files stayed at labhost: result.csv (347 B), x<b>\\x1b[1m (2.0 KiB), 3 more (4.0 KiB)."


def test_forgetting_what_stayed_asks_first(
    pane: OutputPane, context: TestContext, folder: Path, until: Until
) -> None:
    context.client.left = STAYED
    pane.show_job(JOB)
    until(pane.stayed.isVisible)
    pane.stayed.forget.click()
    box = pane.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert f"forget {JOB}" not in context.client.asked
    next(one for one in box.buttons() if one.text() == "Remove 5 files").click()
    until(lambda: f"forget {JOB}" in context.client.asked and not pane.stayed.isVisible())


def test_the_folder_that_was_chosen_last_is_offered_again(
    pane: OutputPane, context: TestContext, folder: Path, until: Until, tmp_path: Path
) -> None:
    (folder / "out.txt").write_text("x\n")
    pane.show_job(JOB)
    until(lambda: "out.txt" in pane.list.files)
    first = pane.ask_folder()
    assert first is not None
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    first.fileSelected.emit(str(chosen))
    first.reject()
    second = pane.ask_folder()
    assert second is not None
    assert second.directory().absolutePath() == str(chosen)
    second.reject()


def test_nothing_is_to_be_fetched_of_a_job_that_never_began() -> None:
    assert not may_have_output(row("Canceled", started=None))
    assert may_have_output(row("Canceled"))
    assert may_have_output(row("Done"))
    assert not may_have_output(row("Running"))


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
@pytest.mark.parametrize("width", [360, 620])
def test_what_stayed_has_its_picture(
    pane: OutputPane, context: TestContext, folder: Path, until: Until, mode: Mode, width: int
) -> None:
    for name in ("out.txt", "err.txt", "losses.csv", "train.py"):
        (folder / name).write_text("epoch,loss\n1,0.5\n2,0.3\n")
    context.client.roles |= {"train.py": "input"}
    context.client.left = STAYED
    context.theme.wear(mode)
    pane.resize(width, 640)
    pane.show_job(JOB)
    until(lambda: pane.stayed.isVisible() and len(pane.list.files) == 3)
    assert pane.stayed.width() <= pane.width()
    SCREENS.mkdir(parents=True, exist_ok=True)
    pane.grab().save(str(SCREENS / f"output-stayed-{mode.value}-{width}.png"))
