"""What is asked of a batch system for jobs of the account that are not the broker's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import BatchSystem, Listed
from broker_core.sites.outside import OutsideEnd
from broker_core.wire.outside import OutsideJob

STATES = {
    AttemptStatus.HELD: "Waiting",
    AttemptStatus.QUEUED: "Waiting",
    AttemptStatus.RUNNING: "Running",
}
ZONE = "date +%z"
"""Command ahead of a list whose times are those of the site's clock, without a zone."""


@dataclass(frozen=True, slots=True)
class OutsideFacts:
    """All about one job."""

    facts: Sequence[tuple[str, str]] = ()
    stdout: str = ""
    """Absolute path at the site; empty: not told."""
    stderr: str = ""


class OutsideReader(Protocol):
    """One batch system. Texts are POSIX shell commands; ids in them are quoted by the reader."""

    def status(self, system: BatchSystem, mark: str) -> str:
        """Command that lists all jobs of the account, once, in place of `BatchSystem.status`."""
        ...

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """What `BatchSystem.listed` takes, and all jobs of the account; raises ValueError."""
        ...

    def details(self, id: str) -> str:
        """Command that tells all about one job, on request."""
        ...

    def described(self, out: str) -> OutsideFacts:
        """What `details` printed."""
        ...

    def ends(self, ids: Sequence[str]) -> str:
        """Command that tells how jobs ended which are not listed any more; empty: there is none."""
        ...

    def ended(self, out: str) -> dict[str, OutsideEnd]:
        """Id to its end, of what `ends` printed; those of which it knows nothing are left out."""
        ...


class WithoutAccounting:
    """Half of a reader whose batch system is not asked for ends."""

    def ends(self, ids: Sequence[str]) -> str:
        """See `OutsideReader.ends`."""
        return ""

    def ended(self, out: str) -> dict[str, OutsideEnd]:
        """Nothing is known."""
        return {}


def outside_job(listed: Listed, word: str, **known: object) -> OutsideJob:
    """A job of the list, with its state in the batch system's word and what else is known of it."""
    state = STATES.get(listed.seen, "Aborted")
    fields = {"id": listed.id, "name": listed.name, "node": listed.node, "reason": listed.reason}
    return OutsideJob.model_validate(fields | {"state": state, "word": word} | known)


def moment(text: str, form: str, zone: str) -> float | None:
    """Seconds since the epoch of a time as `form` has it, at a clock of `zone` (`+0100`); None: no time.

    A time without a year is of the last twelve months.
    """
    try:
        if "%Y" in form:
            return datetime.strptime(f"{text} {zone}", f"{form} %z").timestamp()
        now = datetime.now().astimezone()
        found = datetime.strptime(f"{now.year} {text} {zone}", f"%Y {form} %z")
        return (found if found <= now else found.replace(year=now.year - 1)).timestamp()
    except ValueError:
        return None


def with_zone(out: str) -> tuple[str, str]:
    """Zone and list of what was printed behind ZONE; raises ValueError."""
    zone, _, rest = out.partition("\n")
    if len(zone) != 5 or zone[0] not in "+-" or not zone[1:].isdigit():
        raise ValueError(f"The site told no time zone ahead of its list: {out[:80]!r}")
    return zone, rest
