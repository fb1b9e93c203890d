"""A host without a batch system: a small queue of files in the user's home directory there.

The queue is one for all brokers of an account at a host, so together they never use more processors than it
has (or than `CROSSDESK_SLOTS` of the site's environment says). Others at the host are not known to it. Wall
times are kept by the job starter; memory is not limited. A job that asks for GPUs has them for itself among
the jobs of the queue, by CUDA_VISIBLE_DEVICES. The queue is of one boot: after a reboot its jobs
are gone. Tested as it is.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from broker_core.jdl.resource_request import model_words
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.commands import present
from broker_core.sites.batch.end_records import WithoutEndRecords
from broker_core.sites.batch.system import BatchJob, Listed, NodeReport, Queue, WithoutAccounts
from broker_core.sites.gpus import gpu_nodes, gpus_in

QUEUE = "default"
"""The one queue of such a host."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_ID = re.compile(r"\d{10}")
_LINE = re.compile(r"(held|queued|starting|running) (\d{10}) ([A-Za-z][A-Za-z0-9._-]*)")
_QUEUES = re.compile(r"processors (\d+) used (\d+) running (\d+) waiting (\d+) memory (\d+)\n?")
_SEEN = {
    "held": AttemptStatus.HELD,
    "queued": AttemptStatus.QUEUED,
    "starting": AttemptStatus.QUEUED,
    "running": AttemptStatus.RUNNING,
}
# Handing over is so small that thousands can be sent in one exchange; the rest is in host_queue.sh.
_SUBMIT = """( umask 077; queue={queue}; cpus={cpus}
if [ "$queue" != {default} ]; then
echo "Unknown queue $queue; a host without a batch system has {default} only." >&2; exit 1; fi
if [ "$cpus" -gt 1 ]; then
slots=${{CROSSDESK_SLOTS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}}
if [ "$cpus" -gt "$slots" ]; then echo "The host has $slots processors, the job needs $cpus." >&2; exit 1; fi
fi
read -r boot </proc/sys/kernel/random/boot_id && read -r host </proc/sys/kernel/hostname || exit 1
place=$HOME/.crossdesk/queue/$host.$boot
[ -d "$place/held" ] || mkdir -p "$place/held" || exit 1
exec 9>"$place/lock" && flock -w 30 9 || exit 1
last=0; if [ -r "$place/last" ]; then read -r last <"$place/last"; fi
last=$((last + 1)) && echo "$last" >"$place/new" && mv "$place/new" "$place/last" || exit 1
id=0000000000$last; id=${{id#"${{id%??????????}}"}}
{gpus}{{ export -p && printf '%s\\n' 'export CROSSDESK_JOB="$1"' {command}; }} >"$place/new" &&
mv "$place/new" "$place/held/$id:$cpus:"{name} && echo "$id" )"""
# The text of the script would be too much for each of many jobs; a host that was looked at has it.
_ENOUGH = """{{ tool=$HOME/.crossdesk/queue/{version}.sh; [ ! -f "$tool" ] || sh "$tool" enough {words}; }}"""
_ASK = """mkdir -p "$place/gpus" && printf '%s\\n' {wanted} >"$place/new" &&
mv "$place/new" "$place/gpus/$id:$cpus:"{name} || exit 1
"""


class Host(WithoutAccounts, WithoutEndRecords):
    """See `BatchSystem`. `options` are words put before each job's command, e.g. `nice -n 10`."""

    kind = "shell"
    title = "Host without a batch system"
    holds = True
    task_variable = ""
    first_task = 0

    def submit(self, job: BatchJob) -> str:
        """Write the job's file; raises ValueError for a name that cannot be a file's."""
        if not _NAME.fullmatch(job.name):
            raise ValueError(f"not the name of a job: {job.name[:80]!r}")
        if job.count > 1:
            raise ValueError("a host without a batch system has no arrays")
        folder = shlex.quote(str(PurePosixPath(job.script).parent))
        words = shlex.join([*job.options, "/bin/sh", job.script])
        command = f"cd {folder} && exec {words} </dev/null >>log 2>&1"
        name, count, model = shlex.quote(job.name), job.request.gpus, model_words(job.request.gpu_model)
        if count:
            command = f'export CUDA_VISIBLE_DEVICES="$2"; {command}'
        made = _SUBMIT.format(
            queue=shlex.quote(job.queue),
            cpus=job.cpus,
            default=QUEUE,
            command=shlex.quote(command),
            name=name,
            gpus=_ASK.format(wanted=shlex.quote(f"{count} {model}"), name=name) if count else "",
        )
        enough = _ENOUGH.format(version=_script()[1], words=shlex.join((str(count), model)))
        return f"{enough} && {made}" if count else made

    def submitted(self, out: str) -> str:
        """Ten digits."""
        id = out.strip()
        if not _ID.fullmatch(id):
            raise ValueError(f"the host's queue printed no number of a job: {out[:200]!r}")
        return id

    def release(self, ids: Sequence[str]) -> str:
        """Those that fit are started at once."""
        return _tool("release", *ids)

    def cancel(self, ids: Sequence[str]) -> str:
        """Running ones get TERM, and KILL after five seconds."""
        return _tool("cancel", *ids)

    def status(self, mark: str) -> str:
        """Puts right too what killed processes left, and starts what fits."""
        return _tool("status", mark)

    def listed(self, out: str) -> list[Listed]:
        """Its end is marked, so that a part of a list is no list."""
        lines = out.split("\n")
        if len(lines) < 3 or not lines[0].startswith("host ") or lines[-2:] != [".", ""]:
            raise ValueError(f"the host's queue printed no whole list: {out[:200]!r}")
        node = lines[0].removeprefix("host ")
        return [_listed(line, node) for line in lines[1:-2]]

    def queues(self) -> str:
        """One queue with all processors."""
        return _tool("queues")

    def described(self, out: str) -> list[Queue]:
        """Free processors are those that the queue has not given away, whatever else runs there."""
        found = _QUEUES.fullmatch(out)
        if found is None:
            raise ValueError(f"the host's queue did not describe itself: {out[:200]!r}")
        total, used, running, waiting, memory = (int(group) for group in found.groups())
        free = max(0, total - used)
        return [Queue(QUEUE, total, free, running, waiting, memory=memory, default=True)]

    def nodes(self) -> str:
        """The host itself, with its GPUs where NVIDIA's driver tells of them."""
        return _tool("nodes")

    def node_report(self, out: str) -> NodeReport:
        """A GPU is free that no job of the queue was given, and in which no program of others is."""
        own, _, rest = out.partition("\n")
        queue = self.described(f"{own}\n")[0]
        return NodeReport({"": gpu_nodes(gpus_in(rest), queue.total, queue.memory)})

    def detect(self) -> str:
        """Any Linux with flock and setsid will do."""
        return f"( {present('flock', 'setsid', 'grep')}; [ -r /proc/self/environ ] && uname -sr )"


def leave() -> str:
    """Command that takes the queue away, with those of earlier boots, unless jobs of somebody are in it."""
    return _tool("leave")


def _listed(line: str, node: str) -> Listed:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"not a line of the host's queue: {line[:200]!r}")
    state, id, name = found.groups()
    return Listed(id, name, _SEEN[state], node=node if state == "running" else "")


def _tool(*words: str) -> str:
    """Run the queue's script, which is put there once for each version of it."""
    text, version = _script()
    return (
        f'( umask 077; tool=$HOME/.crossdesk/queue/{version}.sh; if [ ! -f "$tool" ]; then '
        f'mkdir -p "${{tool%/*}}" && printf %s {shlex.quote(text)} >"$tool.$$" && mv "$tool.$$" "$tool" '
        f'|| exit 1; fi; sh "$tool" {shlex.join(words)} )'
    )


@cache
def _script() -> tuple[str, str]:
    """Text and name of the version of host_queue.sh, without what is said to its reader alone."""
    text = files(__package__).joinpath("host_queue.sh").read_text()
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    short = "\n".join(line for line in lines if line) + "\n"
    return short, hashlib.sha256(short.encode()).hexdigest()[:16]
