"""What a site has and what its user may ask for: asked apart from its queues, and partly remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from broker_core.information.updater import SourceFailed
from broker_core.resources.facts import SHARED_NODES, START_ESTIMATE, Facts
from broker_core.resources.node_types import CHANGING, node_attributes
from broker_core.resources.tags import ABILITIES
from broker_core.sites.adapter import Launch, SiteFailed
from broker_core.sites.batch.system import (
    BatchJob,
    BatchSystem,
    Entitlements,
    License,
    NodeReport,
    Queue,
    StartForecaster,
)
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.probe import PROBE, tags
from broker_core.sites.shell.workspace import words_of
from broker_core.sites.software import answers
from broker_core.sites.transport.contract import LinkLost, Transport
from broker_core.wire.sites import SiteSpec

AGAIN = 3600.0
"""Seconds after which software, machine and accounts are asked for once more."""
_PATIENCE = 10.0
"""Seconds for an answer without which the site is used all the same."""
_BENCHMARK_SI00 = 2000
"""SpecInt2000 of one core of a common machine; a constant, since nothing can measure it from here."""
_WITH_MPICH = ("inter-cluster", "mpi:mpich-g2")
"""What sites can do, in the words of `JobDescription.needs`, that have MPICH."""
_WITH_PYTHON = "mpi:pacx-mpi"
"""And those that have Python besides, which carries the packets."""
_NO_LIMIT = 999_999_999
"""Minutes that stand for no limit, as sites publish it."""
_LICENSE_USE = "LicenseUse"
_OF_HOST = {
    "machine": "GlueHostArchitecturePlatformType",
    "system": "GlueHostOperatingSystemName",
    "release": "GlueHostOperatingSystemRelease",
    "version": "GlueHostOperatingSystemVersion",
}
"""What nodes are believed to have in common with their login host, unless the batch system knows better."""
_Read = TypeVar("_Read")


class SiteSurvey:
    """Knows all of one site but its queues and jobs.

    Its nodes are asked for with each look, as their GPUs come and go; the login host and the accounts only
    when the connection is new, each hour, and after `renew`.
    """

    def __init__(self, transport: Transport, exchanges: ShellExchanges, system: BatchSystem) -> None:
        self._transport, self._exchanges, self._system = transport, exchanges, system
        self.probe: dict[str, list[str]] = {}
        """Of the login host; see PROBE."""
        self.nodes = NodeReport()
        self.entitlements = Entitlements()
        self._asked: tuple[float, float] | None = None
        """When the whole was asked for, by the monotonic clock, and since when there was a connection."""
        self._silence: dict[str, str] = {}
        """What is not known, and why."""

    def renew(self) -> None:
        """Leave nothing out of the next look."""
        self._asked = None

    async def login_host(self) -> None:
        """Look at the login host and the user's accounts, where that is due; raises LinkLost."""
        now, since = time.monotonic(), self._transport.link.since
        if self._asked is not None and now - self._asked[0] < AGAIN and self._asked[1] == since:
            return
        reply = await self._transport.run(PROBE)
        self.probe = answers(reply.out.decode("utf-8", "replace"))
        known = await self._answer("accounts", self._system.accounts(), self._system.entitlements)
        self.entitlements = known or Entitlements()
        self._asked = now, since

    async def all_nodes(self) -> None:
        """Look at the nodes."""
        report = await self._answer("nodes", self._system.nodes(), self._system.node_report)
        self.nodes = report or NodeReport()

    def facts(self, spec: SiteSpec, queues: Sequence[Queue]) -> tuple[Facts, ...]:
        """One computing element for each queue to be used; raises SourceFailed where none of them is."""
        chosen = [queue for queue in queues if not spec.queues or queue.name in spec.queues]
        if spec.queues and not chosen:
            there = ", ".join(queue.name for queue in queues) or "none"
            raise SourceFailed(
                f"There is no queue {' or '.join(spec.queues)}; there is {there}.",
                place=spec.name,
                remedy="Correct the queues in the settings of the site.",
            )
        names = [queue.name for queue in chosen]
        return tuple(self._facts(spec, queue, self.nodes.beside(queue.name, names)) for queue in chosen)

    def _facts(self, spec: SiteSpec, queue: Queue, beside: Sequence[str]) -> Facts:
        fixed = _settings(spec, self._system.kind, queue, self.probe)
        fixed |= self._delivery(queue) | entitlement_attributes(self.entitlements, queue.name)
        counts = _counts(queue, self.nodes.foreseen_waits.get(queue.name))
        if beside:
            fixed[SHARED_NODES] = [_ce_id(spec, self._system.kind, one) for one in beside]
        if self.nodes.licenses is not None:
            fixed["Licenses"] = sorted(one.name for one in self.nodes.licenses)
            counts[_LICENSE_USE] = [_license(one) for one in self.nodes.licenses]
        static = frozenset(fixed) - CHANGING
        return Facts(fixed["GlueCEUniqueID"], spec.name, fixed | counts, static)

    def _delivery(self, queue: Queue) -> dict[str, Any]:
        """Machine and memory of the nodes; those of the login host only where it is the node."""
        found = {name: self.probe[word][0] for word, name in _OF_HOST.items() if word in self.probe}
        if self._system.kind == "shell" and "model" in self.probe:
            found["GlueHostProcessorModel"] = self.probe["model"][0]
        nodes: dict[str, Any] = found | node_attributes(self.nodes.of(queue.name))
        if memory := nodes.get("NodeMemory", queue.memory):
            nodes |= {"GlueHostMainMemoryRAMSize": memory, "GlueHostMainMemoryVirtualSize": memory}
        return nodes

    async def with_known_names(self, launch: Launch) -> Launch:
        """The launch without names of another site, where its description says so; raises LinkLost."""
        request = launch.order.request
        if not request.names_of:
            return launch
        await self.login_host()
        known = entitlement_attributes(self.entitlements, launch.queue)
        rules = {one["Account"]: one["QOS"] for one in known.get("AccountRules", ())}
        asked = {
            "Account": (request.account, known.get("Accounts")),
            "QOS": (request.qos, rules.get(request.account, known.get("QOSList"))),
            "Reservation": (request.reservation, known.get("Reservations")),
        }
        strange = [
            name for name, (wanted, there) in asked.items() if there is not None and wanted not in there
        ]
        return replace(launch, order=replace(launch.order, request=request.without(strange)))

    async def forecast(self, launch: Launch, options: Sequence[str]) -> float | None:
        """See `RemoteSitePort.forecast`."""
        if not isinstance(self._system, StartForecaster):
            return None
        order = (await self.with_known_names(launch)).order
        limit, asked = order.wall_limit, order.carried(self._system.kind)
        job = BatchJob("forecast", "", order.cpus, launch.queue, limit, options=tuple(options), request=asked)
        command = self._system.forecast(job)
        reply = await self._exchanges.run(lambda _: command, deadline=_PATIENCE)
        try:
            return self._system.forecast_wait(reply.out.decode("utf-8", "replace"))
        except ValueError as error:
            raise SiteFailed(f"{self._system.title} says: {error}") from error

    async def _answer(self, what: str, command: str, read: Callable[[str], _Read]) -> _Read | None:
        """What the batch system says; None where that is of no use, which the connection's log tells."""
        if not command:
            return None
        found, trouble = None, ""
        try:
            reply = await self._exchanges.run(lambda _: command, deadline=_PATIENCE)
            if reply.status:
                trouble = words_of(reply.err)
            else:
                found = read(reply.out.decode("utf-8", "replace"))
        except (LinkLost, ValueError) as error:
            trouble = str(error)
        if trouble and self._silence.get(what) != trouble:
            self._transport.link.note(f"{self._system.title} does not describe its {what}: {trouble}")
        self._silence[what] = trouble
        return found


def entitlement_attributes(known: Entitlements, queue: str) -> dict[str, Any]:
    """Accounts and qualities of service of this user in a queue; nothing where the site keeps none."""
    found: dict[str, Any] = {} if known.reservations is None else {"Reservations": sorted(known.reservations)}
    if not known.associations:
        return found
    rules = known.rules.get(queue)
    mine = [
        one
        for one in known.associations
        if one.queue in ("", queue) and (rules is None or rules.allows_account(one.account))
    ]
    qos = {one.account: [name for name in one.qos if rules is None or rules.allows_qos(name)] for one in mine}
    names = sorted({name for some in qos.values() for name in some})
    found["Accounts"] = sorted(qos)
    if known.default_account in qos:
        found["DefaultAccount"] = known.default_account
    if not known.qos:
        return found
    return found | {
        "QOSList": names,
        "AccountRules": [
            {
                "Account": one.account,
                "QOS": qos[one.account],
                "DefaultQOS": one.default_qos,
                "Limits": one.limits,
            }
            for one in mine
        ],
        "QOSRules": [
            {"QOS": one.name, "Limits": one.limits}
            | ({} if one.wall_limit is None else {"MaxWallClockTime": int(one.wall_limit // 60)})
            for one in known.qos
            if one.name in names
        ],
    }


def _license(one: License) -> dict[str, Any]:
    return {"License": one.name, "Total": one.total, "Free": one.free}


def _ce_id(spec: SiteSpec, kind: str, queue: str) -> str:
    """`cluster:22/jobmanager-slurm-long`."""
    return f"{spec.name}:{spec.port or 22}/jobmanager-{kind}-{queue}"


def _counts(queue: Queue, foreseen: float | None) -> dict[str, Any]:
    waiting, running = queue.waiting_jobs, queue.running_jobs
    busy = 0 if queue.free and not waiting else 1 + waiting // max(1, queue.total)
    source = "idle" if not busy else "guess" if foreseen is None else "batch system"
    return {
        "GlueCEStateStatus": "Production" if queue.open else "Closed",
        "GlueCEInfoTotalCPUs": queue.total,
        "GlueCEStateFreeCPUs": queue.free if queue.open else 0,
        "GlueHostFreeCPUs": queue.free if queue.open else 0,
        "GlueCEStateFreeJobSlots": queue.free if queue.open else 0,
        "GlueCEStateRunningJobs": running,
        "GlueCEStateWaitingJobs": waiting,
        "GlueCEStateTotalJobs": running + waiting,
        "GlueCEStateEstimatedResponseTime": round(foreseen) if busy and foreseen is not None else 60 * busy,
        "GlueCEStateWorstResponseTime": 3600 * busy,
        START_ESTIMATE: source,
    }


def _settings(spec: SiteSpec, kind: str, queue: Queue, probe: dict[str, list[str]]) -> dict[str, Any]:
    minutes = _NO_LIMIT if queue.wall_limit is None else int(queue.wall_limit // 60)
    return {
        "GlueCEUniqueID": _ce_id(spec, kind, queue.name),
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
        "GlueHostBenchmarkSI00": _BENCHMARK_SI00,
        "GlueHostNetworkAdapterInboundIP": spec.reachable,
        "GlueHostApplicationRunTimeEnvironment": tags(probe),
        # The plain agent needs a shell and nothing else; a component of a job over several sites, MPICH.
        ABILITIES: ["interactive", *_over_sites(tags(probe))],
    }


def _over_sites(shown: Sequence[str]) -> tuple[str, ...]:
    """The kinds of jobs over several sites that run where these tags are shown."""
    if "MPICH" not in shown:
        return ()
    return (*_WITH_MPICH, _WITH_PYTHON) if "PYTHON3" in shown else _WITH_MPICH
