"""What the engine asks of a site, and what a site reports back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from broker_core.errors import CrossDeskError
from broker_core.jdl.resource_request import NOTHING, ResourceRequest
from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.placement import NOWHERE, Component, ComputingElement
from broker_core.launching.cached_program import CachedProgram
from broker_core.resources.facts import Facts
from broker_core.sites.glideins import SlotClaim
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.link import Link
from broker_core.sites.outside import OutsideAccess
from broker_core.sites.transport.way_back import RelayPlace, WayBack
from broker_core.wire.sites import SITE_KINDS

Report = Callable[[AttemptReport], None]
"""Takes what a site says of its attempts, in the order in which it happened there."""
PURGED = -1
"""Stands for the number of the current attempt of a job that was purged."""
CurrentAttempts = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]
"""For some jobs the numbers of their current attempts, or PURGED; jobs that are not known are left out."""


class SiteRefused(CrossDeskError):
    """The site did not take the component; the next choice may be tried."""

    code = "site_refused"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to be put into the job's directory before it starts."""

    name: str
    path: Path
    """Where the content is, on the broker's machine."""
    executable: bool
    sha256: str = ""
    """Of the content, where it is known: sites keep it by that."""


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """An input file that the Job Starter fetches where the job runs (CB-JS-03)."""

    name: str
    url: str
    """http or https; may hold a password or a token."""
    executable: bool


@dataclass(frozen=True, slots=True)
class StartPace:
    """Looks for a start are taken more often at first."""

    seconds: float
    """Between two."""
    lasts: float
    """Seconds, from the moment when the site has it."""


_INTERACTIVE, _GLIDEIN = StartPace(0.05, 5.0), StartPace(0.15, 2.0)
"""A glidein is asked for also where a machine may be free later."""


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """All that a site needs to run one component; what the Job Starter gets as variables (CB-JS-03)."""

    attempt: Component
    cpus: int
    executable: str
    arguments: str
    """One string, split as POSIX words by the starter with nothing expanded."""
    environment: tuple[tuple[str, str], ...]
    stdin: str
    stdout: str
    stderr: str
    """Names relative to the job's directory; empty where the description names none."""
    inputs: tuple[InputFile, ...]
    outputs: tuple[str, ...]
    """Names and wildcards to bring back."""
    wall_limit: float | None = None
    """Seconds; None: no limit."""
    file_limit: int = 0
    """Bytes that one file of the job may grow to; 0: the site's default."""
    interactive: bool = False
    agent: str = ""
    """Program that starts the user's program of an interactive job; empty: none."""
    agent_arguments: tuple[str, ...] = ()
    agents: tuple[CachedProgram, ...] = ()
    """The broker's own agents, best first: the starter takes the first that the node runs."""
    fetched: tuple[FetchedFile, ...] = ()
    """Input files that do not come from the broker."""
    software: tuple[str, ...] = ()
    """What `worker/scripts/software.sh` has to provide before the program starts; empty: nothing."""
    mpi: str = ""
    """Kind of MPI whose processes `worker/scripts/mpi_start.sh` starts, one for each CPU; empty: the program
    is started once, as it is."""
    owner: str = ""
    ce: ComputingElement = NOWHERE
    """Computing element that was chosen."""
    name: str = ""
    """What the user calls the job."""
    request: ResourceRequest = NOTHING
    """Nodes, memory, GPUs, accounts and the like."""
    slot: SlotClaim | None = None
    """Where it runs at the site; None: where its batch system says."""

    glidein: bool = False
    """It is to run payloads, which wait for it."""

    @property
    def pace(self) -> StartPace | None:
        """How its start is looked for, as somebody waits for that; None: nobody does."""
        return _INTERACTIVE if self.interactive else _GLIDEIN if self.glidein else None

    @property
    def input_names(self) -> list[str]:
        """Of all input files, in the job's directory."""
        return [*(file.name for file in self.inputs), *(file.name for file in self.fetched)]

    def carried(self, kind: str) -> ResourceRequest:
        """The request as a batch system of this kind can carry it.

        Raises SiteRefused where it cannot carry all, and the description does not say to ignore that.
        """
        missing = self.request.unsupported(kind)
        if missing and not self.request.ignore_unsupported:
            title = SITE_KINDS.get(kind, SITE_KINDS["local"])
            raise SiteRefused(
                f"{title} cannot give what {' and '.join(missing)} ask for.",
                place=self.attempt.job,
                remedy="Leave it out, or write IgnoreUnsupported = true.",
            )
        return self.request.carried_by(kind)


@dataclass(frozen=True, slots=True)
class AgentOrder:
    """An agent for a batch job that runs: through it desks reach the job, beside its program."""

    program: CachedProgram | None
    """The agent for other sites; None: this machine has its own."""
    settings: str
    """Value of the variable that an agent reads; it holds a secret."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file of an attempt that can be read, live or after its end."""

    path: str
    """Relative, POSIX separators."""
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class KnownAttempt:
    """An attempt that the broker believes to be at a site when it begins work there."""

    component: Component
    resubmitted: bool = False
    """It may never have arrived: `submit` follows, for the broker alone hands attempts over."""


class Site(Protocol):
    """One site with its computing elements. What happens later than a call's answer comes as notices."""

    name: str
    """The `site` of its computing elements, of those that are gone too."""
    link: Link
    holds: bool
    """An attempt that `submit` handed over starts only after `confirm`."""

    async def look(self) -> tuple[Facts, ...]:
        """The site as the Resource Cache should know it now, one for each queue; raises SourceFailed."""
        ...

    async def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
        """Begin work. `known`: the attempts which the broker believes to be at this site.

        Each is found again (running on, ended meanwhile, queued, or never arrived) and reported:
        an `AttemptStarted` where it has started, an `AttemptEnded` where it is over. That one is not there
        is no end of what is still to be submitted. Attempts found there that are not known are ended.
        """
        ...

    async def submit(self, order: LaunchOrder) -> str:
        """Hand one component over; returns the site's own id once the site has it for good.

        Raises SiteRefused. Called again with the same attempt it returns the same id and starts nothing.
        """
        ...

    async def confirm(self, attempt: Component) -> None:
        """The id that `submit` returned is durable at the broker: the attempt may start.

        Called again after a restart for what was not known to have started; repeated it does nothing.
        """
        ...

    async def cancel(self, attempt: Component) -> None:
        """End an attempt with all its processes; an `AttemptEnded` follows when they are gone."""
        ...

    async def files(self, attempt: Component) -> list[RunFile]:
        """Files of an attempt that can be read now."""
        ...

    async def open_path(self, attempt: Component, path: str) -> Path:
        """Where one of `files` lies on this machine, brought here if need be, as long as it is now.

        Raises NotFound, also for a path that escapes, and LinkLost.
        """
        ...

    async def left(self, attempt: Component) -> LeftAtSite:
        """What an ended attempt made that did not come home."""
        ...

    async def all_left(self) -> Mapping[Component, LeftAtSite]:
        """The same of all ended attempts of which something is left that goes by itself."""
        ...

    async def fetch_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """Bring such files, by their shown names, so that `files` has them; no names: all that are listed.

        Returns what is left. Raises NotFound and LinkLost.
        """
        ...

    async def forget_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """Let such files go; no names: all, those that are not listed too. Returns what is left."""
        ...

    async def carry_lines(self, attempt: Component, call: LineCall) -> LineAnswer:
        """One exchange of lines with an interactive job's plain agent; may be repeated.

        Raises NotFound where there is none, or the site cannot carry them, and LinkLost.
        """
        ...

    async def bring_agent(self, attempt: Component, order: AgentOrder) -> None:
        """Have an agent started beside a running program, soon; it ends with the job.

        Asked again while one runs it may start another in its place. Raises NotFound where the job does not
        run or nothing can be brought to it, SiteRefused where the agent cannot be kept, and LinkLost.
        """
        ...

    async def forget(self, attempts: Sequence[Component]) -> None:
        """Remove the attempts' files (purge)."""
        ...

    async def sweep(self, current: CurrentAttempts) -> bool:
        """Go through some more of what lies there, and remove what is left of attempts that are over.

        Nothing is touched that is under way or gives signs of life, whose output is not here, or that changed
        lately. Returns False at the end, after which it begins anew.
        """
        ...

    def kept(self) -> list[Component]:
        """Attempts that have files on this machine; reads a directory."""
        ...

    async def close(self) -> None:
        """Stop reporting; what runs goes on."""
        ...


class RemoteSitePort(Site, Protocol):
    """A site that was added by its settings: something lies between it and the broker."""

    @property
    def outside(self) -> OutsideAccess | None:
        """Jobs of the account that are not the broker's; None: they are not to be seen there."""
        ...

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        """How agents there reach a relay that this machine reaches; made or found again, as need be.

        `ports`: at the site, from earlier times, used again where they can be. Raises LinkLost.
        """
        ...

    async def forecast(self, order: LaunchOrder) -> float | None:
        """Seconds until such a job would start, by the batch system's word for it; None: it says nothing.

        Nothing is submitted. Raises SiteFailed where the job would not be taken, and LinkLost.
        """
        ...

    def watch(self, attempts: Sequence[Component], seconds: float) -> None:
        """Somebody looks at these attempts: for so long the batch system is asked sooner after those of them
        that wait there. What the site does not have is ignored."""
        ...

    def renew(self) -> None:
        """Ask with the next `look` for what seldom changes too, such as accounts."""
        ...

    async def leave(self) -> str:
        """Look no more, end what runs there, and take away what this broker has there.

        Returns what may be left, where and why, in words with the remedy; empty: nothing.
        """
        ...

    def answer(self, id: str, value: str) -> None:
        """The user's answer to `link.question`; raises NotFound where another one, or none, is asked."""
        ...

    def connect_now(self) -> None:
        """Try now instead of at `link.retry_at`; what the user declined is asked again."""
        ...

    def hurry(self) -> None:
        """The way there may be open again: a site that only waits for its next try does it now."""
        ...
