"""The judge of what a broker left at its sites: the batch system's own record, folders and processes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from broker_core.sites.left_files import read_written
from broker_core.wire.sites import SiteSpec
from tests.running import processes_of
from tests.testbed.slurm import Completed


class Record(Protocol):
    """What a batch system itself knows of its jobs."""

    def present(self) -> dict[str, str]:
        """Id of each job that is not over to its name."""
        ...

    def completed(self) -> list[Completed]:
        """All jobs that are over, oldest first."""
        ...


def _bears(name: str, mark: str) -> bool:
    """True for the name of a batch job of a broker; what its user calls it may stand before the mark."""
    return name.startswith(f"{mark}.") or name.partition(".")[2].startswith(f"{mark}.")


@dataclass(frozen=True)
class Bed:
    """A site of a test, and what is behind it."""

    spec: SiteSpec
    cluster: Record | None = None
    """None: a host without a batch system, whose queue is below HOME of its environment."""

    def completed(self) -> int:
        """Jobs that the batch system ever ended."""
        return len(self.cluster.completed()) if self.cluster else 0

    def started(self, mark: str, since: int) -> int:
        """Jobs of a broker that the batch system gave a node, beyond the first `since` of its record."""
        return len(self._started(mark, since))

    def present(self, mark: str) -> list[str]:
        """Jobs of a broker that are in the batch system."""
        if self.cluster is not None:
            return [name for name in self.cluster.present().values() if _bears(name, mark)]
        queue = Path(self.spec.environment["HOME"]) / ".crossdesk" / "queue"
        return [str(path) for path in queue.glob(f"*/*/*:{mark}.*")]

    def twice(self, mark: str, since: int) -> list[str]:
        """Attempts that the batch system gave a node more than once."""
        counted = Counter(self._started(mark, since))
        return [key for key, count in counted.items() if count > 1]

    def age(self, mark: str) -> None:
        """Let everything of a broker at the site be from the day before yesterday."""
        then = time.time() - 2 * 86_400
        for path in (Path(self.spec.directory) / mark).glob("*/*"):
            with suppress(FileNotFoundError):  # it was no longer wanted
                os.utime(path, (then, then))

    def _started(self, mark: str, since: int) -> list[str]:
        if self.cluster is None:
            return []
        ended = self.cluster.completed()[since:]
        mine = [job for job in ended if job.started and _bears(job.name, mark)]
        return [f"{job.name}_{job.id.partition('_')[2]}" for job in mine]


def folders_at(bed: Bed, mark: str) -> list[str]:
    """What lies of attempts in a broker's directory at a site."""
    home = Path(bed.spec.directory) / mark
    parts = ("attempts", "groups", "news")
    return [f"{bed.spec.name}: {part}/{path.name}" for part in parts for path in (home / part).glob("*")]


def kept_by(folder: Path) -> set[str]:
    """Attempts of which a broker, by its own record in the site's `folder` here, leaves files at the site."""
    left = ((path.name, read_written(path.read_bytes())) for path in (folder / "left").glob("[!.]*"))
    return {tag for tag, one in left if one is not None and not one.is_empty}


def faults_at(bed: Bed, mark: str, since: int, kept: Collection[str] = ()) -> list[str]:
    """What is wrong at a site where no job of the broker is live any more; `kept`: see `kept_by`."""
    home = Path(bed.spec.directory) / mark
    faults = [f"{name} is still in the batch system" for name in bed.present(mark)]
    faults += [f"{key} was started twice" for key in bed.twice(mark, since)]
    there = {path.name for path in (home / "attempts").glob("*")}
    faults += [f"attempts/{tag} stays" for tag in there - set(kept)]
    faults += [f"attempts/{tag} is kept by the broker's word, and gone" for tag in set(kept) - there]
    arrays = {path.parent.name for path in (home / "groups").glob("*/list") if _names_one(path, kept)}
    accounted = arrays | {f"{tag}.{letter}" for tag in kept for letter in "soe"}
    for part in ("groups", "news", "incoming", "locks"):
        names = {path.name for path in (home / part).glob("*")}
        faults += [f"{part}/{name} stays" for name in names - accounted]
    faults += [f"process {pid} lives" for pid in processes_of(home / "attempts")]
    return [f"{bed.spec.name}: {fault}" for fault in faults]


def _names_one(group: Path, kept: Collection[str]) -> bool:
    """True if an array has one of the attempts that are kept, and so stays with it."""
    with suppress(FileNotFoundError):
        return not set(kept).isdisjoint(group.read_text().split())
    return False
