"""Lines of widgets that wrap: their items come and go with the widgets."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget, QWidgetItem
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.widgets.flow_layout import FlowLayout


def test_items_go_with_their_widgets_and_others_stay_where_they_can_be_used(
    qapp: QApplication, qtbot: QtBot
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    flow = FlowLayout()
    buttons = [QPushButton(f"button {number}") for number in range(4)]
    for button in buttons:
        flow.addWidget(button)
    column = QVBoxLayout(page)
    column.addLayout(flow)
    page.show()
    assert [button.parentWidget() for button in buttons] == [page] * 4
    for _ in range(200):
        delete(buttons.pop(0))
        assert flow.count() == 3
        # What takes the place in memory of the item that is gone.
        items = [QWidgetItem(page) for _ in range(3)]
        buttons.append(QPushButton("another"))
        flow.addWidget(buttons[-1])
        qapp.processEvents()  # Qt shows what joins a page that is shown a moment later
        assert [flow.itemAt(number).widget() for number in range(4)] == buttons
        assert flow.sizeHint().width() > flow.minimumSize().width() > 0
        del items
    taken = flow.takeAt(0)
    assert taken is not None
    assert taken.widget() is buttons[0]
    assert flow.count() == 3


def test_lines_are_divided_anew_once_one_is_added(qapp: QApplication, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    flow = FlowLayout(page)
    flow.addWidget(QPushButton("one"))
    page.resize(100, 300)
    page.show()
    before = flow.heightForWidth(100)
    flow.addWidget(QPushButton("another one"))
    qapp.processEvents()
    assert flow.heightForWidth(100) > before
