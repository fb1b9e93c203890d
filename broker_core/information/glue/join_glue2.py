"""GLUE 2.0 entries joined: one share with its service, manager, endpoint, hosts, rules and site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from broker_core.information.glue.entries import Entries, GlueEntry, by
from broker_core.information.glue.join_glue1 import COUNTRY, domain_of
from broker_core.jobs.placement import computing_element
from broker_core.resources.facts import Facts
from broker_core.resources.node_types import NodeType, joined_types, node_attributes

_PUBLISHED = re.compile(r"(?:CREAMCEId|CEId|GlueCEUniqueID)=(\S+)", re.IGNORECASE)
_PORT = 2119
_ENTITY = re.compile(r"GLUE2Entity|ForeignKey$")
_APPLICATIONS = "GLUE2ApplicationEnvironmentAppName"
_PLACE = {
    "GLUE2LocationLatitude": ("GlueSiteLatitude", 90),
    "GLUE2LocationLongitude": ("GlueSiteLongitude", 180),
}


class GlueShares:
    """Looks up what belongs to a computing share among the entries of one answer."""

    def __init__(self, entries: Entries, elements: Iterable[Facts] = ()) -> None:
        """`elements`: the computing elements that the same answer describes in GLUE 1.3."""
        self._entries = entries
        self._services = by(entries.of("service"), "GLUE2ServiceID")
        self._endpoints = by(entries.of("endpoint"), "GLUE2EndpointServiceForeignKey")
        self._managers = by(entries.of("manager"), "GLUE2ManagerServiceForeignKey")
        self._hosts = by(entries.of("environment"), "GLUE2ResourceID")
        self._managed = by(entries.of("environment"), "GLUE2ResourceManagerForeignKey")
        self._software = by(
            entries.of("application"), "GLUE2ApplicationEnvironmentComputingManagerForeignKey"
        )
        self._rules = by(entries.of("policy"), "GLUE2MappingPolicyShareForeignKey")
        self._access = by(entries.of("policy"), "GLUE2AccessPolicyEndpointForeignKey")
        self._places = by(entries.of("location"), "GLUE2LocationDomainForeignKey")
        self._domains = by(entries.of("domain"), "GLUE2DomainID")
        self._storage = by(entries.of("storage"), "GLUE2ToStorageServiceComputingServiceForeignKey")
        self._queues = {
            (computing_element(one.ce).host.lower(), str(one.attributes.get("GlueCEName", ""))): one.ce
            for one in elements
        }

    def facts(self) -> list[Facts]:
        """One for each computing share; shares of storage are not among them."""
        return [
            self._joined(share)
            for share in self._entries.of("share")
            if "GLUE2ComputingShareServingState" in share.values
        ]

    def _joined(self, share: GlueEntry) -> Facts:
        service = _first(self._services, service_of(share))
        endpoint = self._endpoint(share)
        manager = _first(self._managers, service_of(share))
        joined: dict[str, Any] = {}
        hosts = self._hosts_of(share, manager)
        for entry in (service, endpoint, manager, *hosts[:1], share):
            if entry is not None:
                joined |= entry.values
        joined |= node_attributes(_node_types(hosts), with_gpus=False)
        joined |= self._named_software(manager) | self._who(share, endpoint) | self._close(share)
        ce = self._name(share, endpoint, manager)
        site, place = self._place(service)
        joined |= place
        plain = {name: value for name, value in joined.items() if not _ENTITY.search(name)}
        return Facts(ce, site or domain_of(ce), plain)

    def site_of(self, share: GlueEntry) -> str:
        """Name of the share's site."""
        site, _ = self._place(_first(self._services, service_of(share)))
        return site or domain_of(self.name_of(share))

    def name_of(self, share: GlueEntry) -> str:
        """Computing element that the share is."""
        return self._name(share, self._endpoint(share), _first(self._managers, service_of(share)))

    def _name(self, share: GlueEntry, endpoint: GlueEntry | None, manager: GlueEntry | None) -> str:
        """The published name; that of GLUE 1.3 for the same host and queue; else one made of the parts."""
        for text in share.links("GLUE2EntityOtherInfo"):
            if published := _PUBLISHED.fullmatch(text):
                return published[1]
        host, port = _where(endpoint, service_of(share))
        queue = share.text("GLUE2ComputingShareMappingQueue")
        if known := self._queues.get((host.lower(), queue)):
            return known
        interface = endpoint.text("GLUE2EndpointInterfaceName").lower() if endpoint is not None else ""
        gate = "cream" if "cream" in interface else "jobmanager"
        system = manager.text("GLUE2ManagerProductName").lower() if manager is not None else ""
        return f"{host}:{port}/{gate}-{system or 'batch'}-{queue}"

    def _endpoint(self, share: GlueEntry) -> GlueEntry | None:
        """The endpoint that takes jobs: one that the share names, else any of its service."""
        named = {*share.links("GLUE2ShareEndpointForeignKey")}
        named |= {*share.links("GLUE2ComputingShareComputingEndpointForeignKey")}
        found = [
            one
            for one in self._endpoints.get(service_of(share).lower(), ())
            if not one.text("GLUE2EndpointURL").startswith(("ldap:", "ldaps:"))
        ]
        return next(
            (one for one in found if one.text("GLUE2EndpointID") in named), found[0] if found else None
        )

    def _hosts_of(self, share: GlueEntry, manager: GlueEntry | None) -> list[GlueEntry]:
        """The kinds of hosts behind a share: those that it names, else all of its manager."""
        links = ("GLUE2ShareResourceForeignKey", "GLUE2ComputingShareExecutionEnvironmentForeignKey")
        names = dict.fromkeys(name for link in links for name in share.links(link))
        if found := [host for name in names if (host := _first(self._hosts, name))]:
            return found
        return list(self._managed.get(manager.text("GLUE2ManagerID").lower(), ())) if manager else []

    def _named_software(self, manager: GlueEntry | None) -> dict[str, Any]:
        if manager is None:
            return {}
        found = self._software.get(manager.text("GLUE2ManagerID").lower(), ())
        return {_APPLICATIONS: [one.text(_APPLICATIONS) for one in found]} if found else {}

    def _who(self, share: GlueEntry, endpoint: GlueEntry | None) -> dict[str, Any]:
        """Rules of the share, else of its endpoint."""
        found: Sequence[GlueEntry] = self._rules.get(share.text("GLUE2ShareID").lower(), ())
        if not found and endpoint is not None:
            found = self._access.get(endpoint.text("GLUE2EndpointID").lower(), ())
        rules = dict.fromkeys(rule for policy in found for rule in policy.links("GLUE2PolicyRule"))
        return {"GLUE2PolicyRule": list(rules)} if rules else {}

    def _close(self, share: GlueEntry) -> dict[str, Any]:
        found = self._storage.get(service_of(share).lower(), ())
        close = [one.text("GLUE2ToStorageServiceStorageServiceForeignKey") for one in found]
        return {"GlueCESEBindGroupSEUniqueID": list(dict.fromkeys(close))} if close else {}

    def _place(self, service: GlueEntry | None) -> tuple[str, dict[str, Any]]:
        """Name of the site, and where it is."""
        if service is None:
            return "", {}
        identifier = service.text("GLUE2ServiceAdminDomainForeignKey")
        domain = _first(self._domains, identifier)
        found: dict[str, Any] = {"GLUE2DomainID": identifier} if identifier else {}
        place = _first(self._places, identifier)
        if place is not None:
            found |= place.values | _degrees(place.values)
            if country := place.text("GLUE2LocationCountry"):
                found[COUNTRY] = country
        name = domain.text("GLUE2EntityName") if domain is not None else ""
        return name or identifier, found


def _node_types(hosts: Sequence[GlueEntry]) -> list[NodeType]:
    """Of each kind of hosts whose number and CPUs are published; GLUE 2.0 knows nothing of GPUs."""
    return joined_types(
        NodeType(
            count=_number(host, "TotalInstances"),
            cpus=_number(host, "LogicalCPUs"),
            memory=_number(host, "MainMemorySize"),
            machine=host.text("GLUE2ExecutionEnvironmentPlatform"),
            model=host.text("GLUE2ExecutionEnvironmentCPUModel"),
            system=host.text("GLUE2ExecutionEnvironmentOSName"),
        )
        for host in hosts
        if _number(host, "TotalInstances") and _number(host, "LogicalCPUs")
    )


def _number(host: GlueEntry, name: str) -> int:
    value = host.values.get(f"GLUE2ExecutionEnvironment{name}", 0)
    return value if type(value) is int else 0


def service_of(share: GlueEntry) -> str:
    """Identifier of the service that a share belongs to."""
    return share.text("GLUE2ShareServiceForeignKey") or share.text(
        "GLUE2ComputingShareComputingServiceForeignKey"
    )


def _first(known: Mapping[str, Sequence[GlueEntry]], name: str) -> GlueEntry | None:
    found = known.get(name.lower())
    return found[0] if found else None


def _where(endpoint: GlueEntry | None, service: str) -> tuple[str, int]:
    """Host and port that take the jobs."""
    try:
        parts = urlsplit(endpoint.text("GLUE2EndpointURL") if endpoint is not None else "")
        host, port = parts.hostname or "", parts.port or _PORT
    except ValueError:
        host, port = "", _PORT
    return host or service.partition("_")[0].partition(":")[0], port


def _degrees(place: Mapping[str, Any]) -> dict[str, float]:
    """Latitude and longitude as numbers, where they are such."""
    found = {}
    for name, (older, most) in _PLACE.items():
        try:
            degrees = float(place.get(name, ""))
        except (TypeError, ValueError):
            continue
        if abs(degrees) <= most:
            found[older] = degrees
    return found
