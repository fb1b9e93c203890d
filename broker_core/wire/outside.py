"""Jobs of an account that this broker did not submit, as a site's batch system tells of them."""

from __future__ import annotations

from broker_core.wire.sites import LogLine
from broker_core.wire.submission import Wire


class OutsideJob(Wire):
    """One job, or one task of an array, that was submitted outside CrossDesk. Its texts are of others."""

    site: str = ""
    id: str
    """The batch system's own; an array task carries its number: `123_4`."""
    name: str = ""
    state: str
    """Waiting, Running, Done, Aborted or Canceled as in JobState, else `outside_columns.UNKNOWN`."""
    word: str = ""
    """The state in the batch system's own word."""
    reason: str = ""
    """Why it waits or ended, in the batch system's words."""
    queue: str = ""
    cpus: int = 1
    node: str = ""
    submitted: float | None = None
    """Seconds since the epoch, as all times here."""
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    story: list[LogLine] = []
    """What was seen of it, and what was done to it from here, oldest first."""

    @property
    def key(self) -> str:
        """Id that no other job of any site has; no job of this broker's has a slash."""
        return f"{self.site}/{self.id}"


class OutsideJobs(Wire):
    """All that is known now."""

    jobs: list[OutsideJob]
    polled: dict[str, float] = {}
    """Site to when its batch system was asked last."""
    silent: dict[str, str] = {}
    """Site to why it could not be asked; what was known of its jobs stays."""


class OutsideDetail(Wire):
    """What the batch system tells of one job on request."""

    job: OutsideJob
    facts: list[tuple[str, str]] = []
    """Name and value, in the batch system's words."""
    trouble: str = ""
    """Why it could not be asked; empty: it answered."""


class OutsideOutput(Wire):
    """The end of a file that a job writes."""

    path: str = ""
    """Where it lies at the site; empty: the batch system names none."""
    size: int = 0
    """Bytes of the whole file."""
    text: str = ""
    """Its last bytes, undecodable ones replaced."""
    trouble: str = ""
    """Why it cannot be read; empty: it could."""
