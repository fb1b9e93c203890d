"""Settings of what feeds the Resource Cache: sources, and the catalogue of replicas."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.information import configuration
from broker_core.information.configuration import ReplicaSettings
from broker_core.information.updater import SourceSettings
from broker_core.settings.field import setting


@dataclass(frozen=True)
class InformationSettings:
    """Tables; their own settings are described in `information/configuration.py`."""

    sources: tuple[SourceSettings, ...] = setting(
        (), "who is asked about resources, a [[sources]] table each", parse=configuration.sources
    )
    replicas: ReplicaSettings = setting(  # noqa: RUF009 - it makes a field
        ReplicaSettings(), "the catalogue that knows where files are", parse=configuration.replicas
    )
