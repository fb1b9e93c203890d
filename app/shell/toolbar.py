"""The toolbar: new, open, submit, the command field, theme and menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QToolBar, QToolButton, QWidget

from app.actions.table import GROUPS
from broker_core.client.printable import printable

if TYPE_CHECKING:
    from app.context import AppContext


class MainToolbar(QToolBar):
    """Built of actions; the field in the middle opens the command palette."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("Toolbar")
        self._context = context
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setIconSize(QSize(18, 18))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._new_button()
        for action in ("file.open", "file.submit"):
            self._button(action, text=True)
        self.addWidget(_stretch())
        self.field = QPushButton()
        self._make_field()
        self.addWidget(self.field)
        self.addWidget(_stretch())
        self._button("view.theme")
        self._button("view.inspector")
        self._menu_button()
        context.theme.changed.connect(self._style_field)

    def _button(self, action: str, text: bool = False) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(self._context.actions.qt(action))
        style = Qt.ToolButtonStyle
        button.setToolButtonStyle(style.ToolButtonTextBesideIcon if text else style.ToolButtonIconOnly)
        button.setAccessibleName(button.defaultAction().text().split("\t")[0])
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(button)
        return button

    def _new_button(self) -> None:
        button = QToolButton(popupMode=QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setText("New")
        button.setIcon(self._context.theme.icon("plus", "text"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAccessibleName("New")
        button.setToolTip("New job (Ctrl+N)")
        button.clicked.connect(lambda: self._context.trigger("file.new"))
        self._new = QMenu(button)
        self._new.aboutToShow.connect(self._fill_new)
        self._fill_new()
        button.setMenu(self._new)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(button)

    def _fill_new(self) -> None:
        """The actions that begin a job, and below them the user's templates."""
        self._new.clear()
        for action in ("file.new", "file.run", "file.open", "file.sample"):
            self._new.addAction(self._context.actions.qt(action))
        templates = self._context.templates.all
        if templates:
            self._new.addSection("Your templates")
        for one in templates:
            icon = self._context.theme.icon("bookmark", "accent" if one.favorite else "muted")
            begin = self._new.addAction(icon, printable(one.name))
            begin.triggered.connect(lambda _=False, text=one.text: self._context.open_editor(text))

    def _make_field(self) -> None:
        self.field.setObjectName("command-field")
        self.field.setText("Search jobs, actions, help")
        self.field.setIcon(self._context.theme.icon("search", "muted"))
        self.field.setAccessibleName("Search and commands")
        self.field.setToolTip("Search and commands (Ctrl+K)")
        self.field.setMinimumWidth(200)
        self.field.setMaximumWidth(460)
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.field.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.field.clicked.connect(lambda: self._context.trigger("app.palette"))
        self._style_field()

    def _style_field(self) -> None:
        color = self._context.theme.color
        self.field.setStyleSheet(
            f"#command-field {{ text-align: left; color: {color('muted').name()};"
            f" font-weight: 400; background: {color('surface').name()};"
            f" border-color: {color('border').name()}; padding: 6px 12px; }}"
            f"#command-field:hover, #command-field:focus {{ border-color: {color('focus').name()}; }}"
        )

    def _menu_button(self) -> None:
        button = QToolButton(popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setIcon(self._context.theme.icon("menu", "text"))
        button.setToolTip("All actions")
        button.setAccessibleName("Menu of all actions")
        button.setShortcut("F10")
        menu = QMenu(button)
        for group, title in GROUPS.items():
            self._context.actions.fill(menu.addMenu(title), group)
        button.setMenu(menu)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(button)


def _stretch() -> QWidget:
    space = QWidget()
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return space
