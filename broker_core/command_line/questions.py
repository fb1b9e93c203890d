"""Questions that stand between the broker and a host: answered from the keyring, else by the user."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Awaitable, Callable

import typer

from broker_core.client.keyring_access import KeyringAccess
from broker_core.command_line import output
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.wire.site_states import QuestionKind
from broker_core.wire.sites import QuestionAnswer, QuestionView

Send = Callable[[QuestionAnswer], Awaitable[object]]
_TRUST = (QuestionKind.TRUST_HOST, QuestionKind.CHANGED_HOST)
_SLIPS = 3
"""Words other than yes and no that are borne; a program that answers would go on for ever."""
_ONCE = (QuestionKind.CODE,)
"""Kinds of questions whose answer is good for one use."""


class Asker:
    """Answers each question once; without a terminal answers are read from standard input, one a line."""

    def __init__(self, trusted: str = "", keyring: KeyringAccess | None = None) -> None:
        """`trusted`: fingerprint of the host key that is accepted without asking."""
        self._trusted = trusted
        self._keyring = keyring or KeyringAccess()
        self._tried: set[str] = set()
        """What was answered by itself already, and is asked again because that was not accepted."""
        self._given: dict[str, str] = {}
        """What was asked to what the user typed: the look at a host and the site may ask for the same."""
        self._told = False
        self._to_keep: tuple[QuestionView, str] | None = None
        """What the user answered last and is not seen to be right yet."""

    def another(self) -> None:
        """Another connection begins: what was answered for the one before may be asked again."""
        self._tried.clear()

    async def answer(self, question: QuestionView, send: Send) -> None:
        """Answer a question; raises CrossDeskError where the user declines or cannot be asked."""
        if self._to_keep is not None and self._to_keep[0].keep_as == question.keep_as:
            self._to_keep = None  # it is asked again: that was not the answer
        await self.accepted()
        value = await self._value(question)
        await send(QuestionAnswer(id=question.id, value=value))
        if not value:
            raise CrossDeskError("The question was not answered, so there is no connection.", code="declined")

    async def _value(self, question: QuestionView) -> str:
        if question.kind in _TRUST:
            return await asyncio.to_thread(self._trust, question)
        about = question.keep_as or question.text
        if about not in self._tried and question.kind not in _ONCE:
            self._tried.add(about)
            known = self._given.get(about)
            if known is None and question.keep_as:
                known = await self._keyring.read(question.keep_as)
            if known:
                return known
        value = self._given[about] = await self._ask_user(question)
        return value

    def _trust(self, question: QuestionView) -> str:
        """What accepts a host key; typed in full, since a slip must not be enough."""
        if self._trusted and self._trusted in (word.strip(".,;") for word in question.text.split()):
            trusted, self._trusted = self._trusted, ""
            return trusted
        output.messages().print(output.printable_lines(question.text))
        if question.kind is QuestionKind.CHANGED_HOST:
            return _line("To trust the new key, type its fingerprint as the site publishes it: ").strip()
        for _ in range(_SLIPS):
            said = _line("Type yes or no: ").strip().lower()
            if said in ("yes", "no", ""):
                return said if said == "yes" else ""
            output.say("Please write the whole word.", "dim")
        return ""

    async def _ask_user(self, question: QuestionView) -> str:
        why = await self._keyring.missing() if question.keep_as else ""
        if why and not self._told:
            self._told = True
            output.say(why, "dim")
        output.messages().print(output.printable_lines(question.text))
        value = await asyncio.to_thread(_hidden if question.secret else _line, "Answer: ")
        if value and question.keep_as and not why and sys.stdin.isatty():
            self._to_keep = (question, value)
        return value

    async def accepted(self) -> None:
        """The last answer was right: offer to keep it. A wrong one must never be sent by itself."""
        if self._to_keep is None:
            return
        (question, value), self._to_keep = self._to_keep, None
        if await asyncio.to_thread(typer.confirm, f"Keep the {question.kind} in the keyring?", err=True) and (
            problem := await self._keyring.write(question.keep_as, value)
        ):
            output.say(problem, "yellow")


def _hidden(prompt: str) -> str:
    return getpass.getpass(prompt) if sys.stdin.isatty() else _line(prompt)


def _line(prompt: str) -> str:
    """A line of the terminal, or of standard input; raises BadRequest where there is none to read."""
    if sys.stdin.isatty():
        sys.stderr.write(prompt)
        sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise BadRequest(
            "There is nobody to answer this.",
            code="no_answer",
            remedy="Run it in a terminal, give answers on standard input, or name what is asked for: "
            "--host-key FINGERPRINT, --proxy FILE.",
        )
    return line.rstrip("\n")
