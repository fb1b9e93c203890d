"""A broker that is killed and started again while a client goes on using it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from broker_core.broker.engine.failpoints import FAIL_VARIABLE, LOG_VARIABLE
from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import Unreachable
from broker_core.jobs.states import JobState
from broker_core.system.paths import places
from broker_core.wire.submission import Submission, SubmissionItem
from tests.crash.checker import Verdict, job_text, judge
from tests.running import end_all
from tests.waiting import eventually, wait_until

ACTIVE = [state for state in JobState if state.active]
_ROOT = Path(__file__).resolve().parents[2]


class Survivor:
    """Starts a broker whenever none runs; the first one with a fail point, those after it without."""

    daemon = "broker_core.broker.daemon"
    """Module that is the broker's process."""

    def __init__(self, state_dir: Path, effects: Path, cpus: int = 2) -> None:
        self.state_dir = state_dir
        self.effects = effects
        self.accepted: dict[str, str] = {}
        self.starts = 0
        self.deaths = 0
        self._cpus = cpus
        self._process: subprocess.Popen[bytes] | None = None
        effects.mkdir(exist_ok=True)

    def client(self, patience: float = 60.0) -> BrokerClient:
        return BrokerClient(BrokerTransport(self.state_dir, patience=patience, revive=self.revive))

    def start(self, fail: str = "", log: Path | None = None) -> None:
        """Start a broker process; it may die before it answers."""
        environment = dict(os.environ)
        if fail:
            environment[FAIL_VARIABLE] = fail
        if log:
            environment[LOG_VARIABLE] = str(log)
        words = ["--state-dir", str(self.state_dir), "--cpus", str(self._cpus)]
        with (self.state_dir.parent / "broker.err").open("ab") as told:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.daemon, *words], cwd=_ROOT,
                stdin=subprocess.DEVNULL, stdout=told, stderr=told, env=environment, start_new_session=True,
            )  # fmt: skip
        self.starts += 1

    async def revive(self) -> None:
        """Start a plain broker if the process is gone."""
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                self.deaths += 1
                assert self._process.returncode == -signal.SIGKILL, self.told()
            self.start()

    def told(self) -> str:
        """The last words of the brokers, and of their log."""
        log = places(self.state_dir).log
        words = (self.state_dir.parent / "broker.err", log)
        return "\n".join(path.read_text()[-3000:] for path in words if path.exists())

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)

    def wait_for_death(self) -> None:
        assert self._process is not None
        wait_until(lambda: self._process is not None and self._process.poll() is not None)

    async def submit(
        self,
        client: BrokerClient,
        values: list[str],
        seconds: float,
        key: str,
        site: str = "",
        gate: Path | None = None,
    ) -> list[str]:
        item = SubmissionItem(description=job_text(self.effects, seconds, gate), values=values)
        receipt = await client.submit(Submission(key=key, items=[item], site=site))
        self.accepted |= dict(zip(receipt.ids, values, strict=True))
        return receipt.ids

    async def all_ended(self, client: BrokerClient, seconds: float = 120.0) -> None:
        """Wait until no job of the broker is active."""

        async def none_active() -> bool:
            try:
                return await self.none_active(client)
            except Unreachable:
                return False

        try:
            await eventually(none_active, seconds)
        except AssertionError as late:
            left = (await client.jobs_page(limit=20, states=ACTIVE)).columns
            raise AssertionError(f"still active after {seconds:g} s: {left} ({self.told()})") from late

    async def none_active(self, client: BrokerClient) -> bool:
        """No job of the broker is active."""
        return (await client.jobs_page(limit=1, states=ACTIVE)).total == 0

    async def cancel_when_running(self, client: BrokerClient, job: str) -> None:
        async def running() -> bool:
            row = (await client.job(job)).row
            # What was on its way whenever the broker died is held.
            return row["state"] != "Waiting" or bool(row["held"])

        await eventually(running)
        await client.cancel([job])

    async def verdict(self) -> Verdict:
        """End the broker and judge what it left."""
        self.kill()
        self.wait_for_death()
        return await judge(self.state_dir, self.accepted, self.effects)

    def close(self) -> None:
        self.kill()
        if self._process is not None:
            self._process.wait(60)
        end_all(self.state_dir)


async def play(survivor: Survivor) -> None:
    """A little of everything: a batch, a job that is canceled, one that is held, output that is fetched."""
    async with survivor.client() as client:
        quick = await survivor.submit(client, ["a", "b", "c"], 0.05, "key-of-the-batch")
        (long,) = await survivor.submit(client, ["long"], 600, "key-of-the-long-one")
        await client.hold([quick[-1]])
        await client.release([quick[-1]])
        await survivor.cancel_when_running(client, long)
        await survivor.all_ended(client)
        await client.fetched(quick[0])
        await asyncio.gather(*(client.read_file(job, "out") for job in quick))
