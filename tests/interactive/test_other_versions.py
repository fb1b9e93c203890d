"""A desk and an agent of different versions: told in words, and not tried for ever."""

from __future__ import annotations

import sys
from typing import Any, cast

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.line_link import LineLink
from broker_core.errors import VersionsDiffer
from broker_core.interactive.channel.frames import word
from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import Bench, Screen
from tests.waiting import within

OTHER = """
import sys
from broker_core.interactive.channel import frames
whole = frames.word
def other(what, **values):
    values.pop("viewers", None)
    return whole(what, **values, colour="red")
frames.word = other
from broker_core.worker.start import main
sys.exit(main())
"""
"""The agent in another version: its messages have more, and one of them lacks something."""


@pytest.mark.expected_log("A message of the agent does not fit")
async def test_an_agent_of_another_version_is_refused_with_the_remedy(made: Bench) -> None:
    await made.start_agent(["/bin/cat"], program=(sys.executable, "-c", OTHER))
    screen = Screen(made.desk())
    await screen.ended()
    assert screen.session.status.state is SessionState.REFUSED
    assert "the job's agent are of different versions: its message `news`" in screen.session.status.reason
    assert "start it again" in screen.session.status.reason


@pytest.mark.expected_log("A message of the agent does not fit")
async def test_lines_of_a_broker_of_another_version_are_refused_with_the_remedy() -> None:
    class Broker:
        """Stands for a client whose broker is of another version."""

        async def look_at_lines(self, *asked: Any, **more: Any) -> bytes:
            return word("welcome", color="red")

        async def line_wish(self, *asked: Any, **more: Any) -> None: ...

    class Nobody:
        """Stands for a session."""

    link = LineLink(cast(BrokerClient, Broker()), "job", "node", cast(Any, Nobody()))
    link.say("hello", desk="desk", write=True, resume={})
    with pytest.raises(VersionsDiffer, match="its message `welcome` does not fit"):
        await within(link.lost, 60)
    await link.close()
