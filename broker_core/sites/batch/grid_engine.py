"""Grid Engine: Son of Grid Engine and its kin (Univa, Altair, Open Grid Scheduler).

Tested against a real Son of Grid Engine 8.1.9.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from broker_core.sites.batch.commands import forgiving, present, task_of
from broker_core.sites.batch.grid_engine_lists import read_jobs, read_queues
from broker_core.sites.batch.system import BatchJob, Listed, Queue

# The one whose rule fits most programs: fill one host before the next, else one host, else all in turn.
_PARALLEL = r"""
rank() {
    case $(qconf -sp "$1" 2>/dev/null | awk '$1 == "allocation_rule" { print $2 }') in
    '$fill_up') echo 1 ;; '$pe_slots') echo 2 ;; '$round_robin') echo 3 ;; 1) echo 4 ;;
    esac
}
allowed=$(SGE_SINGLE_LINE=1 qconf -sq "$queue" 2>/dev/null |
    awk '$1 == "pe_list" { $1 = ""; gsub(/[][=,]/, " "); print }')
pe=$(for one in $allowed; do
    place=$(rank "$one")
    [ -z "$place" ] || printf '%s %s\n' "$place" "$one"
done | sort -n | awk 'NR == 1 { print $2 }')
if [ -z "$pe" ]; then
    printf 'The queue %s has no parallel environment for %s processors. ' "$queue" "$cpus" >&2
    echo 'Name another queue, or give the words -pe and its name as options of the site.' >&2
    exit 1
fi
"""
# Grid Engine kills the process group of a job and, by its defaults, nothing else of it. What left the group
# is killed by a process that left it too, once the job's first process has gone.
_SCRIPT = r"""export CROSSDESK_JOB="$SGE_ROOT/$SGE_CELL/$JOB_ID.$SGE_TASK_ID"
if command -v setsid >/dev/null 2>&1 && [ -r /proc/self/environ ]; then
    env -u CROSSDESK_JOB setsid /bin/sh -c '
        while [ -d "/proc/$1" ]; do sleep 1; done
        left=100
        while [ $left -gt 0 ]; do
            found=$(grep -lsFxz "CROSSDESK_JOB=$2" /proc/[0-9]*/environ)
            [ -n "$found" ] || break
            for file in $found; do file=${file#/proc/}; kill -s KILL "${file%/environ}"; done
            left=$((left - 1))
            sleep 0.1
        done
    ' after $$ "$CROSSDESK_JOB" </dev/null >/dev/null 2>&1 &
fi
exec /bin/sh """


class GridEngine:
    """See `BatchSystem`. The ids of array tasks are `job_task`; tasks count from 1."""

    kind = "sge"
    title = "Grid Engine"
    holds = True
    task_variable = "SGE_TASK_ID"
    first_task = 1

    def submit(self, job: BatchJob) -> str:
        """qsub; a job with several processors gets a parallel environment of the queue (or of `options`).

        What the batch system itself writes goes to `log` beside the script.
        """
        options, parallel = _without_parallel(job.options)
        folder = str(PurePosixPath(job.script).parent)
        # Grid Engine reads more than a path in these characters.
        log = "/dev/null" if re.search(r"[:,$]", folder) else f"{folder}/log"
        words = ["qsub", "-terse", "-h", "-r", "n", "-m", "n", "-S", "/bin/sh"]
        words += ["-wd", folder, "-o", log, "-j", "y", "-N", job.name, "-q", job.queue]
        if job.count > 1:
            words += ["-t", f"1-{job.count}"]
        if job.wall_limit is not None:
            words += ["-l", f"h_rt={math.ceil(job.wall_limit)}"]
        if job.memory:
            words += ["-l", f"mem_free={job.memory}M"]
        words += options
        script = shlex.quote(_SCRIPT + shlex.quote(job.script))
        if job.cpus == 1 or parallel:
            words += ["-pe", parallel, str(job.cpus)] if parallel else []
            return f"printf '%s\\n' {script} | {shlex.join(words)}"
        return (
            f"( queue={shlex.quote(job.queue)} cpus={job.cpus}{_PARALLEL}"
            f"printf '%s\\n' {script} | {shlex.join(words)} -pe \"$pe\" {job.cpus} )"
        )

    def submitted(self, out: str) -> str:
        """`12` or, for arrays, `12.1-5:1`."""
        found = re.fullmatch(r"(\d+)(?:\.\d+-\d+:\d+)?", out.strip())
        if found is None:
            raise ValueError(f"qsub printed no number of a job: {out[:200]!r}")
        return found[1]

    def release(self, ids: Sequence[str]) -> str:
        """qrls."""
        gone = r'^(denied: job "[^"]*" does not exist|modified hold of job.*)$'
        return forgiving(shlex.join(["qrls", *map(_dotted, ids)]), gone)

    def cancel(self, ids: Sequence[str]) -> str:
        """qdel."""
        gone = (
            r'^(denied: job "[^"]*" does not exist|.* has (registered|deleted) .*'
            r"|job(-array task)? [0-9.]+ is already in deletion)$"
        )
        return forgiving(shlex.join(["qdel", *map(_dotted, ids)]), gone)

    def status(self, mark: str) -> str:
        """qstat, once; its list has all jobs of the account, so the mark goes ahead of it."""
        return f'echo {shlex.quote(f"mark {mark}")} && qstat -xml -u "$(id -un)"'

    def listed(self, out: str) -> list[Listed]:
        """Waiting tasks of one array come as one entry with ranges of numbers."""
        head, _, text = out.partition("\n")
        if not head.startswith("mark "):
            raise ValueError(f"qstat's list has no mark ahead of it: {out[:200]!r}")
        return read_jobs(text, head.removeprefix("mark "))

    def queues(self) -> str:
        """qstat, once: it tells queue instances, limits, memory and the jobs of all users."""
        return "qstat -f -r -u '*' -F h_rt,mem_total -xml"

    def described(self, out: str) -> list[Queue]:
        """Queues for batch jobs only."""
        return read_queues(out)

    def detect(self) -> str:
        """PBS has commands of the same names but no qconf; the master has to answer."""
        return f"( {present('qconf', 'qsub')}; qconf -sql >/dev/null && qstat -help | sed -n 1p )"


def _dotted(id: str) -> str:
    job, task = task_of(id)
    return f"{job}.{task}" if task else job


def _without_parallel(options: Sequence[str]) -> tuple[list[str], str]:
    """The options without `-pe NAME [N]`, and that name."""
    words, name = list(options), ""
    if "-pe" in words:
        place = words.index("-pe")
        name = words[place + 1] if place + 1 < len(words) else ""
        end = place + 2
        if end < len(words) and re.fullmatch(r"\d+(-\d*)?", words[end]):
            end += 1
        del words[place:end]
    return words, name
