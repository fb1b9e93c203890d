"""Looking what is at a host before it becomes a site: one script, one exchange."""

from __future__ import annotations

import re

from broker_core.errors import CrossDeskError
from broker_core.jobs.placement import THIS_MACHINE
from broker_core.sites.batch.detection_script import SEPARATOR, Probed, detection_script, read_probes
from broker_core.sites.batch.system import BatchSystem, Queue
from broker_core.sites.batch.systems import SYSTEMS
from broker_core.sites.software import module_names
from broker_core.sites.transport.contract import Transport
from broker_core.wire.site_states import DetectionState
from broker_core.wire.sites import Detection, DetectRequest, QueueFound, SiteSpec, SystemFound

DEADLINE = 150.0
"""Seconds for all probes together; each has its own limit."""
_MISSING = 127
_LONGEST_LINE = 200
"""Characters of the last line of a command that failed, which are told."""
_TIMED_OUT = 124
_ADDRESS = re.compile(r"[0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%.*)?")
"""Numbers instead of a host's name."""
_MPI = (
    ("openmpi", re.compile(r"\(Open ?(?:MPI|RTE)\) (\d[\w.]*)")),
    ("intelmpi", re.compile(r"Intel\(R\) MPI Library.*?Version (\d[\w.]*)")),
    ("mpich", re.compile(r"HYDRA build details:.*?Version: +(\d[\w.]*)")),
)


async def detect(transport: Transport, request: DetectRequest) -> Detection:
    """What is at the host that `transport` leads to; `id` is left empty.

    `reason` tells why nothing there can be used, if so. Raises LinkLost, and CrossDeskError where the host's
    answer makes no sense.
    """
    script = detection_script(SYSTEMS.values(), request.environment)
    reply = await transport.run(script, deadline=DEADLINE)
    try:
        probes = read_probes(reply.out.decode(errors="replace"))
    except ValueError as error:
        said = reply.err.decode(errors="replace").strip()
        raise CrossDeskError(
            f"The host did not say what is there: {said[-500:] or error}",
            place=request.host,
            code="strange_host",
            remedy="Log in there by hand and look whether /bin/sh runs as usual.",
        ) from None
    return interpret(probes, request)


def interpret(probes: dict[str, Probed], request: DetectRequest) -> Detection:
    """The answer that the probes make."""
    found = [one for system in SYSTEMS.values() if (one := _system(system, probes))]
    # The order is kept, but what cannot be used comes last.
    found.sort(key=lambda one: bool(one[0].trouble))
    host, user, home = [*_lines(probes, "host"), "", "", ""][:3]
    suggestion = None
    if found and not found[0][0].trouble:
        system, by_login = found[0]
        suggestion = _suggestion(request, host, system, _variables(probes) if by_login else {})
    return Detection(
        id="",
        state=DetectionState.FOUND,
        reason="" if suggestion else _nothing([system for system, _ in found]),
        host=host,
        user=user,
        home=home,
        systems=[system for system, _ in found],
        mpi=_mpi(_lines(probes, "mpi")),
        python=" ".join(_lines(probes, "python"))[:40],
        outbound={"yes": True, "no": False}.get("".join(_lines(probes, "outbound"))),
        modules=module_names(_lines(probes, "modules")),
        suggestion=suggestion,
    )


def _system(system: BatchSystem, probes: dict[str, Probed]) -> tuple[SystemFound, bool] | None:
    """A batch system whose commands are there, and whether they need the variables of a login shell."""
    tries = [(probes.get(f"{place}.{system.kind}"), place == "login") for place in ("plain", "login")]
    there = [(probe, by_login) for probe, by_login in tries if probe and probe.status != _MISSING]
    if not there:
        return None
    probe, by_login = min(there, key=lambda one: one[0].status != 0)
    return _judged(system, probe), by_login


def _judged(system: BatchSystem, probe: Probed) -> SystemFound:
    version, asked, listing = "\n".join(probe.out).partition(f"{SEPARATOR}\n")
    found = SystemFound(kind=system.kind, title=system.title, version=version.strip().partition("\n")[0])
    if probe.status != 0:
        found.trouble = _trouble(system, probe, asked=bool(asked))
        return found
    try:
        found.queues = [_queue(queue) for queue in system.described(f"{listing}\n")]
    except ValueError as error:
        found.trouble = f"The list of its queues cannot be read: {error}"
        return found
    if not any(queue.open for queue in found.queues):
        found.trouble = "It has no queue that takes jobs; ask the site's administrator for one."
    return found


def _queue(queue: Queue) -> QueueFound:
    return QueueFound(
        name=queue.name,
        total_cpus=queue.total,
        free_cpus=queue.free,
        wall_limit=queue.wall_limit,
        memory=queue.memory,
        open=queue.open,
        default=queue.default,
    )


def _trouble(system: BatchSystem, probe: Probed, *, asked: bool) -> str:
    said = next((line.strip() for line in reversed(probe.err) if line.strip()), "")[:_LONGEST_LINE]
    if probe.status == _TIMED_OUT:
        said = "it did not answer in time"
    what = "does not list its queues" if asked else "does not answer"
    return (
        f"Its commands are there, but it {what}: {said or f'exit status {probe.status}'}. "
        f"If {system.title} works when you log in, its variables are set by your profile: add them to the "
        "site's environment."
    )


def _nothing(found: list[SystemFound]) -> str:
    if not found:
        return (
            "There is neither a batch system nor what a host without one needs: Linux with flock and setsid."
        )
    return " ".join(f"{system.title}: {system.trouble}" for system in found)


def _lines(probes: dict[str, Probed], name: str) -> list[str]:
    """What a probe printed, unless it failed."""
    probe = probes.get(name)
    return probe.out if probe is not None and probe.status == 0 else []


def _variables(probes: dict[str, Probed]) -> dict[str, str]:
    pairs = (line.partition("=") for line in _lines(probes, "variables"))
    return {name: value for name, _, value in pairs if name and value}


def _mpi(lines: list[str]) -> list[str]:
    """Implementations with their versions, each once."""
    found = (
        f"{name} {match[1]}" for line in lines for name, pattern in _MPI if (match := pattern.search(line))
    )
    return list(dict.fromkeys(found))


def _suggestion(
    request: DetectRequest, host: str, system: SystemFound, variables: dict[str, str]
) -> SiteSpec:
    return SiteSpec(
        name=_name(request, host, system.kind),
        kind=system.kind,
        host=request.host,
        port=request.port,
        user=request.user,
        jump=request.jump,
        environment=variables | request.environment,
    )


def _name(request: DetectRequest, host: str, kind: str) -> str:
    """The alias that was given, or else the host's own name."""
    alias = request.host.rpartition("@")[2]
    if alias.lower() == THIS_MACHINE or _ADDRESS.fullmatch(alias):
        alias = ""
    name = (alias or (host if request.host else f"{host.partition('.')[0]}-{kind}")).lower()
    name = re.sub(r"[^a-z0-9.-]+", "-", name).strip(".-")[:64].strip(".-")
    return name if name not in ("", THIS_MACHINE) else f"{kind}-site"
