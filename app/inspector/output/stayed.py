"""What a job made that stayed at its site: a line above the files, with what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from app.inspector import job_times
from app.widgets.confirm import confirm
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import give_way, label
from broker_core.client.printable import printable
from broker_core.client.stayed_words import summary, until

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import LeftView

_MOST = 30
"""Names in the tooltip."""


class StayedBar(QFrame):
    """Hidden while nothing stayed."""

    changed = Signal()
    """Something was fetched or forgotten."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._job = ""
        self._left: LeftView | None = None
        self.setProperty("role", "banner-muted")
        self.text, self.goes = label(wrap=True), label(role="small", wrap=True)
        self.fetch, self.forget = QPushButton("Fetch"), QPushButton("Forget…")
        for button, icon, does in (
            (self.fetch, "download", self.bring),
            (self.forget, "trash-2", self.ask_to_forget),
        ):
            button.setIcon(context.theme.icon(icon))
            button.clicked.connect(lambda _=False, does=does: does())
        self.fetch.setToolTip("Bring the files here: then they are among the results")
        self.forget.setToolTip("Remove the files where they are")
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        bar = FlowLayout()
        bar.addWidget(self.fetch)
        bar.addWidget(self.forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        for words in (self.text, self.goes):
            give_way(words)
            column.addWidget(words)
        column.addSpacing(4)
        column.addLayout(bar)

    def show_left(self, job: str, left: LeftView | None) -> None:
        """Show what stayed of a job; None: nothing is known."""
        self._job, self._left = job, left
        sentence = summary(left, job_times.size) if left is not None else ""
        self.setVisible(bool(sentence))
        if left is None or not sentence:
            return
        self.text.setText(f"{sentence}.")
        self.text.setToolTip(_names(left))
        self.goes.setText(until(left))
        self.goes.setVisible(bool(self.goes.text()))
        self.fetch.setEnabled(bool(left.files))

    def bring(self) -> None:
        """Have what stayed brought to the broker."""
        if self._job:
            self._act(forget=False)

    def ask_to_forget(self) -> None:
        """Ask, and have what stayed removed."""
        left = self._left
        if left is None:
            return
        count = job_times.count(len(left.files) + left.more, "file")
        text = f"{until(left)} This cannot be undone.".strip()
        confirm(self, f"Remove {count} now?", text, f"Remove {count}", lambda: self._act(forget=True))

    def _act(self, *, forget: bool) -> None:
        self.fetch.setEnabled(False)
        self.forget.setEnabled(False)
        doing = "removing what stayed at the site" if forget else "fetching what stayed at the site"
        self._context.run(self._done(self._job, forget), doing)

    async def _done(self, job: str, forget: bool) -> None:
        client = self._context.client
        try:
            left = await (client.forget_stayed(job) if forget else client.fetch_stayed(job))
        finally:
            self.forget.setEnabled(True)
            self.fetch.setEnabled(True)
        if job == self._job:
            self.show_left(job, left)
            self.changed.emit()


def _names(left: LeftView) -> str:
    lines = [f"{printable(one.path)}   {job_times.size(one.size)}" for one in left.files[:_MOST]]
    rest = len(left.files) - len(lines) + left.more
    return "\n".join([*lines, f"and {rest:,} more"] if rest else lines)
