"""The updater that asks an information system over LDAP: MDS, BDII, ARIS (CB-UPD-02)."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BadRequest
from broker_core.information.ldap.address import address_of
from broker_core.information.ldap.names import SCHEMAS
from broker_core.information.source_process import ask_in_process
from broker_core.information.updater import SourceAnswer, SourceFailed, SourceSettings

OPTIONS: dict[str, Any] = {"schemas": list(SCHEMAS), "levels": 2, "patience": 10.0, "ca_file": ""}
"""Option to its default. `schemas`: vocabularies asked for; `levels`: 1 to believe the index, 2 to ask the
sites that it names; `patience`: seconds for each connection and each piece of an answer; `ca_file`: authority
of an ldaps server, where the system does not know it."""


class LdapUpdater:
    """Asks an index, then the sites that it names; all decoding is done by a process of its own."""

    def __init__(self, settings: SourceSettings) -> None:
        """Raises BadRequest for options that cannot be."""
        self.name, self.kind = settings.name, settings.kind
        self.interval, self.address = settings.interval, settings.address
        self._question = _checked(settings) | {"deadline": settings.deadline, "address": settings.address}

    async def fetch(self) -> SourceAnswer:
        """One answer of the index with all sites; raises SourceFailed if the index is silent."""
        return await ask_in_process("ldap", **self._question)


def _checked(settings: SourceSettings) -> dict[str, Any]:
    try:
        address_of(settings.address)
    except SourceFailed as wrong:
        raise _wrong(settings, "needs an address", 'Write address = "ldap://host:port".') from wrong
    values = OPTIONS | dict(settings.options)
    if unknown := sorted(values.keys() - OPTIONS.keys()):
        raise _wrong(settings, f"has an unknown option {unknown[0]}", f"Use {', '.join(OPTIONS)}.")
    if not isinstance(values["schemas"], list) or not values["schemas"]:
        raise _wrong(settings, "must list its schemas", f"Choose among {', '.join(SCHEMAS)}.")
    if not all(schema in SCHEMAS for schema in values["schemas"]):
        raise _wrong(settings, "has an unknown schema", f"Choose among {', '.join(SCHEMAS)}.")
    if values["levels"] not in (1, 2) or isinstance(values["levels"], bool):
        raise _wrong(settings, "must have 1 or 2 levels", "Write levels = 2 to ask the sites directly.")
    patience = values["patience"]
    if isinstance(patience, bool) or not isinstance(patience, int | float) or patience <= 0:
        raise _wrong(settings, "needs a patience above 0 s", "Write patience = 10.")
    if not isinstance(values["ca_file"], str):
        raise _wrong(settings, "must name its ca_file as a path", "Put it into quotes.")
    return values


def _wrong(settings: SourceSettings, what: str, remedy: str) -> BadRequest:
    return BadRequest(f"The source {settings.name} {what}.", place=f"sources.{settings.name}", remedy=remedy)
