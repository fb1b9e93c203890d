"""Every batch system that is used through a shell, over any transport."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from broker_core.information.updater import SourceFailed
from broker_core.resources.facts import Facts
from broker_core.sites.adapter import (
    AttemptStatus,
    EndRecord,
    Launch,
    Leftover,
    PollResult,
    Sighting,
    SiteFailed,
)
from broker_core.sites.batch.host import Host
from broker_core.sites.batch.names import JobNames
from broker_core.sites.batch.system import BatchSystem, Queue
from broker_core.sites.contract import AgentOrder, RunFile, SiteRefused
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.shell.bundle import ArrayGroup, BundleContext, groups_of, packed, pieces, unpackable
from broker_core.sites.shell.content_cache import ContentCache, ContentDelivery, program_content
from broker_core.sites.shell.decommission import take_away
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.files import CANCEL
from broker_core.sites.shell.glideins import ShellGlideins
from broker_core.sites.shell.leftovers import leftovers
from broker_core.sites.shell.lines import ShellLines
from broker_core.sites.shell.outside import ShellOutside
from broker_core.sites.shell.poll import (
    ExchangeResult,
    by_markers,
    joined,
    poll_script,
    questions,
    read_look,
    with_markers,
    without_outputs,
)
from broker_core.sites.shell.submission import (
    NO_CONTENT,
    NO_ROOM,
    SubmissionReply,
    begun,
    finish_cut_off,
    group_lists,
    read_answer,
    results,
    submit_script,
)
from broker_core.sites.shell.survey import SiteSurvey
from broker_core.sites.shell.transfers import ShellTransfers
from broker_core.sites.shell.workspace import (
    AWAY,
    STALE,
    UNWRITABLE,
    WRITES,
    SiteWorkspace,
    Workspace,
    is_tag,
    words_of,
)
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply, Transport
from broker_core.sites.transport.way_back import RelayPlace, WayBack
from broker_core.wire.sites import SiteSpec

_SUBMITTING = 120.0
"""Seconds that a submission may take; a script that begins later than this does nothing."""
_ROUNDS = 5
_SHIPPED = ("software", "use", "mpi_start", "publish", "box", "boxing")
_PAUSE = 0.5


class ShellAdapter:
    """See `Adapter`. One directory of the broker's at the site holds all there is to know there."""

    def __init__(
        self,
        spec: SiteSpec,
        mark: str,
        transport: Transport,
        system: BatchSystem,
        settings: RemoteSettings,
    ) -> None:
        """`mark`: short id of the broker's state directory, letters and digits, beginning with a letter."""
        self.kind = system.kind
        self.holds = system.holds
        self.link = transport.link
        self._spec, self._mark, self._settings = spec, mark, settings
        self._transport, self._system = transport, system
        self._home = SiteWorkspace(transport, spec.directory, mark)
        self._cache = ContentCache(spec.name, transport)
        self._exchanges = ShellExchanges(spec.name, transport, self._home)
        self._transfers = ShellTransfers(spec.name, self._exchanges)
        self._lines = ShellLines(spec.name, self._exchanges)
        self._survey = SiteSurvey(transport, self._exchanges, system)
        self._delivery = ContentDelivery(
            self._cache, self._home, lambda: self._survey.probe.get("machine", [""])[0]
        )
        self._names = JobNames(mark, system.first_task)
        self.outside = ShellOutside(spec.name, self._exchanges, system, mark)
        self.glideins = ShellGlideins(spec.name, self._exchanges, self._delivery)
        self.renewed: float | None = None
        """Latest moment, by the monotonic clock, at which leases there can have been renewed."""
        self._renewing = min(DEADLINE, spec.lease / 2)
        """Seconds after which a renewal that was sent takes effect no more."""
        self._unsure = False
        self._queues: dict[str, Queue] = {}
        """By name, as they were described last."""
        self._met: set[str] = set()
        """Tags that began with this object, or whose markers were looked at: news tell of them all."""
        self._read: tuple[str, ...] = ()
        """News that were read and not yet acknowledged."""

    async def open(self) -> None:
        """See `Adapter.open`."""
        if self._spec.lease and self.renewed is None:
            # A broker before this one may have sent a renewal a moment ago.
            self.renewed = time.monotonic() + self._renewing
        await self._transport.open()

    async def close(self) -> None:
        """See `Adapter.close`."""
        await self._transfers.close()
        await self._transport.close()

    def answer(self, id: str, value: str) -> None:
        """See `Adapter.answer`."""
        self._transport.answer(id, value)

    def connect_now(self) -> None:
        """See `Adapter.connect_now`."""
        self._transport.connect_now()

    def hurry(self) -> None:
        """See `Adapter.hurry`."""
        self._transport.hurry()

    async def submit(self, launches: Sequence[Launch]) -> Sequence[str | SiteRefused]:
        """See `Adapter.submit`; launches with equal needs become an array where the site has arrays."""
        place = self._place(await self._home.get())
        launches = [await self._survey.with_known_names(one) for one in launches]
        found: dict[str, str | SiteRefused] = {}
        found |= await asyncio.to_thread(unpackable, launches, place)
        left = [one for one in launches if one.order.attempt.tag not in found]
        for _ in range(_ROUNDS if left else 0):
            found |= await self._delivery.bring(left)
            if not (left := [one for one in left if one.order.attempt.tag not in found]):
                break
            answer, groups = await self._hand_over(left)
            found |= await self._understood(answer, groups)
            if not (left := [one for one in left if one.order.attempt.tag not in found]):
                break
            await asyncio.sleep(_PAUSE)
        if left:
            raise LinkLost(
                "An earlier submission of the same jobs is still under way.", place=self._spec.name
            )
        return [found[one.order.attempt.tag] for one in launches]

    async def release(self, tags: Sequence[str]) -> None:
        """See `Adapter.release`."""
        ids = self._names.whole_ids(tags)
        if ids and self.holds:
            self._checked(await self._exchanges.run(lambda _: self._system.release(ids)))

    async def cancel(self, tags: Sequence[str]) -> None:
        """See `Adapter.cancel`; the starter is told too, should the batch system have forgotten it."""
        ids = [id for tag in tags if (id := self._names.id(tag))]
        command = self._system.cancel(ids) if ids else "true"
        stdin = "".join(f"{tag}\n" for tag in tags if is_tag(tag)).encode()
        self._checked(await self._exchanges.run(lambda _: f"{CANCEL}{command}", stdin))

    async def poll(self, tags: Sequence[str], *, renew: bool = True, listing: bool = True) -> PollResult:
        """See `Adapter.poll`; a second exchange follows only for attempts that have gone without news.

        The queue of a host is its own: to look into it is to keep it going.
        """
        listing = listing or self.kind == Host.kind
        look = await self._look_at((), renew=renew, listing=listing)
        polled = await self._seen(look, tags) if listing else await self._news_alone(look)
        self._read = look.news  # not before they are handed on
        return polled

    async def _news_alone(self, result: ExchangeResult) -> PollResult:
        unproved = without_outputs(result)
        more = await self._look_at(unproved, renew=False) if unproved else None
        return PollResult(by_markers(joined(result, more)), listed=False)

    async def _seen(self, look: ExchangeResult, tags: Sequence[str]) -> PollResult:
        if look.listing is None:
            return PollResult(
                by_markers(look), silent=f"{self._system.title} does not answer: {look.trouble}"
            )
        try:
            listed = await self.outside.listed(look.listing)
        except ValueError as error:
            return PollResult(by_markers(look), silent=str(error))
        listed = self._names.mine(listed)
        if unknown := self._names.unknown_groups(listed):
            self._names.learn_lists(await group_lists(self._exchanges, unknown))
        seen = self._names.sightings(listed)
        unproved = without_outputs(look)
        strange = [tag for tag in tags if tag not in self._met and is_tag(tag)]
        gone = [tag for tag in tags if tag not in seen and tag not in look.markers and is_tag(tag)]
        asked = list(dict.fromkeys((*strange, *gone)))
        more = await self._look_at((*asked, *unproved), renew=False) if asked or unproved else None
        self._met.update(strange)
        for tag, marks in joined(look, more).markers.items():
            seen[tag] = with_markers(
                seen.get(tag, Sighting(AttemptStatus.UNKNOWN, self._names.id(tag))), marks
            )
        # A directory alone is no sign of life: what was staged there may have been ended since.
        return PollResult(seen, missing=frozenset(asked) - seen.keys())

    async def end_records(self, tags: Sequence[str]) -> Mapping[str, EndRecord]:
        """See `Adapter.end_records`."""
        ids = {id: tag for tag in tags if (id := self._names.id(tag))}
        command = self._system.end_records(list(ids)) if ids else ""
        if not command:
            return {}
        reply = await self._exchanges.run(lambda _: command)
        found = self._system.read_end_records(reply.out.decode("utf-8", "replace"))
        return {ids[id]: record for id, record in found.items() if id in ids}

    async def files(self, tag: str) -> list[RunFile]:
        """See `Adapter.files`; raises NotFound."""
        return await self._transfers.files(tag)

    async def fetch(self, tag: str, names: Sequence[str], into: Path) -> None:
        """See `Adapter.fetch`; raises NotFound for a file that is continued and not there any more."""
        await self._transfers.fetch(tag, names, into)

    async def carry_lines(self, tag: str, call: LineCall) -> LineAnswer:
        """See `Adapter.carry_lines`."""
        return await self._lines.carry(tag, call)

    async def bring_agent(self, tag: str, order: AgentOrder) -> None:
        """See `Adapter.bring_agent`."""
        await self._lines.bring_agent(tag, order, self._cache, self._home)

    async def remove(self, tags: Sequence[str]) -> None:
        """See `Adapter.remove`."""
        safe = [tag for tag in tags if is_tag(tag)]
        if safe:
            await self._transfers.remove(safe)
            self._names.forget(safe)
            self._met.difference_update(safe)

    async def leftovers(self, after: str, age: float) -> Sequence[Leftover]:
        """See `Adapter.leftovers`."""
        return await leftovers(self._exchanges, self._spec.name, after, age, self._settings)

    @property
    def traces(self) -> str:
        """See `Adapter.traces`."""
        return f"the directory {self._home.shown}, and jobs whose names begin with “{self._mark}.”"

    async def leave(self, ended: Collection[str]) -> list[str]:
        """See `Adapter.leave`."""
        beat = self._settings.beat
        alive = await take_away(self._exchanges, self._spec.name, self.kind, ended, beat)
        self._home.forget()
        return alive

    async def look(self) -> tuple[Facts, ...]:
        """See `Adapter.look`. Raises SourceFailed.

        Raises SiteUnfit where files cannot be written there: a site that only lists its queues is of no use.
        """
        await self._survey.login_host()
        reply = await self._exchanges.run(lambda _: WRITES + self._system.queues())
        if reply.status == UNWRITABLE:
            self._home.forget()
            await self._home.get()
            raise SourceFailed(
                "The site was busy with its directory; it is asked again.", place=self._spec.name
            )
        try:
            if reply.status:
                raise ValueError(f"{self._system.title} does not answer: {words_of(reply.err)}.")
            queues = self._system.described(reply.out.decode("utf-8", "replace"))
        except ValueError as error:
            raise SourceFailed(str(error), place=self._spec.name) from error
        self._queues = {one.name: one for one in queues}
        await self._survey.all_nodes()
        return self._survey.facts(self._spec, queues)

    async def forecast(self, launch: Launch) -> float | None:
        """See `Adapter.forecast`."""
        return await self._survey.forecast(launch, self._spec.options)

    def renew(self) -> None:
        """See `Adapter.renew`."""
        self._survey.renew()

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        """See `Adapter.way_back`; only a host that runs jobs itself has no other nodes."""
        return await self._transport.way_back(relay, ports, wide=self.kind != "shell")

    async def _look_at(self, tags: Sequence[str], *, renew: bool, listing: bool = False) -> ExchangeResult:
        exchange = f"p{secrets.token_hex(6)}"
        renew = renew and bool(self._spec.lease) and not self._unsure
        status = self.outside.status() if listing else ""
        script = poll_script(exchange, status, renew=renew)

        def sent(_: Workspace) -> str:
            if renew:
                # While it is not known whether one arrived none is sent: the count has to end some time.
                self.renewed, self._unsure = time.monotonic() + self._renewing, True
            return script

        within = self._renewing if renew else DEADLINE
        reply = await self._exchanges.run(sent, questions(self._read, tags), within)
        if renew and self.renewed is not None:
            # The file was written before the answer came.
            self.renewed = min(self.renewed, time.monotonic())
        self._unsure = False
        try:
            return read_look(reply.out, exchange, words_of(reply.err))
        except ValueError as error:
            raise LinkLost(f"The site's answer makes no sense: {error}", place=self._spec.name) from error

    async def _hand_over(self, launches: Sequence[Launch]) -> tuple[SubmissionReply, list[ArrayGroup]]:
        exchange = secrets.token_hex(6)
        home = await self._home.get()
        if not self._queues and len(launches) > 1 and self._system.task_variable:
            # How long an array may be there has to be known before the first one, e.g. after a restart.
            with contextlib.suppress(SourceFailed):
                await self.look()
        place = self._place(home)
        groups = groups_of(launches, exchange, place, self._system)
        self._names.learn_lists({group.name: group.tags for group in groups})
        stream = await asyncio.to_thread(packed, groups, exchange, place, self._system)
        with stream:
            script = home.guarded(_SUBMITTING) + submit_script(exchange, self._system.status(self._mark))
            reply = await self._transport.send(script, pieces(stream), deadline=_SUBMITTING)
        if reply.status in (AWAY, STALE):
            self._home.forget()
            return SubmissionReply(), groups
        if reply.status == NO_CONTENT:
            self._cache.forget()  # somebody cleared there: it is sent again
            return SubmissionReply(), groups
        if reply.status and reply.status != NO_ROOM:
            raise LinkLost(f"The submission was cut off with status {reply.status}.", place=self._spec.name)
        if reply.status:
            raise SiteRefused(
                f"The site cannot keep the job: {words_of(reply.err)}.",
                place=home.path,
                remedy="Free some space there, or name another directory in the settings of the site.",
            )
        answer = read_answer(reply.out)
        if answer.orphans:
            listed = self._system.listed(answer.listing or "")
            await finish_cut_off(answer, listed, self._names, self._exchanges, _SUBMITTING)
        return answer, groups

    async def _understood(
        self, answer: SubmissionReply, groups: Sequence[ArrayGroup]
    ) -> dict[str, str | SiteRefused]:
        members = {group.name: group.tags for group in groups}
        old = {group for group, _ in answer.there.values()} - set(members)
        if unknown := [group for group in old if self._names.is_unknown(group)]:
            self._names.learn_lists(await group_lists(self._exchanges, unknown))
        began = begun(answer, members)
        self._met.update(tag for tags in began.values() for tag in tags)
        return results(answer, members, began, self._names, self._system, self._spec.name)

    def _place(self, home: Workspace) -> BundleContext:
        return BundleContext(
            home=home,
            starter=self._home.program(home, "job_starter"),
            runner=self._home.program(home, "batch_runner"),
            **{name: self._home.program(home, name) for name in _SHIPPED},
            mark=self._mark,
            options=tuple(self._spec.options),
            environment=self._spec.environment,
            beat=self._settings.beat,
            lease=self._spec.lease,
            kind=self.kind,
            results_max=self._settings.results.results_max,
            stamp=lambda one: self._cache.stamp(program_content(one)),
            queues=self._queues,
        )

    def _checked(self, reply: Reply) -> None:
        if reply.status:
            raise SiteFailed(
                f"{self._system.title} does not do as it is told: {words_of(reply.err)}.",
                place=self._spec.name,
            )
