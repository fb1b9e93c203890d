"""Jobs outside CrossDesk at a batch system behind a shell: they come with the look at the broker's own."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Sequence

from broker_core.errors import NotFound
from broker_core.sites.adapter import SiteFailed
from broker_core.sites.batch.names import bears
from broker_core.sites.batch.outside.reader import OutsideFacts, OutsideReader
from broker_core.sites.batch.outside.readers import reader_for
from broker_core.sites.batch.system import BatchSystem, Listed
from broker_core.sites.outside import OUTPUT_MOST, OutsideEnd
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.workspace import words_of
from broker_core.wire.outside import OutsideJob, OutsideOutput

MOST = 2000
"""Jobs that are told at most, the latest ones."""
_AHEAD = "@outside\n"
"""Ahead of a list that was asked for with more columns."""
_TAIL = """
path={path}
[ -f "$path" ] || {{ echo 'There is no such file (any more).' >&2; exit 44; }}
wc -c <"$path" && tail -c {most} <"$path"
"""


class ShellOutside:
    """See `OutsideAccess`. While nobody asks for them, the look at the broker's jobs is what it always is."""

    def __init__(self, site: str, exchanges: ShellExchanges, system: BatchSystem, mark: str) -> None:
        self._site, self._exchanges, self._system, self._mark = site, exchanges, system, mark
        self._known = reader_for(system)
        self._wanted: list[asyncio.Future[Sequence[OutsideJob]]] = []
        self.wake: Callable[[], None] = lambda: None
        """Called to have the next look at once."""

    @property
    def is_available(self) -> bool:
        """The batch system can be asked for them."""
        return self._known is not None

    @property
    def _reader(self) -> OutsideReader:
        """Raises NotFound where the batch system cannot be asked."""
        if self._known is None:
            raise NotFound(f"{self._system.title} is not asked for such jobs.", place=self._site)
        return self._known

    def status(self) -> str:
        """Command for the list, in place of `BatchSystem.status`."""
        self._wanted = [one for one in self._wanted if not one.done()]
        if not self._wanted:
            return self._system.status(self._mark)
        return f"echo {_AHEAD.strip()} && {self._reader.status(self._system, self._mark)}"

    async def listed(self, out: str) -> list[Listed]:
        """What `status` printed, as `BatchSystem.listed`; who asked for the others is told of them."""
        if not out.startswith(_AHEAD):
            return await asyncio.to_thread(self._system.listed, out)
        wanted, self._wanted = self._wanted, []
        try:
            # Ten thousand lines take a while, in which the broker does other things.
            narrow, jobs = await asyncio.to_thread(self._split, out.removeprefix(_AHEAD))
            found = await asyncio.to_thread(self._system.listed, narrow)
        except ValueError as error:
            _fail(wanted, SiteFailed(str(error), place=self._site))
            raise
        for one in wanted:
            if not one.done():
                one.set_result(jobs)
        return found

    def _split(self, out: str) -> tuple[str, list[OutsideJob]]:
        narrow, jobs = self._reader.split(out, self._mark)
        others = [job for job in jobs if not bears(job.name, self._mark)]
        others.sort(key=lambda job: job.submitted or 0.0, reverse=True)
        return narrow, [job.model_copy(update={"site": self._site}) for job in others[:MOST]]

    async def jobs(self) -> Sequence[OutsideJob]:
        """See `OutsideAccess.jobs`."""
        _ = self._reader
        future: asyncio.Future[Sequence[OutsideJob]] = asyncio.get_running_loop().create_future()
        self._wanted.append(future)
        self.wake()
        return await future

    async def facts(self, id: str) -> Sequence[tuple[str, str]]:
        """See `OutsideAccess.facts`."""
        return (await self._described(id)).facts

    async def output(self, id: str, *, error: bool) -> OutsideOutput:
        """See `OutsideAccess.output`."""
        described = await self._described(id)
        path = described.stderr if error else described.stdout
        if not path:
            return OutsideOutput(trouble=f"{self._system.title} names no file for it.")
        script = _TAIL.format(path=shlex.quote(path), most=OUTPUT_MOST)
        reply = await self._exchanges.run(lambda _: script)
        if reply.status:
            return OutsideOutput(path=path, trouble=words_of(reply.err))
        size, _, content = reply.out.partition(b"\n")
        whole = int(size) if size.strip().isdigit() else len(content)
        return OutsideOutput(path=path, size=whole, text=content.decode("utf-8", "replace"))

    async def cancel(self, id: str) -> None:
        """See `OutsideAccess.cancel`."""
        await self._answer(self._system.cancel([id]))

    async def ends(self, ids: Sequence[str]) -> dict[str, OutsideEnd]:
        """See `OutsideAccess.ends`."""
        command = self._reader.ends(ids)
        return self._reader.ended(await self._answer(command)) if command else {}

    async def _described(self, id: str) -> OutsideFacts:
        return self._reader.described(await self._answer(self._reader.details(id)))

    async def _answer(self, command: str) -> str:
        """What a command prints; raises SiteFailed with what it complains of."""
        reply = await self._exchanges.run(lambda _: command)
        if reply.status:
            complaint = words_of(reply.err)
            raise SiteFailed(
                f"{self._system.title} does not do as it is told: {complaint}.", place=self._site
            )
        return reply.out.decode("utf-8", "replace")


def _fail(wanted: Sequence[asyncio.Future[Sequence[OutsideJob]]], error: SiteFailed) -> None:
    for one in wanted:
        if not one.done():
            one.set_exception(error)
