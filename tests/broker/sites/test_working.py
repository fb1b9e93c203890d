"""Jobs at a cluster behind SSH: live output, cancel, drain, restarts, silence, run elsewhere."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import Conflict
from broker_core.wire.sites import QuestionAnswer, SiteSpec
from tests.broker.jobs import reach, script, submit
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import link, view
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd
from tests.waiting import eventually, wait_until

THERE = f'Requirements = other.GlueSiteName == "{NAME}";'
GATE = "echo first; while [ ! -e {gate} ]; do sleep 0.1; done; echo last"


async def test_a_job_runs_there_and_its_output_is_read_while_it_runs(
    site: BrokerClient, cluster: Cluster, spec: SiteSpec, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = await script(site, GATE.format(gate=gate), description=f'StdOutput = "out"; {THERE}')
    await reach(site, job, "Running")

    async def first() -> bool:
        files = [file.path for file in await site.files(job)]
        return "out" in files and (await site.read_file(job, "out")).content == b"first\n"

    await eventually(first)
    now = await view(site, NAME)
    assert (now.running, now.queued) == (1, 0)
    with pytest.raises(Conflict, match="1 job is"):
        await site.remove_site(NAME)
    for field, word, value in (
        ("directory", "directory", "/a"),
        ("user", "account", "a"),
        ("lease", "lease", 9.0),
    ):
        with pytest.raises(Conflict, match=f"The {word} of a site cannot be changed while jobs are there"):
            await site.change_site(spec.model_copy(update={field: value}))
    refused = await asyncio.to_thread(crossdesk, "site", "change", NAME, "--directory", "/elsewhere")
    assert (refused.code, "while jobs are there" in refused.err) == (1, True)
    await site.change_site(spec.model_copy(update={"max_jobs": 5, "at_once": 2}))
    gate.touch()
    row = await reach(site, job, "Done")
    assert (row["exit_code"], row["site"]) == (0, f"{NAME}:22/jobmanager-slurm-main")
    assert (await site.read_file(job, "out")).content == b"first\nlast\n"
    now = await view(site, NAME)
    assert (now.running, now.done, now.per_hour) == (0, 1, 1.0)


async def test_a_batch_system_that_does_not_answer_is_told_at_the_site_until_it_does(
    site: BrokerClient, cluster: Cluster
) -> None:
    async def told(word: str) -> bool:
        await site.connect_site(NAME)
        now = await view(site, NAME)
        return now.link.state == "connected" and (now.stale.startswith(word) if word else not now.stale)

    cluster.kill_controller()
    try:
        await eventually(lambda: told("Slurm does not answer"), what="the site is told to be mute")
    finally:
        cluster.start_controller()
    await eventually(lambda: told(""), what="it answers again")


async def test_a_canceled_job_is_gone_there_too(site: BrokerClient, cluster: Cluster) -> None:
    job = await script(site, "sleep 600", description=THERE)
    await reach(site, job, "Running")
    await site.cancel([job])
    await reach(site, job, "Canceled")
    await eventually(lambda: not cluster.present())


async def test_a_drained_site_gets_no_jobs_over_a_restart_too(
    site: BrokerClient, running_broker: RunningBroker, cluster: Cluster
) -> None:
    assert (await site.drain_site(NAME)).standing == "drained"
    with pytest.raises(Conflict, match="drained, so it takes no jobs"):
        await site.test_site(NAME)
    running_broker.kill()
    running_broker.start()
    await link(site, NAME, "connected")
    job = (await submit(site, f'Executable = "/bin/true"; {THERE}')).ids[0]
    here = (await submit(site, 'Executable = "/bin/true";', site="local")).ids[0]
    await reach(site, here, "Done")
    assert (await site.job(job)).row["state"] == "Waiting"
    assert not cluster.present()
    await site.resume_site(NAME)
    await reach(site, job, "Done")


async def test_jobs_go_on_while_the_broker_is_away_and_are_found_again_once(
    site: BrokerClient, running_broker: RunningBroker, cluster: Cluster, tmp_path: Path
) -> None:
    gate, before = tmp_path / "gate", len(cluster.completed())
    jobs = [
        await script(site, GATE.format(gate=gate), description=f'StdOutput = "out"; {THERE}')
        for _ in range(2)
    ]
    for job in jobs:
        await reach(site, job, "Running")
    running_broker.kill()
    gate.touch()
    wait_until(lambda: not cluster.present(), what="the jobs end by themselves")
    running_broker.start()
    for job in jobs:
        assert (await reach(site, job, "Done"))["exit_code"] == 0
        assert (await site.read_file(job, "out")).content == b"first\nlast\n"
    assert len(cluster.completed()) == before + 2


async def test_a_site_that_is_silent_at_the_start_delays_nobody_and_its_jobs_are_not_failed(
    site: BrokerClient, running_broker: RunningBroker, cluster: Cluster, sshd: Sshd, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = await script(site, GATE.format(gate=gate), description=f'StdOutput = "out"; {THERE}')
    await reach(site, job, "Running")
    running_broker.kill()
    sshd.kill()
    running_broker.start()
    here = (await submit(site, 'Executable = "/bin/true";', site="local")).ids[0]
    await reach(site, here, "Done")
    await link(site, NAME, "retrying", "down")
    detail = await site.job(job)
    assert detail.row["state"] == "Running"
    assert detail.unheard_since is not None
    assert "Not heard from" in crossdesk("job", "status", job).out
    assert f"{NAME} is not heard from since" in crossdesk("job", "list").err
    looked = crossdesk("job", "log", job)
    assert looked.code == 1
    assert "Nothing of the job can be read now" in looked.err
    sshd.start()
    gate.touch()
    await link(site, NAME, "connected")
    assert (await reach(site, job, "Done"))["exit_code"] == 0
    assert (await site.job(job)).unheard_since is None


async def test_a_job_is_run_elsewhere_on_demand_and_its_old_attempt_is_ended_later(
    site: BrokerClient, cluster: Cluster, sshd: Sshd, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = await script(
        site, f"test -e {gate} || sleep 600", description=f'Rank = other.GlueSiteName == "{NAME}" ? 1 : 0;'
    )
    row = await reach(site, job, "Running")
    assert row["site"].startswith(NAME)
    sshd.kill()
    await link(site, NAME, "retrying", "down")
    gate.touch()
    await site.run_elsewhere(job)
    row = await reach(site, job, "Done")
    assert (row["site"].startswith("localhost"), row["attempt"]) == (True, 2)
    with pytest.raises(Conflict):
        await site.run_elsewhere(job)
    assert cluster.present()
    sshd.start()
    await link(site, NAME, "connected")
    await eventually(lambda: not cluster.present(), what="the old attempt is ended")


async def test_a_changed_host_key_is_asked_about(site: BrokerClient, cluster: Cluster, sshd: Sshd) -> None:
    sshd.kill()
    sshd.new_host_key()
    sshd.start()
    asked = await link(site, NAME, "needs credentials")
    assert asked.link.question is not None
    assert asked.link.question.kind == "changed-host"
    assert sshd.fingerprint in asked.link.question.text
    with pytest.raises(Conflict):
        await site.answer_site(NAME, QuestionAnswer(id="another", value="yes"))
    said = crossdesk("site", "connect", NAME, text="yes\n")
    assert (said.code, "fingerprint" in said.err) == (1, True)
    assert crossdesk("site", "connect", NAME, "--host-key", sshd.fingerprint).code == 0
    await link(site, NAME, "connected")
    job = (await submit(site, f'Executable = "/bin/true"; {THERE}')).ids[0]
    await reach(site, job, "Done")


async def test_a_site_removed_by_force_takes_its_jobs_along(
    site: BrokerClient, cluster: Cluster, broker: Path, tmp_path: Path
) -> None:
    job = await script(site, "sleep 600", description=THERE)
    await reach(site, job, "Running")
    assert (tmp_path / "there").is_dir()
    removing = asyncio.create_task(site.remove_site(NAME, force=True))
    await reach(site, job, "Canceled")
    late = await script(site, "true", description=THERE)
    assert (await removing).left == ""
    assert list((tmp_path / "there").iterdir()) == []
    assert (await reach(site, late, "Waiting"))["site"] == ""  # nothing was sent to a site on its way out
    await eventually(lambda: not cluster.present())
    assert [one.name for one in await site.sites()] == ["local"]
    assert not (broker / "sites" / NAME / "site.json").exists()


async def test_output_of_a_removed_site_stays_until_its_job_is_purged(
    site: BrokerClient, running_broker: RunningBroker, broker: Path
) -> None:
    job = await script(site, "echo kept", description=f'StdOutput = "out"; {THERE}')
    await reach(site, job, "Done")
    await site.remove_site(NAME)
    running_broker.kill()
    running_broker.start()
    assert [file.path for file in await site.files(job) if file.role == "stdout"] == ["out"]
    assert (await site.read_file(job, "out")).content == b"kept\n"
    await site.purge([job])
    assert not list((broker / "sites" / NAME / "attempts").iterdir())


async def test_jobs_at_a_silent_site_end_here_when_it_is_removed_by_force(
    site: BrokerClient, cluster: Cluster, sshd: Sshd, tmp_path: Path
) -> None:
    running = await script(site, "sleep 600", description=THERE)
    await reach(site, running, "Running")
    sshd.signal(signal.SIGSTOP)
    on_its_way = await script(site, "sleep 600", description=THERE)
    await reach(site, on_its_way, "Ready")
    sshd.kill()
    await link(site, NAME, "retrying", "down")
    assert (await site.job(on_its_way)).waits_for.startswith(f"Waits until {NAME} is connected")
    answer = await asyncio.to_thread(crossdesk, "site", "remove", NAME, "--force", "--yes")
    [kept] = (tmp_path / "there").iterdir()
    assert "It could not be reached." in answer.err
    assert str(kept) in answer.err.replace("\n", "")
    for job in (running, on_its_way):
        row = await reach(site, job, "Canceled")
        assert "not among the sites any more" in (await site.events_of(job))[-1].reason + row["reason"]
    assert cluster.present()


async def test_a_site_that_is_being_removed_is_shown_so_until_it_answered(
    site: BrokerClient, sshd: Sshd, tmp_path: Path
) -> None:
    await reach(site, await script(site, "true", description=THERE), "Done")
    sshd.signal(signal.SIGSTOP)
    removing = asyncio.create_task(site.remove_site(NAME))

    async def leaving() -> bool:
        return (await view(site, NAME)).standing == "being removed"

    await eventually(leaving)
    with pytest.raises(Conflict, match="is being removed"):
        await site.remove_site(NAME)
    assert not (await view(site, NAME)).removable
    sshd.signal(signal.SIGCONT)
    assert (await removing).left == ""
    assert list((tmp_path / "there").iterdir()) == []


async def test_a_test_job_tells_what_nodes_are_like_and_rank_can_use_the_speed(
    site: BrokerClient, running_broker: RunningBroker, sshd: Sshd, cluster: Cluster
) -> None:
    before = await view(site, NAME)
    assert (before.nodes_see_directory, before.nodes_reach_network, before.speed) == (None, None, None)
    (running_broker.state_dir / "broker.toml").write_text(f'network_test = "127.0.0.1:{sshd.port}"\n')
    running_broker.kill()
    running_broker.start()
    await link(site, NAME, "connected")
    job = (await site.test_site(NAME, speed=True)).job
    running_broker.kill()
    running_broker.start()
    await reach(site, job, "Done")

    async def told() -> bool:
        return (await view(site, NAME)).speed is not None

    await eventually(told, what="the speed is told")
    now = await view(site, NAME)
    assert (now.nodes_see_directory, now.nodes_reach_network) == (True, True)
    assert now.speed is not None
    assert now.speed > 100

    model = 'other.GlueHostProcessorModel != ""'

    async def published() -> bool:
        told = f'other.NodesSeeDirectory && other.Overlay == "yes" && {model}'
        here = f"{THERE[:-1]} && {told}; Rank = other.GlueHostBenchmarkSI00;"
        found = (await site.match(f'Executable = "/bin/true"; {here}')).resources
        return {one.rank for one in found if one.matches} == {float(now.speed or 0)}

    await eventually(published)
