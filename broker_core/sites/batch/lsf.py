"""IBM Spectrum LSF (and Platform LSF).

Written from its manuals and tested against simulated commands only: it cannot be had as a package.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.commands import forgiving, present, task_of
from broker_core.sites.batch.end_records import ask_lsf, read_lsf
from broker_core.sites.batch.lsf_lists import FIELDS, SEPARATOR, read_jobs, read_nodes, read_queues
from broker_core.sites.batch.system import BatchJob, Listed, NodeReport, Queue, WithoutAccounts

_GONE = (
    r"^(Job <[^>]*>( is being (resumed|terminated)|: No matching job found|: Job has already finished"
    r"|: Job (has )?not (been )?suspended|: Job is not suspended).*|No (unfinished|matching) job found.*)$"
)


class Lsf(WithoutAccounts):
    """See `BatchSystem`. The ids of array tasks are `job_task`; tasks count from 1."""

    kind = "lsf"
    title = "LSF"
    holds = True
    task_variable = "LSB_JOBINDEX"
    first_task = 1

    def submit(self, job: BatchJob) -> str:
        """bsub, which has its command run by a shell once more; what that prints goes to `log` beside it."""
        folder = shlex.quote(str(PurePosixPath(job.script).parent))
        command = f"cd {folder} && exec /bin/sh {shlex.quote(job.script)} >>log 2>&1 </dev/null"
        name = f"{job.listed_name}[1-{job.count}]" if job.count > 1 else job.listed_name
        words = ["bsub", "-H", "-rn", "-J", name, "-q", job.queue, "-n", str(job.cpus)]
        words += ["-o", "/dev/null", "-i", "/dev/null"]
        if job.wall_limit is not None:
            words += ["-W", str(max(1, math.ceil(job.wall_limit / 60)))]
        words += [*job.options, *_resources(job), *job.request.words(self.kind)]
        return shlex.join([*words, command])

    def submitted(self, out: str) -> str:
        """`Job <12> is submitted to queue <normal>.`"""
        found = re.search(r"^Job <(\d+)> is submitted to ", out, re.MULTILINE)
        if found is None:
            raise ValueError(f"bsub printed no number of a job: {out[:200]!r}")
        return found[1]

    def release(self, ids: Sequence[str]) -> str:
        """bresume."""
        return forgiving(shlex.join(["bresume", *map(_bracketed, ids)]), _GONE)

    def cancel(self, ids: Sequence[str]) -> str:
        """bkill."""
        return forgiving(shlex.join(["bkill", *map(_bracketed, ids)]), _GONE)

    def status(self, mark: str) -> str:
        """bjobs, whose end is marked as it prints nothing where there are no jobs."""
        words = ["bjobs", "-noheader", "-J", f"*{mark}.*", "-o", f"{FIELDS} delimiter='|'"]
        command = f'{shlex.join(words)} -u "$(id -un)"'
        return f"( {{ {command} 2>&1; echo . ; }} | sed '/^No .*job found/d; /^Job <.*> is not found$/d' )"

    def listed(self, out: str) -> list[Listed]:
        """Unfinished jobs; each task of an array has a line of its own."""
        return read_jobs(out)

    def end_records(self, ids: Sequence[str]) -> str:
        """bhist."""
        return ask_lsf(ids)

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """By id."""
        return read_lsf(out)

    def queues(self) -> str:
        """bqueues for queues and limits, bhosts for slots, lshosts for memory."""
        return f" && echo {SEPARATOR} && ".join(("bqueues -w", "bqueues -l", "bhosts -w", "lshosts -w"))

    def described(self, out: str) -> list[Queue]:
        """Slots of all hosts of a queue; where it names groups of hosts, of all hosts."""
        return read_queues(out)

    def nodes(self) -> str:
        """Hosts of queues, slots and machines of hosts, and GPUs, which old versions do not tell of."""
        words = ("bqueues -l", "bhosts -w", "lshosts -w", "{ bhosts -gpu -w 2>/dev/null || :; }")
        return f" && echo {SEPARATOR} && ".join(words)

    def node_report(self, out: str) -> NodeReport:
        """With the boolean resources of hosts as features."""
        return read_nodes(out)

    def detect(self) -> str:
        """The master has to answer."""
        return f"( {present('bsub', 'bjobs', 'lsid')}; bqueues -w >/dev/null && lsid | sed -n 1p )"


def _resources(job: BatchJob) -> list[str]:
    request = job.request
    used = [_memory(request)] if request.memory_per_node or request.memory_per_cpu else []
    used += [f"tmp={request.scratch}MB/host"] if request.scratch else []
    used += [f"{name}={count}" for name, count in request.licenses]
    conditions = [f"select[{' && '.join(request.features)}]"] if request.features else []
    conditions += [f"rusage[{':'.join(used)}]"] if used else []
    if request.hosts and job.cpus > 1:
        conditions.append(_span(request.hosts, request.cpus_on_host(job.cpus)))
    words = ["-R", " ".join(conditions)] if conditions else []
    words += ["-x"] if request.whole_nodes else []
    words += ["-gpu", _gpus(request)] if request.gpus else []
    words += ["-P", request.account] if request.account else []
    return [*words, "-U", request.reservation] if request.reservation else words


def _memory(request: ResourceRequest) -> str:
    if request.memory_per_node:
        return f"mem={request.memory_per_node}MB/host"
    return f"mem={request.memory_per_cpu}MB/task"


def _span(hosts: int, cpus: int) -> str:
    return "span[hosts=1]" if hosts == 1 else f"span[ptile={cpus}]"


def _gpus(request: ResourceRequest) -> str:
    model = f":gmodel={request.gpu_model}" if request.gpu_model else ""
    return f"num={request.gpus}:j_exclusive=yes{model}"


def _bracketed(id: str) -> str:
    job, task = task_of(id)
    return f"{job}[{task}]" if task else job
