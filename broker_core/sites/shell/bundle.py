"""What goes to a site with a submission: one tar stream with orders, input files and submission commands."""

from __future__ import annotations

import asyncio
import io
import math
import shlex
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.adapter import Launch
from broker_core.sites.batch.names import title_of
from broker_core.sites.batch.system import BatchJob, BatchSystem, Queue
from broker_core.sites.contract import LaunchOrder, SiteRefused
from broker_core.sites.glideins import PAYLOAD_LEASE
from broker_core.sites.left_files import MOST_NAMES
from broker_core.sites.shell.content_cache import is_cached
from broker_core.sites.shell.glideins import box_words, claim_line, lease_file
from broker_core.sites.shell.workspace import Workspace
from broker_core.sites.staging import StagingFailed, check_input
from broker_core.sites.starting import StarterSettings, starter_variables
from broker_core.worker.script import mpi_start_path

_IN_MEMORY = 4 << 20
_MARGIN = 300.0
"""Seconds that the batch system gives a job beyond its wall limit, for staging and clearing up."""
_RESERVE = 20.0
"""Of a queue's whole limit, what the starter has at least for the same."""

_PART = 1 << 18


@dataclass(frozen=True, slots=True)
class ArrayGroup:
    """Attempts that are handed over by one command: one, or an array of several."""

    name: str
    launches: tuple[Launch, ...]

    @property
    def tags(self) -> list[str]:
        """The attempts, in the order of the array's tasks."""
        return [launch.order.attempt.tag for launch in self.launches]


@dataclass(frozen=True, slots=True)
class BundleContext:
    """What all orders for one site have in common."""

    home: Workspace
    starter: str
    runner: str
    mark: str
    options: tuple[str, ...]
    environment: Mapping[str, str]
    beat: int
    lease: float
    kind: str = ""
    """Of the batch system."""
    software: str = ""
    use: str = ""
    mpi_start: str = ""
    publish: str = ""
    box: str = ""
    boxing: str = ""
    """Paths there of `software.sh`, `use.sh`, the folders of `mpi_start.sh` and of what programs publish
    with, `box.sh` and its archive."""
    results_max: int = 0
    """Bytes that come home of a job that names no outputs; 0: no limit."""
    stamp: Callable[[CachedProgram], str] = lambda _: ""
    """See `StarterSettings.stamp`."""
    queues: Mapping[str, Queue] = field(default_factory=dict)
    """By name, as they were described last."""

    def limit(self, launch: Launch) -> float | None:
        """What the batch system is asked for: the job's limit with a margin, not more than the queue has."""
        wanted = launch.order.wall_limit
        if wanted is None:
            return None
        queue = self.queues.get(launch.queue)
        most = queue.wall_limit if queue is not None else None
        return max(wanted, min(wanted + _MARGIN, math.inf if most is None else most))

    def program_limit(self, launch: Launch) -> float | None:
        """What the program gets: it has to end before the batch system ends its starter."""
        wanted, most = launch.order.wall_limit, self.limit(launch)
        return wanted if wanted is None or most is None else max(wanted / 2, min(wanted, most - _RESERVE))

    def most_tasks(self, queue: str) -> int | None:
        """Of one array there."""
        known = self.queues.get(queue)
        return None if known is None else known.most_tasks

    def batch_job(self, group: str, launches: Sequence[Launch]) -> BatchJob:
        """What the batch system is told of a group; without its name, what is alike in all of it."""
        first = launches[0]
        limits = [limit for launch in launches if (limit := self.limit(launch)) is not None]
        return BatchJob(
            name=f"{self.mark}.{group}",
            script=f"{self.home.path}/groups/{group}/run",
            cpus=first.order.cpus,
            queue=first.queue,
            wall_limit=max(limits, default=None),
            count=len(launches),
            options=self.options,
            request=first.order.carried(self.kind),
            title=title_of((launch.order.name for launch in launches), self.mark) if group else "",
        )


def groups_of(
    launches: Sequence[Launch], exchange: str, place: BundleContext, system: BatchSystem
) -> list[ArrayGroup]:
    """Launches of which the batch system is told in the same words together, as far as its arrays reach."""
    alike: dict[str, list[Launch]] = {}
    for launch in launches:
        if launch.order.slot is not None:
            continue
        # Wall limits that differ by less than what the batch system counts in are equal to it.
        words = system.submit(place.batch_job("", [launch])) if system.task_variable else ""
        alike.setdefault(words, []).append(launch)
    parts: list[Sequence[Launch]] = [[launch] for launch in launches if launch.order.slot is not None]
    for some in alike.values():
        most = place.most_tasks(some[0].queue) or len(some) if system.task_variable else 1
        parts += [some[start : start + most] for start in range(0, len(some), most)]
    return [
        ArrayGroup(part[0].order.attempt.tag if len(part) == 1 else f"a{exchange}{number}", tuple(part))
        for number, part in enumerate(parts)
    ]


def unpackable(launches: Sequence[Launch], place: BundleContext) -> dict[str, SiteRefused]:
    """Those of which no parcel can be made, by tag: others of the same exchange are handed over."""
    found: dict[str, SiteRefused] = {}
    for launch in launches:
        attempt = launch.order.attempt
        try:
            launch.order.carried(place.kind)
            order_text(launch.order, place)
            for file in launch.order.inputs:
                check_input(file)
        except SiteRefused as refused:
            found[attempt.tag] = refused
        except (StagingFailed, ValueError) as error:
            found[attempt.tag] = SiteRefused(str(error), place=attempt.job)
    return found


def packed(
    groups: Sequence[ArrayGroup], exchange: str, place: BundleContext, system: BatchSystem
) -> IO[bytes]:
    """The stream, at its beginning; raises OSError for an input file that cannot be read."""
    stream = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "names", "".join(f"{group.name}\n" for group in groups))
        _add(
            archive,
            "held",
            "".join(_held_line(launch.order) for group in groups for launch in group.launches),
        )
        for group in groups:
            _add_group(archive, group, place, system)
            for launch in group.launches:
                order = replace(launch.order, wall_limit=place.program_limit(launch))
                _add_attempt(archive, order, f"{exchange} {group.name}\n", place)
    stream.seek(0)
    return stream


def _add_group(
    archive: tarfile.TarFile, group: ArrayGroup, place: BundleContext, system: BatchSystem
) -> None:
    _add(archive, f"groups/{group.name}/list", "".join(f"{tag}\n" for tag in group.tags))
    if (slot := group.launches[0].order.slot) is not None:
        _add(archive, f"groups/{group.name}/claim", f"{claim_line(slot, group.tags[0])}\n")
        return
    job = place.batch_job(group.name, group.launches)
    index = (
        f"$((${{{system.task_variable}:-{system.first_task}}} - {system.first_task}))"
        if job.count > 1
        else "0"
    )
    run = f"#!/bin/sh\nexec /bin/sh {shlex.join([place.runner, place.home.path, group.name])} {index}\n"
    _add(archive, f"groups/{group.name}/run", run, 0o700)
    _add(archive, f"groups/{group.name}/submit", f"{system.submit(job)}\n")


def _add_attempt(archive: tarfile.TarFile, order: LaunchOrder, group: str, place: BundleContext) -> None:
    tag = order.attempt.tag
    _add(archive, f"attempts/{tag}/exchange", group)
    _add(archive, f"attempts/{tag}/order", order_text(order, place))
    folder = tarfile.TarInfo(f"attempts/{tag}/job")
    folder.type, folder.mode = tarfile.DIRTYPE, 0o700
    archive.addfile(folder)
    for file in order.inputs:
        if is_cached(file):
            continue
        with open(file.path, "rb") as content:
            entry = archive.gettarinfo(arcname=f"attempts/{tag}/job/{file.name}", fileobj=content)
            entry.type, entry.linkname = tarfile.REGTYPE, ""
            entry.mode = 0o700 if file.executable else 0o600
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.size = Path(file.path).stat().st_size
            archive.addfile(entry, content)


def _held_line(order: LaunchOrder) -> str:
    """What `hold` in hand_over.sh reads of an attempt; empty where it needs nothing that the site keeps."""
    sums = sorted({file.sha256 for file in order.inputs if is_cached(file)})
    return f"{' '.join((order.attempt.tag, *sums))}\n" if sums else ""


def order_text(order: LaunchOrder, place: BundleContext) -> str:
    """Shell text that sets the starter's variables and becomes the starter (CB-JS-03)."""
    folder, slot = f"{place.home.path}/attempts/{order.attempt.tag}", order.slot
    # Standard output and error are brought back like the files that the description names.
    outputs = tuple(dict.fromkeys((*order.outputs, order.stdout, order.stderr)))
    environment = (*place.environment.items(), *order.environment)
    known = replace(order, outputs=outputs, environment=environment)
    environments = f"{place.home.path}/environments"
    builds = environments if any(one.startswith("python=") for one in order.software) else ""
    at = StarterSettings(
        folder,
        lambda one: f"{place.home.path}/programs/{one.cached_name}",
        news=f"{place.home.path}/news",
        beat=place.beat,
        lease=math.ceil(place.lease) if slot is None else PAYLOAD_LEASE,
        lease_file=f"{place.home.path}/lease" if slot is None else lease_file(place.home, slot),
        most_output=place.results_max,
        stay=MOST_NAMES,
        software_path=place.software,
        mpi_path=f"{place.mpi_start}/{mpi_start_path().name}",
        mpi_folders=lambda kind: (f"{place.home.path}/mpi/{kind}",),
        use_path=place.use,
        publish_path=place.publish,
        environments=environments,
        box=box_words(place.home, slot, (place.box, place.boxing), builds) if slot is not None else (),
        stamp=place.stamp,
        held=lambda one: f"file://{folder}/held/{one.sha256}" if is_cached(one) else "",
    )
    given = starter_variables(known, at)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in given.items()]
    return "\n".join([*lines, f"exec /bin/sh {shlex.quote(place.starter)}", ""])


def _add(archive: tarfile.TarFile, name: str, text: str, mode: int = 0o600) -> None:
    raw = text.encode("utf-8", "surrogateescape")
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(raw), mode
    archive.addfile(entry, io.BytesIO(raw))


async def pieces(stream: IO[bytes]) -> AsyncIterator[bytes]:
    """A bundle in parts, read in a thread."""
    while piece := await asyncio.to_thread(stream.read, _PART):
        yield piece
