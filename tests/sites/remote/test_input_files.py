"""Input files go to a site once, however many jobs need them, and each job has a copy of its own."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.sites.contract import InputFile, LaunchOrder
from broker_core.sites.link import TransferProgress
from broker_core.sites.remote.settings import ResultLimits
from broker_core.sites.transport.contract import DEADLINE, Reply, Transport
from tests.sites.remote.failing_transport import Breaking
from tests.sites.remote.far_site import MARK, QUICK
from tests.sites.remote.host_far import Flapping, HostFar, current, released, script

SIZE = 200_000


class Counting(Flapping):
    """Counts the bytes that are sent."""

    sent = 0

    def __init__(self, real: Transport, breaking: Breaking) -> None:
        super().__init__(real, breaking)
        self.seen: set[tuple[str, bool, int, int]] = set()
        """What was told of files on their way: tag, to the site or not, bytes done, bytes in all."""

    def _moving(self) -> list[tuple[str, TransferProgress]]:
        return list(self.link.transfers.items())

    async def receive(
        self, script: str, write: Callable[[bytes], None], *, deadline: float = DEADLINE
    ) -> Reply:
        def noted(piece: bytes) -> None:
            write(piece)
            self.seen |= {(tag, one.to_site, one.done(), one.total) for tag, one in self._moving()}

        return await super().receive(script, noted, deadline=deadline)

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        async def counted() -> AsyncIterator[bytes]:
            async for chunk in chunks:
                self.sent += len(chunk)
                yield chunk
                self.seen |= {(tag, one.to_site, one.done(), one.total) for tag, one in self._moving()}

        return await super().send(script, counted(), deadline=deadline)


def content(folder: Path, name: str = "data", size: int = SIZE, *, executable: bool = False) -> InputFile:
    """A file of the broker's store."""
    raw = os.urandom(size)
    if executable:
        raw = b"#!/bin/sh\necho runs\nexit 0\n" + raw
    sha256 = hashlib.sha256(raw).hexdigest()
    path = folder / sha256
    path.write_bytes(raw)
    return InputFile(name, path, executable, sha256)


def store(far: HostFar) -> Path:
    return Path(far.spec.directory) / MARK / "files"


@pytest.fixture
async def far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HostFar]:
    """A plain host with four places, whose traffic is counted."""
    monkeypatch.setattr("tests.sites.remote.host_far.Flapping", Counting)
    environment = {"CROSSDESK_SLOTS": "4", "HOME": str(folder)}
    made = HostFar(folder, environment=environment)
    await made.start()
    yield made
    await made.site.close()


def sent(far: HostFar) -> int:
    assert isinstance(far.way, Counting)
    return far.way.sent


async def run(far: HostFar, *orders: LaunchOrder) -> list[str]:
    """What each of them says."""
    await asyncio.gather(*(released(far, one) for one in orders))
    ends = [await far.ended(one.attempt) for one in orders]
    assert [(end.exit_code, end.reason) for end in ends] == [(0, "")] * len(orders)
    return [await far.text(one.attempt) for one in orders]


async def test_a_file_that_forty_jobs_need_travels_once(far: HostFar, folder: Path) -> None:
    data = content(folder, size=20_000_000)
    # Each spoils its own.
    text = "wc -c <data; echo spoiled >data; rm data"
    said = await run(far, *(script(text, inputs=(data,)) for _ in range(40)))
    assert said == ["20000000\n"] * 40
    assert 20_000_000 <= sent(far) < 21_500_000
    before = sent(far)
    assert await run(far, script(text, inputs=(data,))) == ["20000000\n"]
    assert sent(far) - before < 100_000


async def test_how_far_files_are_is_known_while_they_are_on_their_way(far: HostFar, folder: Path) -> None:
    data = content(folder, size=2_000_000)
    one = script("head -c 3000000 /dev/zero >made", inputs=(data,), outputs=("made",))
    await run(far, one)
    assert isinstance(far.way, Counting)
    there = sorted(done for _, to_site, done, total in far.way.seen if to_site and total == 2_000_000)
    back = sorted(done for _, to_site, done, total in far.way.seen if not to_site and total == 3_000_000)
    for steps, total in ((there, 2_000_000), (back, 3_000_000)):
        assert len(steps) > 2
        assert steps[0] < steps[1] <= total
    assert {tag for tag, *_ in far.way.seen} == {one.attempt.tag}
    assert not far.way.link.transfers


async def test_each_job_gets_its_own_name_and_mode_for_it(far: HostFar, folder: Path) -> None:
    tool = content(folder, "tool", executable=True)
    plain = replace(tool, name="as data", executable=False)
    small = InputFile("small", folder / "small", False, hashlib.sha256(b"few").hexdigest())
    small.path.write_bytes(b"few")
    text = '[ -x tool ] && [ ! -x "as data" ] && cmp tool "as data" && cat small'
    one = script(text, inputs=(tool, plain, small))
    assert await run(far, one) == ["few"]
    assert [path.name for path in store(far).iterdir()] == [tool.sha256]


async def test_a_store_that_was_deleted_by_hand_is_filled_again(far: HostFar, folder: Path) -> None:
    data = content(folder)
    one = script("wc -c <data", inputs=(data,))
    waits = script("wc -c <data", inputs=(data,))
    await far.site.submit(waits)
    assert await run(far, one) == [f"{SIZE}\n"]
    shutil.rmtree(store(far))
    assert await run(far, script("wc -c <data", inputs=(data,))) == [f"{SIZE}\n"]
    await far.site.confirm(waits.attempt)
    assert (await far.ended(waits.attempt)).exit_code == 0, "what was handed over holds its files"


@pytest.mark.parametrize("damage", [b"", b"another"])
async def test_what_a_broker_finds_there_is_looked_at_before_it_is_used(
    far: HostFar, folder: Path, damage: bytes
) -> None:
    data = content(folder)
    store(far).mkdir(parents=True, exist_ok=True)
    (store(far) / data.sha256).write_bytes(damage)
    assert await run(far, script("wc -c <data", inputs=(data,))) == [f"{SIZE}\n"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("number", range(1, 7))
async def test_a_cut_at_any_exchange_neither_loses_nor_doubles_a_job(
    folder: Path, number: int, after: bool
) -> None:
    far = HostFar(folder)
    far.breaking.at, far.breaking.after = range(number, number + 1), after
    data = content(folder)
    one = script(f"wc -c <data; echo >>{folder}/ran", inputs=(data,))
    await far.start([(one.attempt, one)])
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).exit_code == 0
    assert (folder / "ran").read_text() == "\n"
    assert not list((Path(far.spec.directory) / MARK / "incoming").iterdir())
    await far.site.close()


async def test_files_that_nobody_needs_go_by_age_and_size_and_others_stay(far: HostFar, folder: Path) -> None:
    held, old, new = (content(folder, name) for name in ("held", "old", "new"))
    waits = script("cat held", inputs=(held,))
    await far.site.submit(waits)
    ended = [script("true", inputs=(one,)) for one in (old, new)]
    for one in ended:
        await run(far, one)
    await far.site.forget([one.attempt for one in ended])
    far.site.settings = replace(QUICK, untouched=-1.0, results=ResultLimits(inputs_max=2 * SIZE))
    far.site._adapter._settings = far.site.settings  # type: ignore[attr-defined]
    await far.site.sweep(current())
    assert {path.name for path in store(far).iterdir()} == {held.sha256, new.sha256}
    far.site._adapter._settings = replace(QUICK, results=ResultLimits(inputs_age=-1.0))  # type: ignore[attr-defined]
    while await far.site.sweep(current()):
        pass
    await far.site.sweep(current())
    assert {path.name for path in store(far).iterdir()} == {held.sha256}


async def test_python_environments_go_that_no_job_has_begun_with_for_a_month(
    far: HostFar, folder: Path
) -> None:
    await run(far, script("true"))
    kept = Path(far.spec.directory) / MARK / "environments"
    for name, days in (("old", 32), ("young", 2)):
        (kept / name / "bin").mkdir(parents=True)
        for mark in (".complete", ".used"):
            (kept / name / mark).touch()
        os.utime(kept / name / ".used", (time.time() - days * 86_400,) * 2)
    await far.site.sweep(current())
    assert [path.name for path in kept.iterdir()] == ["young"]
