"""What becomes of a batch job while the other slot of its machine is used (CB-GLI-11 to 13)."""

from __future__ import annotations

from enum import StrEnum

from broker_core.scheduling.slots.claim_life import ClaimState
from broker_core.scheduling.slots.rules import OnRelease, PriorityControl, SlotRules, SlotUse


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
    job caused the glidein: it has precedence, and is lowered at most (CB-GLI-07)."""
    if other is None or originator or other[0] is not SlotUse.INTER_CLUSTER:
        return Treatment.RUN
    if other[1] is ClaimState.ENDING:
        return Treatment.LEAVE
    if other[1] is not ClaimState.RUNNING:
        return Treatment.RUN
    return {
        OnRelease.LOW_PRIORITY: Treatment.RUN,
        OnRelease.SUSPEND: Treatment.SUSPEND,
        OnRelease.CANCEL: Treatment.END,
    }[rules.on_release]
