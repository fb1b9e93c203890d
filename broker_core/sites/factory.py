"""Makes a site of its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.sites.adapter import Adapter
from broker_core.sites.arc.adapter import ArcAdapter
from broker_core.sites.arc.session_directories import SESSION_LIFETIME
from broker_core.sites.batch.systems import SYSTEMS, system_for
from broker_core.sites.link import Link
from broker_core.sites.remote.settings import RemoteSettings, ResultLimits
from broker_core.sites.remote.site import RemoteSite
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SITE_KINDS, SiteSpec


def site_for(
    spec: SiteSpec,
    directory: Path,
    mark: str,
    link_changed: Callable[[Link], None],
    settings: RemoteSettings | None = None,
    limits: ResultLimits | None = None,
) -> RemoteSite:
    """A site that nothing connects to before `start`; raises BadRequest for a kind that there is not.

    `directory`: where what comes from the site is kept. `mark`: short id of this site of this broker,
    letters and digits, beginning with a letter.
    """
    settings = settings or RemoteSettings()
    if limits is not None:
        settings = replace(settings, results=limits)
    if spec.kind == "arc":
        settings = replace(settings, longest_left=SESSION_LIFETIME)
    adapter = adapter_for(spec, mark, link_changed, settings)
    return RemoteSite(spec, adapter, directory, settings, _renewals(adapter))


def adapter_for(
    spec: SiteSpec, mark: str, link_changed: Callable[[Link], None], settings: RemoteSettings
) -> Adapter:
    """The adapter for the kind of a site."""
    if spec.kind == "arc":
        return ArcAdapter(spec, mark, link_changed, settings.results)
    if spec.kind not in SYSTEMS:
        kinds = ", ".join(kind for kind in SITE_KINDS if kind != "local")
        raise BadRequest(
            f"There is no kind of site called {spec.kind}.", place=spec.name, remedy=f"There are: {kinds}."
        )
    link = Link(link_changed)
    return ShellAdapter(spec, mark, transport_for(spec, link), system_for(spec), settings)


def _renewals(adapter: Adapter) -> Callable[[], float | None]:
    """Only starters that see the broker's directory at the site can hold a lease."""
    return (lambda: adapter.renewed) if isinstance(adapter, ShellAdapter) else (lambda: None)
