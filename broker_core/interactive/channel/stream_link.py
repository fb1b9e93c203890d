"""What a session needs of its way to the streams of a program, whoever carries them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from broker_core.errors import VersionsDiffer
from broker_core.interactive.channel.frames import HEARD, OUTPUT, WORD, read_place, read_word

log = logging.getLogger("crossdesk.sessions")


class StreamListener(Protocol):
    """Who takes what arrives on a link."""

    def output(self, stream: int, offset: int, data: bytes) -> None:
        """Bytes of the program."""
        ...

    def word(self, said: dict[str, Any]) -> None:
        """A message of the agent."""
        ...

    def confirmed(self, offset: int) -> None:
        """Bytes of our input that the agent has."""
        ...

    def silent(self, seconds: int) -> None:
        """The agent has not answered for so long; 0: it does."""
        ...


class StreamLink(Protocol):
    """The streams of a program."""

    lost: asyncio.Future[str]
    """Done when the link is no more: with the reason, or VersionsDiffer where no other will be better."""

    def say(self, what: str, **values: Any) -> None:
        """Send a message."""
        ...

    def type(self, offset: int, data: bytes) -> None:
        """Send input."""
        ...

    def arrived(self, stream: int, offset: int, size: int) -> None:
        """Output below `offset` is here; it is confirmed soon."""
        ...

    def confirm(self) -> None:
        """Confirm all output that arrived."""
        ...

    def listen(self, wanted: bool) -> None:
        """Take output, or let the program wait."""
        ...


class CarriedLink(StreamLink, Protocol):
    """A link that the broker carries."""

    met: bool
    """The broker has answered."""

    async def close(self) -> None:
        """Leave."""
        ...


def deliver(
    kind: bytes, content: bytes, listener: StreamListener, word: Callable[[dict[str, Any]], None]
) -> None:
    """Give a frame of the agent to who listens, a message to `word`; raises BadFrame and VersionsDiffer."""
    if kind == WORD:
        said = read_word(content)
        try:
            word(said)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            log.warning("A message of the agent does not fit", exc_info=error)
            raise _differ(said["what"]) from error
        return
    stream, offset, data = read_place(content)
    if kind == OUTPUT:
        listener.output(stream, offset, data)
    elif kind == HEARD:
        listener.confirmed(offset)


def _differ(what: str) -> VersionsDiffer:
    return VersionsDiffer(
        f"This desk and the job's agent are of different versions: its message `{what[:20]}` does not fit.",
        remedy="Close this desk and start it again; if that does not help, submit the job again.",
    )
