"""`crossdesk slots`: the glideins that your jobs run in, and what is in their two slots (CB-UI-10)."""

from __future__ import annotations

from rich.text import Text

from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.jobs.placement import listed
from broker_core.wire.slots import GlideinView, SlotsView, SlotView

_STYLES = {"Busy": "blue", "Shared": "green", "Joined": "yellow", "Starting": "yellow"}


def slots(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show the glideins that your batch jobs started, and the jobs in their two slots.

    An interactive job starts at once in a free second slot, also where a site is full.
    """
    view = with_client(lambda client: client.slots())
    if session().json:
        output.as_json(view.model_dump())
        return Exit.OK
    if view.glideins:
        heads = ("SITE", "NODE", "STATE", "FOR", "BATCH SLOT", "INTERACTIVE SLOT", "ENDS IN", "BOXED")
        tables.table(heads, [_row(one, view.now) for one in view.glideins])
    output.say(_summary(view), "dim")
    return Exit.OK


def _row(one: GlideinView, now: float) -> tuple[str | Text, ...]:
    first, second = one.slots
    return (
        one.site,
        one.node,
        Text(one.state.removesuffix("AtSite"), style=_STYLES.get(one.state, "")),
        one.originator_name or one.originator or f"a job of {one.owner}",
        slot_words(first),
        slot_words(second),
        "" if one.ends is None else words.duration(max(0.0, one.ends - now)),
        one.boxed or "not known",
    )


def slot_words(slot: SlotView) -> str:
    """What is in a slot: its job, how it stands, priority and share of the CPU."""
    if not slot.taken:
        return {"": "not there yet", "Reserved": "kept for its job"}.get(slot.state, slot.state.lower())
    about = [slot.name or slot.job or "a job of another user"]
    about += [slot.step.lower()] if slot.step not in ("Running", "") else []
    about += [f"nice {slot.priority}"] if slot.priority is not None else []
    about += [f"{slot.share:.0%} of the CPU"] if slot.share is not None else []
    about += [f"{slot.line} in line"] if slot.line else []
    return ", ".join(about)


def _summary(view: SlotsView) -> str:
    if not view.sites and not view.glideins:
        return (
            "Virtual slots are off: no site runs batch jobs in glideins. To turn them on, name sites in"
            ' broker.toml, as in glideins = ["mycluster"], and start the broker again.'
        )
    day = view.history
    here = "" if view.glideins else "No glidein is there: one starts with the next batch job. "
    sites = f"Glideins at {listed(view.sites)}. " if view.sites else ""
    jobs = "1 job" if day.claims == 1 else f"{day.claims:,} jobs"
    return f"{here}{sites}Last day: {day.opened:,} slots opened, {jobs} ran in them."
