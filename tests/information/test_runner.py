"""The runner of all sources: refreshing, plug-ins, and updaters that break their contract."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker_core.errors import Conflict, NotFound
from broker_core.information.site_updater import SiteUpdater
from broker_core.information.updater import SourceAnswer, SourceSettings
from broker_core.resources.facts import Facts, facts_of
from broker_core.resources.record import Resource
from tests.information.asking import running, view
from tests.waiting import LONG, eventually, wait_until, within

pytestmark = pytest.mark.expected_log("The source \\w+ ", "The (updater of|plug-in) .* cannot be")

CE = "a:2119/jobmanager-pbs-q"


class Made:
    """An updater out of a function."""

    kind = "made"
    address = "somewhere"

    def __init__(self, fetch: Callable[[], Any], name: str = "made", interval: float = 3600.0) -> None:
        self.name, self.interval, self._fetch = name, interval, fetch
        self.asked = 0

    async def fetch(self) -> SourceAnswer:
        self.asked += 1
        found = self._fetch()
        return await found if asyncio.iscoroutine(found) else found


def plain() -> SourceAnswer:
    return SourceAnswer((Facts(CE, "a", {"GlueCEInfoTotalCPUs": 4}),))


async def test_a_refresh_returns_when_the_sources_have_answered() -> None:
    one, two = Made(plain, "one"), Made(plain, "two")
    async with running(own=[one, two]) as (updaters, heard):
        await eventually(lambda: len(heard.messages) == 2)
        told = await updaters.refresh(["one"])
        assert [(one.name, one.state) for one in told] == [("one", "ok")]
        assert (one.asked, two.asked) == (2, 1)
        await updaters.refresh()
        assert (one.asked, two.asked) == (3, 2)
        with pytest.raises(NotFound, match="one, two"):
            await updaters.refresh(["three"])


async def test_a_disabled_source_is_shown_and_never_asked() -> None:
    rgma = SourceSettings("monitor", "rgma", "https://monitor.example.org", enabled=False)
    async with running(rgma) as (updaters, heard):
        assert view(updaters, "monitor").state == "disabled"
        assert "enabled = true" in view(updaters, "monitor").reason
        with pytest.raises(Conflict, match="disabled"):
            await updaters.refresh(["monitor"])
        assert await updaters.refresh() == updaters.views()
        assert not heard.messages


async def test_the_relational_monitor_says_why_it_cannot_be_asked() -> None:
    async with running(SourceSettings("monitor", "rgma", "https://monitor.example.org")) as (updaters, _):
        (told,) = await updaters.refresh()
        assert told.state == "failed"
        assert "kind ldap" in told.reason


async def test_this_machine_is_a_source_like_any_other() -> None:
    record = Resource(CE, "local", 4, 3, 1, 0, 0.0, {"GlueCEUniqueID": CE})

    async def look() -> tuple[Facts, ...]:
        return (facts_of(record),)

    async with running(own=[SiteUpdater(look)]) as (_, heard):
        await eventually(lambda: heard.messages)
        (message,) = heard.messages
        assert (message.source, message.account, message.complete) == ("local", True, True)
        assert message.facts[0].attributes["GlueCEStateFreeCPUs"] == 3


async def test_a_source_that_cannot_be_watched_is_still_asked_at_its_times() -> None:
    class Watched(Made):
        async def changed(self) -> None:
            raise OSError("no news")

    watched = Watched(plain, interval=0.5)
    async with running(own=[watched]) as (_, heard):
        await eventually(lambda: len(heard.messages) >= 2)


async def test_a_refresh_ends_with_the_updaters() -> None:
    async with running(own=[Made(asyncio.Event().wait)]) as (updaters, _):
        asked = asyncio.ensure_future(updaters.refresh())
        await eventually(lambda: view(updaters, "made").state == "asking")
    await within(asked, LONG)


async def test_an_answer_that_cannot_be_published_does_not_end_the_asking() -> None:
    made = Made(plain, interval=0.05)
    async with running(own=[made]) as (updaters, heard):
        heard.messages = None  # type: ignore[assignment]
        await eventually(lambda: made.asked > 2)
        assert view(updaters, "made").state in ("failed", "asking")


def _broken() -> SourceAnswer:
    raise ZeroDivisionError("nothing to divide by")


async def _gone() -> SourceAnswer:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("fetch", "words"),
    [
        (_broken, "nothing to divide by"),
        (_gone, "gave up"),
        (lambda: None, "NoneType"),
        (lambda: SourceAnswer(None), "fails"),  # type: ignore[arg-type]
    ],
)
async def test_whatever_an_updater_does_ends_in_its_state(fetch: Callable[[], Any], words: str) -> None:
    async with running(own=[Made(fetch), Made(plain, "good")]) as (updaters, heard):
        await eventually(lambda: heard.of("good"))
        told = (await updaters.refresh(["made"]))[0]
        assert told.state == "failed"
        assert words in told.reason
        assert not heard.of("made")


async def test_wrong_facts_of_a_plug_in_are_refused_one_by_one() -> None:
    facts = (
        Facts(
            CE, "a", {"glueceinfototalcpus": 4, "GlueCEStateFreeCPUs": "many", "Mine": object(), "Ok": "x"}
        ),
        Facts(CE, "a", {}),
        Facts("b:2119/jobmanager-pbs-q", "b", {"GlueCEInfoTotalCPUs": -1, "GlueHostName": "b" * 5000}),
        "nothing",
    )
    async with running(own=[Made(lambda: SourceAnswer(facts))]) as (updaters, heard):  # type: ignore[arg-type]
        (told,) = await updaters.refresh()
        assert {one.ce: one.attributes for one in heard.messages[0].facts} == {
            CE: {"GlueCEInfoTotalCPUs": 4, "Ok": "x"},
            "b:2119/jobmanager-pbs-q": {},
        }
        assert told.refused == len(told.remarks) == 6


async def test_an_updater_that_holds_on_to_a_question_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("broker_core.information.source.LAST_WORDS", 0.05)
    let_go = asyncio.Event()

    async def holding() -> SourceAnswer:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return plain()

    stuck = Made(holding)
    monkeypatch.setattr("broker_core.information.kinds.make", lambda settings: stuck)
    settings = SourceSettings("made", "made", interval=0.01, deadline=0.05)
    async with running(settings) as (updaters, heard):
        await eventually(lambda: "still holds on" in view(updaters, "made").reason)
        assert stuck.asked == 1
        let_go.set()
        await eventually(lambda: heard.messages)


PLUG_IN = """
from broker_core.information.updater import Answer
from broker_core.resources.facts import Facts

class Weather:
    def __init__(self, settings):
        self.name, self.kind = settings.name, settings.kind
        self.interval, self.address = settings.interval, settings.address
        self.cpus = settings.options["cpus"]

    async def fetch(self):
        return Answer((Facts("w:2119/jobmanager-pbs-q", "w", {"GlueCEInfoTotalCPUs": self.cpus}),))
"""


@pytest.fixture
def plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with updaters, good and bad."""
    package = tmp_path / "weather-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: weather\nVersion: 1.0\n")
    points = "weather = weather:Weather\nnowhere = weather:Nothing\nmissing = no_such_module:Thing\n"
    (package / "entry_points.txt").write_text(f"[crossdesk.updaters]\n{points}")
    (tmp_path / "weather.py").write_text(PLUG_IN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plug_ins")
async def test_installed_plug_ins_bring_kinds_and_bad_ones_are_named() -> None:
    settings = [
        SourceSettings("good", "weather", options={"cpus": 12}),
        SourceSettings("fails", "weather"),
        SourceSettings("nowhere", "nowhere"),
        SourceSettings("missing", "missing"),
        SourceSettings("unknown", "surprise"),
    ]
    async with running(*settings) as (updaters, heard):
        await updaters.refresh()
        assert heard.of("good")[0].facts[0].attributes == {"GlueCEInfoTotalCPUs": 12}
        reasons = {one.name: one.reason for one in updaters.views() if one.state == "failed"}
        assert reasons.keys() == {"fails", "nowhere", "missing", "unknown"}
        assert "KeyError" in reasons["fails"]
        assert "weather:Nothing" in reasons["nowhere"]
        assert "no_such_module" in reasons["missing"]
        assert "file, ldap, missing, nowhere, rgma, weather" in reasons["unknown"]


_BROKER = """
import asyncio, sys
from broker_core.information.source_process import ask_in_process
asyncio.run(ask_in_process("ldap", address=sys.argv[1], schemas=["1.3"], patience=60.0))
"""


def test_the_worker_ends_with_the_broker(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"ldap://127.0.0.1:{mute.getsockname()[1]}"
        broker = subprocess.Popen([sys.executable, "-c", _BROKER, address], stderr=subprocess.DEVNULL)
        children = Path(f"/proc/{broker.pid}/task/{broker.pid}/children")
        connection, _ = mute.accept()  # the worker waits for an answer now
        (worker,) = children.read_text().split()
        broker.send_signal(signal.SIGKILL)
        broker.wait(60)
        wait_until(lambda: not _alive(int(worker)))
        connection.close()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
