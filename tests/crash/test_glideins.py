"""Batch jobs in glideins on a real cluster, interactive jobs beside them, and a broker that dies (CB-GLI)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.scheduling.slots.rules import SlotRules
from broker_core.worker.agent_settings import CONTACT
from broker_core.worker.warm_agent import WARM
from tests.broker.jobs import reach
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.interactive.far_jobs import agent_file, attached, submitted
from tests.interactive.pair import Screen
from tests.running import processes_of
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
SITE = "alpha"
SETTINGS = f"""
glideins = ["{SITE}"]
glidein_idle_exit = 0
agent_program = "/nowhere/agent"
line_interval = 0.05
line_idle_interval = 0.2
"""
TALK = "echo ready; while read line; do eval $line; done; exit 5"
TEXT = f'Executable = "/bin/sh"; Interactive = true; Arguments = "-c \'{TALK}\'";'
SHELL = TEXT.replace(TALK, "echo ready; exec sh -i")
POINTS = [
    *("after:glidein.requested", "after:glidein.accepted", "before:glidein.joined", "after:claim.made"),
    *("after:claim.started", "before:claim.ended", "after:glidein.emptied", "after:job.scheduled"),
    *("during:alpha.submit", "after:recovery", "before:job.done", "after:alpha.cancel"),
]
AT_ONCE = 4


@pytest.fixture
def cluster(clusters: Slurm) -> Iterator[Cluster]:
    """A cluster of one node with four processors."""
    made = clusters.clusters["a"]
    made.require_ready()
    yield made
    made.end_jobs()


@pytest.fixture
def survivor(isolated: Path, state_dir: Path, cluster: Cluster) -> Iterator[SitesSurvivor]:
    """No broker runs yet."""
    guardian = Guardian(isolated)
    state_dir.mkdir(mode=0o700, exist_ok=True)
    (state_dir / "broker.toml").write_text(f'{SETTINGS}slot_writes = ["{isolated}"]\n')
    bed = Bed(spec(SITE, "slurm", isolated / "there", cluster.environment), cluster)
    made = SitesSurvivor(state_dir, isolated / "effects", [bed])
    yield made
    made.close()
    guardian.close()


def fill(cluster: Cluster, cpus: int) -> None:
    """Others take processors of the cluster."""
    cluster.run("sbatch", "-p", "main", f"-n{cpus}", "--wrap", "sleep 600", "-o", "/dev/null")


async def free(client: BrokerClient) -> dict[str, int]:
    """Free processors, or slots, by batch system and queue."""
    page = (await client.resources_page()).columns
    rows = zip(page["ce"], page["free_cpus"], strict=True)
    return {ce.partition("/jobmanager-")[2]: count for ce, count in rows if ce.startswith(f"{SITE}:")}


async def offered(client: BrokerClient) -> bool:
    """True once no processor is free, and one slot is."""
    here = await free(client)
    slots = [here.pop(name) for name in list(here) if name.startswith("slots-")]
    return slots == [1] and not any(here.values())


async def console(client: BrokerClient, job: str) -> Screen:
    """A desk that has the input; fails with the reason of the job's state."""
    try:
        return await attached(client, job)
    except AssertionError as late:
        raise AssertionError((await client.job(job)).row["reason"]) from late


def nice_values(survivor: SitesSurvivor, job: str) -> set[int]:
    """Of the processes of a job's first attempt."""
    folder = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE) / "attempts" / f"{job}.1"
    found = set()
    for pid in processes_of(folder / "job"):
        with suppress(ProcessLookupError):
            found.add(os.getpriority(os.PRIO_PROCESS, pid))
    return found


def boxes(survivor: SitesSurvivor) -> set[str]:
    """What keeps the payloads of the glideins apart."""
    home = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE)
    return {path.read_text().split()[0] for path in home.glob("glideins/*/box")}


async def test_an_interactive_job_starts_beside_a_batch_job_on_a_full_site_and_the_next_is_refused(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    gate = isolated / "gate"
    async with survivor.client() as client:
        await survivor.begin(client)
        fill(cluster, 3)
        (batch,) = await survivor.wave(client, count=1, seconds=0, gate=gate)
        await reach(client, batch, "Running")
        await eventually(lambda: offered(client), what="the second slot is offered")
        await eventually(lambda: nice_values(survivor, batch) == {0})
        assert boxes(survivor) == {"bubblewrap"}
        job = await submitted(client, SITE, TEXT)
        screen = await console(client, job)
        await eventually(lambda: nice_values(survivor, batch) == {10})
        assert 10 not in nice_values(survivor, job)
        (row,) = (await client.slots()).glideins
        assert (row.site, row.state, row.originator) == (SITE, "Shared", batch)

        async def both() -> bool:
            (now,) = (await client.slots()).glideins
            told = [(one.job, one.priority, one.step) for one in now.slots]
            return told == [(batch, 10, "Running"), (job, 0, "Running")]

        await eventually(both, what="both slots are told to run")
        second = await submitted(client, SITE, TEXT)
        assert "at once" in (await reach(client, second, "Aborted"))["reason"]
        screen.session.write(b"exit 5\n")
        await screen.ended()
        await screen.session.close()
        assert (await reach(client, job, "Done"))["exit_code"] == 5
        survivor.kill()
        survivor.wait_for_death()
        # The next broker does not know the slots yet: the job waits for word of them and is not refused.
        third = await submitted(client, SITE, TEXT)
        screen = await console(client, third)
        survivor.kill()
        survivor.wait_for_death()
        screen.session.write(b"echo still here\n")
        await screen.shows(b"still here", seconds=60)
        screen.session.write(b"exit 0\n")
        await screen.ended()
        await screen.session.close()
        await eventually(lambda: nice_values(survivor, batch) == {0})
        await eventually(lambda: offered(client), what="the slot is free again")
        view = await client.slots()
        assert (view.glideins[0].state, view.history.claims) == ("Busy", 3)
        assert view.history.times[0] < view.glideins[0].since, "what was before the kill is told still"
        gate.touch()
        await survivor.all_ended(client)
        await reach(client, third, "Done")
        await client.purge([job, second, third])
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


async def test_an_interactive_job_gets_the_agent_that_was_brought_ahead_and_its_glidein_keeps_warm(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    settings = survivor.state_dir / "broker.toml"
    agent = agent_file(isolated / "agent")
    settings.write_text(settings.read_text().replace("/nowhere/agent", str(agent)))
    async with survivor.client() as client:
        batch = await shared(survivor, client, cluster, isolated / "gate")
        home = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE)
        await eventually(lambda: list(home.glob("glideins/*/warm/bell")), what="an agent is warm")
        job = await submitted(client, SITE, SHELL)
        screen = await console(client, job)
        said = json.loads((home / f"attempts/{job}.1/job/{CONTACT}").read_text().splitlines()[-1])
        assert WARM in Path(f"/proc/{said['pid']}/cmdline").read_text().split("\0")
        assert 10 not in nice_values(survivor, job)
        survivor.kill()
        survivor.wait_for_death()
        screen.session.write(b"echo still here; exit 5\n")
        await screen.ended()
        assert b"still here" in screen.streams[1]
        await screen.session.close()
        row = await reach(client, job, "Done")
        assert row["exit_code"] == 5
        (isolated / "gate").touch()
        await survivor.all_ended(client)
        await reach(client, batch, "Done")
        await client.purge([job])
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


async def test_the_next_job_runs_in_the_glidein_of_the_one_before_also_after_the_broker_died(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    gates = [isolated / name for name in ("gate", "second", "third")]
    async with survivor.client() as client:
        await survivor.begin(client)
        fill(cluster, 3)
        (first,) = await survivor.wave(client, count=1, seconds=0, gate=gates[0])
        await reach(client, first, "Running")
        waiting = [await survivor.wave(client, count=1, seconds=0, gate=gate) for gate in gates[1:]]
        (second,), (third,) = waiting
        gates[0].touch()
        await reach(client, second, "Running")
        home = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE)
        assert len(list(home.glob("glideins/*/begun"))) == 1
        survivor.kill()
        survivor.wait_for_death()
        gates[1].touch()
        await survivor.revive()
        await reach(client, third, "Running")
        assert len(list(home.glob("glideins/*/begun"))) == 1
        assert len([*home.glob("glideins/*/taken/*"), *home.glob("glideins/*/past/*")]) == 3
        gates[2].touch()
        await survivor.all_ended(client)
        (glidein,) = home.glob("glideins/*")
        faults = await survivor.faults(client)
        assert not faults, "\n".join(faults)
        late = home / "attempts" / f"{glidein.name}.1"
        late.mkdir()  # as what is left where a removal was lost
        await eventually(lambda: not late.exists(), what="what is left of a glidein that is over goes")


async def test_jobs_wait_in_line_where_others_were_short_and_go_back_from_behind_a_long_one(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    settings = survivor.state_dir / "broker.toml"
    settings.write_text(settings.read_text().replace("glidein_idle_exit = 0", "glidein_idle_exit = 20"))
    gate = isolated / "gate"
    async with survivor.client() as client:
        await survivor.begin(client)
        fill(cluster, 3)
        for job in await survivor.wave(client, count=3, seconds=0):
            await reach(client, job, "Done")
        (long,) = await survivor.wave(client, count=1, seconds=0, gate=gate)
        behind = await survivor.wave(client, count=2, seconds=0)

        async def in_line() -> bool:
            slots = [one.slots[0] for one in (await client.slots()).glideins]
            return [one.job for one in slots if one.line] == [long]

        await eventually(in_line, what="jobs are in line")
        for job in behind:
            await reach(client, job, "Scheduled")  # what is not recorded yet is forgotten with the broker
        survivor.kill()
        survivor.wait_for_death()
        await survivor.revive()

        async def back() -> bool:
            events = [event for job in behind for event in await client.events_of(job)]
            return any("takes long" in event.reason for event in events)

        await reach(client, long, "Running")
        await eventually(back, what="the next broker knows who is in line, and takes them back")
        gate.touch()
        await survivor.all_ended(client)
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("killed", [False, True])
async def test_of_many_jobs_all_are_canceled_also_those_for_which_no_glidein_was_asked_yet(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path, killed: bool
) -> None:
    gate, most = isolated / "gate", SlotRules().most_waiting
    async with survivor.client() as client:
        first = await shared(survivor, client, cluster, gate)
        jobs = [first, *await survivor.wave(client, count=most + 8, seconds=0, gate=gate)]

        async def there(count: int) -> bool:
            return len((await client.slots()).glideins) == count

        await eventually(lambda: there(1 + most), what="as many glideins wait as may")
        await client.cancel(jobs)
        if killed:
            survivor.kill()
            survivor.wait_for_death()
            await survivor.revive()
        for job in jobs:
            await reach(client, job, "Canceled")
        await eventually(lambda: there(0), what="nothing waits at the site any more")
        await eventually(lambda: not survivor.beds[SITE].present(survivor.mark(SITE)))
    assert [job for job in jobs if (survivor.effects / survivor.accepted[job]).exists()] == [first]


async def test_killed_at_its_steps_a_broker_loses_and_doubles_nothing_in_glideins(
    survivor: SitesSurvivor, soak: bool
) -> None:
    points = POINTS if soak else POINTS[:AT_ONCE]
    async with survivor.client() as client:
        await survivor.die_in_turns(client, points, AT_ONCE)


async def test_a_batch_job_whose_glidein_is_killed_ends_there_and_runs_once_more(
    survivor: SitesSurvivor, isolated: Path
) -> None:
    gate = isolated / "gate"
    async with survivor.client() as client:
        await survivor.begin(client)
        (batch,) = await survivor.wave(client, count=1, seconds=0, gate=gate)
        await reach(client, batch, "Running")
        (glidein,) = survivor.beds[SITE].present(survivor.mark(SITE))
        home = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE)
        folder = home / "attempts" / glidein.removeprefix(f"glidein.{survivor.mark(SITE)}.") / "job"
        for pid in processes_of(folder):
            with suppress(ProcessLookupError, FileNotFoundError):
                if b"glidein.sh" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

        async def again() -> bool:
            row = (await client.job(batch)).row
            return (row["attempt"], row["state"]) == (2, "Running")

        await eventually(again, what="the job runs once more")
        gate.touch()
        await reach(client, batch, "Done")
    trace = survivor.effects / survivor.accepted[batch]
    assert trace.read_text().split() == ["start", "start", "end"]


def standing_still(survivor: SitesSurvivor, job: str) -> bool:
    """True while the program of a job's first attempt is stopped."""
    folder = Path(survivor.beds[SITE].spec.directory) / survivor.mark(SITE) / "attempts" / f"{job}.1"
    states = list[str]()
    for pid in processes_of(folder / "job"):
        with suppress(OSError):
            states.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return "T" in states


def choose(survivor: SitesSurvivor, line: str) -> None:
    """Add a setting of the broker that will begin."""
    with (survivor.state_dir / "broker.toml").open("a") as settings:
        settings.write(f"{line}\n")


async def shared(survivor: SitesSurvivor, client: BrokerClient, cluster: Cluster, gate: Path) -> str:
    """The cluster is full, and its last processor is a glidein with a batch job, whose id is returned."""
    await survivor.begin(client)
    fill(cluster, 3)
    (batch,) = await survivor.wave(client, count=1, seconds=0, gate=gate)
    await reach(client, batch, "Running")
    await eventually(lambda: offered(client), what="the second slot is offered")
    return batch


async def leave(screen: Screen) -> None:
    """End the interactive job."""
    screen.session.write(b"exit 0\n")
    await screen.ended()
    await screen.session.close()


async def test_by_setting_the_batch_job_stands_still_while_an_interactive_one_runs(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    choose(survivor, 'on_interactive = "suspend"')
    async with survivor.client() as client:
        batch = await shared(survivor, client, cluster, isolated / "gate")
        screen = await console(client, await submitted(client, SITE, TEXT))
        await eventually(lambda: standing_still(survivor, batch), what="the batch job stands still")
        (row,) = (await client.slots()).glideins
        assert [(one.step, one.share) for one in row.slots] == [("Suspended", 0.0), ("Running", 1.0)]
        await leave(screen)
        await eventually(lambda: not standing_still(survivor, batch), what="it goes on")
        (isolated / "gate").touch()
        await reach(client, batch, "Done")
    assert (survivor.effects / survivor.accepted[batch]).read_text().split() == ["start", "end"]


async def test_by_setting_the_batch_job_makes_room_for_an_interactive_one_and_runs_once_more(
    survivor: SitesSurvivor, cluster: Cluster, isolated: Path
) -> None:
    choose(survivor, 'on_interactive = "cancel"')
    async with survivor.client() as client:
        batch = await shared(survivor, client, cluster, isolated / "gate")
        screen = await console(client, await submitted(client, SITE, TEXT))

        async def again(state: str) -> bool:
            return any(
                event.type == state and event.attempt == 2 for event in await client.events_of(batch)
            )

        await eventually(lambda: again("job.matched"), what="the batch job is sent once more")
        assert any("made room" in event.reason for event in await client.events_of(batch))
        await leave(screen)
        await eventually(lambda: again("job.running"), what="it runs once more")
        (isolated / "gate").touch()
        await reach(client, batch, "Done")
    trace = survivor.effects / survivor.accepted[batch]
    assert trace.read_text().split() == ["start", "start", "end"]
