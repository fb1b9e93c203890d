"""A question that is asked of the broker one at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess


class RefreshState(Enum):
    """Where a question stands."""

    IDLE = "idle"
    ASKING = "asking"
    REPEAT = "repeat"
    """It is under way, and what it asks for has changed since: it is asked once more."""


class Refresh:
    """Lets one question at a time go out; what is wanted meanwhile makes it one more, not many."""

    def __init__(self) -> None:
        self._state = RefreshState.IDLE

    @property
    def under_way(self) -> bool:
        """True while an answer is awaited."""
        return self._state is not RefreshState.IDLE

    def begin(self) -> bool:
        """True if the question may go out now; else it will be asked once more afterwards."""
        if self.under_way:
            self._state = RefreshState.REPEAT
            return False
        self._state = RefreshState.ASKING
        return True

    def end(self) -> bool:
        """The question was answered, or failed: True if it is to be asked once more."""
        repeat = self._state is RefreshState.REPEAT
        self._state = RefreshState.IDLE
        return repeat


class Topic(Protocol):
    """A signal of what changed at the broker."""

    def connect(self, call: Callable[[], None]) -> Any:
        """Have it called whenever the topic is told."""
        ...


class Reload:
    """Asks a broker that is connected, whenever it is called: one question at a time, and one more if it is
    called meanwhile."""

    def __init__(self, broker: BrokerAccess, ask: Callable[[], Awaitable[None]], doing: str) -> None:
        """`ask`: puts the question and takes the answer in. `doing`: what an error is told to have failed."""
        self._broker, self._ask, self._doing = broker, ask, doing
        self._refresh = Refresh()

    def __call__(self) -> None:
        if (self._refresh.under_way or self._broker.link.up) and self._refresh.begin():
            self._broker.run(self._run(), self._doing)

    def follow(self, topics: Iterable[Topic], lost: Callable[[], None]) -> None:
        """Ask whenever one of the topics is told, and when the broker is there again; `lost`: called when it
        has gone."""

        def linked() -> None:
            self() if self._broker.link.up else lost()

        for topic in topics:
            topic.connect(self)
        self._broker.link.changed.connect(linked)

    async def _run(self) -> None:
        try:
            await self._ask()
        finally:
            again = self._refresh.end()
        if again:
            self()
