"""What becomes of a batch job while the other slot of its machine is used (CB-GLI-11 to 13)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.rules import OnRelease, PriorityControl, SlotRules, SlotUse

_PER_STEP = 1.25
"""The kernel gives a process this much more time for each step that its nice value is lower."""


class Treatment(StrEnum):
    """What is done with a batch job in slot1."""

    RUN = "run"
    """It runs, or goes on."""
    SUSPEND = "suspend"
    """It is stopped."""
    END = "end"
    """It is ended, to run again elsewhere."""
    LEAVE = "leave"
    """It stays as it is."""


def priority_in_slot1(rules: SlotRules, control: PriorityControl, shared: bool) -> int:
    """Nice value of the batch job: lowered while slot2 is taken, restored after, where the node allows it."""
    if shared or not rules.restore_full_priority or control is PriorityControl.DOWN_ONLY:
        return rules.batch_priority
    return rules.interactive_priority


def treatment(rules: SlotRules, originator: bool, other: tuple[SlotUse, ClaimState] | None) -> Treatment:
    """What is done with the batch job. `other`: what slot2 has, and how far it is; `originator`: the batch
    job caused the glidein: it has precedence, and is lowered at most (CB-GLI-07), but beside an interactive
    job, for which it holds the machine open by a setting of its own."""
    if other is None or (originator and other[0] is SlotUse.INTER_CLUSTER):
        return Treatment.RUN
    use, state = other
    if state is ClaimState.ENDING:
        return Treatment.LEAVE
    if state is not ClaimState.RUNNING:
        return Treatment.RUN
    return {
        OnRelease.LOW_PRIORITY: Treatment.RUN,
        OnRelease.SUSPEND: Treatment.SUSPEND,
        OnRelease.CANCEL: Treatment.END,
    }[rules.beside(use)]


def share_of_cpu(nice: int, others: Iterable[int]) -> float:
    """Part of a CPU that a process of this nice value gets while others compute on it too, 0 to 1."""
    own = _PER_STEP**-nice
    return own / (own + sum(_PER_STEP**-other for other in others))
