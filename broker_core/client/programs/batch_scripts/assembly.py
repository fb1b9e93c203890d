"""The values of a description from the figures of a script, and the description's text."""

from __future__ import annotations

from typing import Any

from broker_core.client.printable import printable
from broker_core.client.programs.batch_scripts.ledger import JdlText, Ledger
from broker_core.client.programs.batch_scripts.meanings import JOB, NUMBER, TASK
from broker_core.client.programs.batch_scripts.translation import BatchDialect
from broker_core.jdl.resource_request import SITE_NAMES
from broker_core.jdl.syntax.write import value_text

_ORDER = (
    *("JobName", "JobType", "SubJobType", "Parameters", "ParameterStart", "ParameterStep", "MaxRunningJobs"),
    *("Executable", "Arguments", "StdInput", "StdOutput", "StdError", "InputSandbox", "OutputSandbox"),
    *("Environment", "NodeNumber", "HostNumber", "WholeNodes"),
    *("MemoryPerNode", "MemoryPerCPU", "GPUNumber", "GPUModel", "ScratchSize", "WallTime"),
    *("QueueName", "Account", "QOS", "Reservation", "NamesOf", "Features", "Licenses"),
    *("Requirements", "BatchOptions"),
)
"""Attributes as the description has them from top to bottom."""
_NAMES_OF_FILES = ("StdOutput", "StdError")
_JOINED = frozenset({BatchDialect.SLURM, BatchDialect.LSF})
"""Systems that write errors into the file for output unless another one is named."""


def work_out(ledger: Ledger, job: str, call: tuple[str, str], files: list[str]) -> None:
    """Complete the values: from figures to attributes, names of files, the program.

    `job` is the job's name where the script gives none; `call` what is started, and the arguments before
    those of the script; `files` travel with the job.
    """
    values = ledger.values
    values.setdefault("JobName", job)
    _shape(ledger)
    _memory(ledger)
    _sweep(ledger)
    _streams(ledger)
    executable, first = call
    values.setdefault("Executable", executable)
    if words := f"{first} {values.get('Arguments', '')}".strip():
        values["Arguments"] = words
    if files:
        values["InputSandbox"] = files
    if ledger.terms:
        terms = [f"({term})" if "||" in term else term for term in ledger.terms]
        values["Requirements"] = JdlText(" && ".join(terms) if len(terms) > 1 else ledger.terms[0])
    if values.keys() & {*SITE_NAMES}:
        values["NamesOf"] = str(ledger.dialect)
    if ledger.words:
        values["BatchOptions"] = JdlText(f"[ {ledger.dialect} = {value_text(ledger.words)} ]")


def set_variables(ledger: Ledger, variables: dict[str, str]) -> None:
    """Write the program's variables down: those of the script's options, and over them its own."""
    on_node = ledger.figures["cpus_on_node"]
    marked = {"CROSSDESK_BATCH_SCRIPT": f"{ledger.dialect} {ledger.figures['all_cpus']} {on_node}"}
    for name, value in (marked | variables | ledger.environment).items():
        ledger.values.setdefault("Environment", []).append(f"{name}={_finished(ledger, value)}")


def _shape(ledger: Ledger) -> None:
    """CPUs, nodes and GPUs."""
    figures, values = ledger.figures, ledger.values
    asked = figures.keys() & {
        "cpus",
        "tasks",
        "tasks_per_node",
        "cpus_per_task",
        "nodes",
        "cpus_on_node",
        "cpus_per_gpu",
    }
    nodes, each = figures.get("nodes"), figures.get("cpus_on_node")
    threads = figures.get("cpus_per_task", 1)
    if "tasks_per_node" in figures:
        each = figures["tasks_per_node"] * threads
    total = figures["tasks"] * threads if "tasks" in figures else figures.get("cpus")
    if total is None:
        total = (nodes or 1) * (each or threads)
    if nodes is None and each is not None and total > each:
        nodes = -(-total // each)
    if "cpus_per_gpu" in figures:
        gpus = figures.get("gpus", figures.get("gpus_per_node", 0) * (nodes or 1))
        total = max(total, gpus * figures["cpus_per_gpu"])
    total = max(total, nodes or 1)
    figures["all_cpus"], figures["cpus_on_node"] = total, -(-total // (nodes or 1))
    if nodes is not None:
        figures["nodes"] = values["HostNumber"] = nodes
    if asked:
        values["NodeNumber"] = total
    if total > 1:
        values |= {"JobType": "Parallel", "SubJobType": "plain"}
        _spread(ledger, nodes is None and each is None)
    _gpus(ledger, nodes or 1)


def _spread(ledger: Ledger, open_shape: bool) -> None:
    """Let CPUs for which the script names no nodes be those of any, where its own system does so.

    Those of one process stay together, and so do GPUs that are counted for the whole job.
    """
    figures, system = ledger.figures, ledger.dialect.system
    owner = "tasks" if ledger.dialect is BatchDialect.SLURM else "cpus"
    by_default = ledger.dialect in (BatchDialect.SLURM, BatchDialect.LSF)
    if not open_shape or figures.get(owner, 1) == 1 or not (by_default or "anywhere" in figures):
        return
    if figures.get("cpus_per_task", 1) > 1 or figures.keys() & {"gpus", "gpus_per_task", "cpus_per_gpu"}:
        ledger.remark(owner, "They are CPUs of one node; write HostNumber to spread them over several.")
        return
    ledger.values["HostNumber"], figures["scattered"] = 0, 1
    spread = f"They may be those of several nodes, as {system} gives them; HostNumber = 1: of one."
    ledger.remark(owner, spread)


def _gpus(ledger: Ledger, nodes: int) -> None:
    figures = ledger.figures
    number = figures.get("gpus_per_node")
    if "gpus" in figures:
        number = -(-figures["gpus"] // nodes)
    if "gpus_per_task" in figures:
        tasks = figures["cpus_on_node"] // figures.get("cpus_per_task", 1)
        number = figures["gpus_per_task"] * max(1, tasks)
    if number is not None:
        ledger.values["GPUNumber"] = number


def _memory(ledger: Ledger) -> None:
    figures, values = ledger.figures, ledger.values
    if "memory_cpu" in figures:
        values["MemoryPerCPU"] = figures["memory_cpu"]
    elif "memory_node" in figures:
        values["MemoryPerNode"] = figures["memory_node"]
    elif "memory_total" in figures and "scattered" in figures:
        values["MemoryPerCPU"] = -(-figures["memory_total"] // figures["all_cpus"])
    elif "memory_total" in figures:
        values["MemoryPerNode"] = -(-figures["memory_total"] // figures.get("nodes", 1))
    elif "memory_gpu" in figures:
        values["MemoryPerNode"] = figures["memory_gpu"] * values.get("GPUNumber", 1)
    elif "memory_limit" in figures:
        values["MemoryPerNode"] = figures["memory_limit"]


def _sweep(ledger: Ledger) -> None:
    """An array as a parametric job: each value is the number of a task."""
    values, indices = ledger.values, ledger.indices
    if indices is not None and isinstance(indices.values, range):
        numbers = indices.values
        values["Parameters"] = numbers.stop
        values |= {"ParameterStart": numbers.start} if numbers.start else {}
        values |= {"ParameterStep": numbers.step} if numbers.step != 1 else {}
    elif indices is not None:
        values["Parameters"] = list(indices.values)
    if "Parameters" in values:
        values |= {"MaxRunningJobs": ledger.figures["at_once"]} if "at_once" in ledger.figures else {}
        parallel = ["Parallel"] if "SubJobType" in values else []
        values["JobType"] = ["Parametric", *parallel] if parallel else "Parametric"


def _streams(ledger: Ledger) -> None:
    """Names of the files for output and errors, now that the job's name is known."""
    values = ledger.values
    for name, value in list(values.items()):
        if isinstance(value, str):
            values[name] = _finished(ledger, value)
        elif isinstance(value, list) and name != "Parameters":
            values[name] = [_finished(ledger, one) for one in value]
    values.setdefault("StdOutput", "std.out")
    joined = ledger.dialect in _JOINED and values["StdOutput"] != "std.out" and "StdError" not in values
    if joined or "joined" in ledger.figures:
        values["StdError"] = values["StdOutput"]
    values.setdefault("StdError", "std.err")
    if values.get("OutputSandbox"):
        both = [values[name] for name in _NAMES_OF_FILES]
        values["OutputSandbox"] = list(dict.fromkeys([*values["OutputSandbox"], *both]))


def _finished(ledger: Ledger, text: str) -> str:
    text = text.replace(JOB, str(ledger.values["JobName"])).replace(NUMBER, "job")
    return text if "Parameters" in ledger.values else text.replace(f".{TASK}", "").replace(TASK, "0")


def description_text(ledger: Ledger) -> str:
    """The description in JDL, with a line that says where it comes from."""
    head = f"// From the batch script {printable(ledger.name)} for {ledger.dialect.system}."
    named = [name for name in _ORDER if name in ledger.values]
    return "\n".join([head, *(f"{name} = {_value(ledger.values[name])};" for name in named)]) + "\n"


def _value(value: Any) -> str:
    return value.text if isinstance(value, JdlText) else value_text(value)
