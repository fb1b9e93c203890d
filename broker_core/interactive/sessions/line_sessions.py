"""Sessions whose lines the broker carries, because the node cannot run an agent that calls out (CB-BYP).

A desk asks again and again; an answer is frames as an agent would send them. What must outlive the broker is
in the journal and at the site, so a desk that asks after a death goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from broker_core.bookkeeping.store import Store
from broker_core.errors import BadRequest, NotFound
from broker_core.interactive.channel.frames import STDIN, heard, output, word
from broker_core.interactive.sessions.line_carrier import RelayedLines
from broker_core.interactive.sessions.line_journal import LineJournal
from broker_core.jobs.placement import Component, component
from broker_core.jobs.record import JobRecord
from broker_core.jobs.story import failure
from broker_core.settings.interactive import InteractiveSettings
from broker_core.sites.contract import Site
from broker_core.sites.shortage import is_shortage
from broker_core.sites.transport.contract import LinkLost
from broker_core.worker.agent_settings import NO_DESK

log = logging.getLogger("crossdesk.sessions")
STREAMS = (1, 2)
PART = 256 * 1024
"""Bytes of a stream that one exchange brings."""


@dataclass(frozen=True, slots=True)
class LineJob:
    """An interactive job as it stands, with its site and the names of its outputs."""

    record: JobRecord
    site: Site
    outputs: tuple[str, ...]

    @property
    def attempt(self) -> Component:
        """The one that runs, or ran last."""
        return self.record.component


@dataclass(frozen=True, slots=True)
class LineViewer:
    """What a desk asks for."""

    desk: str
    write: bool
    begin: bool
    """It does not know yet where the program stands."""
    places: dict[int, int]
    """Stream to the first byte that it does not have; one that is missing: from what is replayed on."""


class LineSessions:
    """All programs whose lines this broker carries."""

    def __init__(self, store: Store, settings: InteractiveSettings, directory: Path) -> None:
        self._store, self._settings = store, settings
        self._directory = directory
        self._carriers: dict[str, RelayedLines] = {}
        self._opening = asyncio.Lock()

    async def look(self, job: Callable[[], Awaitable[LineJob]], asked: LineViewer, wait: float) -> bytes:
        """Frames with what is new for a desk, at the latest after `wait` seconds; raises LinkLost."""
        loop = asyncio.get_running_loop()
        until = loop.time() + wait
        ask: float | None = None
        while True:
            found = await job()
            if found.record.state.ended:
                return await self._rest(found, asked)
            carrier = await self._carrier(found)
            if ask is None:
                ask = await carrier.come(asked.desk, write=asked.write)
            elif not carrier.waits(asked.desk, ask):
                return b""
            try:
                frames = await self._new(carrier, found, asked)
            except NotFound:
                if asked.begin:
                    raise
                frames = b""  # it has just ended; its output is on the way here
            left = until - loop.time()
            if frames or left <= 0:
                return frames
            if not carrier.due:
                await carrier.pause(self._settings.line_interval, self._settings.line_idle_interval, left)

    async def typed(self, job: LineJob, desk: str, offset: int, data: bytes) -> None:
        """Take input of a desk; raises BadRequest where something before it is missing."""
        carrier = await self._carrier(job)
        async with carrier.turn:
            try:
                await asyncio.to_thread(carrier.journal.add, desk, offset, data)
            except ValueError as error:
                raise BadRequest(str(error), place=job.record.id) from error
        self._deliver(carrier, job.site)

    async def wish(self, job: LineJob, desk: str, what: str, name: str) -> None:
        """Take another wish of a desk: `take`, `bye`, and of the one that writes `eof` and `signal`."""
        carrier = await self._carrier(job)
        if what == "take":
            await carrier.give_to(desk)
        elif what == "bye":
            carrier.leave(desk)
        elif desk == carrier.journal.writer:
            await self._steer(carrier, what, name)
            self._deliver(carrier, job.site)

    async def over(self, job: str) -> None:
        """A job has ended: nothing that was typed to it stays, whether or not a desk was there at its end."""
        async with self._opening:
            for tag in self._kept_tags():
                known = component(tag)
                if known is not None and known.job == job:
                    await self._drop(tag)

    async def close(self) -> None:
        """Stop; what runs goes on, and so do desks that come to the next broker."""
        deliveries = [one.delivery for one in self._carriers.values() if one.delivery is not None]
        for delivery in deliveries:
            delivery.cancel()
        await asyncio.gather(*deliveries, return_exceptions=True)

    @staticmethod
    async def _steer(carrier: RelayedLines, what: str, name: str) -> None:
        async with carrier.turn:
            try:
                if what == "eof":
                    await asyncio.to_thread(carrier.journal.end)
                elif what == "signal":
                    await asyncio.to_thread(carrier.journal.signal, name)
            except ValueError as error:
                raise BadRequest(f"{error}.") from error

    async def _new(self, carrier: RelayedLines, job: LineJob, asked: LineViewer) -> bytes:
        """What a desk does not know yet; nothing where there is nothing new."""
        frames, places = b"", asked.places
        if asked.begin:
            answer = await carrier.exchange(job.site, (0,) * len(carrier.outputs), 0)
            frames, places = self._welcome(carrier, asked, answer.sizes)
        wanted = tuple(places.get(stream, 0) for stream, _ in zip(STREAMS, carrier.outputs, strict=False))
        answer = await carrier.exchange(job.site, wanted, PART)
        news = carrier.news(asked.desk)
        if carrier.told.get(asked.desk) != news or frames:
            carrier.told[asked.desk] = news
            frames += word("news", writer=news[0], viewers=news[1]) + heard(STDIN, news[2])
        for stream, place, data in zip(STREAMS, wanted, answer.outputs, strict=False):
            frames += output(stream, place, data) if data else b""
        return frames

    def _welcome(
        self, carrier: RelayedLines, asked: LineViewer, sizes: tuple[int, ...]
    ) -> tuple[bytes, dict[int, int]]:
        """The first frame for a desk, and from where on it gets output."""
        replay = self._settings.replay_buffer
        ends = dict(zip(STREAMS, sizes, strict=False))
        places = {stream: asked.places.get(stream, max(0, end - replay)) for stream, end in ends.items()}
        streams = {str(stream): [places[stream], max(end, places[stream])] for stream, end in ends.items()}
        had = carrier.journal.arrived(asked.desk, carrier.typed)
        return word("welcome", mode="lines", input=had, streams=streams), places

    async def _rest(self, job: LineJob, asked: LineViewer) -> bytes:
        """What a desk lacks of a program that has ended, from the files that were brought here."""
        frames, streams, complete = b"", {}, True
        for stream, name in zip(STREAMS, job.outputs, strict=False):
            place = asked.places.get(stream, 0)
            data, size = await self._kept(job, name, place)
            streams[str(stream)] = [place, max(place, size)]
            frames += output(stream, place, data) if data else b""
            complete = complete and place + len(data) >= size
        if asked.begin:
            frames = word("welcome", mode="lines", input=0, streams=streams) + frames
        if complete:
            record = job.record
            dead = failure(await self._store.events_of(record.id)) == NO_DESK
            frames += word("end", code=record.exit_code, signal=record.signal, dead=dead)
            await self._forget(job.attempt.tag)
        return frames

    @staticmethod
    async def _kept(job: LineJob, name: str, place: int) -> tuple[bytes, int]:
        """A part of a file of a job that has ended, and how long it is."""
        try:
            path = await job.site.open_path(job.attempt, name)
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except NotFound:
            return b"", 0
        except OSError as error:
            if is_shortage(error):
                raise LinkLost(f"The output cannot be read now: {error.strerror}.", place=name) from error
            return b"", 0
        try:
            return os.pread(file, PART, place), os.fstat(file).st_size
        finally:
            os.close(file)

    def _deliver(self, carrier: RelayedLines, site: Site) -> None:
        """Have what was typed brought to the site, also if the desk leaves now."""
        carrier.wake()
        if carrier.delivery is None or carrier.delivery.done():
            carrier.delivery = asyncio.get_running_loop().create_task(self._bring(carrier, site))

    async def _bring(self, carrier: RelayedLines, site: Site) -> None:
        while carrier.due and carrier.attempt.tag in self._carriers:
            try:
                await carrier.exchange(site, (0,) * len(carrier.outputs), 0)
            except NotFound:
                return
            except LinkLost as error:
                log.info("Lines for %s wait: %s", carrier.attempt.tag, error)
                await asyncio.sleep(self._settings.ca_retry_interval)
        carrier.wake()

    async def _carrier(self, job: LineJob) -> RelayedLines:
        """The program's entry, with what an earlier broker wrote down."""
        tag = job.attempt.tag
        async with self._opening:
            found = self._carriers.get(tag)
            if found is None:
                await self._tidy()
                journal = await asyncio.to_thread(LineJournal, self._directory / tag)
                found = self._carriers[tag] = RelayedLines(job.attempt, job.outputs, journal)
        return found

    async def _tidy(self) -> None:
        """Remove what is left of programs that have ended without a desk, or were started anew."""
        for tag in self._kept_tags():
            known = component(tag)
            record = None if known is None else await self._store.job(known.job)
            if record is None or record.state.ended or record.component != known:
                await self._drop(tag)

    async def _forget(self, tag: str) -> None:
        async with self._opening:
            await self._drop(tag)

    def _kept_tags(self) -> list[str]:
        """Of all attempts to which something was typed."""
        return [one.name for one in self._directory.iterdir()] if self._directory.is_dir() else []

    async def _drop(self, tag: str) -> None:
        carrier = self._carriers.pop(tag, None)
        if carrier is not None:
            if carrier.delivery is not None:
                carrier.delivery.cancel()
            async with carrier.turn:
                carrier.journal.close()
        await asyncio.to_thread(shutil.rmtree, self._directory / tag, True)
