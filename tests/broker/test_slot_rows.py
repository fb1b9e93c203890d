"""The slots of glideins as rows of the Resource Cache (CB-UPD-05)."""

from __future__ import annotations

from broker_core.broker.glideins.rows import SlotRows
from broker_core.jobs.placement import slots_at
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SHARED_NODES, SourceHeard
from tests.resources.made import facts, heard
from tests.slots.stage import CE, Stage, busy

SHORT = CE.replace("-all", "-short")


def test_jobs_of_a_queue_with_the_same_nodes_take_no_slots() -> None:
    cache, told = ResourceCache(), list[object]()
    queues = [facts(CE, 4, **{SHARED_NODES: [SHORT]}), facts(SHORT, 4, **{SHARED_NODES: [CE]})]
    cache.report(heard(*queues, source="site:ce", account=True))
    stage = Stage()
    busy(stage)
    SlotRows(stage.monitor, cache, told.append).publish()
    (message,) = told
    assert isinstance(message, SourceHeard)
    cache.commit(SHORT, "batch", 1, message.monotonic)
    cache.report(message)
    free = {ce: cache.entries[ce].free for ce in (CE, SHORT, slots_at(CE))}
    assert free == {CE: 3, SHORT: 3, slots_at(CE): 1}
