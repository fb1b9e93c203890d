"""The client over restarts of the broker: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from broker_core.client import probe, transport
from broker_core.client.answers import refusal
from broker_core.client.connect import connect
from broker_core.client.start import READY_WITHIN, answers, ensure_broker, release, start_broker
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BrokerStopped, CrossDeskError, SiteSilent, Unreachable
from broker_core.sites.transport.contract import LinkLost
from broker_core.system.paths import Paths, places
from broker_core.system.priority import BROKER_NICE
from broker_core.wire.views import Update
from tests.client.one_job import one
from tests.running import RunningBroker, end_all, processes_of
from tests.waiting import eventually, wait_until


async def test_a_submission_is_repeated_over_a_restart_and_starts_one_job(
    running_broker: RunningBroker,
) -> None:
    async with await connect(running_broker.state_dir, start=False) as client:
        running_broker.kill()
        sending = asyncio.create_task(client.submit(one(hold="look")))
        await asyncio.to_thread(running_broker.start)
        receipt = await sending
        assert (await client.jobs_page(columns=["id"])).columns["id"] == receipt.ids


async def test_a_request_is_repeated_for_as_long_as_a_broker_may_take_to_start(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, now = READY_WITHIN / 5, 0.0
    monkeypatch.setattr(transport, "time", SimpleNamespace(monotonic=lambda: now))

    async def answered() -> str:
        nonlocal now
        now += step
        if now < READY_WITHIN - step / 2:
            raise Unreachable("It is still being started.")
        return "an answer"

    carrier = BrokerTransport(state_dir)
    assert await carrier.repeat(answered) == "an answer"
    await carrier.aclose()


async def test_a_site_that_is_silent_is_told_at_once_and_not_asked_again(state_dir: Path) -> None:
    asked: list[None] = []

    async def silent() -> str:
        asked.append(None)
        raise refusal(LinkLost.status, orjson.dumps({"code": LinkLost.code, "message": "Not heard from."}))

    carrier = BrokerTransport(state_dir)
    with pytest.raises(SiteSilent, match="Not heard from"):
        await carrier.repeat(silent)
    assert len(asked) == 1
    await carrier.aclose()


async def test_the_stream_goes_on_after_a_restart_without_a_gap(running_broker: RunningBroker) -> None:
    lost: list[CrossDeskError] = []
    regained = asyncio.Event()
    async with await connect(running_broker.state_dir, start=False) as client:
        seen: list[str] = []

        async def follow() -> None:
            async with aclosing(client.follow(0, lost=lost.append, regained=regained.set)) as updates:
                async for update in updates:
                    seen.extend(event.job for event in update.events if event.type == "job.submitted")
                    if len(seen) == 2:
                        return

        following = asyncio.create_task(follow())
        first = (await client.submit(one(hold="look"))).ids[0]
        await eventually(lambda: seen, what="the stream is there")
        running_broker.kill()
        await asyncio.to_thread(running_broker.start)
        second = (await client.submit(one(hold="look"))).ids[0]
        async with asyncio.timeout(60):
            await following
            await regained.wait()
    assert seen == [first, second]
    assert len(lost) == 1


async def test_a_client_starts_a_broker_where_none_runs_and_again_when_it_was_killed(state_dir: Path) -> None:
    try:
        async with await connect(state_dir) as client:
            first = (await client.info()).pid
            subprocess.run(["kill", "-9", str(first)], check=True)
            assert (await client.info()).pid != first
    finally:
        end_all(state_dir)


async def test_a_broker_that_a_client_starts_is_behind_the_window_where_processors_are_scarce(
    state_dir: Path,
) -> None:
    own = Path("/proc/self/autogroup")
    try:
        async with await connect(state_dir) as client:
            group = Path(f"/proc/{(await client.info()).pid}/autogroup")
            # A kernel without groups of sessions has no such files.
            assert own.exists() == group.exists()
            assert not own.exists() or group.read_text().split()[1:] == ["nice", str(BROKER_NICE)]
    finally:
        end_all(state_dir)


async def test_a_broker_told_to_stop_says_goodbye_and_is_not_started_again(
    running_broker: RunningBroker,
) -> None:
    async with await connect(running_broker.state_dir) as client, asyncio.timeout(60):
        updates = client.follow(0)
        await client.submit(one(hold="look"))
        await anext(updates)
        ending = asyncio.create_task(_until_its_end(updates))
        await client.stop()
        with pytest.raises(BrokerStopped):
            await ending
        running_broker.kill(signal.SIGCONT)  # changes nothing; waits for the end
        with pytest.raises(BrokerStopped):
            await client.info()
    assert not answers(running_broker.state_dir)


async def test_who_has_not_heard_that_the_broker_was_told_to_stop_starts_no_other(
    running_broker: RunningBroker,
) -> None:
    """A request that loses its answer may be ahead of the goodbye."""
    async with (
        await connect(running_broker.state_dir) as deaf,
        await connect(running_broker.state_dir) as client,
        asyncio.timeout(60),
    ):
        assert (await deaf.info()).pid == running_broker.pid
        await client.stop()
        running_broker.kill(signal.SIGCONT)  # changes nothing; waits for the end
        with pytest.raises(BrokerStopped):
            await deaf.info()
        assert not answers(running_broker.state_dir)


async def _until_its_end(updates: AsyncGenerator[Update]) -> None:
    async with aclosing(updates):
        async for _ in updates:
            continue


async def test_without_a_broker_and_without_starting_one_the_request_fails(state_dir: Path) -> None:
    async with await connect(state_dir, start=False, patience=0) as client:
        with pytest.raises(Unreachable, match="broker start"):
            await client.info()


def test_starters_at_the_same_moment_start_one_broker(state_dir: Path) -> None:
    text = "import sys; from broker_core.client.start import start_broker; start_broker(sys.argv[1])"
    try:
        starters = [subprocess.Popen([sys.executable, "-c", text, str(state_dir)]) for _ in range(4)]
        assert [starter.wait(90) for starter in starters] == [0, 0, 0, 0]
        assert answers(state_dir)
        serving = [pid for pid in processes_of(state_dir) if b"broker.daemon" in _words(pid)]
        assert len(serving) == 1
    finally:
        end_all(state_dir)


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def test_an_unusable_state_directory_is_told_in_the_brokers_own_words(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(CrossDeskError) as refused:
        start_broker(blocked / "state")
    assert str(blocked) in refused.value.place
    assert refused.value.code != "broker_died"


async def test_an_older_broker_hands_over(
    running_broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = running_broker.pid
    monkeypatch.setattr("broker_core.client.start.VERSION", "0.0.1")
    await ensure_broker(running_broker.state_dir)
    assert (probe.info(places(running_broker.state_dir).socket) or {})["pid"] == old
    monkeypatch.setattr("broker_core.client.start._current", _newer_than(old))
    await ensure_broker(running_broker.state_dir)
    now = wait_until(lambda: probe.info(places(running_broker.state_dir).socket))
    assert now["pid"] != old


def _newer_than(old: int) -> Callable[[Paths], bool]:
    """Stands for the comparison of versions: the broker of process `old` is too old."""

    def current(where: Paths) -> bool:
        said = probe.info(where.socket)
        return said is not None and said["pid"] != old

    return current


@pytest.mark.parametrize(
    ("older", "newer"), [("0.1.0", "0.2.0"), ("0.9.0", "0.10.0"), ("1.0", "1.0.1"), ("0.1.0", "1.0")]
)
def test_versions_are_compared_by_their_numbers(older: str, newer: str) -> None:
    assert release(older) < release(newer)


async def test_a_terminated_broker_leaves_its_jobs_running(running_broker: RunningBroker) -> None:
    async with await connect(running_broker.state_dir, start=False) as client:
        job = (await client.submit(one('Executable = "/bin/sleep"; Arguments = "300";'))).ids[0]
        async with asyncio.timeout(60):
            async with aclosing(client.follow(0)) as updates:
                async for update in updates:
                    if any(event.type == "job.running" for event in update.events):
                        break
        await asyncio.to_thread(running_broker.kill, signal.SIGTERM)
        await asyncio.to_thread(running_broker.start)
        assert (await client.job(job)).row["state"] == "Running"
