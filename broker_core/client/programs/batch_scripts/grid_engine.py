"""`#$` lines: the options of qsub of Grid Engine (Son of Grid Engine, Univa, Altair)."""

from __future__ import annotations

import re
from dataclasses import replace

from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, carry_out
from broker_core.client.programs.batch_scripts.options import OptionTable

TABLE = OptionTable(
    """
-@ | value | refuse | The file of further options stays here; write them into the script.
-a | value | refuse | later
-A | value | keep |
-ac | value | keep |
-adds | pair | keep |
-ar | value | reservation |
-b | value | binary |
-binding | value | keep |
-c | value | keep |
-C | value | leave | Directives are found by #$.
-ckpt | value | keep |
-clear | none | leave | Options of files of defaults are not read here.
-clearp | value | leave | Options of files of defaults are not read here.
-cwd | none | leave | folder
-dc | value | keep |
-display | value | refuse | window
-dl | value | keep |
-e | value | stderr |
-h | optional | refuse | hold
-hard | none | leave | What follows is a requirement, as it is without this word.
-hold_jid | value | refuse | order
-hold_jid_ad | value | refuse | order
-i | value | stdin |
-j | value | join |
-js | value | keep |
-jsv | value | keep |
-l | value | resources |
-m | value | leave | mail
-M | value | leave | mail
-masterq | value | keep |
-mbind | value | keep |
-N | value | name |
-notify | none | refuse | signal
-now | value | leave | again
-o | value | stdout |
-ot | value | keep |
-P | value | account |
-p | value | keep |
-par | value | keep |
-pe | pair | parallel |
-pty | value | refuse | interactive
-q | value | queue |
-R | value | keep |
-r | value | leave | again
-rou | value | keep |
-S | value | interpreter |
-sc | value | keep |
-shell | value | leave | A shell reads the script in any case.
-soft | none | soft |
-sync | value | leave | wait
-t | value | array |
-tc | value | tasks_at_once |
-terse | none | leave | quiet
-u | value | refuse | user
-v | value | variables |
-V | none | leave | login
-verify | none | leave | quiet
-w | value | leave | test
-wd | value | leave | folder
""",
    glued=False,
)
_FILES = {
    "$JOB_NAME": shared.JOB,
    "${JOB_NAME}": shared.JOB,
    "$TASK_ID": shared.TASK,
    "${TASK_ID}": shared.TASK,
    "$SGE_TASK_ID": shared.TASK,
    "$JOB_ID": shared.NUMBER,
    "${JOB_ID}": shared.NUMBER,
    "$HOSTNAME": shared.NUMBER,
    "$USER": shared.NUMBER,
    "$HOME": "",
}
_CPUS = ("NodeNumber",)
_PER_SLOT = shared.memory("memory_cpu", "b", "MemoryPerCPU")
_GPUS = shared.figure("gpus_per_node", "GPUNumber", owner="gpus")
_SCRATCH = shared.with_word(shared.scratch("b"), "-l")
_MODEL = shared.with_word(shared.text_attribute("GPUModel"), "-l")
_ONE_NODE = re.compile(
    r"smp|threaded|multi_?thread|openmp|omp|shm|shared|serial|onenode|local", re.IGNORECASE
)


def _parallel(ledger: Ledger, at: Directive, value: str) -> None:
    """`-pe smp 8`, `-pe mpi 16-32`: a parallel environment of the site and the slots of the job."""
    name, _, slots = value.partition(" ")
    least, _, most = slots.partition("-")
    why = f"The least number; up to {most} were allowed." if most else ""
    ledger.figure(at, "cpus", shared.whole(least or "1"), *_CPUS, "HostNumber", why=why)
    one_node = _ONE_NODE.search(name) is not None
    for key, holds in (("nodes", one_node), ("anywhere", not one_node)):
        ledger.figures.pop(key, None)
        ledger.figures |= {key: 1} if holds else {}
    ledger.leave_out(
        replace(at, option=f"-pe {name}"), "The site's environment is chosen by what HostNumber says."
    )


def _resources(ledger: Ledger, at: Directive, value: str) -> None:
    for part in value.split(","):
        name, equals, amount = part.strip().partition("=")
        one = replace(at, option=f"-l {part.strip()}")
        meaning = RESOURCES.get(name.lower())
        if "soft" in ledger.figures:
            ledger.system_only(one, "-soft", "-l", part.strip(), why="It would be liked and is not required.")
        elif meaning is None:
            ledger.system_only(one, "-l", part.strip(), why="It is a resource of one site's own.")
        else:
            carry_out(ledger, one, amount if equals else "1", meaning)


def _whole_nodes(ledger: Ledger, at: Directive, value: str) -> None:
    if value.lower() in ("1", "true", "yes", "t", "y"):
        ledger.attribute(at, "WholeNodes", True)
    else:
        ledger.leave_out(at, "Nodes are shared unless WholeNodes says otherwise.")


RESOURCES: dict[str, Meaning] = {
    "h_rt": shared.wall_time,
    **dict.fromkeys(("h_vmem", "mem_free", "virtual_free", "mem", "h_rss", "vf", "mf", "s_vmem"), _PER_SLOT),
    **dict.fromkeys(("gpu", "gpus", "ngpus", "gpu_card", "cuda"), _GPUS),
    **dict.fromkeys(("gpu_type", "gpu_model", "cuda_name"), _MODEL),
    **dict.fromkeys(("exclusive", "excl", "exclusive_host"), _whole_nodes),
    **dict.fromkeys(("tmpfs", "tmp_free", "tmpspace", "scratch"), _SCRATCH),
    **dict.fromkeys(("qname", "q"), shared.queue),
}
"""Resources that have a meaning elsewhere, by the names in common use; memory counts for each slot."""


def _queue(ledger: Ledger, at: Directive, value: str) -> None:
    if "@" in value or "*" in value:
        raise ValueError("It names hosts, or several queues by a pattern; QueueName takes one queue.")
    shared.queue(ledger, at, value)


def _join(ledger: Ledger, at: Directive, value: str) -> None:
    if value.lower() in ("y", "yes"):
        ledger.figures["joined"] = 1
        ledger.attribute(at, "StdError", ledger.values.get("StdOutput", "std.out"))
    else:
        ledger.leave_out(at, "Output and errors are files of their own anyway.")


def _array(ledger: Ledger, at: Directive, value: str) -> None:
    if value.startswith("0"):
        raise ValueError("Tasks of Grid Engine are counted from 1.")
    shared.array(ledger, at, value)


def _binary(ledger: Ledger, at: Directive, value: str) -> None:
    if value.lower() in ("y", "yes"):
        raise ValueError("With it Grid Engine does not read the script, and so none of its lines.")
    ledger.leave_out(at, "The file is a script anyway.")


def _soft(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.figures["soft"] = 1
    ledger.leave_out(at, "What follows would be liked and is not required.")


def _variables(ledger: Ledger, at: Directive, value: str) -> None:
    shared.assignments(ledger, at, value.split(","))


MEANINGS: dict[str, Meaning] = {
    "account": shared.text_attribute("Account"),
    "array": _array,
    "binary": _binary,
    "interpreter": shared.interpreter,
    "join": _join,
    "name": shared.job_name,
    "parallel": _parallel,
    "queue": _queue,
    "reservation": shared.text_attribute("Reservation"),
    "resources": _resources,
    "soft": _soft,
    "stderr": shared.output("StdError", _FILES),
    "stdin": shared.input_file,
    "stdout": shared.output("StdOutput", _FILES),
    "tasks_at_once": shared.figure("at_once", "MaxRunningJobs"),
    "variables": _variables,
}
"""What the options mean that the table does not explain itself."""


def variables(ledger: Ledger) -> dict[str, str]:
    """What the script may read of its own options, which another system does not tell it."""
    found = {
        "JOB_NAME": str(ledger.values["JobName"]),
        "NSLOTS": str(ledger.figures["all_cpus"]),
        "SGE_TASK_ID": "undefined",
    }
    found |= shared.asked_names(ledger, {"QUEUE": "QueueName"})
    if "scattered" not in ledger.figures:
        found["NHOSTS"] = str(ledger.figures.get("nodes", 1))
    if (indices := ledger.indices) is not None:
        found |= {
            "SGE_TASK_ID": "_PARAM_",
            "SGE_TASK_FIRST": str(min(indices.values)),
            "SGE_TASK_LAST": str(max(indices.values)),
            "SGE_TASK_STEPSIZE": str(indices.step),
        }
    return found
