"""Start-up: live jobs are read from the store, and every attempt is found again at its site (CB-LB-02).

Idempotent: killed anywhere in between, the next start does the same again (reliability case 3).
"""

from __future__ import annotations

import logging

from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.glideins.rows import sites_with_slots
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.errors import StoreDamaged
from broker_core.information.runner import Updaters
from broker_core.information.site_updater import LOCAL
from broker_core.jobs.failure_history import FailureHistory, past_of
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.demand import demand_of
from broker_core.scheduling.live_job import AT_SITE
from broker_core.scheduling.messages import Arrival, JobsRecovered, SlotsUnheard
from broker_core.scheduling.slots.messages import SlotsRecovered
from broker_core.scheduling.slots.monitor import GlideinMonitor

log = logging.getLogger("crossdesk.recovery")


async def recover(
    engine: Engine,
    orders: LaunchOrders,
    sites: SiteDispatcher,
    updaters: Updaters,
    fail: FailPoints,
    *,
    died: bool = False,
) -> None:
    """Give the live jobs to the scheduler, then let the sites find their attempts again.

    `died`: the broker before this one was killed. That is recorded with every job on its way to a site,
    durably before any is touched again (reliability case 24), and what it had begun to purge is purged.
    """
    fail("before:recovery")
    arrivals = []
    for record in engine.store.live():
        try:
            arrivals.append(await _arrival(record, engine, orders))
        except StoreDamaged as error:
            log.error("Job %s cannot be taken over: %s", record.id, error)
    updaters.start()
    await updaters.refresh((LOCAL,))
    fail("during:recovery")
    engine.post(await _slots(engine))
    engine.post(SlotsUnheard(sites_with_slots(engine.core.part(GlideinMonitor))))
    at_sites = [arrival.record for arrival in arrivals if arrival.record.state in AT_SITE]
    engine.count(at_sites)
    engine.post(JobsRecovered(tuple(arrivals), died))
    await engine.settled()
    await sites.start(at_sites)
    await sites.forget_unknown(died=died)
    for problem in engine.core.validate():
        log.error("After the start the state contradicts itself: %s", problem)
    fail("after:recovery")
    if arrivals:
        log.info("%d live jobs were taken over", len(arrivals))


async def _slots(engine: Engine) -> SlotsRecovered:
    """The glideins, slots and claims that the log tells of; before the jobs, some of which have them."""
    found = await engine.store.entities()
    return SlotsRecovered(found["glidein"], found["slot"], found["claim"])


async def _arrival(record: JobRecord, engine: Engine, orders: LaunchOrders) -> Arrival:
    description = await orders.description(record)
    demand = demand_of(description, await orders.text(record), record.parameter, record.pinned)
    return Arrival(record, demand, await _hold(record, engine), await _past(record, engine))


async def _past(record: JobRecord, engine: Engine) -> FailureHistory | None:
    """The troubles of a job that may have had some."""
    several = len(record.placements) > 1
    begun = record.attempt and record.state in (JobState.WAITING, JobState.READY)
    if record.attempt > 1 or several or begun:
        return past_of(await engine.store.events_of(record.id))
    return None


async def _hold(record: JobRecord, engine: Engine) -> str:
    """The hold that was asked for with the submission, where the scheduler had not seen the job yet."""
    if record.state is not JobState.SUBMITTED:
        return ""
    events = await engine.store.events_of(record.id)
    return str(events[0].details.get("hold", ""))
