"""When a lease is over for certain: never while a renewal may be on its way."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from broker_core.sites.batch.host import Host
from broker_core.sites.link import Link
from broker_core.sites.remote.lease_limit import LeaseLimit
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.contract import DEADLINE, Reply
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.failing_transport import Breaking, FailingTransport
from tests.sites.remote.far_site import MARK, QUICK
from tests.waiting import eventually


async def test_what_hangs_is_given_up_when_leases_are_over() -> None:
    renewed = time.monotonic()
    assert await LeaseLimit(0.1, 0.1, lambda: renewed).bound(_forever())


async def test_a_renewal_that_goes_out_at_the_last_moment_counts() -> None:
    renewed = [time.monotonic()]
    limit = LeaseLimit(0.1, 0.1, lambda: renewed[0])

    async def late() -> None:
        try:
            await _forever()
        except asyncio.CancelledError:
            renewed[0] = time.monotonic() + 600

    assert not await limit.bound(late())
    assert not limit.is_over


async def test_what_begins_after_the_end_of_all_leases_takes_its_time() -> None:
    renewed = time.monotonic() - 600
    limit = LeaseLimit(0.05, 0.05, lambda: renewed)
    done = asyncio.Event()
    # Longer than lease and grace together.
    asyncio.get_running_loop().call_later(0.3, done.set)

    async def work() -> None:
        await done.wait()

    assert limit.is_over
    assert not await limit.bound(work())
    assert done.is_set()


async def test_without_leases_nothing_is_given_up() -> None:
    limit = LeaseLimit(0.0, 0.1, time.monotonic)
    assert not await limit.bound(asyncio.sleep(0))
    assert not limit.is_over


class _Slow(FailingTransport):
    """Takes its time to find the broker's directory; notes the promise under which a renewal is sent."""

    adapter: ShellAdapter
    promised = 0.0
    sent = 0.0

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        if "renewal=p" in script:
            self.sent, self.promised = time.monotonic(), self.adapter.renewed or 0.0
        else:
            begun, before = time.monotonic(), self.adapter.renewed or 0.0
            await eventually(lambda: time.monotonic() > max(begun, before) + 0.5)
        return await super().run(script, stdin=stdin, deadline=deadline)


async def test_a_renewal_counts_from_when_it_is_sent_not_from_when_it_was_decided(tmp_path: Path) -> None:
    fields = {"name": "far", "kind": "shell", "lease": 600.0, "directory": str(tmp_path / "site")}
    spec = SiteSpec.model_validate(fields | {"environment": {"HOME": str(tmp_path)}})
    way = _Slow(transport_for(spec, Link(lambda _: None)), Breaking())
    way.adapter = adapter = ShellAdapter(spec, MARK, way, Host(), QUICK)
    await way.open()
    await adapter.poll([])
    assert way.promised > way.sent
    assert adapter.renewed is not None
    # It is known now to have been in time: what is promised is no later than the answer.
    assert way.sent <= adapter.renewed <= time.monotonic()
    await adapter.close()


async def _forever() -> None:
    await asyncio.get_running_loop().create_future()
