"""Sites as they are shown."""

from __future__ import annotations

from broker_core.broker.services import Services
from broker_core.wire.views import SiteView


def site_views(services: Services) -> list[SiteView]:
    """One view for each site, by name."""
    views = []
    for site in services.sites.sites.values():
        now = site.describe()
        views.append(
            SiteView(
                name=now.site,
                ce=now.ce,
                kind="local",
                link="connected",
                total_cpus=now.total_cpus,
                free_cpus=now.free_cpus,
                running=now.running,
                waiting=now.waiting,
                updated=now.updated,
                attributes=now.attributes,
            )
        )
    return sorted(views, key=lambda view: view.name)
