"""The replica catalogue that the settings name, and those that descriptions do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.information.configuration import ReplicaSettings
from broker_core.information.replicas.contract import ReplicaCatalog
from broker_core.information.replicas.document import DocumentCatalog
from broker_core.information.replicas.http import HttpCatalog
from broker_core.information.replicas.ldap import LdapCatalog
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.jdl.names import scheme

log = logging.getLogger("crossdesk.information")
_KINDS = {"http": "http", "https": "http", "ldap": "ldap", "ldaps": "ldap"}
_MOST = 64
"""Catalogues of descriptions that are asked by one broker."""


def catalog(settings: ReplicaSettings, document: Path) -> ReplicaCatalog:
    """Make the catalogue. `document`: where the embedded one keeps its files unless told otherwise.

    Raises BadRequest for options that its kind does not have.
    """
    options = dict(settings.options)
    try:
        if settings.kind == "http":
            return HttpCatalog(settings.address, settings.deadline, **options)
        if settings.kind == "ldap":
            return LdapCatalog(settings.address, settings.deadline, **options)
        return DocumentCatalog(
            Path(settings.address).expanduser() if settings.address else document, **options
        )
    except TypeError as error:
        raise BadRequest(
            f"The replica catalogue has an option that its kind does not know: {error}.",
            place="replicas.options",
            remedy="Remove it.",
        ) from error


class DescribedCatalogs:
    """The catalogues that descriptions name (CB-UPD-06), each asked and remembered by itself.

    They get none of the options of the settings' one, which may hold a token. `any_address`: descriptions are
    of one user, who may have any address asked; otherwise those that the settings list.
    """

    def __init__(
        self,
        settings: ReplicaSettings,
        any_address: bool,
        monotonic: Callable[[], float],
        changed: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._any = any_address
        self._monotonic = monotonic
        self._changed = changed
        self._memories: dict[str, ReplicaMemory] = {}

    def memory(self, address: str) -> ReplicaMemory | None:
        """What is known by the catalogue at an address; None where it is not asked."""
        found = self._memories.get(address)
        if found is not None:
            return found
        kind = _KINDS.get(scheme(address))
        if kind is None or not (self._any or address in self._settings.described):
            return None
        if len(self._memories) >= _MOST:
            log.warning("More than %d catalogues are named by descriptions; %s is not asked.", _MOST, address)
            return None
        settings = replace(self._settings, kind=kind, address=address, options={})
        made = ReplicaMemory(catalog(settings, Path()), self._monotonic, self._changed)
        return self._memories.setdefault(address, made)

    async def close(self) -> None:
        """Stop asking."""
        for memory in self._memories.values():
            await memory.close()
