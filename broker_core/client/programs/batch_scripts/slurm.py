"""`#SBATCH` lines: the options of sbatch (Slurm 22.05 to 24.05, and older spellings)."""

from __future__ import annotations

import re
from dataclasses import replace

from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.amounts import count, time_text
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning
from broker_core.client.programs.batch_scripts.options import OptionTable

TABLE = OptionTable(
    """
--account -A | value | account |
--acctg-freq | value | keep |
--array -a | value | array |
--batch | value | keep |
--bb | value | keep |
--bbf | value | keep |
--begin -b | value | refuse | later
--bell | none | leave | quiet
--chdir -D --workdir | value | leave | folder
--cluster-constraint | value | keep |
--clusters --cluster -M | value | leave | Where it runs is chosen among all sites; `--site` names one.
--comment | value | keep |
--constraint -C | value | features |
--container | value | keep |
--container-id | value | keep |
--contiguous | none | keep |
--core-spec -S | value | keep |
--cores-per-socket | value | keep |
--cpu-freq | value | keep |
--cpus-per-gpu | value | cpus_per_gpu |
--cpus-per-task -c | value | cpus_per_task |
--deadline | value | keep |
--delay-boot | value | keep |
--dependency -d | value | refuse | order
--distribution -m | value | keep |
--error -e | value | stderr |
--exclude -x | value | keep |
--exclusive | optional | exclusive |
--export | value | export |
--export-file | value | refuse | login
--extra | value | keep |
--extra-node-info -B | value | keep |
--get-user-env | optional | leave | login
--gid | value | refuse | user
--gpu-bind | value | keep |
--gpu-freq | value | keep |
--gpus -G | value | gpus |
--gpus-per-node | value | gpus_per_node |
--gpus-per-socket | value | keep |
--gpus-per-task | value | gpus_per_task |
--gres | value | gres |
--gres-flags | value | keep |
--help -h | none | leave | quiet
--hint | value | keep |
--hold -H | none | refuse | hold
--ignore-pbs | none | leave | Lines of PBS are not read here beside those of Slurm.
--input -i | value | stdin |
--job-name -J | value | name |
--kill-on-invalid-dep | value | leave | It goes with --dependency.
--licenses -L | value | licenses |
--mail-type | value | leave | mail
--mail-user | value | leave | mail
--mcs-label | value | keep |
--mem | value | mem |
--mem-bind | value | keep |
--mem-per-cpu | value | mem_per_cpu |
--mem-per-gpu | value | mem_per_gpu |
--mincpus | value | keep |
--network | value | keep |
--nice | optional | keep |
--no-kill -k | optional | keep |
--no-requeue | none | leave | again
--nodefile -F | value | refuse | The file names nodes of one cluster, and stays here.
--nodelist -w | value | keep |
--nodes -N | value | nodes |
--ntasks -n --tasks | value | tasks |
--ntasks-per-core | value | keep |
--ntasks-per-gpu | value | keep |
--ntasks-per-node --tasks-per-node | value | tasks_per_node |
--ntasks-per-socket | value | keep |
--open-mode | value | leave | Each run of a job begins with empty files.
--output -o | value | stdout |
--overcommit -O | none | keep |
--oversubscribe -s --share | none | keep |
--parsable | none | leave | quiet
--partition -p | value | partition |
--power | value | keep |
--prefer | value | keep |
--priority | value | keep |
--profile | value | keep |
--propagate | optional | keep |
--qos -q | value | qos |
--quiet -Q | none | leave | quiet
--reboot | none | keep |
--requeue | none | leave | again
--reservation | value | reservation |
--segment | value | keep |
--signal | value | refuse | signal
--sockets-per-node | value | keep |
--spread-job | none | keep |
--stepmgr | none | keep |
--switches | value | keep |
--test-only | none | leave | test
--thread-spec | value | keep |
--threads-per-core | value | keep |
--time -t | value | time |
--time-min | value | keep |
--tmp | value | tmp |
--tres-bind | value | keep |
--tres-per-task | value | keep |
--uid | value | refuse | user
--usage | none | leave | quiet
--use-min-nodes | none | keep |
--verbose -v | none | leave | quiet
--version -V | none | leave | quiet
--wait -W | none | leave | wait
--wait-all-nodes | value | keep |
--wckey | value | keep |
--wrap | value | refuse | It stands for a script, which this file is already.
""",
    parts=("hetjob", "packjob", ":"),
)
_DAYS = re.compile(r"(\d{1,6})-(\d{1,4})(?::(\d{1,4})(?::(\d{1,4}))?)?", re.ASCII)
_MINUTES = re.compile(r"(?:(?:(\d{1,8}):)?(\d{1,8}):(\d{1,4}))|(\d{1,9})", re.ASCII)
_GPU = re.compile(r"(?:gres[:/])?gpu(?::([A-Za-z][\w.-]*))?(?:[:=](\d{1,6}))?", re.ASCII)
_GPUS = re.compile(r"(?:([A-Za-z][\w.-]*):)?(\d{1,6})", re.ASCII)
_SYMBOLS = re.compile(r"[\w.+-]+(?:&[\w.+-]+)*", re.ASCII)
_CPUS = ("NodeNumber",)
_GPU_NAMES = ("GPUNumber", "GPUModel")
_OF_ATTRIBUTES = {
    "SLURM_JOB_PARTITION": "QueueName",
    "SLURM_JOB_ACCOUNT": "Account",
    "SLURM_JOB_QOS": "QOS",
    "SLURM_MEM_PER_NODE": "MemoryPerNode",
    "SLURM_MEM_PER_CPU": "MemoryPerCPU",
    "SLURM_GPUS_ON_NODE": "GPUNumber",
}
_OF_FIGURES = {
    "SLURM_GPUS": "gpus",
    "SLURM_GPUS_PER_NODE": "gpus_per_node",
    "SLURM_GPUS_PER_TASK": "gpus_per_task",
    "SLURM_CPUS_PER_GPU": "cpus_per_gpu",
}
"""Variables by what they tell of."""


def _time(ledger: Ledger, at: Directive, value: str) -> None:
    """Minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on."""
    if value.lower() in ("0", "infinite", "unlimited", "-1"):
        ledger.leave_out(at, "Without WallTime the limit of the site holds.")
        return
    if days := _DAYS.fullmatch(value):
        numbers = [int(part or 0) for part in days.groups()]
        seconds = numbers[0] * 86400 + numbers[1] * 3600 + numbers[2] * 60 + numbers[3]
    elif clock := _MINUTES.fullmatch(value):
        hours, minutes, rest, alone = (int(part or 0) for part in clock.groups())
        seconds = hours * 3600 + (minutes + alone) * 60 + rest
    else:
        raise ValueError(f"“{value}” is no time such as 12:00:00, 90 (minutes) or 2-12.")
    if not 0 < seconds < 10**9:
        raise ValueError(f"“{value}” is no time that a job can have.")
    ledger.attribute(at, "WallTime", time_text(seconds))


def _nodes(ledger: Ledger, at: Directive, value: str) -> None:
    """A number, or the least and the most."""
    least, _, most = value.partition("-")
    if most and shared.whole(most) < shared.whole(least):
        raise ValueError(f"“{value}” has no numbers in it.")
    why = f"The least number; up to {most} were allowed." if most and most != least else ""
    ledger.figure(at, "nodes", shared.whole(least), "HostNumber", *_CPUS, why=why)


def _mem(ledger: Ledger, at: Directive, value: str) -> None:
    if value == "0":
        ledger.attribute(at, "WholeNodes", True, "All memory of a node comes with the whole node.")
    else:
        shared.memory("memory_node", "m", "MemoryPerNode")(ledger, at, value)


def _gpus(key: str) -> Meaning:
    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        found = _GPUS.fullmatch(value)
        number = count(found[2]) if found else None
        if found is None or number is None:
            raise ValueError(f"“{value}” is no number of GPUs, such as 2 or a100:2.")
        _gpu_figure(ledger, at, key, number, found[1])

    return meaning


def _gpu_figure(ledger: Ledger, at: Directive, key: str, number: int, model: str | None) -> None:
    if model and model.lower() != "gpu":
        ledger.values["GPUModel"] = model
    else:
        ledger.values.pop("GPUModel", None)
    ledger.figure(at, key, number, *_GPU_NAMES, owner="gpus")


def _gres(ledger: Ledger, at: Directive, value: str) -> None:
    for part in value.split(","):
        one = replace(at, option=f"--gres={part}")
        found = _GPU.fullmatch(part)
        if found is None:
            ledger.system_only(one, f"--gres={part}")
        else:
            number = shared.whole(found[2]) if found[2] is not None else 1
            _gpu_figure(ledger, one, "gpus_per_node", number, found[1])


def _exclusive(ledger: Ledger, at: Directive, value: str) -> None:
    if value:
        ledger.system_only(at, f"--exclusive={value}")
    else:
        ledger.attribute(at, "WholeNodes", True)


def _features(ledger: Ledger, at: Directive, value: str) -> None:
    if _SYMBOLS.fullmatch(value):
        ledger.more(at, "Features", value.split("&"))
    else:
        why = "A choice between features, or counts of them, has no form that other systems know."
        ledger.system_only(at, f"--constraint={value}", why=why)


def _licenses(ledger: Ledger, at: Directive, value: str) -> None:
    if "|" in value:
        ledger.system_only(at, f"--licenses={value}")
    else:
        shared.licenses(ledger, at, value.replace("=", ":"))


def _export(ledger: Ledger, at: Directive, value: str) -> None:
    parts = [part for part in value.split(",") if part.strip()]
    plain = [part for part in parts if part.strip().upper() not in ("ALL", "NONE", "NIL")]
    if len(plain) < len(parts):
        ledger.leave_out(replace(at, option="--export"), shared.NO_LOGIN)
    shared.assignments(ledger, at, plain)


MEANINGS: dict[str, Meaning] = {
    "account": shared.text_attribute("Account"),
    "array": shared.array,
    "cpus_per_gpu": shared.figure("cpus_per_gpu", *_CPUS),
    "cpus_per_task": shared.figure("cpus_per_task", *_CPUS),
    "exclusive": _exclusive,
    "export": _export,
    "features": _features,
    "gpus": _gpus("gpus"),
    "gpus_per_node": _gpus("gpus_per_node"),
    "gpus_per_task": _gpus("gpus_per_task"),
    "gres": _gres,
    "licenses": _licenses,
    "mem": _mem,
    "mem_per_cpu": shared.memory("memory_cpu", "m", "MemoryPerCPU"),
    "mem_per_gpu": shared.memory("memory_gpu", "m", "MemoryPerNode"),
    "name": shared.job_name,
    "nodes": _nodes,
    "partition": shared.queue,
    "qos": shared.text_attribute("QOS"),
    "reservation": shared.text_attribute("Reservation"),
    "stderr": shared.output("StdError"),
    "stdin": shared.input_file,
    "stdout": shared.output("StdOutput"),
    "tasks": shared.figure("tasks", *_CPUS, "HostNumber"),
    "tasks_per_node": shared.figure("tasks_per_node", *_CPUS, "HostNumber"),
    "time": _time,
    "tmp": shared.scratch("m"),
}
"""What the options mean that the table does not explain itself."""


def variables(ledger: Ledger) -> dict[str, str]:
    """What the script may read of its own options, which another system does not tell it."""
    figures, indices = ledger.figures, ledger.indices
    tasks = str(figures["all_cpus"] // figures.get("cpus_per_task", 1))
    found = {
        "SLURM_JOB_NAME": str(ledger.values["JobName"]),
        "SLURM_NTASKS": tasks,
        "SLURM_NPROCS": tasks,
    }
    if "scattered" not in figures:
        nodes = figures.get("nodes", 1)
        each = -(-int(tasks) // nodes)
        found |= dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), str(nodes))
        found["SLURM_TASKS_PER_NODE"] = f"{each}(x{nodes})" if nodes > 1 else str(each)
    found |= shared.asked_names(ledger, _OF_ATTRIBUTES)
    found |= {name: str(figures[key]) for name, key in _OF_FIGURES.items() if key in figures}
    if "cpus_per_task" in figures:
        found["SLURM_CPUS_PER_TASK"] = str(figures["cpus_per_task"])
    if "tasks_per_node" in figures:
        found["SLURM_NTASKS_PER_NODE"] = str(figures["tasks_per_node"])
    if indices is not None:
        found |= {
            "SLURM_ARRAY_TASK_ID": "_PARAM_",
            "SLURM_ARRAY_TASK_COUNT": str(len(indices.values)),
            "SLURM_ARRAY_TASK_MIN": str(min(indices.values)),
            "SLURM_ARRAY_TASK_MAX": str(max(indices.values)),
            "SLURM_ARRAY_TASK_STEP": str(indices.step),
        }
    return found
