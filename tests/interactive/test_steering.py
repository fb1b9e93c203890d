"""Parameters of a program, changed by desks through its agent: real programs, agents, relays and cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.interactive.shadow.session import SessionOptions
from broker_core.jobs.published.parameters import text_of
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from broker_core.worker.agent_settings import PARAMETERS
from broker_core.worker.script import publish_path
from tests.interactive.pair import Bench
from tests.waiting import eventually, within
from tests.worker.steered import program

BESIDE = SessionOptions(attached=False, shortest_pause=0.02, longest_pause=0.2, meeting_time=5.0)


class SteeredJob:
    """A program that is steered, below a real agent."""

    def __init__(self, pair: Bench) -> None:
        self.pair = pair

    async def start(self, *words: str) -> None:
        """Start it, with the variables that the job starter sets."""
        job = self.pair.job
        given = {"CROSSDESK_DATA": job / FILE, "CROSSDESK_PARAMETERS": job / PARAMETERS}
        path = f"PATH={publish_path()}:/usr/local/bin:/usr/bin:/bin"
        within_ = ["/usr/bin/env", path, f"PYTHONPATH={publish_path()}:{Path.cwd()}"]
        within_ += [f"{name}={value}" for name, value in given.items()]
        await self.pair.start_agent(list(words), within=within_, linger=0.1)

    def published(self) -> Recording:
        """What it published so far."""
        made = Recording()
        path = self.pair.job / FILE
        made.feed(path.read_bytes() if path.exists() else b"")
        return made

    def values(self) -> dict[str, str]:
        """What it says that it uses."""
        return {name: text_of(one.value) for name, one in self.published().steering.parameters.items()}

    async def uses(self, **values: str) -> None:
        """Wait until it uses these values."""
        wanted = {name.replace("_", " "): value for name, value in values.items()}
        await eventually(lambda: wanted.items() <= self.values().items(), what=lambda: str(self.values()))


@pytest.fixture
def steered(made: Bench) -> SteeredJob:
    return SteeredJob(made)


@pytest.mark.parametrize("kind", ["python", "c", "sh"])
async def test_a_program_takes_changes_over_and_says_what_it_uses(
    steered: SteeredJob, tmp_path: Path, kind: str
) -> None:
    await steered.start(*program(kind, tmp_path))
    await steered.uses(rate="0.5", size="3", solver="cg", title="first", stop="false")
    desk = steered.pair.desk(BESIDE)
    steering = desk.forwards.steering
    number = await within(steering.set("rate", "0.25"))
    await within(steering.set("size", "7"))
    await within(steering.set("solver", "gmres"))
    await within(steering.set("title", "a b\"c\\d é"))
    await steered.uses(rate="0.25", size="7", solver="gmres", title="a b\"c\\d é")
    history = steered.published().steering.changes
    first = history[0]
    assert (first.name, first.before, first.after, first.change) == ("rate", 0.5, 0.25, number)
    assert "@" in first.by
    assert first.x is not None
    assert first.x >= 1
    await within(steering.set("rate", "7"))
    await eventually(lambda: steered.published().steering.changes[-1].refused)
    assert steered.values()["rate"] == "0.25"
    await within(steering.set("stop", "true"))
    assert steered.pair.agent is not None
    assert await within(steered.pair.agent.wait()) == 0
    assert steered.published().unreadable == 0
