"""Settings of glideins and their virtual slots (section 16.1 of the requirements)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.scheduling.slots.interactive import InteractiveMode
from broker_core.scheduling.slots.rules import OnRelease
from broker_core.settings.field import setting


@dataclass(frozen=True)
class GlideinSettings:
    """Durations in seconds."""

    glideins: tuple[str, ...] = setting(
        (), "sites whose sequential batch jobs run in glideins, so that interactive jobs start beside them"
    )
    glidein_idle_exit: float = setting(
        300.0, "a glidein in which nothing runs for so long ends, if no batch job comes; 0: at once"
    )
    glidein_wall_limit: float = setting(
        3600.0,
        "wall limit that a glidein asks for, at least if its queue gives it: so long it takes further jobs",
    )
    glidein_start_timeout: float = setting(
        300.0, "a glidein that was started at its site and was not heard for so long is given up"
    )
    glidein_lost_after: float = setting(
        180.0, "a glidein that hears nothing of the broker for so long ends, and all that runs in it"
    )
    slot_boxes: str = setting(
        "possible",
        "boxes around jobs in slots: possible (where the node can), always (no glidein elsewhere), never",
        choices=("possible", "always", "never"),
    )
    slot_reads: tuple[str, ...] = setting((), "folders at sites that boxed jobs may read beside their own")
    slot_writes: tuple[str, ...] = setting((), "folders at sites that boxed jobs may write beside their own")
    slot_batch_nice: int = setting(
        10,
        "nice value of a batch job while an interactive job runs in the other slot of its glidein; where a"
        " batch system lets its jobs divide their control groups, the weight of that value",
    )
    slot_interactive_nice: int = setting(0, "nice value of an interactive job in a slot")
    slot_restore: bool = setting(
        True,
        "false: a batch job has slot_batch_nice also while nothing runs beside it, as on nodes that"
        " cannot restore it",
    )
    on_interactive: str = setting(
        OnRelease.LOW_PRIORITY.value,
        "what is done with a batch job while an interactive job runs beside it: low_priority, suspend (it is"
        " stopped until then), or cancel (it waits in the queue again and runs anew)",
        choices=tuple(one.value for one in OnRelease),
    )
    on_release: str = setting(
        OnRelease.LOW_PRIORITY.value,
        "the same beside a component of a job over several sites, from when all of them are there",
        choices=tuple(one.value for one in OnRelease),
    )
    interactive_mode: str = setting(
        InteractiveMode.FREE_FIRST.value,
        "where an interactive job starts: free_first (free CPUs, else slots), slots_first, or exclusive (free"
        " CPUs alone)",
        choices=tuple(one.value for one in InteractiveMode),
    )
