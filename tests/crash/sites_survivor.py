"""A broker with real clusters, killed at one fail point after the other while jobs are on their way."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.errors import CrossDeskError, Unreachable
from broker_core.jobs.states import JobState
from broker_core.wire.sites import SiteSpec, SiteView
from broker_core.wire.submission import Submission, SubmissionItem
from tests.crash.checker import Verdict
from tests.crash.site_checker import Bed, faults_at, kept_by
from tests.crash.survivor import Survivor
from tests.waiting import eventually


class SitesSurvivor(Survivor):
    """Whenever no broker runs it starts one, with the next fail point while there is one."""

    daemon = "tests.crash.quick_broker"

    def __init__(self, state_dir: Path, effects: Path, beds: Sequence[Bed]) -> None:
        super().__init__(state_dir, effects)
        self.beds = {bed.spec.name: bed for bed in beds}
        self.canceled: set[str] = set()
        self._uncanceled: set[str] = set()
        """Jobs whose cancel was not answered yet, as a broker that died late kept their owner waiting."""
        self.purged: set[str] = set()
        self._points: Iterator[str] = iter(())
        self._point = ""
        self._values = (f"{number}" for number in itertools.count())
        self._began = {bed.spec.name: bed.completed() for bed in beds}

    async def begin(self, client: BrokerClient, *, log: Path | None = None) -> None:
        """Start a broker that will live, and add all sites."""
        self.start(log=log)
        await client.info()
        for bed in self.beds.values():
            await client.add_site(bed.spec)
        await self.known(client)

    async def known(self, client: BrokerClient, *names: str) -> None:
        """Wait until jobs can be sent to these sites, or to all."""
        wanted = set(names or self.beds)

        async def there() -> bool:
            return wanted <= {one.name for one in await client.sites() if _is_usable(one)}

        await eventually(there, what=lambda: f"{wanted} can be used ({self.told()})")

    async def view(self, client: BrokerClient, name: str) -> SiteView:
        """One site as it is shown."""
        return next(one for one in await client.sites() if one.name == name)

    async def wave(
        self,
        client: BrokerClient,
        sites: Sequence[str] = (),
        count: int = 2,
        seconds: float = 0.2,
        gate: Path | None = None,
    ) -> list[str]:
        """Send some jobs to each of the sites, or of all; returns their ids.

        They run as long as `gate` is missing: a busy machine begins jobs many seconds apart.
        """
        ids: list[str] = []
        for name in sites or self.beds:
            values = list(itertools.islice(self._values, count))
            ids += await self.submit(client, values, seconds, f"key-of-{values[0]:>08}", name, gate)
        return ids

    async def with_file(self, client: BrokerClient, site: str, source: Path) -> str:
        """Send a job that gives back a file; returns its id."""
        value = next(self._values)
        trace = self.effects / value
        script = f"echo start >> {trace}; cp {source} large; echo end >> {trace}; echo output {value}"
        text = (
            'Executable = "/bin/sh"; StdOutput = "out"; OutputSandbox = {"out", "large"};'
            f"Arguments = \"-c '{script}'\";"
        )
        item = SubmissionItem(description=text)
        receipt = await client.submit(Submission(key=f"key-of-{value:>08}", items=[item], site=site))
        self.accepted[receipt.ids[0]] = value
        return receipt.ids[0]

    async def die_at(self, client: BrokerClient, points: Sequence[str]) -> None:
        """Live through one death at each of the points, with jobs on their way all the time."""
        self._points = iter(points)
        self.kill()
        self.wait_for_death()
        await self.revive()
        tries: Counter[str] = Counter()
        while self._point:
            tries[self._point] += 1
            assert tries[self._point] < 6, f"{self._point} is not passed: {self.told()}"
            try:
                async with asyncio.timeout(150):
                    await self._busy(client, self._is_around_cancel, "purged" in self._point)
            except (Unreachable, TimeoutError):
                continue
            if not self.is_alive:
                await self.revive()
        if self._uncanceled:
            await client.cancel(sorted(self._uncanceled))
            self._uncanceled.clear()

    async def die_in_turns(self, client: BrokerClient, points: Sequence[str], at_once: int) -> None:
        """Die at all of the points, `at_once` of them together; in the end nothing is lost, doubled or left.

        A job that is on its way whenever the broker dies is held in the end, and released by its owner.
        """
        await self.begin(client)
        for first in range(0, len(points), at_once):
            await self.die_at(client, points[first : first + at_once])
            await self.all_ended(client, 120)
        faults = await self.faults(client)
        assert not faults, "\n".join(faults)
        assert self.deaths > len(points)

    @property
    def _is_around_cancel(self) -> bool:
        return any(word in self._point for word in ("cancel", ".kill"))

    async def _busy(self, client: BrokerClient, canceling: bool, purging: bool) -> None:
        """What users do, until it is done or the broker dies."""
        deaths = self.deaths
        jobs = await self.wave(client)
        if canceling:
            long = await self.wave(client, count=1, seconds=600)
            self.canceled.update(long)
            self._uncanceled.update(long)
            for job in long:
                await self.cancel_when_running(client, job)
                self._uncanceled.discard(job)
        while self.is_alive and self.deaths == deaths:
            if await self.none_active(client):
                break
            await asyncio.sleep(0.05)
        if purging:
            await self.purge(client, jobs)

    async def none_active(self, client: BrokerClient) -> bool:
        """Also does what the owner of a job is asked to that was on its way whenever the broker died: looks
        at it and releases it."""
        page = await client.jobs_page(states=[JobState.WAITING], columns=("id", "held"))
        held = [job for job, is_held in zip(page.columns["id"], page.columns["held"], strict=True) if is_held]
        if held:
            await client.release(held)
        return await super().none_active(client)

    async def purge(self, client: BrokerClient, jobs: Sequence[str]) -> None:
        """Remove ended jobs, asked again until it is answered."""
        await self.all_ended(client)
        await client.purge(jobs)
        for job in jobs:
            self.accepted.pop(job)
            self.purged.add(job)

    @property
    def is_alive(self) -> bool:
        """A broker runs."""
        return self._process is not None and self._process.poll() is None

    async def revive(self) -> None:
        """Start the next broker if the process is gone."""
        if self._process is None or self._process.poll() is not None:
            self.deaths += 1
            assert self._process is None or self._process.returncode == -signal.SIGKILL, self.told()
            self._point = next(self._points, "")
            self.start(f"{self._point}:1" if self._point else "")

    async def faults(self, client: BrokerClient, seconds: float = 120.0) -> list[str]:
        """Wait for the end of all jobs; what is wrong with them, their output, or stays at the sites.

        What exchanges leave that were cut off is removed a day later at the latest: here that day passes.
        """
        await self.all_ended(client, seconds)
        faults = await self._output_faults(client)
        verdict = await self.verdict()
        faults += verdict.faults
        done = len(self.accepted) - len(self.canceled)
        if verdict.states != Counter(Done=done, Canceled=len(self.canceled)):
            faults.append(f"{done} jobs are to be Done, but there are {verdict.states}")
            faults += await self._stories(client)
        for name, bed in self.beds.items():
            bed.age(self.mark(name))
        await self.known(client)
        await self.purge(client, list(self.accepted))
        try:
            # A removal that failed is tried again after a pause that grows to a minute.
            await eventually(lambda: not self._site_faults(), 150)
        except AssertionError:
            faults += self._site_faults()
        return [*faults, self.told(), *await self._site_logs(client)] if faults else []

    async def _site_logs(self, client: BrokerClient) -> list[str]:
        """The last that the connections noted, and where the glideins stand."""
        logs = [f"{name}: {line.words}" for name in self.beds for line in (await client.site_log(name))[-15:]]
        return [*logs, *(f"{one.id} is {one.state}" for one in (await client.slots()).glideins)]

    async def _stories(self, client: BrokerClient) -> list[str]:
        """What happened to the jobs that ended as they should not."""
        return [
            f"{job} {event.type} of attempt {event.attempt}: {event.reason}"
            for job in self.accepted
            if (await client.job(job)).row["state"] not in (JobState.DONE, JobState.CANCELED)
            for event in await client.events_of(job)
        ]

    def mark(self, name: str) -> str:
        """What tells this broker's jobs at a site."""
        return (self.state_dir / "sites" / name / ".mark").read_text().strip()

    async def verdict(self) -> Verdict:
        """Also fails for jobs that the sites ran more often than the broker asked for."""
        verdict = await super().verdict()
        ran = sum(
            bed.started(self.mark(name), self._began[name]) for name, bed in self.beds.items() if bed.cluster
        )
        if ran > verdict.attempts + len(self.purged):
            verdict.faults.append(f"the clusters started {ran} jobs for {verdict.attempts} attempts")
        return verdict

    def _site_faults(self) -> list[str]:
        faults = []
        for name, bed in self.beds.items():
            here = self.state_dir / "sites" / name / "attempts"
            left = kept_by(self.state_dir / "sites" / name)
            faults += faults_at(bed, self.mark(name), self._began[name], left)
            kept = {path.rpartition(".")[0] for path in os.listdir(here)}
            faults += [f"{job} was purged, its files at this machine stay" for job in kept & self.purged]
        return faults

    async def _output_faults(self, client: BrokerClient) -> list[str]:
        faults = []
        for job, value in self.accepted.items():
            if (await client.job(job)).row["state"] != JobState.DONE:
                continue
            try:
                got = (await client.read_file(job, "out")).content
            except CrossDeskError as error:
                faults.append(f"{job}: {error}")
                continue
            if got != f"output {value}\n".encode():
                faults.append(f"{job}: its output is {got!r}")
        return faults


def _is_usable(site: SiteView) -> bool:
    return site.link.state == "connected" and bool(site.ces)


def spec(name: str, kind: str, folder: Path, environment: Mapping[str, str], host: str = "") -> SiteSpec:
    """Settings of a site of these tests."""
    return SiteSpec(
        name=name,
        kind=kind,
        host=host,
        directory=str(folder / name),
        environment=dict(environment),
        poll_interval=0.1,
        list_interval=0.1,
    )
