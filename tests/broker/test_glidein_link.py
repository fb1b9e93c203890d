"""How often a broker speaks with glideins, and when there is time for more; the site is a stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from broker_core.broker.glideins.link import GlideinLink
from broker_core.reactor.reactor import Now
from broker_core.scheduling.slots.messages import GlideinConnected, PayloadStarted
from broker_core.sites.glideins import ClaimControl, ClaimMode, GlideinMessages, GlideinStatus
from broker_core.sites.link import LinkState
from broker_core.system.clock import now
from tests.waiting import eventually

MANY = 20


class StandInGlidein:
    """A site with one glidein, and what it was told."""

    def __init__(self) -> None:
        self.glideins, self.link = self, SimpleNamespace(state=LinkState.CONNECTED)
        self.in_slot = lambda _: False
        self.asked = list[GlideinMessages]()
        self.runs = frozenset[str]()
        self.over: dict[str, int] = {}
        self.reports = list[object]()
        self.ends = list[bool]()

    def payloads_ended(self, *, last: bool) -> None:
        """See `GlideinSite.payloads_ended`."""
        self.ends.append(last)

    async def exchange(self, messages: Callable[[], GlideinMessages]) -> Mapping[str, GlideinStatus]:
        """See `GlideinAccess.exchange`."""
        self.asked.append(messages())
        return {"g": GlideinStatus("n", True, len(self.asked), runs=self.runs, over=self.over)}


@pytest.fixture
def site() -> StandInGlidein:
    return StandInGlidein()


@pytest.fixture
async def link(site: StandInGlidein) -> AsyncIterator[GlideinLink]:
    made = GlideinLink(
        lambda: cast(Any, site), lambda: {"g": "Busy"}, site.reports.append, lambda: None, 180.0
    )
    yield made
    await made.close()


async def test_what_comes_between_short_payloads_waits_for_the_next_exchange(
    site: StandInGlidein, link: GlideinLink
) -> None:
    site.runs = frozenset({"claim"})
    link.ask_soon()
    await eventually(lambda: any(isinstance(one, PayloadStarted) for one in site.reports))
    before = len(site.asked)
    for _ in range(MANY):
        link.ask_soon()
        await asyncio.sleep(0)
    assert len(site.asked) - before < MANY / 2


async def test_what_a_payload_is_to_do_is_told_at_once_and_again_only_when_it_runs(
    site: StandInGlidein, link: GlideinLink
) -> None:
    lowered = ClaimControl("g", "claim", "tag", 10, ClaimMode.RUN)
    link.control(lowered)
    await eventually(lambda: site.asked)
    assert site.asked[0].controls == (), "it would begin by it"
    site.runs = frozenset({"claim"})
    await eventually(lambda: site.asked[-1].controls == (lowered,))


async def test_a_site_hears_that_payloads_have_ended_and_whether_another_runs(
    site: StandInGlidein, link: GlideinLink
) -> None:
    site.runs = frozenset({"short", "long"})
    link.wake()
    await eventually(lambda: len(site.reports) == 3)
    assert site.ends == []
    site.runs, site.over = frozenset({"long"}), {"short": 0}
    link.wake()
    await eventually(lambda: site.ends == [False])
    site.runs, site.over = frozenset(), {"short": 0, "long": 0}
    link.wake()
    await eventually(lambda: site.ends == [False, True])
    asked = len(site.asked)
    link.wake()
    await eventually(lambda: len(site.asked) > asked)
    assert site.ends == [False, True], "it is no news"


async def test_there_is_time_for_more_once_the_first_payloads_have_begun(
    site: StandInGlidein, link: GlideinLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not link.is_settled
    link.wake()
    await eventually(lambda: any(isinstance(one, GlideinConnected) for one in site.reports))
    assert not link.is_settled
    later = Now(0.0, now().monotonic + 60)
    monkeypatch.setattr("broker_core.broker.glideins.link.now", lambda: later)
    assert link.is_settled
