"""The lives of a co-allocation and of its components, as tables (CB-AL-08, section 10.1)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable


class CoallocationState(StrEnum):
    """Where one job over several computing elements is."""

    SUBMITTING = "Submitting"
    """Its components are offered to their sites, which hold them. Ended by the last that is accepted, or the
    first that is not."""
    GATHERING = "Gathering"
    """All sites have theirs and may start it; those that start wait in MPI_Init. Ended by the last that gets
    there, by one that ends before, or by the gather time-out."""
    RUNNING = "Running"
    """The barrier is released, and all compute. Ended by the end of all, or the first that ends badly."""
    ENDING = "Ending"
    """It has failed or was canceled, and what is left of it is being removed (CB-ERR-7). Ended when every
    component is known to be gone."""
    DONE = "Done"
    """All components have ended well."""
    FAILED = "Failed"
    """It is over, and nothing of it is left anywhere."""


class CoallocationEvent(StrEnum):
    """What happens to a co-allocation."""

    STARTED = "coallocation.started"
    """Its computing elements were chosen and locked."""
    ACCEPTED = "coallocation.accepted"
    """The last of the sites has its component: all may start (Scheduled)."""
    RELEASED = "coallocation.released"
    """The last component has reached MPI_Init."""
    FAILED = "coallocation.failed"
    """A component, the launcher, or the time failed it, or it was canceled."""
    REPEATED = "coallocation.repeated"
    """All is gone, and it is submitted once more to the same computing elements (CB-ERR-3)."""
    FINISHED = "coallocation.finished"
    """The last component has ended well."""
    GIVEN_UP = "coallocation.given_up"
    """All is gone, and what follows is the scheduler's to decide."""
    ADOPTED = "coallocation.adopted"
    """A new launcher took a running one over (CB-ERR-4)."""


S, E = CoallocationState, CoallocationEvent

COALLOCATION_LIFE: TransitionTable[CoallocationState, CoallocationEvent] = TransitionTable(
    "a co-allocation",
    tuple(CoallocationState),
    CoallocationEvent,
    frozenset({S.DONE, S.FAILED}),
    {
        (None, E.STARTED): S.SUBMITTING,
        (S.SUBMITTING, E.ACCEPTED): S.GATHERING,
        (S.GATHERING, E.RELEASED): S.RUNNING,
        (S.RUNNING, E.ADOPTED): S.RUNNING,
        (S.RUNNING, E.FINISHED): S.DONE,
        (S.SUBMITTING, E.FAILED): S.ENDING,
        (S.GATHERING, E.FAILED): S.ENDING,
        (S.RUNNING, E.FAILED): S.ENDING,
        (S.ENDING, E.REPEATED): S.SUBMITTING,
        (S.ENDING, E.GIVEN_UP): S.FAILED,
    },
)


class ComponentState(StrEnum):
    """Where one component of a co-allocation is."""

    OFFERED = "Offered"
    """Its site was asked to take it, and has not answered."""
    HELD = "Held"
    """Its site has it, and does not start it before it is told to."""
    CONFIRMED = "Confirmed"
    """Its site may start it: all others have theirs too."""
    STARTED = "Started"
    """Its processes were started."""
    GATHERED = "Gathered"
    """All its processes wait in MPI_Init."""
    RELEASED = "Released"
    """The barrier let it go."""
    CANCELED = "Canceled"
    """Its site was asked to remove it, and has not said yet that it is gone."""
    ENDED = "Ended"
    """Nothing of it is left at its site, or it never got there."""


class ComponentEvent(StrEnum):
    """What happens to a component."""

    OFFERED = "component.offered"
    """It is handed to its site."""
    ACCEPTED = "component.accepted"
    """The site has it."""
    CONFIRMED = "component.confirmed"
    """The site is told to start it."""
    STARTED = "component.started"
    """The site says that it runs."""
    GATHERED = "component.gathered"
    """Its processes have called the launcher from MPI_Init."""
    RELEASED = "component.released"
    """The barrier was released."""
    CANCELED = "component.canceled"
    """Its removal is asked for."""
    ENDED = "component.ended"
    """It is over, or was refused."""


C, N = ComponentState, ComponentEvent
_ALIVE = (C.OFFERED, C.HELD, C.CONFIRMED, C.STARTED, C.GATHERED, C.RELEASED)

COMPONENT_LIFE: TransitionTable[ComponentState, ComponentEvent] = TransitionTable(
    "a component",
    tuple(ComponentState),
    ComponentEvent,
    frozenset({C.ENDED}),
    {
        (None, N.OFFERED): C.OFFERED,
        (C.OFFERED, N.ACCEPTED): C.HELD,
        (C.HELD, N.CONFIRMED): C.CONFIRMED,
        (C.CONFIRMED, N.STARTED): C.STARTED,
        # What a site says and what the processes say come by different ways.
        (C.CONFIRMED, N.GATHERED): C.GATHERED,
        (C.STARTED, N.GATHERED): C.GATHERED,
        (C.GATHERED, N.RELEASED): C.RELEASED,
        **{(state, N.CANCELED): C.CANCELED for state in _ALIVE},
        **{(state, N.ENDED): C.ENDED for state in (*_ALIVE, C.CANCELED)},
    },
)
