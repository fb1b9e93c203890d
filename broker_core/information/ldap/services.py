"""Which information service answers for which computing elements, as an index says (CB-UPD-02)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from broker_core.information.glue.entries import Entries, by
from broker_core.information.glue.join_glue1 import Elements
from broker_core.information.glue.join_glue2 import GlueShares, service_of
from broker_core.information.ldap.address import LdapAddress, address_of
from broker_core.information.ldap.names import BASES
from broker_core.information.updater import SourceFailed


@dataclass(slots=True)
class InformationService:
    """One information service: a server, and the parts of its tree that tell of some elements."""

    server: str
    addresses: dict[str, LdapAddress] = field(default_factory=dict)
    """Vocabulary to address with its base."""
    elements: set[str] = field(default_factory=set)
    """Computing elements for which it answers."""
    sites: set[str] = field(default_factory=set)
    """Names of their sites."""

    def base(self, schema: str) -> str:
        """Where the entries of a vocabulary are below."""
        known = self.addresses.get(schema)
        return known.base if known is not None and known.base else BASES[schema]


@dataclass(slots=True)
class Listing:
    """What an index lists."""

    services: list[InformationService]
    alone: set[str]
    """Computing elements that no other service answers for."""


def listing(entries: Entries, index: LdapAddress) -> Listing:
    """Sort the elements that an index lists by the service that answers for them."""
    groups: dict[tuple[str, str, str], InformationService] = {}
    found = Listing([], set())
    named: dict[str, InformationService] = {}
    for ce, site, schema, url in _listed(entries):
        address = _usable(url, entries, ce)
        if address is None or address.server == index.server:
            found.alone.add(ce)
            continue
        key = (address.server, schema, address.base)
        service = named.setdefault(ce, groups.get(key) or InformationService(address.server))
        if service.server != address.server:
            continue  # one service answers for an element: the one that was named first
        service.addresses.setdefault(schema, address)
        groups.setdefault(key, service)
        service.elements.add(ce)
        service.sites.add(site)
    found.alone -= named.keys()
    found.services = list({id(service): service for service in named.values()}.values())
    return found


def _listed(entries: Entries) -> Iterator[tuple[str, str, str, str]]:
    """Computing element, site, vocabulary and address of its information service, or empty."""
    elements = Elements(entries)
    for entry in entries.of("element"):
        ce = entry.text("GlueCEUniqueID")
        yield ce, elements.site_of(entry), "1.3", entry.text("GlueInformationServiceURL")
    shares = GlueShares(entries, elements.facts())
    endpoints = by(entries.of("endpoint"), "GLUE2EndpointServiceForeignKey")
    for share in entries.of("share"):
        if "GLUE2ComputingShareServingState" not in share.values:
            continue
        offered = endpoints.get(service_of(share).lower(), ())
        urls = (one.text("GLUE2EndpointURL") for one in offered)
        url = next((url for url in urls if url.startswith(("ldap:", "ldaps:"))), "")
        yield shares.name_of(share), shares.site_of(share), "2.0", url


def _usable(url: str, entries: Entries, ce: str) -> LdapAddress | None:
    if not url:
        return None
    try:
        return address_of(url)
    except SourceFailed as wrong:
        entries.remarks.add(ce, f"information service refused: {wrong.message}")
        return None
