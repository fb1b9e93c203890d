"""PBS Professional, OpenPBS and Torque.

Written from their manuals and tested against simulated commands only: neither can be had as a package.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.commands import forgiving, present, task_of
from broker_core.sites.batch.end_records import ask_pbs, read_pbs
from broker_core.sites.batch.pbs_lists import NAME_VARIABLE, SEPARATOR, read_jobs, read_nodes, read_queues
from broker_core.sites.batch.system import BatchJob, Listed, NodeReport, Queue, WithoutAccounts

_IS_TORQUE = "! qstat --version 2>&1 | grep -q pbs_version"
_TORQUE_NAME = 15
"""Characters of a job's name in Torque; the whole name is in a variable of the job."""
_ID = re.compile(r"(\d+)(?:\[\])?(?:\.[A-Za-z0-9._-]+)?")


class Pbs(WithoutAccounts):
    """See `BatchSystem`. The ids of array tasks are `job_task`; the server's name is left out of ids.

    PBS Professional insists that arrays can be run again; the job starter refuses a second start of a task.
    """

    kind = "pbs"
    title = "PBS"
    holds = True
    task_variable = "PBS_ARRAY_INDEX"
    first_task = 0

    def submit(self, job: BatchJob) -> str:
        """qsub, which reads a script of one line; what it prints goes to `log` beside the job's script."""
        folder = PurePosixPath(job.script).parent
        line = (
            f'export {self.task_variable}="${{{self.task_variable}:-${{PBS_ARRAYID:-}}}}"; cd '
            f"{shlex.quote(str(folder))} && exec /bin/sh {shlex.quote(job.script)} >>log 2>&1"
        )
        words = ["qsub", "-h", "-m", "n", "-S", "/bin/sh", "-j", "oe", "-o", "/dev/null", "-q", job.queue]
        words += ["-v", f"{NAME_VARIABLE}={job.name}"]
        if job.wall_limit is not None:
            words += ["-l", f"walltime={math.ceil(job.wall_limit)}"]
        if job.request.account:
            words += ["-A", job.request.account]
        own, of_nodes = _divided([*job.options, *job.request.words(self.kind)])
        torque = shlex.join([*words, *_torque(job, of_nodes), *own])
        professional = shlex.join([*words, *_professional(job, of_nodes), *own])
        return (
            f"( if {_IS_TORQUE}; then set -- {torque}; else set -- {professional}; fi; "
            f"printf '%s\\n' {shlex.quote(line)} | \"$@\" )"
        )

    def submitted(self, out: str) -> str:
        """`12.server` or, for arrays, `12[].server`."""
        found = _ID.fullmatch(out.strip())
        if found is None:
            raise ValueError(f"qsub printed no id of a job: {out[:200]!r}")
        return found[1]

    def release(self, ids: Sequence[str]) -> str:
        """qrls; the id of an array has brackets in PBS, so both forms are tried."""
        return _each("qrls", ids)

    def cancel(self, ids: Sequence[str]) -> str:
        """qdel."""
        return _each("qdel", ids)

    def status(self, mark: str) -> str:
        """qselect for the account's jobs, then qstat for all of them; `-t` shows the tasks of arrays."""
        return (
            f'( echo {shlex.quote(f"mark {mark}")}; ids=$(qselect -u "$(id -un)") || exit 1; '
            f'[ -z "$ids" ] || {{ said=$(qstat -f -t $ids 2>&1); code=$?; printf \'%s\\n\' "$said"; '
            '[ "$code" = 0 ] || printf \'%s\\n\' "$said" | grep -q "^Job Id:" || '
            'printf \'%s\\n\' "$said" | grep -Eiq "unknown job ?id"; } )'
        )

    def listed(self, out: str) -> list[Listed]:
        """Whole names come from a variable of the job, as Torque cuts them."""
        return read_jobs(out)

    def end_records(self, ids: Sequence[str]) -> str:
        """qstat -x or tracejob."""
        return ask_pbs(ids)

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """By id."""
        return read_pbs(out)

    def queues(self) -> str:
        """qstat for server and queues, pbsnodes for the nodes."""
        return f"qstat -B -f && echo {SEPARATOR} && qstat -Q -f && echo {SEPARATOR} && pbsnodes -a"

    def described(self, out: str) -> list[Queue]:
        """Execution queues; nodes count for all of them, unless a node belongs to one."""
        return read_queues(out)

    def nodes(self) -> str:
        """pbsnodes."""
        return "pbsnodes -a"

    def node_report(self, out: str) -> NodeReport:
        """With GPUs, and with properties of nodes as features."""
        return read_nodes(out)

    def detect(self) -> str:
        """Grid Engine has commands of the same names but no qselect of this kind, and no pbsnodes."""
        return (
            f"( {present('qsub', 'pbsnodes', 'qselect')}; qstat -B >/dev/null && "
            "qstat --version 2>&1 | sed -n 1p )"
        )


def _divided(words: Sequence[str]) -> tuple[list[str], str]:
    """Words for qsub, and of them what each chunk or node has to have: `-l :NAME=VALUE`."""
    own, parts, left = [], "", list(words)
    while left:
        word = left.pop(0)
        if word == "-l" and left and left[0].startswith(":"):
            parts += left.pop(0)
        else:
            own.append(word)
    return own, parts


def _professional(job: BatchJob, of_nodes: str) -> list[str]:
    request = job.request
    shape = request.split(job.cpus) or [(job.cpus, 1)]
    chunks = [_chunk(job, count, cpus) + of_nodes for count, cpus in shape]
    words = ["-N", job.listed_name, "-l", f"select={'+'.join(chunks)}"]
    arrangement = ["scatter"] * (request.hosts > 1) + ["excl"] * request.whole_nodes
    words += ["-l", f"place={':'.join(arrangement)}"] if arrangement else []
    return [*words, "-J", f"0-{job.count - 1}"] if job.count > 1 else [*words, "-r", "n"]


def _chunk(job: BatchJob, count: int, cpus: int) -> str:
    """So many parts of `cpus` processors, each with the memory and GPUs of a node, or of one processor."""
    request = job.request
    processes = 1 if request.hosts == 1 and not request.mpi else cpus
    memory = request.memory_per_node or request.memory_per_cpu * cpus
    parts = [f"{count}:ncpus={cpus}:mpiprocs={processes}"]
    parts += [f"mem={memory}mb"] if memory else []
    parts += [f"ngpus={request.gpus}"] if request.gpus else []
    return ":".join(parts)


def _torque(job: BatchJob, of_nodes: str) -> list[str]:
    request = job.request
    gpus = f":gpus={request.gpus}" if request.gpus else ""
    shape = request.split(job.cpus) or [(1, job.cpus)]
    nodes = [f"{count}:ppn={cpus}{gpus}{of_nodes}" for count, cpus in shape]
    words = ["-r", "n", "-N", job.listed_name[:_TORQUE_NAME], "-l", f"nodes={'+'.join(nodes)}"]
    if memory := request.memory_of_cpu(job.cpus):
        words += ["-l", f"pmem={memory}mb"]
    words += ["-n"] if request.whole_nodes else []
    return [*words, "-t", f"0-{job.count - 1}"] if job.count > 1 else words


def _each(command: str, ids: Sequence[str]) -> str:
    """One command for all ids; a plain number may be an array's, whose id ends with brackets."""
    gone = (
        r"([Uu]nknown [Jj]ob ?[Ii]d|[Jj]ob has finished|[Rr]equest invalid for state of job|"
        r"[Ii]nvalid state for job)"
    )
    words = []
    for id in ids:
        job, task = task_of(id)
        words += [f"{job}[{task}]"] if task else [job, f"{job}[]"]
    return forgiving(shlex.join([command, *words]), gone)
