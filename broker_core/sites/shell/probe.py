"""What a site is like: its queues by the batch system, its software and machine by a probe (CB-UPD-01)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.information.updater import SourceFailed
from broker_core.resources.facts import Facts
from broker_core.resources.tags import ABILITIES
from broker_core.sites.batch.system import Queue
from broker_core.wire.sites import SiteSpec

PROBE = r"""
say() { [ -z "$2" ] || printf '\036%s %s' "$1" "$2"; }
[ ! -r /etc/os-release ] || (
    . /etc/os-release
    say system "$NAME"
    say release "$VERSION_ID"
    say version "$VERSION_CODENAME"
)
say host "$(uname -n)"
say machine "$(uname -m)"
say model "$(sed -n 's/^model name[^:]*: *//p;T;q' /proc/cpuinfo 2>/dev/null)"
say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
for program in python3 bash perl gcc g++ gfortran R octave java apptainer singularity; do
    ! command -v "$program" >/dev/null 2>&1 || say program "$program"
done
for program in ompi_info mpichversion mpiexec.mpich mpiexec.openmpi mpirun impi_info; do
    ! command -v "$program" >/dev/null 2>&1 || say mpi "$program"
done
limit() { if command -v timeout >/dev/null 2>&1; then timeout -k 2 "$@"; else shift; "$@"; fi; }
# There are file systems that need minutes for this list.
say modules "$(limit 20 sh -c '
    for start in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /usr/share/lmod/lmod/init/sh; do
        command -v module >/dev/null 2>&1 || [ ! -r "$start" ] || . "$start" >/dev/null 2>&1
    done
    if command -v module >/dev/null 2>&1; then module avail -t 2>&1; fi
' </dev/null 2>/dev/null | head -n 2000)"
"""
"""Prints what does not change while the site stays as it is."""
_MPI = {
    "ompi_info": "OPENMPI",
    "mpiexec.openmpi": "OPENMPI",
    "mpichversion": "MPICH",
    "mpiexec.mpich": "MPICH",
    "mpirun": "MPI",
    "impi_info": "INTELMPI",
}
_BENCHMARK_SI00 = 2000
"""SpecInt2000 of one core of a common machine; a constant, since nothing can measure it from here."""
_NO_LIMIT = 999_999_999
"""Minutes that stand for no limit, as sites publish it."""
_NAMES = {
    "machine": "GlueHostArchitecturePlatformType",
    "system": "GlueHostOperatingSystemName",
    "release": "GlueHostOperatingSystemRelease",
    "version": "GlueHostOperatingSystemVersion",
    "model": "GlueHostProcessorModel",
}


def read_probe(out: str) -> dict[str, list[str]]:
    """What PROBE printed: word to its values."""
    found: dict[str, list[str]] = {}
    for part in out.split("\x1e")[1:]:
        word, _, value = part.partition(" ")
        found.setdefault(word, []).append(value)
    return found


def tags(probe: dict[str, list[str]]) -> list[str]:
    """Run-time tags: programs, MPI implementations, and modules as `NAME-VERSION`, all in capitals."""
    programs = [name.upper().replace("+", "PLUS") for name in probe.get("program", ())]
    mpi = [_MPI[name] for name in probe.get("mpi", ())]
    lines = "\n".join(probe.get("modules", ())).splitlines()
    modules = [line.strip() for line in lines if line.strip() and not line.strip().endswith(":")]
    names = [one.upper().replace("/", "-").removesuffix("(DEFAULT)") for one in modules if " " not in one]
    return list(dict.fromkeys(["CROSSDESK", "POSIX", *programs, *mpi, *names]))


def facts(
    spec: SiteSpec, kind: str, queues: Sequence[Queue], probe: dict[str, list[str]]
) -> tuple[Facts, ...]:
    """One computing element for each queue that is to be used; raises SourceFailed where none of them is."""
    chosen = [queue for queue in queues if not spec.queues or queue.name in spec.queues]
    if spec.queues and not chosen:
        there = ", ".join(queue.name for queue in queues) or "none"
        raise SourceFailed(
            f"There is no queue {' or '.join(spec.queues)}; there is {there}.",
            place=spec.name,
            remedy="Correct the queues in the settings of the site.",
        )
    return tuple(_facts(spec, kind, queue, probe) for queue in chosen)


def ce_id(spec: SiteSpec, kind: str, queue: str) -> str:
    """`cluster:22/jobmanager-slurm-long`."""
    return f"{spec.name}:{spec.port or 22}/jobmanager-{kind}-{queue}"


def _facts(spec: SiteSpec, kind: str, queue: Queue, probe: dict[str, list[str]]) -> Facts:
    fixed = _fixed(spec, kind, queue, probe)
    waiting, running = queue.waiting_jobs, queue.running_jobs
    busy = 0 if queue.free and not waiting else 1 + waiting // max(1, queue.total)
    counts: dict[str, Any] = {
        "GlueCEStateStatus": "Production" if queue.open else "Closed",
        "GlueCEInfoTotalCPUs": queue.total,
        "GlueCEStateFreeCPUs": queue.free if queue.open else 0,
        "GlueHostFreeCPUs": queue.free if queue.open else 0,
        "GlueCEStateFreeJobSlots": queue.free if queue.open else 0,
        "GlueCEStateRunningJobs": running,
        "GlueCEStateWaitingJobs": waiting,
        "GlueCEStateTotalJobs": running + waiting,
        "GlueCEStateEstimatedResponseTime": 60 * busy,
        "GlueCEStateWorstResponseTime": 3600 * busy,
    }
    return Facts(fixed["GlueCEUniqueID"], spec.name, fixed | counts, frozenset(fixed))


def _fixed(spec: SiteSpec, kind: str, queue: Queue, probe: dict[str, list[str]]) -> dict[str, Any]:
    minutes = _NO_LIMIT if queue.wall_limit is None else int(queue.wall_limit // 60)
    cpus = int(probe.get("cpus", ["1"])[0] or 1)
    found: dict[str, Any] = {
        "GlueCEUniqueID": ce_id(spec, kind, queue.name),
        "GlueCEName": queue.name,
        "GlueCEInfoHostName": spec.host or probe.get("host", ["localhost"])[0],
        "GlueSiteName": spec.name,
        "GlueSiteUniqueID": spec.name,
        "GlueClusterUniqueID": spec.name,
        "GlueCEInfoGatekeeperPort": str(spec.port or 22),
        "GlueCEInfoJobManager": kind,
        "GlueCEInfoLRMSType": kind,
        "GlueCEPolicyMaxRunningJobs": queue.total,
        "GlueCEPolicyAssignedJobSlots": queue.total,
        "GlueCEPolicyMaxSlotsPerJob": queue.total,
        "GlueCEPolicyMaxWallClockTime": minutes,
        "GlueCEPolicyMaxCPUTime": minutes,
        "GlueSubClusterLogicalCPUs": queue.total,
        "GlueHostArchitectureSMPSize": cpus,
        "GlueHostBenchmarkSI00": _BENCHMARK_SI00,
        "GlueHostNetworkAdapterInboundIP": False,
        "GlueHostNetworkAdapterOutboundIP": True,
        "GlueHostApplicationRunTimeEnvironment": tags(probe),
        ABILITIES: ["interactive"],  # the plain agent needs a shell and nothing else
    }
    if queue.memory:
        found |= {"GlueHostMainMemoryRAMSize": queue.memory, "GlueHostMainMemoryVirtualSize": queue.memory}
    return found | {name: probe[word][0] for word, name in _NAMES.items() if word in probe}
