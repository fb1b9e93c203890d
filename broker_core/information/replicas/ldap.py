"""A replica catalogue in an LDAP server: one entry for each file, with the addresses of its copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from broker_core.information.replicas.contract import checked, replica
from broker_core.information.source_process import run_in_process
from broker_core.resources.closeness import Replica


class LdapCatalog:
    """Asked in a process of its own, like every LDAP server."""

    def __init__(
        self,
        address: str,
        deadline: float = 10.0,
        name_attribute: str = "cn",
        address_attribute: str = "labeledURI",
        ca_file: str = "",
    ) -> None:
        """`address`: ldap://host:port/base; the attributes: those that hold the file's name, and its copies'
        addresses (`protocol://host/path`, or storage elements)."""
        self._question: dict[str, Any] = {
            "address": address,
            "patience": deadline,
            "name_attribute": name_attribute,
            "address_attribute": address_attribute,
            "ca_file": ca_file,
        }

    async def locations(self, names: Sequence[str]) -> Mapping[str, Replica]:
        """What the catalogue knows of the names; raises SourceFailed."""
        wanted = checked(names)
        if not wanted:
            return {}
        pairs, _ = await run_in_process("replicas", _pair, names=list(wanted), **self._question)
        found: dict[str, list[str]] = {}
        for name, addresses in pairs:
            found.setdefault(name, []).extend(addresses)
        return {name: replica(name, found[name]) for name in wanted if name in found}

    async def close(self) -> None:
        """Nothing is held open."""


def _pair(said: Any) -> tuple[str, list[str]]:
    return said[0], said[1]
