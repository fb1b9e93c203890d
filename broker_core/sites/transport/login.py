"""One login at one SSH server: its key is checked, and what the server wants to know is answered or asked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

import asyncssh

from broker_core.sites.link import Question, QuestionKind
from broker_core.sites.transport.host_check import HostCheck
from broker_core.sites.transport.questions import AnswerStore
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.sites.transport.ssh_settings import SshSettings

_ALIKE = 2
"""Wrong codes after which the password may be what is wrong: many servers do not tell which it is."""
_SHOWN = 500
"""Characters of a server's question that are shown."""
_PASSWORD = re.compile(r"password|passwort|mot de passe|contrase", re.IGNORECASE)
_FOR_ONCE = re.compile(r"one.?time|otp|code|token|verification", re.IGNORECASE)
"""Prompts for what is good for one use, though some call that a password too."""


class Login(asyncssh.SSHClient):
    """What asyncssh asks while it connects; what went wrong is kept for the words about it."""

    def __init__(
        self,
        settings: SshSettings,
        answers: AnswerStore,
        *,
        patience: RetryPolicy,
        limit: asyncio.Timeout,
        tell: Callable[[str], None],
        ask: Callable[[Question], Awaitable[None]],
    ) -> None:
        """`limit`: deadline of the step under way. `tell`: the link's log. `ask`: wait for an answer."""
        self.stage = "connect"
        """`connect`, `exchange`, `login` or `done`."""
        self.declined = ""
        """What the user was asked for and did not give; there was no login without it."""
        self.question: Question | None = None
        """Without its answer there is no login."""
        self.waits = False
        """The server waits for the answer to the question."""
        self.host = HostCheck(settings, answers, tell)
        self.connection: asyncssh.SSHClientConnection | None = None
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._target, self._answers = settings.target, answers
        self._patience, self._limit, self._ask = patience, limit, ask
        self._spent: set[str] = set()
        """What was told to the server and is not known to be right."""
        self._wrong_codes = 0
        self._challenges = 0
        """How often the server has asked in this exchange of questions and answers."""

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The network connection stands."""
        self.connection = conn
        self._enter("exchange", self._patience.exchange)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        if not self.lost.done():
            self.lost.set_result(exc)

    def begin_auth(self, username: str) -> None:
        """The server proved its key."""
        self._enter("login", self._patience.login)

    def auth_completed(self) -> None:
        """Logged in."""
        self.stage = "done"

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """The server showed a key that the files of known hosts do not have."""
        return self.host.trusts(key)

    def passphrase(self, path: str) -> str:
        """The passphrase of an encrypted key which the server accepts; raises ValueError.

        Called in a thread, since trying one takes long by intention.
        """
        about = f"passphrase {path}"
        given = self._answers.value(about)
        if given:
            try:
                asyncssh.read_private_key(path, given)
            except (ValueError, OSError):
                self._answers.refuse(about)
                given = None
        if given is None:
            text = f"Passphrase of the key {path}, which {self._target} accepts:"
            self._want(QuestionKind.PASSPHRASE, about, text, f"ssh-key:{path}")
        if not given:
            self.declined = f"the passphrase of {path}"
            raise ValueError("There is no passphrase for this key.")
        return given

    def password_auth_requested(self) -> str | None:
        """The server takes a password."""
        about = self._password_about
        if about in self._spent:
            self._answers.refuse(about)
        given = self._answers.value(about)
        if given is None:
            self._want(QuestionKind.PASSWORD, about, f"Password of {self._target}:", f"ssh:{self._target}")
        else:
            self._spent.add(about)
        if given == "":
            self.declined = "the password"
        return given or None

    def kbdint_auth_requested(self) -> str | None:
        """The server wants to ask; not before what is open already is answered.

        A second time in one login means that the last thing it was told is wrong.
        """
        self._challenges = 0
        codes = self._spent - {self._password_about}
        for about in codes:
            self._answers.refuse(about)
        self._spent -= codes
        self._wrong_codes += bool(codes)
        if codes and self._wrong_codes >= _ALIKE:
            self._answers.refuse(self._password_about)
        return None if self.question else ""

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """The server asks; passwords are taken from memory, codes from the user while the server waits."""
        if self._challenges:
            self._spent.clear()  # it asks on, so what it was told before is right
        self._challenges += 1
        replies: list[str] = []
        for prompt, shown in prompts:
            if _PASSWORD.search(prompt) and not _FOR_ONCE.search(prompt):
                reply = self.password_auth_requested()
            else:
                reply = await self._code(_plain(f"{instructions} {prompt}"), shown=shown)
            if reply is None:
                return None
            replies.append(reply)
        return replies

    @property
    def _password_about(self) -> str:
        return f"password {self._target}"

    async def _code(self, prompt: str, *, shown: bool) -> str | None:
        about = f"code {self._target} {prompt}"
        given = self._answers.take(about)
        if given is None:
            text = f"{self._target} asks: {prompt}"
            self.question = self._answers.question(QuestionKind.CODE, about, text, secret=not shown)
            self._limit.reschedule(asyncio.get_running_loop().time() + self._patience.question)
            self.waits = True
            await self._ask(self.question)
            self.waits = False
            self._enter("login", self._patience.login)
            given = self._answers.take(about)
        if given is not None:
            self.question = None
            self._spent.add(about)
        return given or None

    def _want(self, kind: QuestionKind, about: str, text: str, keep_as: str) -> None:
        """Remember the first thing that was missing."""
        if self.question is None:
            self.question = self._answers.question(kind, about, text, secret=True, keep_as=keep_as)

    def _enter(self, stage: str, seconds: float) -> None:
        self.stage = stage
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + seconds)


def _plain(text: str) -> str:
    """What a server says, without what could pass for more than its words."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:_SHOWN]
