"""Telling below a table which sites of its jobs are not heard from."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.command_line import output, words
from broker_core.command_line.session import with_client
from broker_core.wire.site_states import LinkState
from broker_core.wire.sites import SiteView

_HEARD = (LinkState.CONNECTED, LinkState.CONNECTING)


def tell_silent(active: bool) -> None:
    """Name the sites that are not heard from, where the table has jobs that may be there."""
    if not active:
        return
    for site in silent(with_client(lambda client: client.sites())):
        since = site.link.heard or site.link.since
        output.say(
            f"{site.spec.name} is not heard from since {words.moment(since)} ({words.ago(since)}): "
            "its jobs are shown as they were last known.",
            "yellow",
        )


def silent(sites: Sequence[SiteView]) -> list[SiteView]:
    """The sites with jobs of this broker that cannot be asked about them now."""
    return [one for one in sites if one.link.state not in _HEARD and one.queued + one.running]
