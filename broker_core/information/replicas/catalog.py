"""The replica catalogue that the settings name."""

from __future__ import annotations

from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.information.configuration import ReplicaSettings
from broker_core.information.replicas.contract import ReplicaCatalog
from broker_core.information.replicas.document import DocumentCatalog
from broker_core.information.replicas.http import HttpCatalog
from broker_core.information.replicas.ldap import LdapCatalog


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
