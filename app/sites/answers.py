"""Answers to the questions of sites: from the keyring once, else from the user; never a wrong one again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.context import Notice, Tone
from app.sites.question import REFUSED
from app.stores.sites import CONNECTED
from broker_core.client.keyring_access import KeyringAccess
from broker_core.errors import CrossDeskError
from broker_core.wire.sites import QuestionAnswer

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.sites import QuestionView, SiteView


class SiteAnswers(QObject):
    """Watches the sites for questions; one try with a kept answer, then a calm notice and the user's turn."""

    told = Signal()
    """Something to say about a question changed: the keyring, or a kept answer that was refused."""

    def __init__(self, context: AppContext, keyring: KeyringAccess | None = None) -> None:
        super().__init__(context.owner)
        self._context = context
        self.keyring = keyring or KeyringAccess()
        self.no_keyring = ""
        """Why nothing can be kept; empty while it can, and before it is known."""
        self._tried: set[str] = set()
        """Entries of the keyring that were sent and not yet seen to work."""
        self._seen: set[str] = set()
        """Sites with the questions that they were seen to ask, until they are connected: a broker that began
        anew asks the same again, and two sites that are opened by one key ask the same."""
        self._to_keep: dict[str, tuple[str, str]] = {}
        """Who was answered to the entry and the value that go into the keyring once it was accepted."""
        self._notes: dict[str, str] = {}
        self._typed: dict[str, str] = {}
        """What opened a host that was looked at: the site that is added then asks for the same."""
        context.sites.changed.connect(self._look)

    def note(self, question: QuestionView | None) -> str:
        """What to say below a question."""
        return self._notes.get(question.id, "") if question is not None else ""

    def begin(self) -> None:
        """Find out whether there is a keyring, when a form is about to need it."""
        self._context.run(self._begin(), "looking for a keyring")

    async def _begin(self) -> None:
        self.no_keyring = await self.keyring.missing()
        self.told.emit()

    # --- questions of sites

    def _look(self) -> None:
        for site in self._context.sites.views:
            name, question = site.spec.name, site.link.question
            if question is None:
                if site.link.state == CONNECTED:
                    self._works(name)
            elif f"{name}\n{question.id}" not in self._seen:
                self._seen.add(f"{name}\n{question.id}")
                self._context.run(self._meet(site, question), f"answering for {name}")

    def _works(self, name: str) -> None:
        self._tried = {entry for entry in self._tried if not entry.startswith(f"{name}\n")}
        for entry in [one for one in self._seen if one.startswith(f"{name}\n")]:
            self._seen.remove(entry)
            self._notes.pop(entry.partition("\n")[2], None)
        self.accepted(name)
        self._context.withdraw(_topic(name))

    async def _meet(self, site: SiteView, question: QuestionView) -> None:
        name = site.spec.name

        async def send(answer: QuestionAnswer) -> object:
            return await self._context.client.answer_site(name, answer)

        if not await self.without_asking(name, question, send):
            said = f"{name} needs an answer: {question.text.partition('. ')[0]}"
            self._context.notify(Notice(said, Tone.WARNING, "view.sites", topic=_topic(name)))

    async def without_asking(
        self, name: str, question: QuestionView, send: Callable[[QuestionAnswer], Awaitable[object]]
    ) -> bool:
        """Answer with what is held, else from the keyring if that was not tried in vain before.

        False: the user must be asked.
        """
        if name in self._to_keep and self._to_keep[name][0] == question.keep_as:
            del self._to_keep[name]  # it is asked again: that was not the answer
        self.accepted(name)
        await self._begin()
        if typed := self._typed.pop(question.keep_as, ""):
            await send(QuestionAnswer(id=question.id, value=typed))
            return True
        if not question.keep_as or self.no_keyring:
            return False
        entry = f"{name}\n{question.keep_as}"
        if entry in self._tried:
            self._notes[question.id] = REFUSED
            self.told.emit()
            return False
        kept = await self.keyring.read(question.keep_as)
        if not kept:
            return False
        self._tried.add(entry)
        await send(QuestionAnswer(id=question.id, value=kept))
        return True

    # --- what the user answers

    def hold(self, typed: Mapping[str, str]) -> None:
        """Answer with these once each, by the names of questions, in place of what was held before."""
        self._typed = dict(typed)

    def answer(self, name: str, question: QuestionView, value: str, keep: bool) -> None:
        """Send what the user answered to a site; with `keep` into the keyring too."""

        async def send(answer: QuestionAnswer) -> object:
            return await self._context.client.answer_site(name, answer)

        self._context.run(self.give(name, question, value, keep, send), f"answering for {name}")

    async def give(
        self,
        name: str,
        question: QuestionView,
        value: str,
        keep: bool,
        send: Callable[[QuestionAnswer], Awaitable[object]],
    ) -> None:
        """Send an answer to who is called `name` here, to be kept once `accepted`; what fails is told."""
        self._to_keep.pop(name, None)
        if keep and value and question.keep_as:
            self._to_keep[name] = (question.keep_as, value)
        try:
            await send(QuestionAnswer(id=question.id, value=value))
        except CrossDeskError as error:
            self._to_keep.pop(name, None)
            self._notes[question.id] = str(error)
            self.told.emit()
            return
        self._context.sites.reload()

    def accepted(self, name: str) -> None:
        """The last answer was right: keep it if that was wanted. A wrong one must never be sent by itself."""
        if name in self._to_keep:
            self._context.run(self._keep(*self._to_keep.pop(name)), "keeping an answer")

    async def _keep(self, entry: str, value: str) -> None:
        if why := await self.keyring.write(entry, value):
            self._context.notify(Notice(why, Tone.WARNING))


def _topic(site: str) -> str:
    return f"site {site}"
