"""The row of buttons over a description."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QIcon, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from app.description.templates import TEMPLATES
from app.stores.named_texts import NamedText
from app.theme.theme import Theme
from app.units import counted
from broker_core.client.printable import printable

_SIDES = (("text", "Text", "align-left"), ("both", "Both", "columns-3"), ("form", "Form", "list-tree"))
_GAP = 12
"""Pixels that a button has more with a word than without, beside the word."""


class EditorBar(QWidget):
    """Templates, check, where, which sides, and submit."""

    templateChosen = Signal(str)
    """Text of the template."""
    saveAsked = Signal()
    """The description is to be kept as a template of the user."""
    checkAsked = Signal()
    whereAsked = Signal()
    submitAsked = Signal()
    linesAsked = Signal()
    """What became of the lines of the batch script is wanted."""
    sidesChosen = Signal(str)
    """text, both or form."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._own: list[QAction] = []
        self._worded: list[QToolButton] = []
        """Buttons that lose their words where there is no room for them."""
        self.setObjectName("editor-bar")
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(4)
        where = self.tr("Where it could run now, and why not elsewhere")
        self._worded += [
            self._templates(),
            self._plain(self.tr("Check"), "circle-check", self.checkAsked, self.tr("Check at once")),
            self._plain(self.tr("Where could it run?"), "route", self.whereAsked, where),
        ]
        script = self.tr("What became of the lines of the batch script")
        self.lines = self._plain(self.tr("Lines of the script"), "scroll-text", self.linesAsked, script)
        self._worded.append(self.lines)
        self.lines.hide()
        for worded in self._worded:
            row.addWidget(worded)
        row.addStretch(1)
        self._sides = QButtonGroup(self)
        for key, label, icon in _SIDES:
            row.addWidget(self._side(key, self.tr(label), icon))
        row.addSpacing(12)
        self._submit_icon = "play"
        self.submit = self._submit()
        row.addWidget(self.submit)

    def minimumSizeHint(self) -> QSize:
        """Room for all buttons, without the words of those that can lose them."""
        hint = super().minimumSizeHint()
        return hint if self._wordless() else QSize(hint.width() - self._words_width(), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop the words in a narrow tab; the tooltips have them."""
        super().resizeEvent(event)
        worded = event.size().width() >= self.minimumSizeHint().width() + self._words_width()
        style = Qt.ToolButtonStyle
        for button in self._worded:
            button.setToolButtonStyle(style.ToolButtonTextBesideIcon if worded else style.ToolButtonIconOnly)
        for side in self._sides.buttons():
            assert isinstance(side, QToolButton)
            side.setToolButtonStyle(style.ToolButtonTextOnly if worded else style.ToolButtonIconOnly)
        self._show_submit_icon()

    def _wordless(self) -> bool:
        return self._worded[0].toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly

    def _words_width(self) -> int:
        shown = [button for button in self._worded if not button.isHidden()]
        words = [button.fontMetrics().horizontalAdvance(button.text()) for button in shown]
        sides = [button.fontMetrics().horizontalAdvance(button.text()) for button in self._sides.buttons()]
        return sum(words) + _GAP * len(words) + sum(sides)

    def _templates(self) -> QToolButton:
        button = self._button(self.tr("Templates"), "file-plus")
        button.setToolTip(self.tr("Start from a template; undo brings the text back"))
        menu = self._menu = QMenu(button)
        menu.setToolTipsVisible(True)
        for template in TEMPLATES:
            action = menu.addAction(self._theme.icon(template.icon), self.tr(template.name))
            action.setToolTip(self.tr(template.about))
            action.triggered.connect(lambda _on=False, t=template: self.templateChosen.emit(t.text()))
        self._below_own = menu.addSeparator()
        save = menu.addAction(self._theme.icon("bookmark-plus"), self.tr("Save as template…"))
        save.triggered.connect(self.saveAsked)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def offer(self, templates: Sequence[NamedText]) -> None:
        """Offer the templates of the user behind the others."""
        for action in self._own:
            self._menu.removeAction(action)
        self._own.clear()
        for one in templates:
            icon = self._theme.icon("bookmark", "accent" if one.favorite else "muted")
            action = QAction(icon, printable(one.name), self)
            action.triggered.connect(lambda _on=False, text=one.text: self.templateChosen.emit(text))
            self._menu.insertAction(self._below_own, action)
            self._own.append(action)

    def _plain(self, text: str, icon: str, signal: SignalInstance, tip: str) -> QToolButton:
        button = self._button(text, icon)
        button.setToolTip(tip)
        button.clicked.connect(signal)
        return button

    def _button(self, text: str, icon: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setAccessibleName(text)
        button.setIcon(self._theme.icon(icon))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        return button

    def _side(self, key: str, label: str, icon: str) -> QToolButton:
        button = self._button(label, icon)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setCheckable(True)
        button.setProperty("sides", key)
        button.setToolTip(self.tr("Show: {0}").format(label.lower()))
        button.clicked.connect(lambda: self.sidesChosen.emit(key))
        self._sides.addButton(button)
        return button

    def _submit(self) -> QPushButton:
        button = QPushButton(self._theme.icon("play", "accent-text"), self.tr("Submit"))
        button.setProperty("kind", "primary")
        button.setToolTip(self.tr("Submit (Ctrl+Return)"))
        button.clicked.connect(self.submitAsked)
        return button

    def show_errors(self, errors: int) -> None:
        """Say on the button what stands in the way: it leads there instead."""
        self.submit.setText(
            counted(errors, self.tr("error"), self.tr("errors")) if errors else self.tr("Submit")
        )
        tip = self.tr("Go to the first one") if errors else self.tr("Submit (Ctrl+Return)")
        self.submit.setToolTip(tip)
        self._submit_icon = "circle-alert" if errors else "play"
        self._show_submit_icon()

    def _show_submit_icon(self) -> None:
        icon = QIcon() if self._wordless() else self._theme.icon(self._submit_icon, "accent-text")
        self.submit.setIcon(icon)

    def show_sides(self, sides: str) -> None:
        """Mark which sides are shown."""
        for button in self._sides.buttons():
            button.setChecked(button.property("sides") == sides)


def line_across() -> QFrame:
    """A line between the bar, what is edited, and what is wrong with it."""
    line = QFrame()
    line.setProperty("role", "line")
    return line
