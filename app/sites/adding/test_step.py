"""Last step of adding a site: a test job, followed live, and a question of the site if it has one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.sites.question import QuestionForm
from app.sites.site_style import state_sentence
from app.sites.test_line import TrialLine
from app.stores.sites import CONNECTED
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.answers import SiteAnswers
    from app.sites.commands import SiteActions
    from app.sites.site_test import Trial
    from broker_core.wire.sites import QuestionView


class TrialStep(QWidget):
    """The site is added; whether it works is seen here."""

    changed = Signal()

    def __init__(self, context: AppContext, commands: SiteActions, answers: SiteAnswers) -> None:
        super().__init__()
        self._context, self._commands, self._answers = context, commands, answers
        self.name = ""
        self.trial: Trial | None = None
        self.said, self.link = label(role="strong", wrap=True), label(role="muted", wrap=True)
        self.line, self.form = TrialLine(context), QuestionForm()
        self.after = label(role="muted", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for part in (self.said, self.link, self.form, self.line, self.after):
            column.addWidget(part)
        self.form.answered.connect(self._answered)
        commands.tested.connect(self._tested)
        context.sites.changed.connect(self._show_link)
        answers.told.connect(self._show_link)

    @property
    def over(self) -> bool:
        """True once it is known how the test went."""
        return self.trial is not None and self.trial.over

    @property
    def well(self) -> bool:
        """True if the test went well."""
        return self.trial is not None and self.trial.well

    def begin(self, name: str) -> None:
        """Test the site of this name."""
        self.name = name
        self.said.setText(f"{name} was added.")
        self.again()
        self._show_link()

    def again(self) -> None:
        """Send a test job."""
        self.trial = self._commands.test(self.name)
        self._tested(self.name)

    def _tested(self, name: str) -> None:
        if name != self.name or self.trial is None:
            return
        self.line.show_trial(self.trial)
        self.after.setText(self._next_words())
        self.after.setVisible(self.trial.over)
        self.changed.emit()

    def _next_words(self) -> str:
        if self.well:
            return "Jobs are sent there now when they match. Drop one on its card to send it there only."
        return (
            "The site stays added, and jobs are sent there once it works. Its card has all that can be done."
        )

    def _show_link(self) -> None:
        site = self._context.sites.named(self.name) if self.name else None
        if site is None:
            return
        question = site.link.question
        self.form.no_keyring(self._answers.no_keyring)
        new = question is not None and (self.form.question is None or self.form.question.id != question.id)
        self.form.ask(question, self._answers.note(question))
        if new:
            self.form.take_focus()
        said = "" if site.link.state == CONNECTED else state_sentence(site, time.time())
        self.link.setText(said)
        self.link.setVisible(bool(said) and question is None)

    def _answered(self, question: QuestionView, value: str, keep: bool) -> None:
        self._answers.answer(self.name, question, value, keep)
