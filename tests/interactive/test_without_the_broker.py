"""A session that was introduced once goes on while the broker is away."""

from __future__ import annotations

from typing import Any, cast

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.errors import Unreachable
from broker_core.interactive.shadow.desk_key import desk_key
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.wire.interactive import MeetingPlace, SessionContact
from tests.interactive.pair import QUICK, Bench, Screen
from tests.interactive.terminals import SHELL
from tests.interactive.wire import Wire
from tests.waiting import eventually


class Broker:
    """Stands for a client whose broker may be away for good."""

    def __init__(self, made: Bench) -> None:
        self._made = made
        self.away = False

    async def add_desk(self, desk: object) -> list[Any]:
        return []

    async def session_contact(self, job: str, wait: float = 0.0) -> SessionContact:
        if self.away:
            raise Unreachable("The broker does not answer.")
        found = await self._made.contact()
        place = MeetingPlace(host=found.places[0].host, port=found.places[0].port)
        about = {"token": found.token, "host_key": found.host_key, "places": [place]}
        return SessionContact(job=job, attempt=1, state="there", **about)


async def test_a_cut_is_survived_while_the_broker_is_away(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL, keys=(desk_key().public,))
    await eventually((made.job / ".crossdesk-agent").exists)
    broker = Broker(made)
    session = await open_session(cast(BrokerClient, broker), "job", QUICK)
    made.sessions.append(session)
    screen = Screen(session)
    await screen.shows(b"ready")
    broker.away = True
    wire.cut()
    await eventually(lambda: SessionState.BUFFERING in screen.states)
    await eventually(lambda: session.status.state is SessionState.CONNECTED)
    session.write(b"echo $((6*7)); exit 3\n")
    await screen.shows(b"42")
    await wire.close()


async def test_a_broker_that_never_answered_is_told(made: Bench) -> None:
    broker = Broker(made)
    broker.away = True
    session = await open_session(cast(BrokerClient, broker), "job", QUICK)
    screen = Screen(session)
    await screen.ended()
    assert session.status.state is SessionState.REFUSED
    assert "does not answer" in session.status.reason
    await session.close()
