"""Jobs outside CrossDesk at LSF. Tested against simulated commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from broker_core.sites.batch.commands import count_in, task_of
from broker_core.sites.batch.lsf_lists import FIELDS, read_jobs
from broker_core.sites.batch.outside.reader import (
    ZONE,
    OutsideFacts,
    WithoutAccounting,
    moment,
    outside_job,
    with_zone,
)
from broker_core.sites.batch.system import BatchSystem
from broker_core.wire.outside import OutsideJob

_MORE = "queue slots submit_time start_time pend_reason "
_TIME = "%b %d %H:%M"
_FACT = re.compile(r"\b(Job Name|Project|Status|Queue|Command|CWD|Output File|Error File) <([^>]*)>")


class LsfOutside(WithoutAccounting):
    """See `OutsideReader`."""

    def status(self, system: BatchSystem, mark: str) -> str:
        """bjobs for all jobs of the account, with more fields."""
        every = system.status(mark).replace(shlex.join(["-J", f"*{mark}.*"]) + " ", "")
        return f"{ZONE} && {every.replace(FIELDS, _MORE + FIELDS)}"

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """Lines of five more fields and what `read_jobs` takes, and a dot."""
        zone, rest = with_zone(out)
        lines = [line.split("|", 5) for line in rest.splitlines() if line != "."]
        end = ".\n" if rest.endswith(".\n") else ""
        narrow = "".join(f"{parts[-1]}\n" for parts in lines) + end
        return narrow, list(_jobs(lines, zone))

    def details(self, id: str) -> str:
        """bjobs, each value whole in its line."""
        job, task = task_of(id)
        return shlex.join(["bjobs", "-UF", f"{job}[{task}]" if task else job])

    def described(self, out: str) -> OutsideFacts:
        """Names with values in angle brackets."""
        values: dict[str, str] = dict(reversed(_FACT.findall(out)))
        paths = [values.get(name, "") for name in ("Output File", "Error File")]
        return OutsideFacts(
            list(values.items())[::-1], *(path if path.startswith("/") else "" for path in paths)
        )


def _jobs(lines: list[list[str]], zone: str) -> Iterator[OutsideJob]:
    for parts in lines:
        if len(parts) != 6:
            raise ValueError(f"not a line of bjobs: {'|'.join(parts)[:200]!r}")
        queue, slots, submitted, started, reason, own = parts
        for listed in read_jobs(f"{own}\n.\n"):
            yield outside_job(
                listed,
                own.split("|")[2].strip(),
                reason=listed.reason or reason.strip().removeprefix("-"),
                queue=queue.strip(),
                cpus=count_in(slots.strip()) or 1,
                submitted=_time(submitted, zone),
                started=_time(started, zone),
            )


def _time(text: str, zone: str) -> float | None:
    """Old versions add an `L` to what they believe."""
    return moment(" ".join(text.split()[:3]), _TIME, zone)
