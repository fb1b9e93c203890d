"""Windows and dialogs look of one piece: one icon, own icons in dialogs, room beside icons, no false bold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFont, QImage, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QPushButton,
    QStyle,
    QToolButton,
    QWidget,
)

from app.help.pages import pages
from app.help.pane import set_in_type
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.labels import lead


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
