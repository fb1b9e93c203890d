"""Entries of an information system, typed and sorted by what they describe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.information.glue.refusals import Refusals
from broker_core.information.glue.types import Typing

KINDS = {
    "glueceuniqueid": "element",
    "glueclusteruniqueid": "cluster",
    "gluesubclusteruniqueid": "subcluster",
    "gluesiteuniqueid": "site",
    "gluecesebindgroupceuniqueid": "binds",
    "gluecesebindseuniqueid": "bind",
    "glueseuniqueid": "storage element",
    "gluesalocalid": "area",
    "gluesaroot": "area",
    "glueseaccessprotocollocalid": "protocol",
    "glueseaccessprotocoltype": "protocol",
    "glue2shareid": "share",
    "glue2serviceid": "service",
    "glue2endpointid": "endpoint",
    "glue2managerid": "manager",
    "glue2resourceid": "environment",
    "glue2applicationenvironmentid": "application",
    "glue2policyid": "policy",
    "glue2locationid": "location",
    "glue2domainid": "domain",
    "glue2tostorageserviceid": "storage",
}
"""First attribute of an entry's name, in lower case, to what such an entry describes."""
_LEVELS = ("local", "resource", "grid")


@dataclass(frozen=True, slots=True)
class GlueEntry:
    """One entry with typed values; links between entries are lists."""

    name: str
    """Distinguished name."""
    values: dict[str, Any]

    def text(self, attribute: str) -> str:
        """A single value, or empty."""
        found = self.values.get(attribute, "")
        if isinstance(found, list):
            found = found[0] if found else ""
        return found if isinstance(found, str) else ""

    def links(self, attribute: str) -> Sequence[str]:
        """All values of a link."""
        found = self.values.get(attribute, ())
        return (found,) if isinstance(found, str) else found

    @property
    def group(self) -> str:
        """Site out of the entry's place in a GLUE 1.3 tree (Mds-Vo-name), or empty."""
        for part in self.name.split(","):
            attribute, _, value = part.strip().partition("=")
            if attribute.lower() == "mds-vo-name" and value.lower() not in _LEVELS:
                return value
        return ""


class Entries:
    """All entries of one answer."""

    def __init__(self) -> None:
        self.remarks = Refusals()
        self.count = 0
        self._typing = Typing(self.remarks)
        self._kinds: dict[str, list[GlueEntry]] = defaultdict(list)

    def add(self, name: bytes, values: Mapping[bytes, Sequence[bytes]]) -> None:
        """Take one entry as a server or file gives it; what is of no interest is left out."""
        self.count += 1
        kind = KINDS.get(name.partition(b"=")[0].strip().lower().decode("ascii", "replace"))
        if kind is None:
            return
        try:
            place = name.decode("utf-8")
        except UnicodeDecodeError:
            self.remarks.add(
                name[:60].decode("utf-8", "backslashreplace"), "entry refused: name is not UTF-8"
            )
            return
        short = place.partition(",")[0].partition("=")[2]
        self._kinds[kind].append(GlueEntry(place, self._typing.typed(short, values)))

    def of(self, kind: str) -> Sequence[GlueEntry]:
        """The entries of a kind, in the order in which they came."""
        return self._kinds.get(kind, ())


def by(entries: Iterable[GlueEntry], attribute: str) -> dict[str, list[GlueEntry]]:
    """Entries by the values of an attribute, whatever the case."""
    found: dict[str, list[GlueEntry]] = defaultdict(list)
    for entry in entries:
        for value in entry.links(attribute):
            found[value.lower()].append(entry)
    return found
