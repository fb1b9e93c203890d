"""What a site is asked about jobs that were submitted outside CrossDesk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.wire.outside import OutsideJob, OutsideOutput

OUTPUT_MOST = 65536
"""Bytes of a job's output that are read, from its end."""
_ID = re.compile(r"[0-9]+(_[0-9]+)?", re.ASCII)


def is_outside_id(text: str) -> bool:
    """True for what can be the id of a batch job, or of one task of an array."""
    return len(text) <= 64 and _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class OutsideEnd:
    """How a job ended, by accounting."""

    state: str
    word: str
    exit_code: int | None = None
    ended: float | None = None
    started: float | None = None


class OutsideAccess(Protocol):
    """Jobs of the account that bear no mark of this site. Each call but `jobs` is one exchange.

    All may raise LinkLost, and SiteFailed where the link is well but the site is not.
    """

    wake: Callable[[], None]
    """Called to have the batch system asked at once."""

    @property
    def is_available(self) -> bool:
        """The batch system can be asked for them; else all calls raise NotFound."""
        ...

    async def jobs(self) -> Sequence[OutsideJob]:
        """Those in the next list that the batch system is asked for; has to be awaited with a deadline."""
        ...

    async def facts(self, id: str) -> Sequence[tuple[str, str]]:
        """Names and values by which the batch system describes a job."""
        ...

    async def output(self, id: str, *, error: bool) -> OutsideOutput:
        """The end of its standard output, or of its standard error."""
        ...

    async def cancel(self, id: str) -> None:
        """Have the batch system end it."""
        ...

    async def ends(self, ids: Sequence[str]) -> dict[str, OutsideEnd]:
        """How jobs ended that are not listed any more, as far as there is accounting."""
        ...
