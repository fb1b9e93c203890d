"""Windows and dialogs look of one piece: one icon, own icons in dialogs, room beside icons, no false bold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFont, QImage, QTextDocument, QTextListFormat
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyle,
    QTabBar,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.help.pages import pages
from app.help.pane import set_in_type
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.labels import lead
from app.widgets.save_dialog import FileDialog
from broker_core.jobs.site_names import element_words
from tests.waiting import wait_until


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, Mode.LIGHT)
    yield made
    made.deleteLater()


def _ink(picture: QImage) -> list[int]:
    """Columns of a picture in which something is painted that is not its ground."""
    ground = picture.pixelColor(4, picture.height() // 2)
    rows, columns = range(4, picture.height() - 4), range(picture.width())
    return [x for x in columns if any(picture.pixelColor(x, y) != ground for y in rows)]


def test_all_windows_wear_the_icon_of_the_application(theme: Theme) -> None:
    window = QWidget()
    assert {size.toTuple() for size in window.windowIcon().availableSizes()} >= {(16, 16), (256, 256)}
    assert window.windowIcon().pixmap(32).toImage().pixelColor(16, 16).alpha() == 255


def test_dialogs_show_no_colored_icons_of_qt(theme: Theme) -> None:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
    assert all(button.icon().isNull() for button in buttons.buttons())
    style, muted = buttons.style(), theme.color("muted")
    for which in (
        QStyle.StandardPixmap.SP_DirIcon,
        QStyle.StandardPixmap.SP_FileDialogNewFolder,
        QStyle.StandardPixmap.SP_MessageBoxQuestion,
    ):
        picture = style.standardIcon(which, None, buttons).pixmap(32).toImage()
        inked = {
            picture.pixelColor(x, y).rgb()
            for x in range(32)
            for y in range(32)
            if picture.pixelColor(x, y).alpha() == 255
        }
        assert inked == {muted.rgb()}


@pytest.mark.parametrize("kind", [QPushButton, QToolButton])
def test_an_icon_has_room_beside_its_word(theme: Theme, kind: type[QPushButton] | type[QToolButton]) -> None:
    button = kind()
    button.setText("HHH")
    button.setIcon(theme.icon("ban"))
    if isinstance(button, QToolButton):
        button.setToolButtonStyle(button.toolButtonStyle().ToolButtonTextBesideIcon)
    button.show()
    theme.wear()  # dressed a second time, the gap stays what it was
    button.adjustSize()
    ink = [x for x in _ink(button.grab().toImage()) if 6 < x < button.width() - 6]
    gaps = [after - before - 1 for before, after in pairwise(ink)]
    assert 5 <= max(gaps) <= 10
    button.close()


def test_a_list_of_choices_has_one_frame(theme: Theme) -> None:
    field = QComboBox()
    field.addItems(["one", "two"])
    field.show()
    field.showPopup()
    holder = field.view().parentWidget()
    assert isinstance(holder, QFrame)
    assert holder.frameWidth() == 0
    assert holder.mapToGlobal(QPoint()).y() >= field.mapToGlobal(QPoint(0, field.height())).y() - 2
    assert field.view().sizeHintForRow(0) >= 24
    field.hidePopup()
    field.close()


def test_strong_words_have_a_weight_that_the_typeface_has(theme: Theme) -> None:
    where = QLabel()
    lead(where, "No site fits: both are full")
    shown = QTextDocument()
    shown.setHtml(where.text())
    weights = {shown: {piece.fragment().charFormat().fontWeight() for piece in shown.begin()}}
    for page in pages():
        document = QTextDocument()
        document.setMarkdown(page.text)
        set_in_type(document, theme)
        weights[document] = {
            piece.fragment().charFormat().fontWeight() for block in _blocks(document) for piece in block
        }
    assert max(max(found, default=0) for found in weights.values()) == QFont.Weight.DemiBold


def _blocks(document: QTextDocument) -> list:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def test_a_tab_is_as_wide_chosen_as_not(theme: Theme) -> None:
    tabs = QTabBar()
    for name in ("Story", "Output", "Description"):
        tabs.addTab(name)
    tabs.show()
    widths = []
    for chosen in range(tabs.count()):
        tabs.setCurrentIndex(chosen)
        widths.append([tabs.tabRect(at).width() for at in range(tabs.count())])
    tabs.close()
    assert widths == [widths[0]] * 3


def test_points_of_help_are_filled(theme: Theme) -> None:
    for page in pages():
        document = QTextDocument()
        document.setMarkdown(page.text)
        set_in_type(document, theme)
        block, styles = document.begin(), set()
        while block.isValid():
            if (points := block.textList()) is not None:
                styles.add(points.format().style())
            block = block.next()
        assert styles.isdisjoint({QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare})


def test_a_quiet_button_of_a_dialog_keeps_its_look(theme: Theme) -> None:
    dialog = QDialog()
    more, main = QPushButton("More settings", dialog), QPushButton("Add and test", dialog)
    more.setProperty("kind", "quiet")
    main.setDefault(True)
    dialog.show()
    more.setFocus()
    assert (more.isDefault(), main.isDefault()) == (False, True)
    dialog.close()


@pytest.mark.parametrize(
    ("ce", "said"),
    [
        ("localhost:2119/jobmanager-fork-local", "this machine"),
        ("labhost:22/jobmanager-slurm-long", "labhost, slurm-long"),
        ("labhost:22/jobmanager-slots-long", "labhost, slots of long"),
        ("ce.example.org:2119/jobmanager-pbs-long", "ce.example.org:2119/jobmanager-pbs-long"),
        ("odd", "odd"),
    ],
)
def test_computing_elements_are_named_without_a_port_that_is_none(ce: str, said: str) -> None:
    assert element_words(ce) == said


def test_no_column_of_the_dialog_for_files_is_cut(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "a script with a long name.py").write_text("print(1)\n" * 400)
    window = QWidget()
    window.resize(1280, 800)
    dialog = FileDialog(window, "Open", str(tmp_path))
    dialog.open()
    files = dialog.findChild(QTreeView, "treeView")
    head = files.header()

    def filled() -> bool:
        QApplication.processEvents()
        return files.model().rowCount(files.rootIndex()) == 1 and head.sectionSize(1) > 40

    wait_until(filled, what="the list of files is there")
    for column in range(1, head.count()):
        assert head.sectionSize(column) >= files.sizeHintForColumn(column), column
    assert head.length() <= files.viewport().width(), "no scroll bar below"
    dialog.reject()


def test_the_icon_of_a_field_stands_in_its_middle(theme: Theme) -> None:
    page, field = QWidget(), QLineEdit()
    QVBoxLayout(page).addWidget(field)
    field.setClearButtonEnabled(True)
    field.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
    page.show()
    QApplication.processEvents()
    icons = field.findChildren(QToolButton)
    assert len(icons) == 2
    assert all(abs(one.geometry().center().y() - field.rect().center().y()) <= 1 for one in icons)
    page.close()
