"""Grid Engine: Son of Grid Engine and its kin (Univa, Altair, Open Grid Scheduler).

Tested against a real Son of Grid Engine 8.1.9.
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
from broker_core.sites.batch.end_records import ask_grid_engine, read_grid_engine
from broker_core.sites.batch.grid_engine_lists import (
    GPUS,
    SEPARATOR,
    read_jobs,
    read_nodes,
    read_projects,
    read_queues,
)
from broker_core.sites.batch.system import BatchJob, Entitlements, Listed, NodeReport, Queue

# Scattered processors: the one whose rule fits most programs, which fills one host before the next, else
# keeps to one host, else goes in turn. Those of one host, or so many of each: the one whose rule says so.
_PARALLEL = r"""
rank() {
    rule=$(qconf -sp "$1" 2>/dev/null | awk '$1 == "allocation_rule" { print $2 }')
    case $spread.$rule in
    any.'$fill_up' | one.'$pe_slots' | each."$each") echo 1 ;; any.'$pe_slots' | one."$each") echo 2 ;;
    any.'$round_robin') echo 3 ;; any.1) echo 4 ;;
    esac
}
allowed=$(SGE_SINGLE_LINE=1 qconf -sq "$queue" 2>/dev/null |
    awk '$1 == "pe_list" { $1 = ""; gsub(/[][,=]/, " "); print }')
pe=$(for one in $allowed; do
    place=$(rank "$one")
    [ -z "$place" ] || printf '%s %s\n' "$place" "$one"
done | sort -n | awk 'NR == 1 { print $2 }')
if [ -z "$pe" ]; then
    printf 'The queue %s has no parallel environment for %s processors%s. ' "$queue" "$cpus" "$where" >&2
    echo 'Name another queue, or give the words -pe and its name as options of the site.' >&2
    exit 1
fi
set -- "$@" -pe "$pe" "$cpus"
"""
# A consumable is counted for each slot, or once for the job; what is none is compared with each host.
_AMOUNT = r"""
# Set `wanted` for resource $1, of which each host has to give $2 and each slot $3 (- if that is no whole
# number), in the unit $4.
amount() {
    case $(qconf -sc | awk -v name="$1" '$1 == name || $2 == name { print $6 }') in
    YES)
        if [ "$3" = - ]; then
            echo "Grid Engine counts $1 by processor, and $2 cannot be shared by all." >&2
            exit 1
        fi
        wanted=$3$4 ;;
    JOB) wanted=$(($2 * hosts))$4 ;;
    *) wanted=$2$4 ;;
    esac
}
"""
_GIVE_GPUS = rf"""
name=$(qconf -sc | awk '$1 ~ /^{GPUS}$/ {{ print $1; exit }}')
if [ -z "$name" ]; then
    echo 'This Grid Engine counts no GPUs: it has no complex gpu, gpus, ngpus or num_gpus.' >&2
    exit 1
fi
amount "$name" "$gpus" "$share" '' || exit 1
set -- "$@" -l "$name=$wanted"
"""
_MEMORY = r"""
amount mem_free "$memory" "$share" M || exit 1
set -- "$@" -l "mem_free=$wanted"
"""
# Thousands of hosts say much in a minute: only what cannot be load is let through.
_NODES = rf"""( all=$(qstat -f -F -xml) || exit 1
printf '%s\n' "$all" | grep -E '<(name|qtype|slots_total|state|arch)>|<job_list|"mem_total"|type="[hqg][cf]"'
echo {SEPARATOR}; qconf -sc | awk '$3 == "BOOL" {{ print $1 }}'
echo {SEPARATOR}
for host in global $(printf '%s\n' "$all" | awk -F '[<>]' '
    $2 == "name" {{ host = $3; sub(/.*@/, "", host) }}
    /<resource name="{GPUS}" type="hc"/ && !seen[host]++ {{ print host }}' | head -n 500)
do
    SGE_SINGLE_LINE=1 qconf -se "$host" | awk -v host="$host" '$1 == "complex_values" {{ print host, $2 }}'
done )"""
# A project is the user's where nobody is named, or a list of users that has him.
_PROJECTS = rf"""( export SGE_SINGLE_LINE=1; me=$(id -un)
has_me() {{
    for list in $(printf %s "$1" | tr , ' '); do
        qconf -su "$list" | sed -n 's/^entries *//p' | tr -s ', ' '\n' | grep -qxF -e "$me" && return 0
    done
    return 1
}}
for project in $(qconf -sprjl 2>/dev/null); do
    acl=$(qconf -sprj "$project" | sed -n 's/^acl *//p')
    if [ "$acl" = NONE ] || has_me "$acl"; then echo "$project"; fi
done
echo {SEPARATOR}; qconf -suser "$me" 2>/dev/null | sed -n 's/^default_project *//p' )"""
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
        options, parallel = _without_parallel((*job.options, *job.request.words(self.kind)))
        folder = str(PurePosixPath(job.script).parent)
        # Grid Engine reads more than a path in these characters.
        log = "/dev/null" if re.search(r"[:,$]", folder) else f"{folder}/log"
        words = ["qsub", "-terse", "-h", "-r", "n", "-m", "n", "-S", "/bin/sh"]
        words += ["-wd", folder, "-o", log, "-j", "y", "-N", job.listed_name, "-q", job.queue]
        if job.count > 1:
            words += ["-t", f"1-{job.count}"]
        if job.wall_limit is not None:
            words += ["-l", f"h_rt={math.ceil(job.wall_limit)}"]
        words += [*_resources(job.request), *options]
        words += ["-pe", parallel, str(job.cpus)] if parallel else []
        script = shlex.quote(_SCRIPT + shlex.quote(job.script))
        asked = _asked(job, choose=job.cpus > 1 and not parallel)
        if not asked:
            return f"printf '%s\\n' {script} | {shlex.join(words)}"
        return f"( set -- {shlex.join(words)}\n{asked}printf '%s\\n' {script} | \"$@\" )"

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

    def end_records(self, ids: Sequence[str]) -> str:
        """qacct."""
        return ask_grid_engine(ids)

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """By id."""
        return read_grid_engine(out)

    def queues(self) -> str:
        """qstat, once: it tells queue instances, limits, memory and the jobs of all users."""
        return "qstat -f -r -u '*' -F h_rt,mem_total -xml"

    def described(self, out: str) -> list[Queue]:
        """Queues for batch jobs only."""
        return read_queues(out)

    def nodes(self) -> str:
        """qstat for hosts of queues; qconf for how many GPUs and licenses there are, free or not."""
        return _NODES

    def node_report(self, out: str) -> NodeReport:
        """GPUs are those of a complex with a usual name, features what is true of a host."""
        return read_nodes(out)

    def accounts(self) -> str:
        """qconf for projects and the user's own."""
        return _PROJECTS

    def entitlements(self, out: str) -> Entitlements:
        """Projects are what jobs are charged to."""
        return read_projects(out)

    def detect(self) -> str:
        """PBS has commands of the same names but no qconf; the master has to answer."""
        return f"( {present('qconf', 'qsub')}; qconf -sql >/dev/null && qstat -help | sed -n 1p )"


def _resources(request: ResourceRequest) -> list[str]:
    words = [word for name in request.features for word in ("-l", name)]
    words += [word for name, count in request.licenses for word in ("-l", f"{name}={count}")]
    words += ["-l", "exclusive=true"] if request.whole_nodes else []
    words += ["-P", request.account] if request.account else []
    return [*words, "-ar", request.reservation] if request.reservation else words


def _asked(job: BatchJob, choose: bool) -> str:
    """Shell text that adds to the words what depends on the set-up of a Grid Engine; empty: nothing does."""
    request, cpus = job.request, job.cpus
    each = request.cpus_on_host(cpus)
    parts = []
    if memory := request.memory_on_host(cpus):
        share = request.memory_of_cpu(cpus)
        parts.append(f"memory={memory} share={share}{_MEMORY}")
    if request.gpus:
        even = request.gpus % each == 0
        parts.append(f"gpus={request.gpus} share={request.gpus // each if even else '-'}{_GIVE_GPUS}")
    if parts:
        parts.insert(0, f"hosts={max(1, request.hosts)}{_AMOUNT}")
    if choose:
        spread = "any" if not request.hosts else "one" if request.hosts == 1 else "each"
        where = {"any": "", "one": " of one host"}.get(spread, f", {each} of each host")
        parts.append(
            f"queue={shlex.quote(job.queue)} cpus={cpus} each={each} spread={spread} "
            f"where={shlex.quote(where)}{_PARALLEL}"
        )
    return "\n".join(parts)


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
