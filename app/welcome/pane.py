"""The welcome page: what this is, and samples that run with one click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.theme.theme import BASE
from app.welcome.running import open_sample, run_sample

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.client.samples import Sample

_WIDTH, _TWO_COLUMNS = 880, 680
"""Pixels: of the page at most, and from which on two cards stand beside each other."""
_ICONS = {"neural-net": "chart-line", "heat-image": "image", "radiotherapy": "crosshair",
          "explore": "terminal", "data-reduction": "table-2", "sweep-200": "layers", "fails": "circle-alert",
          "killed": "circle-x", "thesis": "book-open"}  # fmt: skip
_NEXT = (
    (
        "file.new",
        "Write a description",
        "With completion, checks while you type, and a form beside the text.",
    ),
    (
        "site.add",
        "Add a cluster or a grid site",
        "Name its host; what is there is found out, and a test job shows that it works.",
    ),
    (
        "file.open",
        "Open a description",
        "Or drop one onto this window; scripts and programs are wrapped for you.",
    ),
    ("help.contents", "Read how it works", "Short pages; everything else is found with Ctrl+K."),
)


class SampleCard(QFrame):
    """A sample with the button that runs it."""

    def __init__(self, context: AppContext, sample: Sample) -> None:
        super().__init__()
        self.setProperty("role", "card")
        icon, title, about = QLabel(), QLabel(sample.title), QLabel(sample.about, wordWrap=True)
        icon.setPixmap(
            context.theme.icon(_ICONS.get(sample.name, "flask-conical"), "accent").pixmap(QSize(20, 20))
        )
        title.setProperty("role", "strong")
        title.setWordWrap(True)
        about.setProperty("role", "muted")
        about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.run = QPushButton("Run" if sample.runs_here else "Read")
        self.run.setProperty("kind", "primary" if sample.runs_here else "")
        self.run.setAccessibleName(f"{self.run.text()}: {sample.title}")
        self.look = QPushButton("Open in the editor")
        self.look.setProperty("kind", "quiet")
        self.look.setAccessibleName(f"Open in the editor: {sample.title}")
        self.look.setVisible(sample.runs_here)
        self.look.clicked.connect(lambda: open_sample(context, sample.name))
        if sample.runs_here:
            doing = f"submitting “{sample.title}”"
            self.run.clicked.connect(lambda: context.run(run_sample(context, sample.name), doing))
        else:
            self.run.clicked.connect(lambda: open_sample(context, sample.name))
        self._lay_out(icon, title, about)

    def _lay_out(self, icon: QLabel, title: QLabel, about: QLabel) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(icon)
        head.addWidget(title, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.run)
        foot.addWidget(self.look)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(about, 1)
        column.addLayout(foot)


class WelcomePane(QScrollArea):
    """Samples first, then other ways to begin."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setWidgetResizable(True)
        self.setProperty("role", "surface")
        self.setAccessibleName("Welcome")
        self.cards: list[SampleCard] = []
        self._grid = QGridLayout()
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(24, 32, 24, 24)
        self._column.setSpacing(12)
        self._say()
        self._samples()
        self._next()
        self._column.addStretch(1)
        outer = QWidget()
        across = QHBoxLayout(outer)
        across.setContentsMargins(0, 0, 0, 0)
        across.addStretch(1)
        across.addWidget(inner, 20)
        across.addStretch(1)
        self.setWidget(outer)
        context.link.changed.connect(self._linked)
        self._linked()

    def _say(self) -> None:
        title = QLabel("Describe work once, run it anywhere", wordWrap=True)
        title.setProperty("role", "title")
        text = QLabel(
            "CrossDesk sends jobs to this machine and to the sites you connect, shows what they do and keeps "
            "their output. Run a sample to see it: its log, its output or its console opens at the right.",
            wordWrap=True,
        )
        text.setProperty("role", "muted")
        self._column.addWidget(title)
        self._column.addWidget(text)

    def _head(self, text: str) -> None:
        label = QLabel(text)
        label.setProperty("role", "section")
        label.setContentsMargins(0, 12, 0, 0)
        self._column.addWidget(label)

    def _samples(self) -> None:
        from broker_core.client.samples import samples

        self._head("Samples that run here")
        self._grid.setSpacing(12)
        self._grid.setColumnStretch(0, 1)
        self.cards = [SampleCard(self._context, sample) for sample in samples()]
        self._column.addLayout(self._grid)
        self._arrange(1)

    def _arrange(self, columns: int) -> None:
        self._grid.setColumnStretch(1, columns - 1)
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put two cards beside each other where there is room."""
        super().resizeEvent(event)
        wide = _TWO_COLUMNS * self._context.theme.size / BASE
        self._arrange(2 if event.size().width() >= wide else 1)

    def _next(self) -> None:
        self._head("Your own work")
        for action, title, about in _NEXT:
            line = QHBoxLayout()
            line.setSpacing(12)
            button = QPushButton(title)
            button.setMinimumWidth(180)
            button.clicked.connect(lambda _=False, name=action: self._context.trigger(name))
            text = QLabel(about, wordWrap=True)
            text.setProperty("role", "muted")
            line.addWidget(button)
            line.addWidget(text, 1)
            self._column.addLayout(line)

    def _linked(self) -> None:
        up = self._context.link.up
        for card in self.cards:
            if card.look.isVisibleTo(card):
                card.run.setEnabled(up)
                card.run.setToolTip("" if up else "The broker is not connected yet")
