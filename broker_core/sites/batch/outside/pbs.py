"""Jobs outside CrossDesk at PBS and Torque. Tested against simulated commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from broker_core.sites.batch.commands import count_in, task_of
from broker_core.sites.batch.outside.reader import (
    ZONE,
    OutsideFacts,
    WithoutAccounting,
    moment,
    outside_job,
    with_zone,
)
from broker_core.sites.batch.pbs_lists import read_blocks, read_entries
from broker_core.sites.batch.system import BatchSystem
from broker_core.wire.outside import OutsideJob

_TIME = "%a %b %d %H:%M:%S %Y"
_SHOWN = (
    *("job_state", "comment", "Account_Name", "project", "queue", "ctime", "stime", "depend", "exec_host"),
    *("Resource_List.select", "Resource_List.nodes", "Resource_List.walltime", "resources_used.cput"),
    *("resources_used.mem", "resources_used.walltime", "Output_Path", "Error_Path", "Exit_status"),
)


class PbsOutside(WithoutAccounting):
    """See `OutsideReader`."""

    def status(self, system: BatchSystem, mark: str) -> str:
        """The same qstat, which lists all jobs of the account, behind the zone of its times."""
        return f"{ZONE} && {system.status(mark)}"

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """Each task of an array by itself."""
        zone, rest = with_zone(out)
        return rest, list(_jobs(rest.partition("\n")[2], zone))

    def details(self, id: str) -> str:
        """qstat."""
        job, task = task_of(id)
        return shlex.join(["qstat", "-f", f"{job}[{task}]" if task else job])

    def described(self, out: str) -> OutsideFacts:
        """Paths are `host:/path`."""
        blocks = read_blocks(out)
        values = blocks[0].values if blocks else {}
        facts = [(name, values[name]) for name in _SHOWN if values.get(name)]
        paths = [values.get(name, "").partition(":")[2] for name in ("Output_Path", "Error_Path")]
        return OutsideFacts(facts, *(path if path.startswith("/") else "" for path in paths))


def _jobs(text: str, zone: str) -> Iterator[OutsideJob]:
    for values, listed in read_entries(text):
        yield outside_job(
            listed,
            values.get("job_state", ""),
            queue=values.get("queue", ""),
            cpus=_cpus(values),
            submitted=moment(values.get("ctime", ""), _TIME, zone),
            started=moment(values.get("stime", ""), _TIME, zone) if listed.node else None,
        )


def _cpus(values: Mapping[str, str]) -> int:
    if count := count_in(values.get("Resource_List.ncpus", "")):
        return count
    counts = re.findall(r"\*(\d+)", values.get("exec_host", ""))
    return sum(map(int, counts)) or 1
