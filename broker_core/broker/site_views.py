"""Sites as they are shown."""

from __future__ import annotations

import time

from broker_core.broker.services import Services
from broker_core.wire.views import SiteView


async def site_views(services: Services, owner: str) -> list[SiteView]:
    """One view for each site, by name; the outcomes are those of the owner's jobs."""
    outcomes = await services.store.outcomes(owner)
    views = []
    for site in services.sites.sites.values():
        now = (await site.look())[0]
        done, failed = outcomes.get(now.ce, (0, 0))
        told = now.attributes
        views.append(
            SiteView(
                name=now.site,
                ce=now.ce,
                kind="local",
                link="connected",
                total_cpus=told["GlueCEInfoTotalCPUs"],
                free_cpus=told["GlueCEStateFreeCPUs"],
                running=told["GlueCEStateRunningJobs"],
                waiting=told["GlueCEStateWaitingJobs"],
                updated=time.time(),
                done=done,
                failed=failed,
                attributes=dict(told),
            )
        )
    return sorted(views, key=lambda view: view.name)
