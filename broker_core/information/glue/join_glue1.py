"""GLUE 1.3 entries joined: one computing element with its cluster, hosts, site and storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.information.glue.entries import Entries, GlueEntry, by
from broker_core.jobs.placement import computing_element
from broker_core.resources.facts import Facts

_LINKS = ("GlueForeignKey", "GlueChunkKey", "GlueSchemaVersionMajor", "GlueSchemaVersionMinor")
_OF_SITE = (
    "GlueSiteName", "GlueSiteUniqueID", "GlueSiteLocation", "GlueSiteLatitude", "GlueSiteLongitude",
    "GlueSiteWeb",
)  # fmt: skip
COUNTRY = "GlueSiteCountry"
"""Country of the site; GLUE 1.3 has it as the last words of the location, GLUE 2.0 on its own."""


class Elements:
    """Looks up what belongs to a computing element among the entries of one answer."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._clusters = by(entries.of("cluster"), "GlueClusterUniqueID")
        self._hosts = by(entries.of("subcluster"), "GlueChunkKey")
        self._sites = by(entries.of("site"), "GlueSiteUniqueID")
        self._groups = by(entries.of("binds"), "GlueCESEBindGroupCEUniqueID")
        self._binds = by(entries.of("bind"), "GlueCESEBindCEUniqueID")

    def facts(self) -> list[Facts]:
        """One for each entry of a computing element, with its name as it was published."""
        return [self._joined(entry) for entry in self._entries.of("element")]

    def _joined(self, element: GlueEntry) -> Facts:
        ce = element.text("GlueCEUniqueID")
        cluster = self._cluster(element)
        joined: dict[str, Any] = {}
        if cluster is not None:
            joined |= self._host(cluster) | cluster.values
        joined |= element.values | self._storage(ce.lower())
        site = self.site(element, cluster)
        if site is not None:
            joined |= {name: site.values[name] for name in _OF_SITE if name in site.values}
            joined |= _country(site.text("GlueSiteLocation"))
        for name in _LINKS:
            joined.pop(name, None)
        return Facts(ce, site_name(site, element, ce), joined)

    def site(self, element: GlueEntry, cluster: GlueEntry | None) -> GlueEntry | None:
        """Site of an element, by the links of its cluster, else by its place in the tree."""
        for entry in (cluster, element):
            name = _linked(entry, "GlueSiteUniqueID") if entry is not None else ""
            if name and (found := self._sites.get(name.lower())):
                return found[0]
        found = self._sites.get(element.group.lower())
        return found[0] if found else None

    def site_of(self, element: GlueEntry) -> str:
        """Name of the element's site."""
        found = self.site(element, self._cluster(element))
        return site_name(found, element, element.text("GlueCEUniqueID"))

    def _cluster(self, element: GlueEntry) -> GlueEntry | None:
        name = _linked(element, "GlueClusterUniqueID") or element.text("GlueCEHostingCluster")
        found = self._clusters.get(name.lower())
        return found[0] if found else None

    def _host(self, cluster: GlueEntry) -> dict[str, Any]:
        """The first part of a cluster, by name: a job cannot choose among them."""
        parts = self._hosts.get(f"glueclusteruniqueid={cluster.text('GlueClusterUniqueID').lower()}", ())
        return min(parts, key=lambda part: part.text("GlueSubClusterUniqueID")).values if parts else {}

    def _storage(self, ce: str) -> dict[str, Any]:
        """Close storage elements, those of the greatest weight first."""
        binds = sorted(self._binds.get(ce, ()), key=_weight, reverse=True)
        found: dict[str, Any] = dict(binds[0].values) if binds else {}
        found.pop("GlueCESEBindCEUniqueID", None)
        close = [bind.text("GlueCESEBindSEUniqueID") for bind in binds]
        for group in self._groups.get(ce, ()):
            close += group.links("GlueCESEBindGroupSEUniqueID")
        if close:
            found["GlueCESEBindGroupSEUniqueID"] = list(dict.fromkeys(close))
        return found


def site_name(site: GlueEntry | None, element: GlueEntry, ce: str) -> str:
    """What the site is called: its name, its identifier, its place in the tree, else the host's domain."""
    if site is not None:
        return site.text("GlueSiteName") or site.text("GlueSiteUniqueID")
    return element.group or domain_of(ce)


def domain_of(ce: str) -> str:
    """The host of a computing element without its first word, or the host where that is all."""
    host = computing_element(ce).host
    return host.partition(".")[2] or host


def _weight(bind: GlueEntry) -> int:
    weights = [word for word in bind.links("GlueCESEBindWeight") if word.isascii() and word.isdigit()]
    return int(weights[0][:9]) if weights else 0


def _linked(entry: GlueEntry, attribute: str) -> str:
    """Value of the link to an entry named by `attribute`."""
    start = attribute.lower() + "="
    keys: Sequence[str] = entry.links("GlueForeignKey")
    return next((key[len(start) :] for key in keys if key.lower().startswith(start)), "")


def _country(location: str) -> dict[str, str]:
    country = location.rpartition(",")[2].strip() if "," in location else ""
    return {COUNTRY: country} if country else {}
