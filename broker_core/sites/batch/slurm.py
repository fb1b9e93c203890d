"""Slurm. Tested against a real Slurm 22.05."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.commands import forgiving, present
from broker_core.sites.batch.end_records import ask_slurm, read_slurm
from broker_core.sites.batch.slurm_lists import (
    ACCOUNTS,
    JOBS,
    NODES,
    read_accounts,
    read_jobs,
    read_nodes,
    read_queues,
)
from broker_core.sites.batch.system import BatchJob, Entitlements, Listed, NodeReport, Queue

_AT_ONCE = 500
"""Ids in one command, so that no word is longer than the kernel takes."""
_HABITS = (
    "unset SQUEUE_ACCOUNT SQUEUE_ARRAY_UNIQUE SQUEUE_LICENSES SQUEUE_LOCAL SQUEUE_NAMES SQUEUE_PARTITION "
    "SQUEUE_QOS SQUEUE_SIBLING SQUEUE_STATES SQUEUE_USERS SINFO_LOCAL SINFO_PARTITION "
    "SBATCH_ARRAY_INX SBATCH_WAIT; "
)
"""Variables by which an account has the lists filtered, or jobs handed over in another way."""
_CLUSTER_COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct")
_OF_CLUSTER = '{name}() {{ command {name} -M {cluster} "$@"; }}; '
# Slurm takes a GPU's model as its configuration spells it alone: that of the partition with the same words.
_KNOWN_MODEL = r"""wanted={model}
model=$(sinfo -h -p {queue} -o %G | tr ',' '\n' | awk -F '[:(]' -v wanted="$wanted" '
    function plain(name) {{ name = tolower(name); gsub(/[^a-z0-9]+/, " ", name); return " " name " " }}
    $1 == "gpu" && $2 !~ /^[0-9]*$/ {{
        if (plain($2) == plain(wanted)) {{ exact = $2 }}
        if (index(plain($2), plain(wanted))) {{ near = $2 }}
    }}
    END {{ print exact ? exact : near }}
')
[ -n "$model" ] || model=$wanted
"""
_FORECAST = re.compile(r"\bto start at (\d{1,12})\b", re.ASCII)
_GONE = (
    r"(Invalid job id specified|Job/step already completing or completed"
    r"|already (finished|completed)|slurm_suspend error)"
)


class Slurm:
    """See `BatchSystem`. The ids of array tasks are `job_task`; tasks count from 0."""

    kind = "slurm"
    title = "Slurm"
    holds = True
    task_variable = "SLURM_ARRAY_TASK_ID"
    first_task = 0

    def __init__(self, cluster: str = "") -> None:
        """`cluster`: that to which all commands are sent (`-M`); empty: the login host's own."""
        named = (_OF_CLUSTER.format(name=name, cluster=shlex.quote(cluster)) for name in _CLUSTER_COMMANDS)
        self.prefix = _HABITS + ("".join(named) if cluster else "")
        """Ahead of every command that asks Slurm."""

    def submit(self, job: BatchJob) -> str:
        """sbatch, held; what the batch system itself writes goes to `log` beside the script."""
        folder = str(PurePosixPath(job.script).parent)
        # Slurm expands % and \ in names of output files.
        log = "/dev/null" if re.search(r"[%\\]", folder) else f"{folder}/log"
        words = ["sbatch", "--parsable", "--hold", "--no-requeue", "--mail-type=NONE", "--open-mode=append"]
        words += [f"--job-name={job.listed_name}", f"--partition={job.queue}", *_nodes(job)]
        words += [f"--chdir={folder}", f"--output={log}"]
        if job.count > 1:
            words.append(f"--array=0-{job.count - 1}")
        return self._sbatch(words, job, job.script)

    def _sbatch(self, words: list[str], job: BatchJob, last: str) -> str:
        """The command of these words, with what the job asks for and the last word behind them."""
        if job.wall_limit is not None:
            words.append(f"--time={max(1, math.ceil(job.wall_limit / 60))}")
        words += [*job.options, *_resources(job.request), *job.request.words(self.kind)]
        if not job.request.gpu_model:
            return self.prefix + shlex.join([*words, *_gpus(job.request), last])
        known = _KNOWN_MODEL.format(queue=shlex.quote(job.queue), model=shlex.quote(job.request.gpu_model))
        count = f'--gres=gpu:"$model":{job.request.gpus}'
        return f"( {self.prefix}{known}{shlex.join(words)} {count} {shlex.quote(last)} )"

    def forecast(self, job: BatchJob) -> str:
        """sbatch --test-only, which tells it among its error messages."""
        words = ["sbatch", "--test-only", f"--partition={job.queue}", *_nodes(job)]
        asked = self._sbatch(words, job, "--wrap=:")
        return f"date +%s; export SLURM_TIME_FORMAT=%s; {asked} 2>&1"

    def forecast_wait(self, out: str) -> float:
        """By the site's own clock."""
        now, _, answer = out.partition("\n")
        found = _FORECAST.search(answer)
        if found is None or not now.isdigit():
            raise ValueError(" ".join(answer.split())[:300] or "sbatch said nothing")
        return max(0.0, float(found[1]) - float(now))

    def submitted(self, out: str) -> str:
        """`12`, or `12;cluster`."""
        number = out.strip().partition(";")[0]
        if not (number.isascii() and number.isdigit()):
            raise ValueError(f"sbatch printed no number of a job: {out[:200]!r}")
        return number

    def release(self, ids: Sequence[str]) -> str:
        """scontrol, which takes many ids at once."""
        return self.prefix + _each(ids, lambda some: ["scontrol", "release", ",".join(some)])

    def cancel(self, ids: Sequence[str]) -> str:
        """scancel, for jobs, arrays and single tasks."""
        return self.prefix + _each(ids, lambda some: ["scancel", *some])

    def status(self, mark: str) -> str:
        """squeue, once; each task of an array has a line of its own."""
        return f'{self.prefix}squeue -h -r -u "$(id -u)" -o "{JOBS}"'

    def listed(self, out: str) -> list[Listed]:
        """All jobs of the account; those of others than the broker are told by their names."""
        return read_jobs(out)

    def end_records(self, ids: Sequence[str]) -> str:
        """squeue, and sacct where there is accounting."""
        return self.prefix + ask_slurm(ids)

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """By id."""
        return read_slurm(out)

    def queues(self) -> str:
        """scontrol for arrays, sinfo for processors, memory and limits; squeue for the jobs of all users."""
        return self.prefix + (
            "scontrol show config | grep -E '^(MaxArraySize|SchedulerParameters) ' | tr '\\n' ' '; echo; "
            'sinfo -h -o "%P|%a|%l|%m|%C|%T" && echo && '
            'squeue -h -t PD,R -o "%P|%t" | LC_ALL=C sort | uniq -c'
        )

    def described(self, out: str) -> list[Queue]:
        """One for each partition."""
        return read_queues(out)

    def nodes(self) -> str:
        """scontrol, whose nodes are counted there by what they have: thousands make some lines."""
        return self.prefix + NODES

    def node_report(self, out: str) -> NodeReport:
        """With the GPUs in use, and the licenses."""
        return read_nodes(out)

    def accounts(self) -> str:
        """sacctmgr, where there is an accounting database; scontrol for who may use which partition."""
        return self.prefix + ACCOUNTS

    def entitlements(self, out: str) -> Entitlements:
        """Associations of this user at this cluster."""
        return read_accounts(out)

    def detect(self) -> str:
        """The controller has to answer."""
        version = "sinfo --version | sed 's,.* ,,'"
        return f"( {present('sbatch', 'squeue', 'sinfo')}; sinfo -h -o %P >/dev/null && {version} )"


def _nodes(job: BatchJob) -> list[str]:
    """CPUs of one program are those of one node; those of many processes are spread as the job says."""
    request = job.request
    spread = [f"--nodes={request.hosts}"] if request.hosts else []
    if request.hosts == 1 and not request.mpi:
        return [*spread, "--ntasks=1", f"--cpus-per-task={job.cpus}"]
    if request.hosts > 1:
        spread.append(f"--ntasks-per-node={request.cpus_on_host(job.cpus)}")
    return [f"--ntasks={job.cpus}", *spread]


def _resources(request: ResourceRequest) -> list[str]:
    values = {
        "--mem": f"{request.memory_per_node}M" if request.memory_per_node else "",
        "--mem-per-cpu": f"{request.memory_per_cpu}M" if request.memory_per_cpu else "",
        "--tmp": f"{request.scratch}M" if request.scratch else "",
        "--account": request.account,
        "--qos": request.qos,
        "--reservation": request.reservation,
        "--constraint": "&".join(request.features),
        "--licenses": ",".join(f"{name}:{count}" for name, count in request.licenses),
    }
    words = [f"{name}={value}" for name, value in values.items() if value]
    return [*words, "--exclusive"] if request.whole_nodes else words


def _gpus(request: ResourceRequest) -> list[str]:
    return [f"--gres=gpu:{request.gpus}"] if request.gpus else []


def _each(ids: Sequence[str], words: Callable[[Sequence[str]], list[str]]) -> str:
    """One command for each few hundred ids."""
    parts = [ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)]
    return " && ".join(forgiving(shlex.join(words(part)), _GONE) for part in parts) or "true"
