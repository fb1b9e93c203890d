"""How the state of a site looks and reads: shape, colour and word, and a sentence with the remedy. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app import units
from app.stores.sites import ASKING, CONNECTED, CONNECTING, DOWN, RETRYING
from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from broker_core.wire.sites import LinkView, SiteView


@dataclass(frozen=True, slots=True)
class SiteStyle:
    """A state as shown."""

    shape: StateShape
    token: str
    word: str


_FACES = {
    CONNECTED: SiteStyle(StateShape.CHECK, "positive", "Connected"),
    CONNECTING: SiteStyle(StateShape.HOLLOW, "muted", "Connecting"),
    RETRYING: SiteStyle(StateShape.HALF, "warning", "Retrying"),
    ASKING: SiteStyle(StateShape.EXCLAMATION, "warning", "Needs an answer"),
    DOWN: SiteStyle(StateShape.CROSS, "negative", "Down"),
}
UNUSABLE = SiteStyle(StateShape.EXCLAMATION, "negative", "Cannot be used")
"""The connection is well, the site is not."""
THROTTLED = SiteStyle(StateShape.BAR, "warning", "Fails jobs")
"""The connection is well, and jobs end badly there so fast that the site gets few."""
STALE = SiteStyle(StateShape.QUESTION, "warning", "No answer")
"""The connection is well, and what runs the jobs there does not say how it stands."""
DRAINED = SiteStyle(StateShape.PAUSE, "muted", "Drained")
LEAVING = SiteStyle(StateShape.HOLLOW, "muted", "Being removed")
_UNKNOWN = SiteStyle(StateShape.QUESTION, "state-Unheard", "Not known")


def site_style(site: SiteView) -> SiteStyle:
    """Return the style of a site; trouble with the connection is worth more than being drained."""
    if site.leaving:
        return LEAVING
    if site.link.state == CONNECTED:
        if site.link.trouble:
            return UNUSABLE
        if site.spec.drained:
            return DRAINED
        if site.stale:
            return STALE
        if site.throttled:
            return THROTTLED
    return _FACES.get(site.link.state, _UNKNOWN)


def state_sentence(site: SiteView, now: float) -> str:
    """Say how the site stands and what helps, counting down to the next try."""
    if site.leaving:
        return "Its jobs are ended, and what lies there is taken away; a silent site is given up soon."
    said = _ended(site.link.reason)
    match site.link.state:
        case "connected":
            return _connected(site)
        case "connecting":
            return said or "The first connection is being made."
        case "retrying":
            return f"{said or 'It does not answer.'} {_next_try(site.link, now)}"
        case "needs credentials":
            return said or "It waits for an answer that only you can give."
        case "down":
            return f"{said or 'It does not answer.'} {_next_try(site.link, now, 'Tried again rarely')}"
    return said


def _connected(site: SiteView) -> str:
    if site.link.trouble:
        return f"No jobs are sent here. {_ended(site.link.trouble)} It is looked at again each minute."
    if site.stale:
        return f"{_ended(site.stale)} The figures are those of the last answer; it is asked again and again."
    if site.throttled:
        return f"Fewer jobs are sent here. {_ended(site.throttled)}"
    if site.spec.drained:
        return "Takes no new jobs. Those that are here go on; resume it to send more."
    return ""


def _next_try(link: LinkView, now: float, without: str = "Trying again") -> str:
    if link.retry_at is None:
        return f"{without}; “Connect now” tries at once."
    left = link.retry_at - now
    if left <= 0:
        return "Retrying now."
    return f"Retrying in {f'{max(1, round(left))} s' if left < 60 else units.duration(left)}."


def _ended(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def success(site: SiteView) -> float | None:
    """Return the part of the runs of the last hour that ended well here, 0 to 1; None: none ended.

    A run that failed tells of the site also after the job was run again elsewhere.
    """
    done, failed = site.recent_done, site.recent_failed
    return done / (done + failed) if done + failed else None


def success_words(site: SiteView) -> str:
    """Return the success rate of the last hour, e.g. `98 %`; a dash where no job ended."""
    rate = success(site)
    if rate is None:
        return "–"
    return f"{rate * 100:.0f} %" if rate == 1 or rate < 0.995 else "99 %"


def success_sentence(site: SiteView) -> str:
    """Say of how many runs the success rate is made."""
    ended = site.recent_done + site.recent_failed
    if not ended:
        return "No run ended well or failed there in the last hour"
    return f"{site.recent_done:,} of {units.count(ended, 'run')} of the last hour ended well"


def few(number: float) -> str:
    """Return a number in at most five characters: `2.5`, `812`, `9,999`, `12.8k`."""
    if number >= 10_000:
        return f"{number / 1000:,.1f}k" if number < 100_000 else f"{number / 1000:,.0f}k"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def address_words(site: SiteView) -> str:
    """Say what the site is and where: `Slurm · ann@login.example.org`."""
    spec = site.spec
    host = f"{spec.user}@{spec.host}" if spec.user and spec.host else spec.host
    where = spec.url or host or "this machine"
    return site.title if spec.kind == "local" else f"{site.title}  ·  {where}"


def slots_words(site: SiteView) -> str:
    """Say how many virtual slots are free for interactive jobs; empty where there are none."""
    if not site.total_slots:
        return ""
    return f"{site.free_slots:,} of {units.count(site.total_slots, 'interactive slot')} free"


def sidebar_count(site: SiteView) -> str:
    """Return the few characters beside a site in the sidebar."""
    if site.leaving:
        return "leaving"
    marked = site.spec.drained or site.link.trouble or site.stale or site.throttled
    if site.link.state == CONNECTED and not marked:
        if site.free_slots and not site.free_cpus:
            return units.count(site.free_slots, "slot")
        return f"{site.free_cpus:,} free"
    if site.link.trouble and site.link.state == CONNECTED:
        return "unusable"
    return {ASKING: "asks you"}.get(site.link.state, site_style(site).word.lower())


def heard_sentence(site: SiteView, now: float) -> str:
    """Say how all stands in one sentence, for screen readers and tooltips."""
    said = f"{site.spec.name}: {site_style(site).word}. {state_sentence(site, now)}".strip()
    slots = f", {slots_words(site)}" if site.total_slots else ""
    return (
        f"{said} {site.queued:,} queued, {site.running:,} running here, "
        f"{site.free_cpus:,} of {units.count(site.total_cpus, 'CPU')} free{slots}."
    )
