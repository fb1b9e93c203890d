"""A host without a batch system as a remote site, over a way that breaks as told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from pathlib import Path

from broker_core.sites.batch.host import Host
from broker_core.sites.contract import CurrentAttempts, LaunchOrder
from broker_core.sites.link import Link
from broker_core.sites.remote.site import RemoteSite
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.failing_transport import Breaking, FailingTransport
from tests.sites.remote.far_site import MARK, QUICK, Far
from tests.sites.running_site import script as plain_script


class Flapping(FailingTransport):
    """Breaks as told, and loses cancels while `lost` says so, answers to submissions while `mute` does."""

    lost = mute = False

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        if self.lost and "$tag/cancel" in script:
            raise LinkLost("The way was cut before the cancel.")
        return await super().run(script, stdin=stdin, deadline=deadline)

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        reply = await super().send(script, chunks, deadline=deadline)
        if self.mute:
            raise LinkLost("The way was cut after the submission.")
        return reply


class HostFar(Far):
    """A host without a batch system, over a way that breaks as told."""

    def __init__(self, folder: Path, mark: str = MARK, **more: object) -> None:
        environment = {"CROSSDESK_SLOTS": "1", "HOME": str(folder)}
        fields = {"name": "far", "kind": "shell", "environment": environment, "poll_interval": 0.1}
        spec = SiteSpec.model_validate(fields | {"directory": str(folder / "site")} | more)
        super().__init__(spec, folder / f"here-{mark}")
        self.breaking = Breaking()
        self.way = Flapping(transport_for(spec, Link(lambda _: None)), self.breaking)
        adapter = ShellAdapter(spec, mark, self.way, Host(), QUICK)
        self.site = RemoteSite(spec, adapter, self.folder, QUICK, lambda: adapter.renewed)

    def place(self, one: LaunchOrder) -> Path:
        """Directory of an attempt at the site."""
        return Path(self.spec.directory) / MARK / "attempts" / one.attempt.tag


def script(text: str, **more: object) -> LaunchOrder:
    """An order for a shell script of one line without single quotes."""
    return plain_script(text, **more, ce="far:22/jobmanager-shell-default")


async def released(far: Far, one: LaunchOrder) -> LaunchOrder:
    """Hand over and confirm."""
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    return one


def current(**numbers: int) -> CurrentAttempts:
    """Numbers of the current attempts of jobs; others are not known."""

    async def asked(jobs: Collection[str]) -> dict[str, int]:
        return {job: number for job, number in numbers.items() if job in jobs}

    return asked
