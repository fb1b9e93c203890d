"""What does not fit on a page: words cut off beside room that nobody uses, controls too small to be hit."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QMargins, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QWidget,
)

from app.inspector.compare.fact_table import FactTable
from app.inspector.compare.page import JobHeads
from app.jobs.view import JobsView
from app.shell.sidebar import Sidebar
from app.widgets.table import RowTable
from tests.waiting import eventually

LEAST_CONTROL = 24
"""Pixels of a control's height and width: target size of WCAG 2.2."""
_CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox)
_BY_HAND = Qt.FocusPolicy.StrongFocus
"""By a click, by Tab, or both."""
_PART_OF = (QAbstractItemView, QComboBox, QAbstractSpinBox, QLineEdit)
"""What has small parts of its own, which Qt makes and which are hit as a whole."""


def asked_width(page: QWidget) -> int:
    """The width that a page asks for, and what it scrolls up and down if that is wider than the page."""
    areas = [area for area in [page, *page.findChildren(QScrollArea)] if isinstance(area, QScrollArea)]
    inner = [area.widget().minimumSizeHint().width() for area in areas if area.isVisible() and area.widget()]
    wider = [width for width in inner if width > page.width()]
    return max(page.minimumSizeHint().width(), page.minimumWidth(), *wider)


def faults(page: QWidget) -> set[str]:
    """All that a reader would stumble over on a page that is shown."""
    return {*_small(page), *_cut_buttons(page), *_cut_labels(page), *_cut_cells(page), *_cut_lines(page)}


def _seen(page: QWidget, kind: type[QWidget] | tuple[type[QWidget], ...]) -> Iterator[QWidget]:
    for one in page.findChildren(QWidget):
        if isinstance(one, kind) and one.isVisible() and not one.visibleRegion().isEmpty():
            yield one


def _named(one: QWidget) -> str:
    text = one.text() if isinstance(one, QAbstractButton | QLabel) else ""
    parent = type(one.parentWidget()).__name__
    return f"{type(one).__name__} “{text or one.accessibleName()}” in {parent}"


def _small(page: QWidget) -> Iterator[str]:
    for one in _seen(page, _CONTROLS):
        if isinstance(one.parentWidget(), _PART_OF):
            continue
        if isinstance(one, QAbstractButton) and one.parentWidget().inherits("QTabBar") and not one.text():
            continue  # Qt's arrows for tabs out of sight
        if min(one.width(), one.height()) < LEAST_CONTROL:
            yield f"{_named(one)} is {one.width()} × {one.height()}"
    for rows in _seen(page, QAbstractItemView):
        assert isinstance(rows, QAbstractItemView)
        high = rows.visualRect(rows.model().index(0, 0)).height() if rows.model() else 0
        if 0 < high < LEAST_CONTROL and rows.selectionMode() != QAbstractItemView.SelectionMode.NoSelection:
            yield f"rows of {_named(rows)} are {high} high"


def _cut_buttons(page: QWidget) -> Iterator[str]:
    for one in _seen(page, QAbstractButton):
        assert isinstance(one, QAbstractButton)
        least = one.sizeHint().width() if not isinstance(one, QCheckBox | QRadioButton) else 0
        if one.text() and not isinstance(one.parentWidget(), _PART_OF) and one.width() < least:
            yield f"{_named(one)} is cut: {one.width()} of {least}"


def _cut_labels(page: QWidget) -> Iterator[str]:
    for one in _seen(page, QLabel):
        assert isinstance(one, QLabel)
        if one.wordWrap() or not one.text() or (one.pixmap() and not one.pixmap().isNull()):
            continue
        if isinstance(one.parentWidget(), JobHeads):
            continue  # jobs that are compared have equally wide columns, whatever is in them
        lacking = one.sizeHint().width() - one.width()
        if lacking > 0 and _unused_beside(one) >= lacking:
            yield f"{_named(one)} is cut: {one.width()} of {one.sizeHint().width()}"


def _unused_beside(one: QWidget) -> int:
    """Pixels of the row in which a label stands that nothing needs."""
    within = one.parentWidget()
    row = [
        other
        for other in within.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if other.isVisible() and other is not one and _beside(other, one)
    ]
    needed = sum(min(other.width(), other.sizeHint().width()) + 8 for other in row)
    margins = within.layout().contentsMargins() if within.layout() is not None else QMargins()
    return within.contentsRect().marginsRemoved(margins).width() - needed - one.width() - 24


def _beside(one: QWidget, other: QWidget) -> bool:
    return (
        one.geometry().top() <= other.geometry().bottom()
        and other.geometry().top() <= one.geometry().bottom()
    )


def _cut_cells(page: QWidget) -> Iterator[str]:
    for table in [*_seen(page, RowTable), *_seen(page, JobsView)]:
        assert isinstance(table, RowTable | JobsView)
        yield from _cut_in(table)


def _cut_in(table: RowTable | JobsView) -> Iterator[str]:
    header, model = table.horizontalHeader(), table.model()
    shown = [column for column in range(header.count()) if not header.isSectionHidden(column)]
    last = table.rowAt(table.viewport().height() - 1)
    rows = range(max(0, table.rowAt(0)), (last if last >= 0 else model.rowCount() - 1) + 1)
    needs = {column: table.contents.needed(column) for column in shown}
    # Those of jobs that are compared are equally wide too.
    judged = shown[:1] if isinstance(table, FactTable) else shown
    spare = sum(max(0, header.sectionSize(column) - needs[column]) for column in shown)
    for column in judged:
        needed = max([0, *(table.contents._cell_width(row, column) for row in rows)])
        lacking = needed - header.sectionSize(column)
        if lacking > 0 and spare > 0:
            title = model.headerData(column, Qt.Orientation.Horizontal)
            yield f"column {title} of {table.accessibleName()} is cut: lacks {lacking}, {spare} are unused"


def _cut_lines(page: QWidget) -> Iterator[str]:
    """The sidebar is as wide as its longest line, up to its share of the window."""
    for bar in _seen(page, Sidebar):
        assert isinstance(bar, Sidebar)
        wanted = min(bar.sizeHint().width(), round(page.window().width() * 0.22) - 1)
        if bar.width() < wanted:
            yield f"the sidebar is {bar.width()} wide, {wanted} are needed"


async def traps(page: QWidget) -> set[str]:
    """What of a page holds the focus whatever is pressed: neither Tab nor F6 leads out of it."""
    held = set()
    for one in _focusable(page):
        # Offscreen no window comes to the front again when what a field had opened closes.
        await _in_front(page)
        if _holds(one):
            held.add(_named(one))
    await _in_front(page)
    return held or ({"Tab and F6 go round in circles"} if _circles(page) else set())


async def _in_front(page: QWidget) -> None:
    """Keys of the window are those of the active one."""
    if not page.window().isActiveWindow():
        page.window().activateWindow()
        await eventually(page.window().isActiveWindow)


def _focusable(page: QWidget) -> list[QWidget]:
    """What can have the focus by a click or a key, wherever it is scrolled to."""
    inside = [page, *page.findChildren(QWidget)]
    return [one for one in inside if one.isVisible() and one.isEnabled() and one.focusPolicy() & _BY_HAND]


def _holds(one: QWidget) -> bool:
    """True if a widget that has the focus keeps it. What takes Tab for itself F6 must leave."""
    one.setFocus()
    focus = one.window().focusWidget()
    return focus is not None and not _moved(focus, Qt.Key.Key_Tab) and not _moved(focus, Qt.Key.Key_F6)


def _moved(focus: QWidget, key: Qt.Key) -> bool:
    QTest.keyClick(focus, key)
    return focus.window().focusWidget() is not focus


def _circles(page: QWidget, steps: int = 200) -> bool:
    """True if going on with Tab, and with F6 where that does nothing, does not lead out of a page."""
    page.setFocus()
    for _ in range(steps):
        focus = page.window().focusWidget()
        if focus is None or not (focus is page or page.isAncestorOf(focus)):
            return False
        if not _moved(focus, Qt.Key.Key_Tab):
            _moved(focus, Qt.Key.Key_F6)
    return True
