"""Answers that are lost on their way from a real A-REX."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.arc.rest import Rest
from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport.contract import LinkLost, NotSent
from broker_core.wire.sites import SiteSpec
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.cutting_relay import CuttingRelay
from tests.sites.arc.launches import launch
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture
async def relay(arex: ARex) -> AsyncIterator[CuttingRelay]:
    """A way to the site that can lose answers."""
    made = CuttingRelay(arex.port)
    yield made
    await made.close()


async def test_a_submission_whose_answer_is_lost_is_one_job(
    arex: ARex, spec: SiteSpec, relay: CuttingRelay, tmp_path: Path, adapting: Adapting
) -> None:
    url = spec.url.replace(str(arex.port), str(await relay.start()))
    adapter = await adapting(spec.model_copy(update={"url": url}), "cut")
    one = launch(tmp_path, "one", "true")
    await adapter.submit([])
    relay.lose_next = True
    with pytest.raises(LinkLost, match="without an answer"):
        await adapter.submit([one])
    assert relay.lost == 1
    assert adapter.link.state is LinkState.RETRYING
    await eventually(lambda: adapter.link.state is LinkState.CONNECTED, what="it is connected again")
    (id,) = await adapter.submit([one])
    polled = await adapter.poll(["one.1"])
    assert (polled.attempts["one.1"].seen, polled.attempts["one.1"].id) == (AttemptStatus.HELD, id)
    assert arex.jobs_named("cut.one.1") == [id]
    await adapter.cancel(["one.1"])
    await adapter.remove(["one.1"])


async def test_a_look_whose_answer_is_lost_is_repeated_unnoticed(
    arex: ARex, spec: SiteSpec, relay: CuttingRelay, adapting: Adapting
) -> None:
    url = spec.url.replace(str(arex.port), str(await relay.start()))
    adapter = await adapting(spec.model_copy(update={"url": url}), "cut")
    await adapter.poll([])
    relay.lose_next = True
    assert (await adapter.poll(["none.1"])).missing == {"none.1"}
    assert relay.lost == 1
    assert adapter.link.state is LinkState.CONNECTED


async def test_a_site_that_takes_requests_and_never_answers_is_given_up_at_the_deadline(
    arex: ARex, spec: SiteSpec, relay: CuttingRelay
) -> None:
    url = spec.url.replace(str(arex.port), str(await relay.start()))
    link = Link(lambda _: None)
    rest = Rest(spec.model_copy(update={"url": url, "at_once": 1}), link)
    rest.keeper.open()
    assert (await rest.ask("GET", "/info")).good
    relay.may_pass.clear()
    first = asyncio.ensure_future(rest.ask("GET", "/info", deadline=0.2))
    behind = asyncio.ensure_future(rest.ask("GET", "/info"))
    with pytest.raises(LinkLost, match="did not answer in time"):
        await first
    assert link.state is LinkState.RETRYING
    with pytest.raises(NotSent):
        await behind
    relay.may_pass.set()
    await eventually(lambda: link.state is LinkState.CONNECTED, what="it is connected again")
    await rest.close()
