"""kill -9 of a broker with a real A-REX, judged by that one's own records (cases 1 to 3 and 11).

The user's key has a passphrase, which no broker may keep: every life of one asks for it again.

A-REX moves a job's state from one of its folders to another by removing the old file before it makes the
new one. Among thousands of its answers to this test was one in between: a job that it had taken 30 ms before
was WIPED, and PREPARING 0.2 s later; the broker counted it as over from then on, and never released it. That,
and what follows of orders to remove that A-REX takes and does not carry out, is tested in
tests/sites/arc/test_own_records.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import Conflict, NotFound, Unreachable
from broker_core.wire.sites import QuestionAnswer, SiteSpec
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor
from tests.running import processes_of
from tests.testbed.arc import ARex, running_arex
from tests.testbed.guardian import Guardian
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
PASSPHRASE = "correct horse"
POINTS = ["after:arc.new", "during:arc.bundle.tar", "after:arc.go", "after:arc.cancel", "after:keep"]
"""Each in a life of its own; those that many jobs come to in time are at the end."""
MORE = [
    *("before:job.scheduled", "after:arc.clean"),
    *("before:arc.new", "before:arc.launch", "after:arc.launch", "after:site.submit", "before:arc.go"),
    *("after:job.scheduled", "during:grid.poll", "after:grid.poll", "after:recovery", "before:job.running"),
    *("before:arc.cancel", "before:arc.kill", "after:arc.kill", "after:grid.cancel", "after:job.canceled"),
    *("during:grid.fetch", "after:grid.fetch", "before:keep", "before:job.done", "before:arc.clean"),
    "after:job.purged",
]
AT_ONCE = 5


class GridSurvivor(SitesSurvivor):
    """Its broker can also be killed between any two requests to A-REX."""

    daemon = "tests.crash.arc_broker"
    asked = 0
    """Times that a broker wanted the passphrase."""

    @asynccontextmanager
    async def desk(self) -> AsyncIterator[None]:
        """What the user's desk does meanwhile: it gives the passphrase from the keyring to whoever asks."""
        task = asyncio.create_task(self._answer())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def cancel_when_running(self, client: BrokerClient, job: str) -> None:
        """What runs is told to end by a file; what waits is killed by A-REX, where that is the point."""
        before = ("Waiting", "Ready") if ".kill" in self._point else ("Waiting", "Ready", "Scheduled")

        async def over_or_there() -> bool:
            return (await client.job(job)).row["state"] not in before

        await eventually(over_or_there, 120)
        await client.cancel([job])

    async def _answer(self) -> None:
        async with BrokerClient(BrokerTransport(self.state_dir, patience=0.1)) as client:
            while True:
                # Brokers come and go under its hands.
                with suppress(Unreachable, Conflict, NotFound):
                    await self._answer_once(client)
                await asyncio.sleep(0.1)

    async def _answer_once(self, client: BrokerClient) -> None:
        for site in await client.sites():
            question = site.link.question
            if question is not None and question.kind == "passphrase":
                self.asked += 1
                await client.answer_site(site.name, QuestionAnswer(id=question.id, value=PASSPHRASE))


@pytest.fixture
def arex() -> Iterator[ARex]:
    """One whose records hold nothing but what these tests do."""
    with running_arex() as site:
        yield site


@pytest.fixture
def survivor(isolated: Path, state_dir: Path, arex: ARex) -> Iterator[GridSurvivor]:
    """No broker runs yet; the computing element does."""
    guardian, effects = Guardian(isolated), arex.folder / "effects"
    try:
        made = GridSurvivor(state_dir, effects, [Bed(_spec(arex, isolated), arex)])
        effects.chmod(0o777)  # jobs belong to another account there
        yield made
        made.close()
    finally:
        guardian.close()


def _spec(arex: ARex, folder: Path) -> SiteSpec:
    pair = arex.authority.protected(arex.user, PASSPHRASE, folder / "key.pem")
    credential = {
        "X509_USER_PROXY": str(folder / "no-proxy"),
        "X509_USER_CERT": str(pair.certificate),
        "X509_USER_KEY": str(pair.key),
    }
    return SiteSpec(
        name="grid",
        kind="arc",
        url=arex.url,
        trust=str(arex.authority.directory),
        environment=credential,
        directory=str(arex.folder / "none"),
        poll_interval=0.1,
    )


async def test_killed_on_the_way_to_arc_every_job_runs_once_and_nothing_stays(
    survivor: GridSurvivor, arex: ARex, soak: bool
) -> None:
    points = POINTS + MORE if soak else POINTS
    async with survivor.desk(), survivor.client() as client:
        await survivor.begin(client)
        for first in range(0, len(points), AT_ONCE):
            await survivor.die_at(client, points[first : first + AT_ONCE])
            await survivor.all_ended(client, 180)
        faults = await survivor.faults(client, 180)
    assert not faults, "\n".join(faults)
    assert survivor.deaths > len(points)
    early = sum("recovery" in point for point in points)
    assert survivor.asked > survivor.deaths - early, "each broker asked, unless it died before that"
    done = len(survivor.purged) - len(survivor.canceled)
    await eventually(lambda: survivor.beds["grid"].started(survivor.mark("grid"), 0) >= done)
    await eventually(lambda: not list((arex.folder / "session").iterdir()), what="no session stays")
    assert not processes_of(arex.folder / "session")
    assert not _files_with(survivor.state_dir, PASSPHRASE)


def _files_with(folder: Path, secret: str) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if secret.encode() in path.read_bytes()]
