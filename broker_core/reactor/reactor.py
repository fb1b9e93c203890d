"""What a reactor is: it takes events with the time and returns effects; it does nothing itself."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from broker_core.jobs.immutable import immutable


@immutable
class Now:
    """The two clocks: `wall` goes into records, only `monotonic` decides (reliability case 7)."""

    wall: float
    """Seconds since the epoch, UTC; may jump."""
    monotonic: float
    """Seconds of a clock that never jumps."""


@immutable
class TimerFired:
    """The moment of a Wake has come; it may also come early or twice. Every earlier Wake is used up."""

    name: ClassVar[str] = "timer.fired"


@immutable
class Wake:
    """Send a TimerFired at this moment of the monotonic clock; replaces every earlier one of the reactor."""

    at: float


class InternalEvent:
    """Base of what one reactor lets others know: an effect that the core itself carries to whoever takes it.

    It belongs to no transaction of its own: what has to survive is recorded by the reactors.
    """

    __slots__ = ()


class Reactor(Protocol):
    """One kind of decision. Pure: no clock, chance, file or network but what comes in with events."""

    @property
    def takes(self) -> frozenset[type]:
        """The types of events that it reacts to."""
        ...

    @property
    def gives(self) -> frozenset[type]:
        """The types of the effects that it returns, internal events among them, a Wake excepted."""
        ...

    def handle(self, event: Any, now: Now) -> list[Any]:
        """The effects of an event, in order; every event is legal at every time."""
        ...

    def validate(self) -> list[str]:
        """What does not fit together in its state, in words; empty if all is well. Reads only."""
        ...
