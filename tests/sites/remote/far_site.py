"""A remote site of a test, with what it reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from broker_core.errors import NotFound
from broker_core.jobs.attempt_events import AttemptEnded, AttemptReport, AttemptRuns, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.factory import site_for
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.remote.site import RemoteSite
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.sites import SiteSpec
from tests.sites.running_site import Known, known_attempts
from tests.sites.running_site import order as local_order
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

MARK = "t1"
QUICK = RemoteSettings(
    patience=2.5,
    short_patience=2.0,
    cancel_again=2.0,
    beat=1,
    grace=3.0,
    slowest=0.5,
    most_live=1 << 20,
    record_pauses=(0.0, 0.5, 1.0),
)


def order(program: str, arguments: str = "", **more: object) -> LaunchOrder:
    """An order for a new attempt, to the queue `main` of site `far`."""
    return local_order(program, arguments, **{"ce": "far:22/jobmanager-slurm-main", **more})


def script(text: str, **more: object) -> LaunchOrder:
    """An order for a shell script of one line without single quotes."""
    return order("sh", f"-c '{text}'", **more)


def spec_for(cluster: Cluster, directory: Path, **more: object) -> SiteSpec:
    """Settings of site `far`: the cluster, by commands on this machine."""
    fields = {
        "poll_interval": 0.1,
        "list_interval": 0.1,
        "environment": cluster.environment,
        "directory": str(directory),
    }
    return SiteSpec.model_validate({"name": "far", "kind": "slurm"} | fields | more)


class Far:
    """A site and its notices."""

    def __init__(self, spec: SiteSpec, folder: Path, settings: RemoteSettings = QUICK) -> None:
        self.spec, self.folder, self.settings = spec, folder, settings
        self.notices: list[AttemptReport] = []
        self.site: RemoteSite = site_for(spec, folder, MARK, lambda _: None, settings)

    async def start(self, known: Sequence[Known] = ()) -> Far:
        """Begin work, with the attempts that are known; those with an order are handed over again."""
        await self.site.start(self.notices.append, known_attempts(known))
        for _, one in known:
            if one is not None:
                await eventually(lambda one=one: self._took(one))
        return self

    async def _took(self, one: LaunchOrder) -> bool:
        """Hand an order over; False where it is not known whether the site has it."""
        try:
            return bool(await self.site.submit(one))
        except LinkLost:
            return False

    async def again(self, known: Sequence[Known]) -> Far:
        """Drop this one as if its process had been killed; a new one takes over."""
        await self.site.close()
        return await Far(self.spec, self.folder, self.settings).start(known)

    async def run(self, one: LaunchOrder) -> AttemptEnded:
        """Hand over, confirm, wait for the end."""
        await self.site.submit(one)
        await self.site.confirm(one.attempt)
        return await self.ended(one.attempt)

    def ends(self, attempt: Component) -> list[AttemptEnded]:
        """Every end reported of an attempt."""
        return [one for one in self.notices if isinstance(one, AttemptEnded) and one.component == attempt]

    def starts(self, attempt: Component) -> list[AttemptStarted]:
        """Every start reported of an attempt."""
        return [one for one in self.notices if isinstance(one, AttemptStarted) and one.component == attempt]

    def runs(self, attempt: Component) -> list[AttemptRuns]:
        """Every word of the batch system that it runs."""
        return [one for one in self.notices if isinstance(one, AttemptRuns) and one.component == attempt]

    async def started(self, attempt: Component) -> AttemptStarted:
        """The start of an attempt, waited for."""
        return (await eventually(lambda: self.starts(attempt)))[0]

    async def ended(self, attempt: Component) -> AttemptEnded:
        """The end of an attempt, waited for."""
        return (await eventually(lambda: self.ends(attempt), what=self._told))[0]

    async def text(self, attempt: Component, path: str = "std.out") -> str:
        """A file of an attempt."""
        return (await self.site.open_path(attempt, path)).read_text()

    async def says(self, attempt: Component, text: str) -> None:
        """Wait until that is the output of an attempt that runs; its start is told before there is any."""

        async def there() -> bool:
            try:
                return await self.text(attempt) == text
            except NotFound:
                return False

        await eventually(there, what=lambda: f"{text!r} is said; log {self.log()}")

    def log(self) -> str:
        """What happened to the connection."""
        return "\n".join(words for _, words in self.site.link.log)

    def _told(self) -> str:
        return f"an end; so far {self.notices}; log {self.log()}"
