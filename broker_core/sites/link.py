"""The state of the connection to a site: a state of its own, never one of a job."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable
from broker_core.wire.site_states import LinkState, QuestionKind

__all__ = ["LINES", "LINK_LIFE", "Link", "LinkEvent", "LinkState", "Question", "QuestionKind"]

LINES = 500
"""Lines of the connection's log that are kept."""


class LinkEvent(StrEnum):
    """What happens to the connection to a site; the value is for people."""

    TRIED = "tried"
    """A first try begins, or one that the user asked for where nothing was tried."""
    ANSWERED = "answered"
    """The site did what it was asked for."""
    LOST = "lost"
    """An exchange failed; the next try is due soon."""
    ASKED = "asked"
    """Only the user can go on."""
    GIVEN_UP = "given up"
    """Refused for good, silent for long, or closed by us."""

    __hash__ = str.__hash__


LINK_LIFE = TransitionTable(
    "the connection to a site",
    tuple(LinkState),
    LinkEvent,
    frozenset(),
    {
        (None, LinkEvent.TRIED): LinkState.CONNECTING,
        (LinkState.NEEDS_CREDENTIALS, LinkEvent.TRIED): LinkState.CONNECTING,
        (LinkState.DOWN, LinkEvent.TRIED): LinkState.CONNECTING,
        **{(state, LinkEvent.ANSWERED): LinkState.CONNECTED for state in LinkState},
        **{(state, LinkEvent.LOST): LinkState.RETRYING for state in LinkState},
        **{(state, LinkEvent.ASKED): LinkState.NEEDS_CREDENTIALS for state in LinkState},
        **{(state, LinkEvent.GIVEN_UP): LinkState.DOWN for state in LinkState},
    },
)
"""No state is final: a closed connection that is used again is tried like one that was down."""


@dataclass(frozen=True, slots=True)
class Question:
    """What only the user can answer before the connection can be made."""

    id: str
    kind: QuestionKind
    text: str
    """The question in words, with fingerprint or file where one is meant."""
    secret: bool = True
    """The answer must not be shown, logged or written to a file."""
    keep_as: str = ""
    """Name of the answer in the user's keyring; empty where it must not be kept."""


@dataclass(frozen=True, slots=True)
class TransferProgress:
    """Files of an attempt that are on their way; sizes in bytes."""

    to_site: bool
    total: int
    done: Callable[[], int]
    """How much has arrived; may look at files."""


class Link:
    """State, reason and log of one connection; whoever holds the connection tells it."""

    def __init__(self, changed: Callable[[Link], None]) -> None:
        self.state = LINK_LIFE.after(None, LinkEvent.TRIED)
        self.since = 0.0
        """When the state was entered, seconds since the epoch."""
        self.reason = ""
        """In words with the remedy; empty while connected."""
        self.retry_at: float | None = None
        """Seconds since the epoch."""
        self.heard: float | None = None
        """When the site was last heard from, seconds since the epoch."""
        self.question: Question | None = None
        self.trouble = ""
        """Why the site cannot be used although it answers, in words with the remedy; empty: it can."""
        self.credential_until: float | None = None
        """When the credential that opens the site expires, seconds since the epoch; None: it does not."""
        self.way: set[str] = set()
        """Hosts that the connection goes to or through, as far as they are known."""
        self.log: deque[tuple[float, str]] = deque(maxlen=LINES)
        """What happened to the connection: time and words; never a secret."""
        self.transfers: dict[str, TransferProgress] = {}
        """Tag of an attempt to its files on their way now; kept nowhere else."""
        self._changed = changed
        self._stirred = asyncio.Event()

    @property
    def usable(self) -> bool:
        """True where jobs can be sent now."""
        return self.state is LinkState.CONNECTED and not self.trouble

    def hinder(self, trouble: str) -> None:
        """Something at the site itself is in the way, whatever the connection does; empty: nothing is."""
        if trouble != self.trouble:
            self.trouble = trouble
            self.note(f"cannot be used: {trouble}" if trouble else "can be used again")
            self._changed(self)

    def opened_until(self, until: float) -> None:
        """The site is opened by a credential that expires then, seconds since the epoch."""
        if until != self.credential_until:
            self.credential_until = until
            self._changed(self)

    def note(self, words: str) -> None:
        """Add a line to the log."""
        self.log.append((time.time(), words))

    def transition(
        self,
        event: LinkEvent,
        reason: str = "",
        *,
        retry_at: float | None = None,
        question: Question | None = None,
    ) -> None:
        """Enter the state that follows, or the same one for another reason; a repetition changes nothing.

        Raises IllegalTransition.
        """
        state = LINK_LIFE.after(self.state, event)
        if (state, reason, retry_at, question) == (self.state, self.reason, self.retry_at, self.question):
            return
        if state is not self.state:
            self.since = time.time()
        self.state, self.reason, self.retry_at, self.question = state, reason, retry_at, question
        self.note(f"{state.value}: {reason}" if reason else state.value)
        self._stirred.set()
        self._stirred = asyncio.Event()
        self._changed(self)

    async def news(self) -> None:
        """Return when a state is entered the next time."""
        await self._stirred.wait()
