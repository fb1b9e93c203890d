"""`#PBS` lines: the options of qsub of PBS Professional, OpenPBS and Torque."""

from __future__ import annotations

import re
from dataclasses import replace

from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, carry_out
from broker_core.client.programs.batch_scripts.options import OptionTable

TABLE = OptionTable("""
-a | value | refuse | later
-A | value | account |
-b | value | leave | quiet
-c | value | keep |
-C | value | leave | Directives are found by #PBS.
-d | value | leave | folder
-D | value | leave | folder
-e | value | stderr |
-f | none | leave | quiet
-F | value | arguments |
-G | optional | refuse | interactive
-h | none | refuse | hold
-I | none | refuse | interactive
-j | value | join |
-J | value | array |
-k | value | leave | streams
-K | none | leave | again
-l | value | resources |
-L | value | keep |
-m | value | leave | mail
-M | value | leave | mail
-n | none | whole_nodes |
-N | value | name |
-o | value | stdout |
-p | value | keep |
-P | value | keep |
-q | value | queue |
-r | value | leave | again
-R | value | leave | streams
-S | value | interpreter |
-t | value | array |
-T | value | keep |
-u | value | refuse | user
-v | value | variables |
-V | none | leave | login
-w | value | leave | folder
-W | value | more |
-X | none | refuse | window
-x | none | leave | quiet
-z | none | leave | quiet
""")
_FILES = {
    "$PBS_JOBNAME": shared.JOB,
    "${PBS_JOBNAME}": shared.JOB,
    "$PBS_ARRAYID": shared.TASK,
    "^array_index^": shared.TASK,
    "$PBS_JOBID": shared.NUMBER,
    "${PBS_JOBID}": shared.NUMBER,
}
_CPUS = ("NodeNumber",)
_CHUNK = {
    "ncpus": "cpus_on_node",
    "ppn": "cpus_on_node",
    "mem": "memory_node",
    "ngpus": "gpus_per_node",
    "gpus": "gpus_per_node",
}
"""Resources of one chunk or node that become figures."""
_CHUNK_NAMES = {
    "ncpus": _CPUS,
    "ppn": _CPUS,
    "mem": ("MemoryPerNode",),
    "ngpus": ("GPUNumber",),
    "gpus": ("GPUNumber",),
}
_SITES_OWN = "It is a resource of one site's own."
_FURTHER = {"depend": "order", "stagein": "files", "stageout": "files"}
_SCRATCH = frozenset({"jobfs", "tmpspace", "local_scratch"})
_MODEL = frozenset({"gpu_type", "gpu_model", "gputype"})


def _resources(ledger: Ledger, at: Directive, value: str) -> None:
    """`-l`: a list of resources divided by commas."""
    for part in value.split(","):
        name, equals, amount = part.strip().partition("=")
        one = replace(at, option=f"-l {part.strip()}")
        meaning = RESOURCES.get(name.lower())
        if name == "wd":
            ledger.leave_out(one, shared.OWN_FOLDER)
        elif not name:
            ledger.leave_out(one, "Nothing is asked for between two commas.")
        elif meaning is None or not equals:
            ledger.system_only(one, "-l", part.strip(), why=_SITES_OWN)
        else:
            carry_out(ledger, one, amount, meaning)


def _select(ledger: Ledger, at: Directive, value: str) -> None:
    """`2:ncpus=16:mpiprocs=8:mem=32gb`; equal chunks may be divided by `+`, and are added."""
    chunks = [_chunk(one) for one in value.split("+")]
    if any(set(parts) != set(chunks[0][1]) for _, parts in chunks):
        raise ValueError(
            "Chunks of several kinds in one job are a shape that this batch system alone has. Ask for equal "
            "ones as large as the largest, or submit each kind as a job of its own."
        )
    ledger.figure(at, "nodes", sum(number for number, _ in chunks), "HostNumber", *_CPUS)
    for part in chunks[0][1]:
        carry_out(ledger, replace(at, option=part), part, _of_chunk)


def _chunk(text: str) -> tuple[int, list[str]]:
    """How many chunks of a kind, and what each has."""
    head, *parts = text.split(":")
    return (shared.whole(head), parts) if head.isdigit() else (1, [head, *parts])


def _nodes(ledger: Ledger, at: Directive, value: str) -> None:
    """Torque's `2:ppn=8:gpus=1:bigmem`."""
    _select(ledger, at, value.partition("#")[0])
    for word in value.split("#")[1:]:
        if word == "shared":
            ledger.leave_out(
                replace(at, option=f"#{word}"), "Nodes are shared unless WholeNodes says otherwise."
            )
        else:
            ledger.attribute(replace(at, option=f"#{word}"), "WholeNodes", True)


def _of_chunk(ledger: Ledger, at: Directive, part: str) -> None:
    """One part of a chunk or node: a resource, or a property that it must have."""
    name, equals, amount = part.partition("=")
    name = name.lower()
    if not equals:
        carry_out(ledger, at, part, shared.with_word(_feature, "-l", mark=":"))
    elif name == "mem":
        carry_out(ledger, at, amount, shared.memory("memory_node", "b", "MemoryPerNode"))
    elif name in _CHUNK:
        carry_out(ledger, at, amount, shared.figure(_CHUNK[name], *_CHUNK_NAMES[name], owner=_owner(name)))
    elif name == "mpiprocs":
        carry_out(ledger, at, amount, _processes)
    elif name == "ompthreads":
        ledger.variables(at, {"OMP_NUM_THREADS": str(shared.whole(amount))})
    elif name in _MODEL:
        carry_out(ledger, at, amount, shared.with_word(shared.text_attribute("GPUModel"), "-l", mark=":"))
    elif name in _SCRATCH:
        carry_out(ledger, at, amount, shared.with_word(shared.scratch("b"), "-l", mark=":"))
    else:
        ledger.system_only(at, "-l", f":{name}={amount}", why=_SITES_OWN)


def _owner(name: str) -> str:
    return "gpus" if name.endswith("gpus") else _CHUNK[name]


def _processes(ledger: Ledger, at: Directive, value: str) -> None:
    """How many of a chunk's CPUs have a line in the node file; what starts the processes counts them."""
    ledger.figures["processes_on_node"] = shared.whole(value)
    ledger.leave_out(at, "The program's own mpirun starts the processes; the node file lists all CPUs.")


def _anywhere(ledger: Ledger, at: Directive, value: str) -> None:
    """CPUs of any nodes."""
    ledger.figure(at, "cpus", shared.whole(value), *_CPUS, "HostNumber")
    ledger.figures["anywhere"] = 1


def _share(ledger: Ledger, at: Directive, value: str) -> None:
    """`excl`, `scatter:exclhost`, ..."""
    for word in value.split(":"):
        one = replace(at, option=f"-l place={word}")
        if word.startswith("excl"):
            ledger.attribute(one, "WholeNodes", True)
        else:
            ledger.leave_out(one, "HostNumber says over how many nodes the CPUs are spread.")


def _access(ledger: Ledger, at: Directive, value: str) -> None:
    if value.lower() in ("singlejob", "singletask"):
        ledger.attribute(at, "WholeNodes", True)
    else:
        ledger.system_only(at, "-l", f"naccesspolicy={value}")


def _feature(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.more(at, "Features", [shared.resource_name(value)])


def _features(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.more(at, "Features", [shared.resource_name(part) for part in re.split(r"[:&]", value)])


RESOURCES: dict[str, Meaning] = {
    "walltime": shared.wall_time,
    "select": _select,
    "nodes": _nodes,
    "ncpus": shared.figure("cpus", *_CPUS),
    "procs": _anywhere,
    "mem": shared.memory("memory_total", "b", "MemoryPerNode"),
    "pmem": shared.memory("memory_cpu", "b", "MemoryPerCPU"),
    "ngpus": shared.figure("gpus", "GPUNumber", owner="gpus"),
    "gpus": shared.figure("gpus", "GPUNumber", owner="gpus"),
    "place": _share,
    "naccesspolicy": _access,
    "feature": shared.with_word(_features, "-l"),
    "qos": shared.with_word(shared.text_attribute("QOS"), "-l"),
    "advres": shared.with_word(shared.text_attribute("Reservation"), "-l"),
    **dict.fromkeys(_SCRATCH, shared.with_word(shared.scratch("b"), "-l")),
    **dict.fromkeys(_MODEL, shared.with_word(shared.text_attribute("GPUModel"), "-l")),
}
"""Resources of a whole job, by their lower-case names."""


def _join(ledger: Ledger, at: Directive, value: str) -> None:
    if value in ("oe", "eo"):
        ledger.figures["joined"] = 1
        ledger.attribute(at, "StdError", ledger.values.get("StdOutput", "std.out"))
    elif value == "n":
        ledger.leave_out(at, "Output and errors are files of their own anyway.")
    else:
        raise ValueError(f"“{value}” is none of oe, eo and n.")


def _more(ledger: Ledger, at: Directive, value: str) -> None:
    """`-W`: further attributes; those of files and order are no words for one site."""
    name = value.partition("=")[0].strip().lower()
    reason = _FURTHER.get(name)
    if reason is not None:
        carry_out(ledger, at, value, lambda ledger, at, _: ledger.refuse(at, shared.NOTES[reason]))
    elif name in ("block", "sandbox", "interactive"):
        ledger.leave_out(at, shared.NOTES["wait" if name == "block" else "folder"])
    else:
        ledger.system_only(at, "-W", value)


def _queue(ledger: Ledger, at: Directive, value: str) -> None:
    name, _, server = value.partition("@")
    if server:
        ledger.leave_out(replace(at, option=f"@{server}"), "The server is that of the site that is chosen.")
    if name:
        shared.queue(ledger, at, name)


def _variables(ledger: Ledger, at: Directive, value: str) -> None:
    shared.assignments(ledger, at, re.split(r",(?=\s*[A-Za-z_]\w*(?:=|,|\s*$))", value))


def _arguments(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.attribute(at, "Arguments", value)


def _whole_nodes(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.attribute(at, "WholeNodes", True)


MEANINGS: dict[str, Meaning] = {
    "account": shared.text_attribute("Account"),
    "arguments": _arguments,
    "array": shared.array,
    "interpreter": shared.interpreter,
    "join": _join,
    "more": _more,
    "name": shared.job_name,
    "queue": _queue,
    "resources": _resources,
    "stderr": shared.output("StdError", _FILES),
    "stdout": shared.output("StdOutput", _FILES),
    "variables": _variables,
    "whole_nodes": _whole_nodes,
}
"""What the options mean that the table does not explain itself."""


def variables(ledger: Ledger) -> dict[str, str]:
    """What the script may read of its own options, which another system does not tell it."""
    figures = ledger.figures
    found = {
        "PBS_ENVIRONMENT": "PBS_BATCH",
        "PBS_JOBNAME": str(ledger.values["JobName"]),
        "PBS_NUM_PPN": str(figures["cpus_on_node"]),
        "PBS_NP": str(figures["all_cpus"]),
        "NCPUS": str(figures["cpus_on_node"]),
    }
    found |= shared.asked_names(ledger, {"PBS_QUEUE": "QueueName", "PBS_O_QUEUE": "QueueName"})
    if "scattered" not in figures:
        found["PBS_NUM_NODES"] = str(figures.get("nodes", 1))
    if "OMP_NUM_THREADS" not in ledger.environment:
        found["OMP_NUM_THREADS"] = str(max(1, figures["cpus_on_node"] // figures.get("processes_on_node", 1)))
    if ledger.indices is not None:
        found |= {"PBS_ARRAY_INDEX": "_PARAM_", "PBS_ARRAYID": "_PARAM_"}
    return found
