"""A job of PSI/J as a description and a launch script of CrossDesk."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from psij import InvalidJobException, JobSpec, ResourceSpecV1

from broker_core.jdl.syntax.write import value_text

SCRIPT = "psij_launch.sh"
"""Name of the launch script in the job's directory."""
OWN = "crossdesk."
"""Custom attributes that begin so are attributes of the description, their values as written there."""
_SEVERAL = """\
__rank=0 __processes=
while [ "$__rank" -lt {count} ]; do
    PSIJ_RANK=$__rank {words} &
    __processes="$__processes $!" __rank=$((__rank + 1))
done{given}
__code=0
for __process in $__processes; do wait "$__process" || __code=$?; done"""


def script_of(spec: JobSpec) -> str:
    """The launch script, for a POSIX shell; raises InvalidJobException."""
    lines = ["#!/bin/sh", *_variables(spec)]
    if spec.directory is not None:
        lines.append(f"cd {shlex.quote(str(spec.directory))} || exit")
    if spec.pre_launch is not None:
        lines.append(f". {shlex.quote(str(spec.pre_launch))}")
    lines += [_launch(spec), "__code=${__code:-$?}"]
    if spec.post_launch is not None:
        lines.append(f". {shlex.quote(str(spec.post_launch))}")
    return "\n".join([*lines, "exit $__code\n"])


def description_of(spec: JobSpec, script: str) -> str:
    """The description that sends the file `script` along and runs it; raises InvalidJobException."""
    wanted: dict[str, object] = {
        "Executable": SCRIPT,
        "StdOutput": "psij.out",
        "StdError": "psij.err",
        "InputSandbox": [script],
    }
    _resources(spec, wanted)
    conditions = []
    attributes = spec.attributes
    if attributes is not None:
        if attributes.duration is not None:
            wanted["WallTime"] = max(1, round(attributes.duration.total_seconds()))
        if attributes.account is not None:
            wanted["Account"] = attributes.account
        if attributes.reservation_id is not None:
            wanted["Reservation"] = attributes.reservation_id
        if attributes.queue_name is not None:
            wanted["QueueName"] = attributes.queue_name
    lines = {name.lower(): f"{name} = {value_text(value)};" for name, value in wanted.items()}
    for name, value in _own(spec):
        if name.lower() == "requirements":
            conditions.append(f"({value})")
        else:
            lines[name.lower()] = f"{name} = {value};"
    if conditions:
        lines["requirements"] = f"Requirements = {' && '.join(conditions)};"
    return "\n".join(lines.values()) + "\n"


def _own(spec: JobSpec) -> Iterator[tuple[str, str]]:
    given = spec.attributes.custom_attributes if spec.attributes is not None else None
    for name, value in (given or {}).items():
        if name.startswith(OWN):
            yield name.removeprefix(OWN), str(value)


def _resources(spec: JobSpec, wanted: dict[str, object]) -> None:
    """Note in `wanted` what the job needs: GPUs and memory by node, as batch systems count them."""
    asked = spec.resources
    if asked is None:
        return
    if not isinstance(asked, ResourceSpecV1):
        raise InvalidJobException(f"Resources of version {asked.version} are not understood.")
    nodes = asked.computed_node_count
    cpus = asked.computed_process_count * (asked.cpu_cores_per_process or 1)
    if cpus > 1:
        wanted |= {"JobType": "Parallel", "SubJobType": "plain", "CpuNumber": cpus}
        wanted["HostNumber"] = nodes
    if asked.gpu_cores_per_process:
        wanted["GPUNumber"] = asked.gpu_cores_per_process * -(-asked.computed_process_count // nodes)
    if asked.exclusive_node_use:
        wanted["WholeNodes"] = True
    if asked.memory:
        wanted["MemoryPerNode"] = -(-asked.memory // (nodes << 20))


def _variables(spec: JobSpec) -> Iterator[str]:
    given = spec.environment or {}
    for name in given:
        if not name.isascii() or not name.isidentifier():
            raise InvalidJobException(f"The variable {name!r} cannot be set in a shell.")
    if not spec.inherit_environment:
        pairs = [f"{name}={value}" for name, value in given.items()]
        again = shlex.join(["env", "-i", "__psij_clean=1", *pairs])
        yield f'[ -n "$__psij_clean" ] || exec {again} /bin/sh "$0"'
        yield "unset __psij_clean"
        return
    for name, value in given.items():
        yield f"export {name}={shlex.quote(value)}"


def _launch(spec: JobSpec) -> str:
    """The lines that run the program as often as its launcher does."""
    if not spec.executable:
        raise InvalidJobException("The job has no executable.")
    count = spec.resources.computed_process_count if isinstance(spec.resources, ResourceSpecV1) else 1
    launcher = spec.launcher or ("single" if count == 1 else "multiple")
    words = shlex.join([spec.executable, *(spec.arguments or [])])
    taken = _redirected((("<", spec.stdin_path),))
    given = _redirected(((">", spec.stdout_path), ("2>", spec.stderr_path)))
    if launcher == "single":
        return f"{words}{taken}{given}"
    if launcher in ("mpirun", "srun"):
        return f"{launcher} -n {count} {words}{taken}{given}"
    if launcher == "multiple":
        return _SEVERAL.format(count=count, words=f"{words}{taken}", given=given)
    raise InvalidJobException(
        f"There is no launcher {launcher!r} here: use single, multiple, mpirun or srun."
    )


def _redirected(ways: Iterable[tuple[str, Path | None]]) -> str:
    """Redirections to the files that the job names, as its site sees them."""
    return "".join(f" {way}{shlex.quote(str(path))}" for way, path in ways if path is not None)
