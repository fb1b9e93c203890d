"""A credential that expires soon is told while there is time, once, and no more when there is a new one."""

from __future__ import annotations

import time

from app.context import Tone
from app.sites.credentials import AHEAD
from tests.app.sites.conftest import Act
from tests.app.sites.made_up import SitesBroker, site
from tests.app.windows import Stage, turns
from tests.waiting import eventually


def test_it_is_told_once_within_the_last_hour_and_withdrawn_with_a_new_one(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        told: list[str] = []
        on.context.noticed.connect(
            lambda notice: told.append(notice.text) if notice.tone is Tone.WARNING else None
        )

        async def seen(**until: float | None) -> list[str]:
            broker.views = [site(name, "arc", credential_until=end) for name, end in until.items()]
            on.context.sites.reload()
            await eventually(lambda: on.context.sites.views == broker.views, what="the sites are shown")
            await turns(3)
            return list(told)

        now = time.time()
        assert await seen(grid=now + AHEAD + 600, plain=None) == []
        (words,) = await seen(grid=now + 1800, plain=None)
        assert words.startswith("The credential for grid expires at ")
        assert "arcproxy" in words
        assert len(await seen(grid=now + 1800, plain=None)) == 1, "once for each"
        assert len(await seen(grid=now + 12 * 3600, plain=None)) == 1
        assert len(await seen(grid=now + 12 * 3600, other=now + 60)) == 2
        assert len(await seen(grid=now - 5)) == 2, "of one that has expired the site asks"

    act(SitesBroker([]), scene)


def test_it_is_told_when_the_hour_begins_though_nothing_else_changes(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        told: list[str] = []
        on.context.noticed.connect(lambda notice: told.append(notice.text))
        broker.views = [site("grid", "arc", credential_until=time.time() + AHEAD + 1.0)]
        on.context.sites.reload()
        await eventually(lambda: told, what="it is told")
        assert "grid" in told[0]

    act(SitesBroker([]), scene)
