"""Names and texts of others in the window: labels and tooltips show them as they are written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QToolTip, QWidget

from app.widgets.confirm import tell
from app.widgets.labels import lead
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

HOSTILE = "<img src='file:///etc/motd'><b>x</b>"


def _labels(app: QApplication) -> list[QLabel]:
    widgets = (one for one in app.allWidgets() if isinstance(one, QLabel))
    return [one for one in widgets if one.testAttribute(Qt.WidgetAttribute.WA_WState_Polished)]


def test_no_label_of_the_window_guesses_whether_its_text_is_markup(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        item = SubmissionItem(description='Executable = "/bin/true";', name=HOSTILE)
        held = Submission(key="planted-in-a-test", items=[item], hold=HOSTILE)
        [job] = (await on.context.client.submit(held)).ids
        await eventually(lambda: on.window.jobs.view.choose_all([job]))
        for tab in ("story", "logs", "where", "output"):
            on.context.show_job(job, tab)
            await turns()
        for page in range(on.window.sidebar.list.count()):
            on.window.sidebar.list.setCurrentRow(page)
            await turns()
        box = tell(on.window, HOSTILE, HOSTILE)
        QToolTip.showText(QPoint(5, 5), HOSTILE, on.window)
        await turns()
        labels = _labels(qapp)
        shown = [one for one in labels if "<b>x</b>" in one.text()]
        assert len(shown) >= 4, "the name, the box's two texts and the tooltip"
        assert {one.textFormat() for one in shown} == {Qt.TextFormat.PlainText}
        assert not [one.text() for one in labels if one.textFormat() == Qt.TextFormat.AutoText]
        rich = [one.text() for one in labels if one.textFormat() == Qt.TextFormat.RichText]
        assert not [text for text in rich if "<img" in text]
        box.close()
        QToolTip.hideText()

    play(qapp, broker, scenario)


def test_a_sentence_with_a_strong_beginning_escapes_both_its_parts(qapp: QApplication) -> None:
    above = QWidget()
    made = QLabel(above)
    lead(made, f"{HOSTILE}: {HOSTILE}")
    assert made.textFormat() == Qt.TextFormat.RichText
    assert "<img" not in made.text()
    assert made.text().count("&lt;b&gt;x") == 2
    assert not above.findChildren(QMessageBox)
