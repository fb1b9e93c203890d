"""Rows of fields wrap where they do not fit, and ask for the width of the widest alone."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget

from app.widgets.flow_layout import FlowLayout


def _boxes(sizes: list[tuple[int, int]]) -> tuple[FlowLayout, list[QWidget]]:
    boxes = [QWidget() for _ in sizes]
    flow = FlowLayout(spacing=10, below=5)
    for box, size in zip(boxes, sizes, strict=True):
        box.setFixedWidth(size[0])
        box.setMinimumHeight(size[1])
        flow.addWidget(box)
    return flow, boxes


def test_what_does_not_fit_begins_a_further_line(qapp: QApplication) -> None:
    flow, boxes = _boxes([(100, 20), (100, 30), (150, 20)])
    page = QWidget()
    page.setLayout(flow)
    assert flow.minimumSize().width() == 150
    assert flow.sizeHint().width() == 370
    assert [flow.heightForWidth(width) for width in (370, 369, 150)] == [30, 55, 80]
    page.resize(220, 60)
    page.show()
    assert [box.pos().toTuple() for box in boxes] == [(0, 0), (110, 0), (0, 35)]
    assert [box.height() for box in boxes] == [30, 30, 20]
    page.close()


def test_hidden_widgets_take_no_room(qapp: QApplication) -> None:
    flow, boxes = _boxes([(100, 20), (300, 20)])
    page = QWidget()
    page.setLayout(flow)
    boxes[1].hide()
    assert (flow.minimumSize().width(), flow.heightForWidth(100)) == (100, 20)
