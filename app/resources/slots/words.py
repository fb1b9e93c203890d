"""How glideins and slots look and read: shape, colour and word. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import units
from app.widgets.state_style import StateShape, StateStyle

if TYPE_CHECKING:
    from broker_core.wire.slots import GlideinView, SlotsView, SlotView

STATES = {
    "Requested": StateStyle(StateShape.HOLLOW, "state-Submitted", "Requested"),
    "QueuedAtSite": StateStyle(StateShape.HOLLOW, "state-Waiting", "Queued"),
    "Starting": StateStyle(StateShape.HALF, "state-Ready", "Starting"),
    "Joined": StateStyle(StateShape.HALF, "state-Scheduled", "Joined"),
    "Idle": StateStyle(StateShape.PAUSE, "state-Waiting", "Idle"),
    "Busy": StateStyle(StateShape.FILLED, "state-Running", "Busy"),
    "Shared": StateStyle(StateShape.DOUBLE_CHECK, "positive", "Shared"),
}
"""States of a glidein while it lives, in the order of the picture."""
_UNKNOWN = StateStyle(StateShape.QUESTION, "state-Unheard", "Not known")
ABOUT = {
    "Requested": "It was decided on and goes to the site.",
    "QueuedAtSite": "The site's batch system has it and has not started it yet.",
    "Starting": "The batch system runs it; it has not called yet.",
    "Joined": "Its node is fit and its slots are open; the job that it is for has not started yet.",
    "Idle": "Nothing is in its slots; it ends when that lasts.",
    "Busy": "One slot is taken.",
    "Shared": "Both slots are taken, and the batch job has the lower priority.",
}
SLOT_STATES = {"Reserved": "Kept", "Free": "Free", "Claimed": "Taken"}
"""State of a slot to its word, in the order of the picture."""
STEPS = {
    "Offered": "Starting",
    "Gathering": "Gathering",
    "Running": "Running",
    "Suspended": "Stopped",
    "Ending": "Ending",
}
"""How far a job in a slot is, to its word, in the order of the picture."""
ROLES = {"slot1": "Batch slot", "slot2": "Interactive slot"}


def style(glidein: GlideinView) -> StateStyle:
    """Return the style of a glidein's state."""
    return STATES.get(glidein.state, _UNKNOWN)


def occupant(slot: SlotView) -> str:
    """Return what is in a slot in few words."""
    if slot.taken:
        return slot.name or slot.job or "Another user's job"
    return {"": "–", "Reserved": "Kept for its job"}.get(slot.state, slot.state)


def share_words(slot: SlotView) -> str:
    """Return e.g. `9 % of the CPU`; empty where no job computes in it."""
    return "" if slot.share is None else f"{slot.share * 100:.0f} % of the CPU"


def slot_sentence(slot: SlotView) -> str:
    """Say all about a slot, for tooltips and screen readers."""
    name = ROLES.get(slot.role, slot.role)
    if not slot.taken:
        states = {"": "not there yet", "Reserved": "kept for the job that the glidein is for"}
        return f"{name}: {states.get(slot.state, slot.state.lower())}"
    parts = [occupant(slot), STEPS.get(slot.step, slot.step).lower()]
    parts += [f"nice {slot.priority}"] if slot.priority is not None else []
    parts += [f"{share_words(slot)} while both compute"] if slot.share is not None else []
    parts += [f"{slot.line} in line behind it"] if slot.line else []
    return f"{name}: " + ", ".join(parts)


def originator(glidein: GlideinView) -> str:
    """Return the job that a glidein is for."""
    return glidein.originator_name or glidein.originator or f"A job of {glidein.owner}"


def countdown(glidein: GlideinView, now: float) -> str:
    """Return how long it has until it ends for want of jobs; empty while it is not idle."""
    return "" if glidein.ends is None else units.duration(max(0.0, glidein.ends - now))


def boxed(glidein: GlideinView) -> str:
    """Return whether its jobs are kept apart from each other."""
    return ("No" if glidein.boxed.startswith("not boxed") else "Yes") if glidein.boxed else "Not known"


def about_boxes(glidein: GlideinView) -> str:
    """Return what keeps its jobs apart, or why nothing does."""
    if boxed(glidein) == "Yes":
        return f"Jobs in its slots do not see each other's files and processes ({glidein.boxed})."
    reason = glidein.boxed or "whether its jobs are boxed is not known yet"
    return f"{reason[:1].upper()}{reason[1:]}"


def headline(view: SlotsView) -> str:
    """Say what the eye should meet first: whether an interactive job would start at once."""
    count = len(view.glideins)
    if not count:
        return "No glidein now"
    free = sum(slot.state == "Free" for one in view.glideins for slot in one.slots if slot.role == "slot2")
    slots = units.count(free, "interactive slot")
    return f"{slots} free in {units.count(count, 'glidein')}"


def day_sentence(view: SlotsView) -> str:
    """Say what the day plot adds up to."""
    day = view.history
    opened = units.count(day.opened, "slot")
    return f"Last day: {opened} opened, {units.count(day.claims, 'job')} ran in them"
