"""What a site gets to run a glidein: an order like that of a job, under a name of its own."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace

from broker_core.jdl.description import JobDescription
from broker_core.jobs.placement import Component
from broker_core.launching.cached_program import CachedProgram
from broker_core.reactor.entities import ENTITY_PREFIX, is_entity
from broker_core.scheduling.slots.rules import OnRelease, SlotRules
from broker_core.settings.glideins import GlideinSettings
from broker_core.sites.contract import InputFile, LaunchOrder
from broker_core.worker.script import (
    box_path,
    boxing_archive,
    glidein_path,
    own_name,
    shipped_name,
    warm_start_path,
)

GRACE = 60.0
"""Seconds after the end of a lease in which all that runs by it has ended: it may have been written a while
after it was counted, payloads have theirs from the glidein, and ending takes its time."""
_MARGIN = 60.0
"""Seconds that a glidein has beyond the wall limit of the job that caused it."""


def slot_rules(settings: GlideinSettings) -> SlotRules:
    """The rules by which is decided; a glidein is lost after as long a silence as its lease lasts."""
    return SlotRules(
        batch_priority=settings.slot_batch_nice,
        interactive_priority=settings.slot_interactive_nice,
        restore_full_priority=settings.slot_restore,
        on_interactive=OnRelease(settings.on_interactive),
        on_release=OnRelease(settings.on_release),
        idle_exit=settings.glidein_idle_exit,
        start_timeout=settings.glidein_start_timeout,
        lost_after=settings.glidein_lost_after,
        lease=settings.glidein_lost_after,
        grace=GRACE,
    )


def pool_id() -> str:
    """A new id of a glidein, a slot or a claim."""
    return f"{ENTITY_PREFIX}{secrets.token_hex(8)}"


def component_of(glidein: str) -> Component:
    """Under which the sites know a glidein; it is submitted once."""
    return Component(glidein, 1)


def is_glidein(component: Component) -> bool:
    """True for the component of a glidein."""
    return is_entity(component.job)


def lifetime(wall_limit: float | None, most: float | None, settings: GlideinSettings) -> float:
    """Seconds that a glidein is asked for by a job with a wall limit; 0: it has none, as the job has none.

    `most`: what the queue gives; None: that is not known.
    """
    if wall_limit is None:
        return 0.0
    wanted = max(wall_limit + _MARGIN, min(settings.glidein_wall_limit, most or 0.0))
    # Beyond that the site would never start it, and the job's own limit is within.
    return min(wanted, max(wall_limit, most or wanted))


def needs_of(description: JobDescription, lasts: float) -> str:
    """Equal for jobs that ask the same of a machine, and have a wall limit both or neither.

    A component of a job over several sites asks for the machine of one processor.
    """
    request = replace(description.request, mpi=False, hosts=0)
    return hashlib.sha256(f"{request!r} {lasts > 0}".encode()).hexdigest()[:16]


def glidein_order(
    order: LaunchOrder,
    glidein: str,
    wall_limit: float | None,
    settings: GlideinSettings,
    agent: CachedProgram | None,
) -> LaunchOrder:
    """The order of a glidein, by that of the job that causes it: it asks for the same of the batch system.

    `agent`: what it keeps warm once it is at the site; None: nothing.
    """
    script = glidein_path()
    first = settings.glidein_start_timeout + settings.glidein_lost_after
    box, boxing = own_name("box", box_path()), shipped_name("boxing", boxing_archive())
    words = [glidein, f"{settings.glidein_lost_after:.0f}", f"{first:.0f}", box, boxing, settings.slot_boxes]
    if agent is not None:
        words += [agent.cached_name, own_name("warm_start", warm_start_path())]
    return LaunchOrder(
        attempt=component_of(glidein),
        cpus=order.cpus,
        executable=f"./{script.name}",
        arguments=" ".join(words),
        environment=(),
        stdin="",
        stdout="glidein.log",
        stderr="glidein.log",
        inputs=(InputFile(script.name, script, executable=True),),
        outputs=(),
        wall_limit=wall_limit,
        owner=order.owner,
        ce=order.ce,
        name="glidein",
        glidein=True,
        request=replace(order.request, mpi=False, hosts=0),
    )
