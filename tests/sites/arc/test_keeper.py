"""The link to an ARC site: whatever goes wrong while connecting, somebody tries again."""

from __future__ import annotations

import pytest

from broker_core.sites.arc import connector as keeping
from broker_core.sites.arc.connector import ArcConnector
from broker_core.sites.link import Link, LinkState
from tests.waiting import eventually


@pytest.mark.expected_log("Connecting failed in an unforeseen way")
async def test_an_unforeseen_error_is_told_and_does_not_end_the_tries(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeping, "FIRST", 0.01)
    faults = [RuntimeError("nobody thought of this")]

    async def attempt() -> None:
        if faults:
            raise faults.pop()

    link = Link(lambda _: None)
    keeper = ArcConnector(link, attempt)
    keeper.open()
    await eventually(lambda: link.state is LinkState.CONNECTED)
    assert any("nobody thought of this" in words for _, words in link.log)
    assert "nobody thought of this" in caplog.text
    await keeper.close()
