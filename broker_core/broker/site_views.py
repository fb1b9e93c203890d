"""Sites as they are shown."""

from __future__ import annotations

from broker_core.broker.services import Services
from broker_core.wire.views import SiteView


async def site_views(services: Services, owner: str) -> list[SiteView]:
    """One view for each site, by name; the outcomes are those of the owner's jobs."""
    outcomes = await services.store.outcomes(owner)
    views = []
    for site in services.sites.sites.values():
        now = site.describe()
        done, failed = outcomes.get(now.ce, (0, 0))
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
                done=done,
                failed=failed,
                attributes=now.attributes,
            )
        )
    return sorted(views, key=lambda view: view.name)
