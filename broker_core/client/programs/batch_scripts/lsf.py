"""`#BSUB` lines: the options of bsub of LSF."""

from __future__ import annotations

import re
from dataclasses import replace

from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.amounts import count, time_text
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, carry_out
from broker_core.client.programs.batch_scripts.options import OptionTable

TABLE = OptionTable("""
-a | value | keep |
-alloc_flags | value | keep |
-app | value | keep |
-ar | none | keep |
-B | none | leave | mail
-b | value | refuse | later
-C | value | keep |
-c | value | keep |
-clusters | value | leave | Where it runs is chosen among all sites; `--site` names one.
-cn_cu | value | keep |
-cn_mem | value | keep |
-core_isolation | value | keep |
-csm | value | keep |
-cwd | value | leave | folder
-D | value | keep |
-data | value | refuse | files
-datagrp | value | refuse | files
-E | value | refuse | What has to run before the program is part of the script.
-Ep | value | refuse | What has to run after the program is part of the script.
-e | value | stderr |
-env | value | variables |
-eo | value | stderr |
-eptl | value | keep |
-ext | value | keep |
-extsched | value | keep |
-F | value | keep |
-f | value | refuse | files
-freq | value | keep |
-G | value | keep |
-g | value | keep |
-gpu | value | gpu |
-H | none | refuse | hold
-h | none | leave | quiet
-hl | none | keep |
-hostfile | value | refuse | The file names hosts of one cluster, and stays here.
-I | none | refuse | interactive
-Ip | none | refuse | interactive
-Is | none | refuse | interactive
-i | value | stdin |
-is | value | stdin |
-J | value | name |
-Jd | value | keep |
-jobaff | value | keep |
-jsm | value | keep |
-K | none | leave | wait
-k | value | keep |
-L | value | interpreter |
-Lp | value | keep |
-ln_mem | value | keep |
-ln_slots | value | keep |
-M | value | memory_limit |
-m | value | keep |
-N | none | leave | mail
-Ne | none | leave | mail
-n | value | cpus |
-nnodes | value | nodes |
-notify | value | leave | mail
-o | value | stdout |
-oo | value | stdout |
-outdir | value | leave | folder
-P | value | account |
-p | value | keep |
-pack | value | refuse | The file of further jobs stays here; submit each by itself.
-ptl | value | keep |
-Q | value | leave | again
-q | value | queue |
-R | value | resources |
-r | none | leave | again
-rn | none | leave | again
-rcacct | value | keep |
-rnc | value | keep |
-S | value | keep |
-s | value | refuse | signal
-sla | value | keep |
-smt | value | keep |
-sp | value | keep |
-stage | value | refuse | files
-step_cgroup | value | keep |
-T | value | keep |
-t | value | keep |
-ti | none | leave | order
-tty | none | refuse | interactive
-U | value | reservation |
-u | value | leave | mail
-ul | none | leave | login
-V | none | leave | quiet
-v | value | keep |
-W | value | time |
-We | value | keep |
-w | value | refuse | order
-wa | value | refuse | signal
-wt | value | refuse | signal
-x | none | whole_nodes |
-XF | none | refuse | window
-yaml | value | refuse | The file of options stays here; write them into the script.
""")
_CPUS = ("NodeNumber",)
_ARRAY = re.compile(r"([^\[\]]*)\[([^\]]*)\](%\d+)?")
_SECTION = re.compile(r"(\w+)\s*\[([^\]]*)\]")
_TIME = re.compile(r"(?:(\d{1,7}):)?(\d{1,8})(?:/.*)?", re.ASCII)
_BY_HOST = "LSF counts it for each host, unless a site has set it otherwise."


def _name(ledger: Ledger, at: Directive, value: str) -> None:
    """`name`, or `name[1-10:2]%4`."""
    found = _ARRAY.fullmatch(value.strip())
    if found is None:
        shared.job_name(ledger, at, value)
        return
    if found[1].strip():
        shared.job_name(ledger, replace(at, option=f"-J {found[1]}"), found[1])
    shared.array(ledger, at, found[2] + (found[3] or ""))


def _time(ledger: Ledger, at: Directive, value: str) -> None:
    """`[hours:]minutes`, with a host whose speed counts behind a slash."""
    found = _TIME.fullmatch(value.strip())
    minutes = int(found[1] or 0) * 60 + int(found[2]) if found else 0
    if not 0 < minutes < 10**7:
        raise ValueError(f"“{value}” is no time such as 12:00 (hours and minutes) or 90 (minutes).")
    ledger.attribute(at, "WallTime", time_text(minutes * 60))


def _cpus(ledger: Ledger, at: Directive, value: str) -> None:
    least, _, most = value.partition(",")
    why = f"The least number; up to {most} were allowed." if most else ""
    ledger.figure(at, "cpus", shared.whole(least), *_CPUS, "HostNumber", why=why)


def _resources(ledger: Ledger, at: Directive, value: str) -> None:
    """`-R "select[...] rusage[...] span[...]"`; what has no other meaning is for LSF alone."""
    sections = list(_SECTION.finditer(value))
    if not sections:
        ledger.system_only(at, "-R", value)
    for section in sections:
        one = replace(at, option=f"-R {section[0]}")
        if section[1] == "span":
            carry_out(ledger, one, section[2], _span)
        elif section[1] == "rusage":
            _usage(ledger, one, section[2])
        else:
            ledger.system_only(one, "-R", section[0], why="Its names are those of LSF.")


def _span(ledger: Ledger, at: Directive, value: str) -> None:
    name, _, number = value.replace(" ", "").partition("=")
    if name == "hosts" and count(number):
        ledger.figure(at, "nodes", shared.whole(number), "HostNumber")
    elif name == "ptile" and count(number):
        ledger.figure(at, "cpus_on_node", shared.whole(number), "HostNumber")
    else:
        ledger.system_only(at, "-R", f"span[{value}]")


def _usage(ledger: Ledger, at: Directive, value: str) -> None:
    for part in re.split(r"[:,]", value):
        name, _, amount = (word.strip() for word in part.partition("="))
        one = replace(at, option=f"-R rusage[{part.strip()}]")
        if name == "mem":
            carry_out(ledger, one, amount, _memory)
        elif name in ("ngpus_excl_p", "ngpus_physical", "ngpus", "ngpus_shared"):
            carry_out(ledger, one, amount, shared.figure("gpus_per_node", "GPUNumber", owner="gpus"))
        elif name in ("tmp", "scratch"):
            carry_out(ledger, one, amount, shared.scratch("m"))
        else:
            ledger.system_only(one, "-R", f"rusage[{part.strip()}]")


def _memory(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.figure(at, "memory_node", shared.size(value, "m"), "MemoryPerNode", owner="memory", why=_BY_HOST)


def _memory_limit(ledger: Ledger, at: Directive, value: str) -> None:
    why = "A plain number counts in KB." if value.strip().isdigit() else ""
    ledger.figure(at, "memory_limit", shared.size(value, "k"), "MemoryPerNode", why=why)


def _gpu(ledger: Ledger, at: Directive, value: str) -> None:
    """`num=2:gmodel=A100:mode=exclusive_process:mps=no`."""
    for part in value.split(":"):
        name, _, amount = part.partition("=")
        one = replace(at, option=f"-gpu {part}")
        if name == "num":
            number = amount.partition("/")[0]
            carry_out(ledger, one, number, shared.figure("gpus_per_node", "GPUNumber", owner="gpus"))
        elif name == "gmodel":
            carry_out(ledger, one, amount, shared.text_attribute("GPUModel"))
        elif part == "-":
            ledger.figure(one, "gpus_per_node", 1, "GPUNumber", owner="gpus")
        else:
            ledger.leave_out(one, "How GPUs are shared is left to the site.")


def _queue(ledger: Ledger, at: Directive, value: str) -> None:
    shared.queue(ledger, at, ",".join(value.split()))


def _variables(ledger: Ledger, at: Directive, value: str) -> None:
    parts = [part for part in re.split(r",\s*", value) if part.strip()]
    plain = [part for part in parts if part.strip().lower() not in ("all", "none") and part[0] != "~"]
    if len(plain) < len(parts):
        ledger.leave_out(replace(at, option="-env"), shared.NO_LOGIN)
    shared.assignments(ledger, at, plain)


def _whole_nodes(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.attribute(at, "WholeNodes", True)


MEANINGS: dict[str, Meaning] = {
    "account": shared.text_attribute("Account"),
    "cpus": _cpus,
    "gpu": _gpu,
    "interpreter": shared.interpreter,
    "memory_limit": _memory_limit,
    "name": _name,
    "nodes": shared.figure("nodes", "HostNumber", *_CPUS),
    "queue": _queue,
    "reservation": shared.text_attribute("Reservation"),
    "resources": _resources,
    "stderr": shared.output("StdError"),
    "stdin": shared.input_file,
    "stdout": shared.output("StdOutput"),
    "time": _time,
    "variables": _variables,
    "whole_nodes": _whole_nodes,
}
"""What the options mean that the table does not explain itself."""


def variables(ledger: Ledger) -> dict[str, str]:
    """What the script may read of its own options, which another system does not tell it."""
    found = {
        "LSB_JOBNAME": str(ledger.values["JobName"]),
        "LSB_DJOB_NUMPROC": str(ledger.figures["all_cpus"]),
        "LSB_MAX_NUM_PROCESSORS": str(ledger.figures["all_cpus"]),
        "LSB_JOBINDEX": "0",
    }
    found |= shared.asked_names(ledger, {"LSB_QUEUE": "QueueName"})
    if (indices := ledger.indices) is not None:
        found |= {
            "LSB_JOBINDEX": "_PARAM_",
            "LSB_JOBINDEX_STEP": str(indices.step),
            "LSB_JOBINDEX_END": str(max(indices.values)),
        }
    return found
