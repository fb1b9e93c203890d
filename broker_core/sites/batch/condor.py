"""HTCondor, through the commands of an access point (a host with a schedd).

`condor_bindings` is the other way, for an access point that is the broker's machine.

Written from its manual and tested against simulated commands only: its daemons cannot be had as packages.
Its directory has to be on a file system that the execution points share: HTCondor itself sends nothing.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.commands import forgiving, present, task_of
from broker_core.sites.batch.condor_lists import (
    JOBS,
    NAME,
    NODES,
    QUEUE,
    SEPARATOR,
    SLOTS,
    begins,
    literal,
    read_jobs,
    read_nodes,
    read_queues,
)
from broker_core.sites.batch.end_records import ask_condor, read_condor
from broker_core.sites.batch.system import BatchJob, Listed, NodeReport, Queue, WithoutAccounts

_TASK = "CROSSDESK_TASK"
_PLAIN = re.compile(r"[^\x00-\x1f\x7f]*")
_SUBMIT = """( queue={queue}; if [ "$queue" != {default} ]; then
echo "Unknown queue $queue; HTCondor has no queues, but one for all slots: {default}." >&2; exit 1; fi
{command} <<'CROSSDESK_END'
{description}
CROSSDESK_END
)"""
_GONE = (
    r"(Couldn't find/(release|remove) all jobs|not found|not held to be released|already (been )?removed"
    r"|marked for removal|have been (marked|released)|Job [0-9.]+ released|in the queue)"
)


class Condor(WithoutAccounts):
    """See `BatchSystem`. `options` are lines of a submit description, e.g. `accounting_group = physics`."""

    kind = "condor"
    title = "HTCondor"
    holds = True
    task_variable = _TASK
    first_task = 0

    def submit(self, job: BatchJob) -> str:
        """A job that lost its slot is removed rather than started once more.

        Raises ValueError for paths that a submit description cannot hold.
        """
        # Each option is a line of its own, so none may hold a line's end.
        given = (*job.options, *job.request.words(self.kind))
        options = [re.sub(r"[\r\n]+", " ", option) for option in given]
        return _SUBMIT.format(
            queue=shlex.quote(job.queue),
            default=QUEUE,
            command=shlex.join(self._taking(options)),
            description=_description(job),
        )

    def _taking(self, options: Sequence[str]) -> list[str]:
        """Words of the command that takes a description on stdin."""
        appended = [word for option in options for word in ("-append", option)]
        return ["condor_submit", "-terse", *appended, "-"]

    def submitted(self, out: str) -> str:
        """`12.0 - 12.3`: cluster, first and last process."""
        found = re.search(r"^(\d+)\.\d+ - \1\.\d+$", out, re.MULTILINE)
        if found is None:
            raise ValueError(f"condor_submit printed no number of a cluster: {out[:200]!r}")
        return found[1]

    def release(self, ids: Sequence[str]) -> str:
        """condor_release."""
        return forgiving(shlex.join(["condor_release", *map(dotted, ids)]), _GONE)

    def cancel(self, ids: Sequence[str]) -> str:
        """condor_rm."""
        return forgiving(shlex.join(["condor_rm", *map(dotted, ids)]), _GONE)

    def status(self, mark: str) -> str:
        """condor_q, once; its end is marked as it prints nothing where there are no jobs."""
        words = shlex.join(["-constraint", begins(mark), "-autoformat:t", *JOBS])
        return f'condor_q "$(id -un)" {words} && echo .'

    def listed(self, out: str) -> list[Listed]:
        """All processes of all clusters."""
        return read_jobs(out)

    def end_records(self, ids: Sequence[str]) -> str:
        """condor_history."""
        return ask_condor(ids)

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """By id."""
        return read_condor(out)

    def queues(self) -> str:
        """condor_status for slots, condor_q for the jobs of all users."""
        return (
            f"{shlex.join(['condor_status', '-autoformat:t', *SLOTS])} && echo {SEPARATOR} && "
            "condor_q -allusers -autoformat JobStatus && echo ."
        )

    def described(self, out: str) -> list[Queue]:
        """One queue for all slots."""
        return read_queues(out)

    def nodes(self) -> str:
        """condor_status, for what its slots have."""
        return f"{shlex.join(['condor_status', '-autoformat:t', *NODES])} && echo ."

    def node_report(self, out: str) -> NodeReport:
        """One kind of node for all equal slots."""
        return read_nodes(out)

    def detect(self) -> str:
        """The schedd has to answer."""
        return (
            f"( {present('condor_submit', 'condor_q')}; condor_q -totals >/dev/null && "
            "condor_version | sed -n 1p )"
        )


def _description(job: BatchJob) -> str:
    folder = str(PurePosixPath(job.script).parent)
    if not _PLAIN.fullmatch(job.script) or "$(" in job.script:
        raise ValueError(f"HTCondor cannot run a script of this path: {job.script[:200]!r}")
    # A job that was evicted waits again: that is over. So is one beyond its limit.
    over = "(NumJobStarts > 0 && JobStatus == 1)"
    if job.wall_limit is not None:
        over += f" || (JobStatus == 2 && time() - EnteredCurrentStatus > {math.ceil(job.wall_limit)})"
    lines = [
        "universe = vanilla",
        "executable = /bin/sh",
        "transfer_executable = False",
        "should_transfer_files = NO",
        f"arguments = {_argument(job.script)}",
        f"initialdir = {folder}",
        "input = /dev/null",
        "output = log",
        "error = log",
        f'environment = "{_TASK}=$(Process)"',
        "notification = Never",
        "hold = True",
        f'batch_name = "{job.listed_name}"',
        f"My.{NAME} = {literal(job.name)}",
        f"request_cpus = {job.cpus}",
        f"periodic_remove = {over}",
    ]
    return "\n".join([*lines, *_resources(job), f"queue {job.count}"])


def _resources(job: BatchJob) -> list[str]:
    """A job has one slot, and so all its CPUs at one machine."""
    request = replace(job.request, hosts=1)
    model = re.escape(request.gpu_model).replace("\\", "\\\\")
    values = {
        "request_memory": str(request.memory_on_host(job.cpus) or ""),
        "request_gpus": str(request.gpus or ""),
        "require_gpus": f'regexp("{model}", DeviceName, "i")' if model else "",
        "request_disk": f"{request.scratch * 1024}" if request.scratch else "",
        "accounting_group": request.account,
        "concurrency_limits": ",".join(f"{name}:{count}" for name, count in request.licenses),
    }
    return [f"{name} = {value}" for name, value in values.items() if value]


def _argument(path: str) -> str:
    """One argument in the new syntax: quotes of both kinds are doubled."""
    inner = path.replace("'", "''").replace('"', '""')
    return f"\"'{inner}'\""


def dotted(id: str) -> str:
    """A cluster, or one process of it, as HTCondor writes it."""
    job, task = task_of(id)
    return f"{job}.{task}" if task else job
