"""What a site has and what its user may charge there: GPUs, nodes by kind, accounts, qualities of service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app import units
from app.widgets.labels import breakable, give_way, label
from broker_core.wire.resources import gpu_words

if TYPE_CHECKING:
    from broker_core.wire.resources import AccountView, NodeTypeView, ResourceDetail

_MOST = 12
"""Kinds of nodes with a line of their own."""
_MEBI = 1 << 20


class Equipment(QWidget):
    """Some computing elements of one site; those with the same nodes stand together. Empty it is hidden."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._shown: list[object] = []
        self.hide()

    def show_details(self, details: Sequence[ResourceDetail]) -> None:
        """Show these computing elements instead of what was shown."""
        known = [(one.ce, one.nodes, one.gpus, one.accounts, one.qos, one.licenses) for one in details]
        if known == self._shown:
            return
        self._shown = list(known)
        while (gone := self._column.takeAt(0)) is not None:
            if (part := gone.widget()) is not None:
                part.hide()
                part.deleteLater()
        for queues, detail in _alike(details):
            self._show_nodes(detail, queues if len(details) > 1 else "")
        if details:
            self._show_rights(details[0])
        self.setVisible(bool(self._column.count()))

    def _show_nodes(self, detail: ResourceDetail, queues: str) -> None:
        if not detail.nodes:
            return
        self._head(f"Nodes of {queues}" if queues else "Nodes")
        if summary := gpu_words(detail.gpus):
            self._column.addWidget(_wrapped(f"{summary}."))
        rows = [_node_cells(one) for one in detail.nodes[:_MOST]]
        heads = ("Nodes", "CPUs", "Memory", "GPUs", "Features")
        table = _table(heads, rows, [_sentence(one) for one in detail.nodes])
        self._column.addWidget(table)
        if (more := len(detail.nodes) - _MOST) > 0:
            self._column.addWidget(
                label(f"and {units.count(more, 'more kind', 'more kinds')} of nodes", "muted")
            )

    def _show_rights(self, detail: ResourceDetail) -> None:
        if detail.accounts:
            self._head("Accounts you may charge")
            lines = [
                (f"{one.name} (default)" if one.default else one.name, _account(one))
                for one in detail.accounts
            ]
            self._column.addWidget(_pairs(lines))
        if detail.qos:
            self._head("Quality of service")
            self._column.addWidget(
                _pairs([(one.name, one.limits or "no limits of its own") for one in detail.qos])
            )
        if detail.licenses:
            self._head("Licenses")
            self._column.addWidget(
                _pairs([(one.name, f"{one.free:,} of {one.total:,} free") for one in detail.licenses])
            )

    def _head(self, text: str) -> None:
        head = label(text, "section")
        head.setContentsMargins(0, 8, 0, 0)
        self._column.addWidget(head)


def _alike(details: Iterable[ResourceDetail]) -> list[tuple[str, ResourceDetail]]:
    """Computing elements with equal nodes as one, with the names of their queues."""
    found: list[tuple[list[str], ResourceDetail]] = []
    for one in details:
        queue = one.ce.rpartition("-")[2]
        known = next((names for names, other in found if other.nodes == one.nodes), None)
        if known is None:
            found.append(([queue], one))
        else:
            known.append(queue)
    return [(" and ".join(filter(None, (", ".join(names[:-1]), names[-1]))), one) for names, one in found]


def _node_cells(one: NodeTypeView) -> tuple[str, ...]:
    gpus = f"{one.gpus} {one.gpu_model}".rstrip() if one.gpus else "–"
    memory = units.size(one.memory * _MEBI) if one.memory else "–"
    return f"{one.count:,}", f"{one.cpus:,}", memory, gpus, ", ".join(one.features) or "–"


def _sentence(one: NodeTypeView) -> str:
    """The whole of a line, as its tooltip."""
    parts = [
        f"{units.count(one.count, 'node')} with {units.count(one.cpus, 'CPU')} each",
        f"{units.count(one.gpus, 'GPU')} each, {one.gpus_free:,} free in all" if one.gpus else "",
        one.model,
        one.machine,
        one.system,
    ]
    return "\n".join(filter(None, parts))


def _account(one: AccountView) -> str:
    qos = [f"{name} (default)" if name == one.default_qos else name for name in one.qos]
    return (
        "\n".join(filter(None, (f"QOS: {', '.join(qos)}" if qos else "", one.limits)))
        or "no limits of its own"
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], tips: Sequence[str]) -> QWidget:
    made, grid = _grid(12)
    for column, head in enumerate(heads):
        grid.addWidget(label(head, "small"), 0, column, _side(column))
    for line, (row, tip) in enumerate(zip(rows, tips, strict=False), 1):
        for column, text in enumerate(row):
            cell = _wrapped(text) if column == len(heads) - 1 else label(text)
            cell.setToolTip(tip)
            cell.setAccessibleName(f"{heads[column]}: {text}")
            grid.addWidget(cell, line, column, _side(column))
    grid.setColumnStretch(len(heads) - 1, 1)
    return made


def _side(column: int) -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignTop | (Qt.AlignmentFlag.AlignRight if column < 3 else Qt.AlignmentFlag(0))


def _pairs(lines: Iterable[tuple[str, str]]) -> QWidget:
    made, grid = _grid(16)
    for line, (name, text) in enumerate(lines):
        value = _wrapped(text)
        value.setAccessibleName(f"{name}: {text}")
        grid.addWidget(label(name, "muted"), line, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(value, line, 1)
    grid.setColumnStretch(1, 1)
    return made


def _grid(spacing: int) -> tuple[QWidget, QGridLayout]:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(spacing)
    grid.setVerticalSpacing(4)
    return made, grid


def _wrapped(text: str) -> QLabel:
    """Text that is broken where there is no room, and can be copied."""
    made = label(breakable(text), wrap=True)
    give_way(made)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
