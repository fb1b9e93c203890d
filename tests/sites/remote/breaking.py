"""A remote site that breaks at a chosen point."""

from __future__ import annotations

from pathlib import Path

from broker_core.sites.batch.slurm import Slurm as SlurmSystem
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.link import Link
from broker_core.sites.remote.site import RemoteSite
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.failing_transport import Breaking, FailingTransport
from tests.sites.remote.far_site import MARK, QUICK, Far
from tests.waiting import eventually


class BreakingFar(Far):
    """A site whose way breaks as told."""

    def __init__(self, spec: SiteSpec, folder: Path, breaking: Breaking, mark: str = MARK) -> None:
        super().__init__(spec, folder)
        way = FailingTransport(transport_for(spec, Link(lambda _: None)), breaking)
        adapter = ShellAdapter(spec, mark, way, SlurmSystem(), QUICK)
        self.adapter = adapter
        self.site = RemoteSite(spec, adapter, folder, QUICK, lambda: adapter.renewed)


async def hand_over(far: Far, one: LaunchOrder) -> None:
    """As the engine does it."""

    async def asked() -> bool:
        try:
            await far.site.submit(one)
        except LinkLost:
            return False
        return True

    await eventually(asked)
    await far.site.confirm(one.attempt)
