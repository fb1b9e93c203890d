"""A life cycle as a table: which state follows which event. Each kind of entity has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Generic, TypeVar

State = TypeVar("State")
Event = TypeVar("Event", bound=Enum)


class IllegalTransition(Exception):
    """An own decision outside the table: an internal error, never a user's fault."""


class TransitionTable(Generic[State, Event]):
    """Every legal step of one kind of entity: (state before, event) to state after; None: before the first.

    States are the members of an enum, or classes where a state has data of its own. A table is checked by
    `faults`, which the tests do with every table that there is.
    """

    def __init__(
        self,
        entity: str,
        states: Sequence[State],
        events: type[Event],
        final: frozenset[State],
        steps: Mapping[tuple[State | None, Event], State],
    ) -> None:
        """`entity`: what lives this life, in words. `final`: states that nothing leaves, though an event may
        be recorded in them."""
        self.entity = entity
        self.states = tuple(states)
        """In the order of the life cycle."""
        self.events = events
        self.final = final
        self.steps = steps

    def after(self, state: State | None, event: Event) -> State:
        """The state after `event`; raises IllegalTransition."""
        try:
            return self.steps[state, event]
        except KeyError:
            before = "before the first state" if state is None else f"in state {label(state)}"
            raise IllegalTransition(f"{event.value} is not allowed {before}") from None

    def allows(self, state: State | None, event: Event) -> bool:
        """True if the table has this step."""
        return (state, event) in self.steps

    def successors(self, state: State) -> tuple[State, ...]:
        """The other states that can follow directly, in the order of the life cycle."""
        after = {new for (old, _), new in self.steps.items() if old is state and new is not state}
        return tuple(candidate for candidate in self.states if candidate in after)

    def reached(self) -> frozenset[State]:
        """The states to which a way leads from the start."""
        found = {new for (old, _), new in self.steps.items() if old is None}
        while more := {new for old in found for new in self.successors(old)} - found:
            found |= more
        return frozenset(found)

    def faults(self) -> list[str]:
        """What is wrong with the table, in words; empty for a sound one."""
        known, reached = set(self.states), self.reached()
        named = {state for (old, _), new in self.steps.items() for state in (old, new) if state is not None}
        used = {event for _, event in self.steps}
        return [
            *(f"{label(state)} is no state of {self.entity}" for state in named - known),
            *(f"{label(state)} is never reached" for state in self.states if state not in reached),
            *(f"{label(state)} is final and left" for state in self.final if self.successors(state)),
            *(f"{label(state)} is not final and never left"
              for state in self.states if state not in self.final and not self.successors(state)),
            *(f"{event.value} leads nowhere" for event in self.events if event not in used),
        ]  # fmt: skip

    def diagram(self, apart: frozenset[Event] = frozenset()) -> list[str]:
        """The table as lines of a Mermaid state diagram. `apart`: events that are told beside it."""
        ways: dict[tuple[State | None, State], list[str]] = {}
        for (old, event), new in self.steps.items():
            if event not in apart:
                ways.setdefault((old, new), []).append(str(event.value).rpartition(".")[2])
        lines = [
            f"    {_node(old)} --> {_node(new)}: {', '.join(events)}" for (old, new), events in ways.items()
        ]
        final = [f"    {_node(state)} --> [*]" for state in self.states if state in self.final]
        return ["stateDiagram-v2", *lines, *final]


def label(state: object) -> str:
    """A state's name for people."""
    if state is None:
        return "[*]"
    if isinstance(state, Enum):
        return str(state.value)
    return state.__name__ if isinstance(state, type) else str(state)


def _node(state: object) -> str:
    """The same as one word."""
    return label(state).replace(" ", "_")
