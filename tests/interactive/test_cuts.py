"""Every byte once and in order, however often the network breaks (CB-BYP-03, CB-BYP-04)."""

from __future__ import annotations

import hashlib
import random
import sys
from functools import partial

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import Bench, Screen
from tests.interactive.wire import Wire
from tests.waiting import eventually

PART = 1 << 16
WRITER = """
import os, random, sys
made = random.Random(int(sys.argv[1]))
for number in range(int(sys.argv[2])):
    data = made.randbytes(1 << 16)
    while data:
        data = data[os.write(1, data):]
    os.write(2, b'part %d\\n' % number)
"""


def written(seed: int, parts: int) -> tuple[str, bytes]:
    """Hash of what the program writes on its standard output, and its standard error."""
    made, found = random.Random(seed), hashlib.sha256()
    for _ in range(parts):
        found.update(made.randbytes(PART))
    return found.hexdigest(), b"".join(b"part %d\n" % number for number in range(parts))


def there(screen: Screen, place: int) -> bool:
    """So much has arrived, and there is a connection; or all has."""
    linked = screen.session.status.state in (SessionState.DRAINING, SessionState.CONNECTED)
    return (screen.sizes[1] >= place and linked) or screen.task.done()


def noticed(screen: Screen, before: int) -> bool:
    """A further cut was; or all has arrived."""
    return screen.states.count(SessionState.BUFFERING) > before or screen.task.done()


async def test_the_network_is_pulled_many_times_and_every_byte_arrives_once(made: Bench, soak: bool) -> None:
    parts, cuts, seed = (16384, 100, 1) if soak else (1639, 10, 2)
    wire = Wire(made.place)
    made.place = await wire.open()
    words = [sys.executable, "-c", WRITER, str(seed), str(parts)]
    await made.start_agent(words, mode="lines", retry_interval=0.05, max_retries=2000)
    session = made.desk()
    screen = Screen(session, keep=False)
    chance, done = random.Random(seed), 0
    places = sorted(chance.randrange(parts * PART) for _ in range(cuts))
    for place in places:
        await eventually(partial(there, screen, place), 120)
        before = screen.states.count(SessionState.BUFFERING)
        done += wire.cut() > 0
        await eventually(partial(noticed, screen, before))
    await screen.ended(120)
    assert done >= cuts * 0.9
    digest, told = written(seed, parts)
    assert screen.sizes == {1: parts * PART, 2: len(told)}
    assert screen.hashes[1].hexdigest() == digest
    assert screen.hashes[2].hexdigest() == hashlib.sha256(told).hexdigest()
    assert session.status.state is SessionState.CLOSED
    assert session.status.exit_code == 0
    await wire.close()
