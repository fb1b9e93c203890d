"""A line to add a forward: which way it goes, where it listens, where it leads to."""

from __future__ import annotations

import os
from dataclasses import dataclass

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QPushButton, QWidget

from app.widgets.labels import give_way, label

Where = tuple[str, int] | str
"""Host and port, or the path of a UNIX socket."""
_HIGHEST = 65535
_LEAST, _WIDE = 280, 520
"""Pixels that two lines need, and from which everything stands in one."""
Places = tuple[tuple[int, int, int, int], ...]
_ONE_LINE: Places = ((0, 0, 1, 1), (0, 1, 1, 1), (0, 2, 1, 1), (0, 3, 1, 1), (0, 4, 1, 1), (1, 0, 1, 5))
_TWO_LINES: Places = ((0, 0, 1, 1), (0, 1, 1, 3), (0, 4, 1, 1), (1, 0, 1, 4), (1, 4, 1, 1), (2, 0, 1, 5))
"""Row, column, rows and columns of way, listening end, arrow, target, button and problem."""
HERE, NODE = "127.0.0.1", "localhost"
"""Forwards are open to programs of one machine alone."""


@dataclass(frozen=True, slots=True)
class Way:
    """A kind of forward, and what to write for it."""

    kind: str
    title: str
    listen: str
    target: str
    help: str


WAYS = (
    Way("local", "From here", "Port here", "Port, host:port or socket at the node",
        "A port or socket of this machine leads to a server that the node reaches"),
    Way("remote", "From the node", "Port there", "Port, host:port or socket here",
        "A port or socket of the node leads to a server that this machine reaches"),
    Way("dynamic", "SOCKS proxy", "Port here", "",
        "Programs here reach whatever the node reaches, by way of this port"),
)  # fmt: skip


def where_of(text: str, host: str) -> Where | None:
    """Where `port`, `host:port`, `[address]:port` or a path leads to; None: it is none of them."""
    text = text.strip()
    if "/" in text:
        return text
    name, _, port = text.rpartition(":")
    name = name.removeprefix("[").removesuffix("]") or host
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= _HIGHEST) or " " in name:
        return None
    return name, int(port)


class ForwardEntry(QWidget):
    """Asks for one forward; what is wrong with it is said below."""

    added = Signal(str, object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.way = QComboBox()
        self.way.setAccessibleName("Which way the forward goes")
        for one in WAYS:
            self.way.addItem(one.title)
        self.listen, self.target = QLineEdit(), QLineEdit()
        self.arrow = label("→", "muted")
        self._places: Places = ()
        self.add, self.problem = QPushButton("Forward"), label(role="negative", wrap=True)
        give_way(self.problem)
        self._lay_out()
        self.way.currentIndexChanged.connect(self._explain)
        for line in (self.listen, self.target):
            line.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        self._explain()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 0, 12, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self.listen.setMinimumWidth(96)
        self._grid = grid
        self._arrange()
        self.problem.hide()

    def minimumSizeHint(self) -> QSize:
        """That of two lines; else it would never get narrow enough for them."""
        return QSize(_LEAST, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Everything stands in one line where there is room, else in two."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """In one line, or in two."""
        places = _ONE_LINE if self.width() >= _WIDE else _TWO_LINES
        if places is self._places:
            return
        self._places = places
        parts = (self.way, self.listen, self.arrow, self.target, self.add, self.problem)
        for part, place in zip(parts, places, strict=True):
            self._grid.removeWidget(part)
            self._grid.addWidget(part, *place)
        for column in range(5):
            self._grid.setColumnStretch(column, int(column == (3 if places is _ONE_LINE else 2)))

    @property
    def chosen(self) -> Way:
        """The way that is chosen."""
        return WAYS[self.way.currentIndex()]

    def say(self, problem: str) -> None:
        """Tell why a forward could not be made; empty: nothing is wrong."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def _explain(self) -> None:
        chosen = self.chosen
        self.way.setToolTip(chosen.help)
        self.listen.setPlaceholderText(chosen.listen)
        self.listen.setAccessibleName(f"{chosen.listen}, or path of a socket")
        self.listen.setToolTip("Empty: any free port. A path: a UNIX socket")
        self.target.setPlaceholderText(chosen.target)
        self.target.setAccessibleName(chosen.target)
        for part in (self.arrow, self.target):
            part.setVisible(bool(chosen.target))
        self.say("")

    def _add(self) -> None:
        chosen = self.chosen
        own, other = (NODE, HERE) if chosen.kind == "remote" else (HERE, NODE)
        written = self.listen.text().strip()
        listen = where_of(written, own) if written else (own, 0)
        target = where_of(self.target.text(), other) if chosen.target else ""
        if listen is None:
            self._refuse(self.listen, "Write a port from 1 to 65535, the path of a socket, or nothing.")
        elif target is None:
            self._refuse(self.target, "Write a port such as 8888, host:port, or the path of a socket.")
        else:
            self.say("")
            here = os.path.expanduser(listen) if isinstance(listen, str) and own == HERE else listen
            self.added.emit(chosen.kind, here, target)
            self.listen.clear()
            self.target.clear()

    def _refuse(self, line: QLineEdit, why: str) -> None:
        self.say(why)
        line.setFocus()
