"""Rounds through the directories of a site, in which what is left of attempts that are over goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from broker_core.bookkeeping.store import Store
from broker_core.broker.site_management.glidein_reports import GlideinReports
from broker_core.errors import CrossDeskError
from broker_core.jobs.transitions import EventType
from broker_core.reactor.entities import is_entity
from broker_core.sites.contract import PURGED, Site
from broker_core.sites.link import LinkState

log = logging.getLogger("crossdesk.sites")
SWEEP_INTERVAL = 600.0
"""Seconds between two rounds through a site's directories."""
_DEADLINE = 300.0
"""Seconds that a part of a round may take."""


async def sweep_for_ever(site: Site, store: Store, glideins: GlideinReports) -> None:
    """Go through what lies at a site whenever it is connected (again), and in intervals."""

    async def current(jobs: Collection[str]) -> dict[str, int]:
        ours = {job for job in jobs if is_entity(job)}
        numbers = await current_attempts(store, set(jobs) - ours)
        # A glidein is submitted once; what lies of one that is over was left as its removal was lost.
        over = await store.recorded_entities(sorted(ours))
        numbers |= dict.fromkeys(over, PURGED)
        return numbers | {one.job: one.attempt for one in glideins.known(site.name) if one.job in ours}

    while True:
        since = site.link.since
        more = site.link.state is LinkState.CONNECTED
        while more:
            try:
                async with asyncio.timeout(_DEADLINE):
                    more = await site.sweep(current)
            except (CrossDeskError, OSError) as error:  # a deadline is an OSError too
                log.info("What is left at %s is looked for later: %s", site.name, error or "no answer")
                more = False
        await _until_due(site, since)


async def _until_due(site: Site, since: float) -> None:
    """Wait for the interval's end, or until there is another connection than that of moment `since`."""
    try:
        async with asyncio.timeout(SWEEP_INTERVAL):
            while site.link.since == since or site.link.state is not LinkState.CONNECTED:
                await site.link.news()
    except TimeoutError:
        return


async def current_attempts(store: Store, jobs: Collection[str]) -> dict[str, int]:
    """See `CurrentAttempts`. Of a purged job the events stay: one without any is not known, e.g. because the
    store was lost, and what lies at a site may be all that is left of it."""
    numbers = {record.id: record.attempt for record in await store.jobs(sorted(jobs))}
    for job in set(jobs) - numbers.keys():
        events = await store.events_of(job)
        if any(event.type is EventType.PURGED for event in events):
            numbers[job] = PURGED
    return numbers
