"""Parameters of a program, changed by desks through its agent: real programs, agents, relays and cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.interactive.shadow.session import SessionOptions
from broker_core.interactive.shadow.steering import NotSteered
from broker_core.jobs.published.parameters import text_of
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from broker_core.worker.agent_settings import PARAMETERS
from broker_core.worker.script import publish_path
from broker_core.worker.sub_channels.parameters import JobParameters
from tests.interactive.pair import Bench
from tests.interactive.wire import Wire
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
    await steered.uses(rate="0.25")
    await within(steering.set("size", "7"))
    await within(steering.set("solver", "gmres"))
    await within(steering.set("title", "a b\"c\\d é"))
    await steered.uses(size="7", solver="gmres", title="a b\"c\\d é")
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


async def test_two_desks_steer_and_both_see_what_the_last_one_wanted(
    steered: SteeredJob, tmp_path: Path
) -> None:
    await steered.start(*program("python", tmp_path))
    one, other = (steered.pair.desk(BESIDE).forwards.steering for _ in range(2))
    await within(one.set("rate", "0.1"))
    await eventually(lambda: "rate" in other.changes and other.changes["rate"].value == "0.1")
    last = await within(other.set("rate", "0.9"))
    await within(one.set("size", "5"))
    await eventually(lambda: one.changes == other.changes and len(one.changes) == 2)
    assert (one.changes["rate"].value, one.changes["rate"].number) == ("0.9", last)
    await steered.uses(rate="0.9", size="5")
    late = steered.pair.desk(BESIDE).forwards.steering
    await eventually(lambda: late.changes == one.changes, what="a desk that comes later sees the same")


async def test_a_change_that_is_made_while_the_connection_is_cut_arrives_once(
    steered: SteeredJob, tmp_path: Path
) -> None:
    wire = Wire(steered.pair.place)
    steered.pair.place = await wire.open()
    await steered.start(*program("python", tmp_path))
    desk = steered.pair.desk(BESIDE)
    await within(desk.forwards.steering.set("rate", "0.1"))
    for value in ("0.2", "0.3", "0.4"):
        wire.cut()
        await within(desk.forwards.steering.set("rate", value))
    await steered.uses(rate="0.4")
    changes = [one.change for one in steered.published().steering.changes]
    assert changes == sorted(set(changes))
    await wire.close()


async def test_a_program_that_never_reads_takes_no_room(steered: SteeredJob) -> None:
    await steered.start("/bin/sleep", "600")
    steering = steered.pair.desk(BESIDE).forwards.steering
    for number in range(200):
        await within(steering.set("rate", str(number)))
    assert (steered.pair.job / PARAMETERS).read_text().count("\n") == 1
    assert (steered.pair.job / PARAMETERS).stat().st_mode & 0o077 == 0


async def test_the_agent_bounds_what_it_writes_for_the_program(steered: SteeredJob) -> None:
    await steered.start("/bin/sleep", "600")
    steering = steered.pair.desk(BESIDE).forwards.steering
    for name, value in (("a" * 81, "1"), ("a", "b" * 201), ("a", "1\n2\tx\tb\t3"), ("", "1")):
        with pytest.raises(NotSteered, match="The change was not taken"):
            await within(steering.set(name, value))
    for number in range(64):
        await within(steering.set(f"p{number}", "1"))
    with pytest.raises(NotSteered, match="at most 64 parameters"):
        await within(steering.set("one more", "1"))
    await within(steering.set("p7", "2"))


async def test_a_file_that_is_not_the_job_s_own_is_not_followed(steered: SteeredJob, tmp_path: Path) -> None:
    await steered.start("/bin/sleep", "600")
    (tmp_path / "elsewhere").write_text("mine")
    await eventually(steered.pair.job.exists)
    (steered.pair.job / PARAMETERS).symlink_to(tmp_path / "elsewhere")
    steering = steered.pair.desk(BESIDE).forwards.steering
    with pytest.raises(NotSteered, match="The change was not taken"):
        await within(steering.set("rate", "1"))
    (steered.pair.job / PARAMETERS).unlink()
    (steered.pair.job / f"{PARAMETERS}.part").symlink_to(tmp_path / "elsewhere")
    await within(steering.set("rate", "1"))
    assert (tmp_path / "elsewhere").read_text() == "mine"


async def test_an_agent_that_takes_no_changes_says_so(steered: SteeredJob) -> None:
    await steered.pair.start_agent(["/bin/sleep", "600"], forwards=False)
    steering = steered.pair.desk(BESIDE).forwards.steering
    with pytest.raises(NotSteered, match="takes no changes"):
        await within(steering.set("rate", "1"))


async def test_numbers_of_changes_go_on_after_an_agent_before(tmp_path: Path) -> None:
    (tmp_path / PARAMETERS).write_text("9999999999999\tann\trate\t1\nnot a change\n")
    (tmp_path / PARAMETERS).chmod(0o600)
    found = JobParameters(tmp_path)
    assert [one.name for one in await found.changes()] == ["rate"]
    assert await found.write("a", "bob", "size", "2") == 10_000_000_000_000
    assert await found.write("a", "bob", "size", "2") == 10_000_000_000_000
    assert len(await found.changes()) == 2
