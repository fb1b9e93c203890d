"""What a pane shows instead of data: empty, loading, disconnected or broken, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.stores.link import ConnectionState
from app.theme.theme import Theme

if TYPE_CHECKING:
    from app.context import AppContext

_ICON = 40
_MARGIN, _LEAST, _MOST = 24, 160, 440
"""Pixels around the text, and how wide its sentence can be."""
Offer = tuple[str, Callable[[], object]]
"""Text of a button and what it does."""


class ListState(QWidget):
    """An icon, a title, a sentence, and up to two buttons, in the middle of the pane."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ("inbox", "faint")
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon, self.title, self.text = QLabel(), QLabel(), QLabel()
        self.title.setProperty("role", "title")
        self.text.setProperty("role", "muted")
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.primary, self.secondary = QPushButton(), QPushButton()
        self.primary.setProperty("kind", "primary")
        self.secondary.setProperty("kind", "quiet")
        self._does: tuple[Offer | None, Offer | None] = (None, None)
        self.primary.clicked.connect(lambda: self._do(0))
        self.secondary.clicked.connect(lambda: self._do(1))
        self._lay_out()
        theme.changed.connect(self._paint_icon)
        theme.changed.connect(self._fit)

    def _lay_out(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN, _MARGIN // 2, _MARGIN, _MARGIN // 2)
        column.setSpacing(8)
        column.addStretch(2)
        for part in (self._icon, self.title, self.text):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        for button in (self.primary, self.secondary):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def show_state(
        self,
        icon: str,
        title: str,
        text: str,
        primary: Offer | None = None,
        secondary: Offer | None = None,
        token: str = "faint",
    ) -> None:
        """Show a state; a button is (text, what it does), or None for none."""
        self._name = (icon, token)
        self._paint_icon()
        self.title.setText(title)
        self.text.setText(text)
        self._does = (primary, secondary)
        for button, wanted in zip((self.primary, self.secondary), self._does, strict=True):
            button.setVisible(wanted is not None)
            if wanted is not None:
                button.setText(wanted[0])
        self._fit()

    def _do(self, place: int) -> None:
        wanted = self._does[place]
        if wanted is not None:
            wanted[1]()

    def minimumSizeHint(self) -> QSize:
        """The sentence asks for no more than a column of words; it has more where there is more room."""
        around = 2 * _MARGIN
        shown = [part for part in (self.title, self.primary, self.secondary) if part.isVisibleTo(self)]
        width = max(_LEAST, *(part.minimumSizeHint().width() for part in shown)) if shown else _LEAST
        return QSize(width + around, self._column.minimumSize().height() - self._icon_height())

    def _icon_height(self) -> int:
        """Of the icon and the space below it, while it is shown."""
        return _ICON + self._column.spacing() if self._icon.isVisibleTo(self) else 0

    def showEvent(self, event: QShowEvent) -> None:
        """Measure the sentence once more: before it is shown its font may be another."""
        super().showEvent(event)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the sentence inside a narrow pane, and leave the icon out of a low one."""
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """A wrapping label in the middle of a layout does not find its height by itself."""
        width = min(_MOST, max(_LEAST, self.width() - 2 * _MARGIN))
        self.text.setFixedSize(width, max(0, self.text.heightForWidth(width)))
        needed = self.minimumSizeHint().height() + _ICON + self._column.spacing()
        self._icon.setVisible(self.height() >= needed)

    def _paint_icon(self) -> None:
        name, token = self._name
        self._icon.setPixmap(self._theme.icon(name, token).pixmap(_ICON, _ICON))


def explain_link(view: ListState, context: AppContext) -> None:
    """Say why there is no broker, and offer the one thing that helps."""
    link = context.link
    if link.state is ConnectionState.STOPPED:
        view.show_state(
            "circle-pause", "The broker was stopped",
            "Somebody stopped it on purpose, so it is not started again by itself. Jobs that run go on.",
            ("Start the broker", lambda: context.trigger("broker.start")),
        )  # fmt: skip
    elif link.state is ConnectionState.UNREACHABLE:
        view.show_state(
            "unplug", "The broker cannot be reached", link.reason,
            ("Try again", lambda: context.trigger("link.retry")),
            ("What can I do?", lambda: context.show_help("troubleshooting")), "negative",
        )  # fmt: skip
    elif link.state is ConnectionState.SILENT:
        view.show_state(
            "circle-alert", "The broker does not answer",
            f"{link.reason} The window goes on by itself as soon as it answers.", token="warning",
        )  # fmt: skip
    else:
        view.show_state(
            "loader-circle", "Connecting to the broker", f"{link.reason.rstrip('.')}.", token="muted"
        )


def explain_error(view: ListState, what: str, error: str, again: Callable[[], object]) -> None:
    """Say that the broker refused to tell something, and offer to ask again."""
    view.show_state(
        "circle-alert", f"{what} could not be read", error, ("Try again", again), None, "negative"
    )
