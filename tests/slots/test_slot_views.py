"""What is shown of glideins and slots, to whom, and the day plot over a restart (CB-UI-10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.bookkeeping.entries import EntityEntry
from broker_core.bookkeeping.store import Store
from broker_core.broker.api.views.slots import SlotViews
from broker_core.broker.glideins.slot_counts import DAY, MOST_POINTS, SHOWN, SLOT, SlotCounts
from broker_core.reactor.entities import ENTITY_PREFIX
from broker_core.scheduling.slots.messages import PayloadEnded
from broker_core.scheduling.slots.rules import SlotRules, SlotUse
from broker_core.scheduling.slots.sharing import share_of_cpu
from broker_core.settings.glideins import GlideinSettings
from broker_core.wire.slots import SlotsView
from tests.bookkeeping.made import open_store
from tests.slots.stage import EPOCH, Stage, payload


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A store without jobs."""
    made = open_store(tmp_path)
    yield made
    made.close()


async def shown(stage: Stage, store: Store, owner: str) -> SlotsView:
    """What a user sees."""
    counts = SlotCounts()
    for event in stage.log:
        counts.follow(event)
    settings = GlideinSettings(glideins=("beta", "alpha"), glidein_idle_exit=30)
    return await SlotViews(store, stage.monitor, counts, settings).slots(owner)


async def test_a_row_for_each_glidein_with_job_priority_and_share_of_both_slots(store: Store) -> None:
    stage = Stage()
    stage.joined("b1")
    view = await shown(stage, store, "ann")
    assert view.sites == ["alpha", "beta"]
    (row,) = view.glideins
    assert (row.state, row.node, row.owner, row.ends) == ("Busy", "n1", "ann", None)
    assert [(one.state, one.taken, one.priority, one.share) for one in row.slots] == [
        ("Claimed", True, 0, 1.0), ("Free", False, None, None)
    ]  # fmt: skip
    stage.claimed(payload("i1", SlotUse.INTERACTIVE))
    (row,) = (await shown(stage, store, "ann")).glideins
    assert row.state == "Shared"
    assert [(one.step, one.priority) for one in row.slots] == [("Running", 10), ("Running", 0)]
    assert [round(one.share or 0, 3) for one in row.slots] == [0.097, 0.903]


async def test_another_user_sees_neither_glideins_nor_counts(store: Store) -> None:
    stage = Stage()
    stage.joined("b1")
    view = await shown(stage, store, "eve")
    assert (view.glideins, view.history.times) == ([], [])


async def test_jobs_of_others_in_a_glidein_that_one_uses_are_not_named(store: Store) -> None:
    stage = Stage()
    stage.joined("b1", owner="ann")
    stage.claimed(payload("i1", SlotUse.INTERACTIVE, owner="bob"))
    (row,) = (await shown(stage, store, "bob")).glideins
    assert (row.originator, row.originator_name) == ("", "")
    assert [(one.taken, one.job, one.name) for one in row.slots] == [(True, "", "")] * 2


async def test_an_idle_glidein_says_when_it_ends(store: Store) -> None:
    stage = Stage()
    _, claim = stage.joined("b1")
    stage.tell(PayloadEnded(claim, 0))
    (row,) = (await shown(stage, store, "ann")).glideins
    assert row.state == "Idle"
    assert row.ends == pytest.approx(row.since + 30)


async def test_the_day_plot_goes_on_where_a_killed_broker_left_it(store: Store) -> None:
    stage = Stage(SlotRules(lost_after=1000.0))
    _, claim = stage.joined("b1")
    stage.now = 60.0
    stage.tell(PayloadEnded(claim, 0))
    await store.append(
        [EntityEntry(replace(event, subject=f"{ENTITY_PREFIX}{event.subject}")) for event in stage.log]
    )
    counts = SlotCounts()
    counts.take(await store.entity_steps(SLOT))
    stage.let_pass(300.0)  # it is idle for too long, and ends
    for event in stage.log[-3:]:
        counts.follow(event)
    found = counts.history("ann", EPOCH + 1000)
    assert found.times == [EPOCH, EPOCH, EPOCH + 60, EPOCH + 360, EPOCH + 1000]
    assert (found.there, found.used) == ([0, 2, 2, 0, 0], [0, 1, 0, 0, 0])
    assert (found.opened, found.claims) == (2, 1)
    later = counts.history("ann", EPOCH + 200 + DAY)
    assert (later.there, later.opened, later.claims) == ([2, 0, 0], 0, 0)
    assert later.times[0] == EPOCH + 200


def test_many_slots_take_no_more_room_and_the_last_value_is_right() -> None:
    counts = SlotCounts()
    counts.take((EPOCH + number, "ann", None, "Free") for number in range(3 * MOST_POINTS))
    found = counts.history("ann", EPOCH + 3 * MOST_POINTS)
    assert len(found.times) <= SHOWN + 2
    assert found.times == sorted(found.times)
    assert (found.there[-1], found.opened) == (3 * MOST_POINTS, 3 * MOST_POINTS)
    counts.take([(EPOCH, "ann", "Free", "Closed")])
    assert counts.history("ann", EPOCH + 3 * MOST_POINTS).there[-1] == 3 * MOST_POINTS - 1


@pytest.mark.parametrize(("nice", "others", "share"), [(0, [], 1.0), (5, [5], 0.5), (0, [10], 0.903)])
def test_the_share_of_a_cpu_follows_from_nice_values(nice: int, others: list[int], share: float) -> None:
    assert round(share_of_cpu(nice, others), 3) == share
