"""Questions that only the user can answer, and the answers, which are in this process's memory alone."""

from __future__ import annotations

import hashlib
from collections import Counter

from broker_core.errors import NotFound
from broker_core.sites.link import Question, QuestionKind
from broker_core.sites.transport.contract import LinkLost


class QuestionDeclined(LinkLost):
    """The server, or the user's own settings, say no: trying again soon is of no use."""

    code = "link_refused"


class Asks(LinkLost):
    """The connection cannot be made before a question is answered."""

    code = "needs_credentials"

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question


class TooManySessions(LinkLost):
    """The server takes no further session on this connection for now; the command was not sent."""

    code = "too_many_sessions"


class AnswerStore:
    """Answers of one site's user by what they are about; an empty one means that the user declined."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._about: dict[str, str] = {}
        """Id of a question to what it is about."""
        self._turns: Counter[str] = Counter()
        """Answers that were wrong or used up."""
        self._wrong: set[str] = set()
        """Of which the last answer was wrong."""

    def value(self, about: str) -> str | None:
        """The answer; None while there is none."""
        return self._given.get(about)

    def take(self, about: str) -> str | None:
        """The answer, which is good for one use."""
        given = self._given.pop(about, None)
        self._turns[about] += given is not None
        return given

    def refuse(self, about: str) -> None:
        """The answer was wrong: forget it."""
        self._given.pop(about, None)
        self._turns[about] += 1
        self._wrong.add(about)

    def question(
        self, kind: QuestionKind, about: str, text: str, *, secret: bool, keep_as: str = ""
    ) -> Question:
        """A question with an id of its own; another one after each answer that was wrong or is used up."""
        name = f"{kind}-{hashlib.sha256(about.encode()).hexdigest()[:10]}-{self._turns[about]}"
        self._about[name] = about
        again = "The last answer was refused. " if about in self._wrong else ""
        return Question(name, kind, again + text, secret, keep_as)

    def give(self, question: Question | None, id: str, value: str) -> None:
        """Keep the answer to the open question; raises NotFound for another one."""
        if question is None or question.id != id:
            raise NotFound("This question is not open, or not any more.", place=id)
        about = self._about[id]
        self._given[about] = value
        self._wrong.discard(about)

    def ask_again(self) -> None:
        """Forget what was declined: the user wants another try."""
        self._given = {about: value for about, value in self._given.items() if value}
