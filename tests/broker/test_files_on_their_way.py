"""What is shown of files on their way. The site is a stand-in, as only its link is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from broker_core.broker.api.views.jobs import JobViews
from broker_core.jobs.states import JobState
from broker_core.sites.link import TransferProgress
from broker_core.wire.views import TransferView
from tests.broker.ready_sites import ready
from tests.broker.stand_in_site import StandIn


class _Sites:
    def __init__(self, site: StandIn) -> None:
        self._site = site

    def site_of(self, ce: object) -> StandIn:
        return self._site


async def test_a_job_tells_how_much_of_its_files_has_arrived_and_only_while_it_lives() -> None:
    site, record = StandIn(), ready("a")
    sites: Any = _Sites(site)
    nothing: Any = None
    views = JobViews(nothing, sites, nothing, nothing)
    assert await views.transfer(record) is None
    site.link.transfers[record.component.tag] = TransferProgress(False, 10, lambda: 12)
    assert await views.transfer(record) == TransferView(to_site=False, done=10, total=10)
    assert await views.transfer(replace(record, state=JobState.DONE)) is None
