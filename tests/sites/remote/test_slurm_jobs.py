"""Jobs on a real Slurm, through the whole way of a remote site."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component, computing_element
from broker_core.sites.contract import InputFile, LaunchOrder, SiteRefused
from tests.sites.remote.far_site import MARK, Far, order, script, spec_for
from tests.testbed.slurm import Cluster, Completed
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


def done(cluster: Cluster, attempt: Component) -> list[Completed]:
    """What the cluster recorded of a single attempt, once nothing is left there."""
    return [job for job in cluster.all_completed() if job.name == f"{MARK}.{attempt.tag}"]


async def test_a_job_runs_and_its_output_is_here_when_its_end_is_told(far: Far, cluster: Cluster) -> None:
    one = script('echo "hello $X"; echo trouble >&2; echo data >"a b.csv"; exit 3', outputs=("*.csv",))
    one = replace(one, environment=(("X", "wörld, 'quoted'"),))
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (3, "")
    assert ended.usage["wall_s"] >= 0
    assert await far.text(one.attempt) == "hello wörld, 'quoted'\n"
    assert await far.text(one.attempt, "std.err") == "trouble\n"
    assert await far.text(one.attempt, "a b.csv") == "data\n"
    assert len(far.starts(one.attempt)) == 1
    assert [(job.state, job.started) for job in done(cluster, one.attempt)] == [("FAILED", True)]


async def test_input_files_arrive_and_nothing_is_left_at_the_site(far: Far, tmp_path: Path) -> None:
    program, data = tmp_path / "p", tmp_path / "d"
    program.write_text("#!/bin/sh\nsort <'in put' | tr a-z A-Z\n")
    data.write_text("b\na\n")
    inputs = (InputFile("run", program, True), InputFile("in put", data, False))
    one = order("./run", inputs=inputs)
    assert (await far.run(one)).exit_code == 0
    assert await far.text(one.attempt) == "A\nB\n"
    base = Path(far.spec.directory) / MARK
    await eventually(lambda: {place.parent.name for place in base.glob("*/*")} == {"programs"})


async def test_a_job_is_held_until_it_is_confirmed(far: Far, cluster: Cluster) -> None:
    one = script("echo ran")
    await far.site.submit(one)
    held = cluster.run("squeue", "-h", "-o", "%r|%j").strip()
    assert held == f"JobHeldUser|{MARK}.{one.attempt.tag}"
    assert (far.site.queued, far.site.running) == (1, 0)
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).exit_code == 0
    assert (far.site.queued, far.site.running) == (0, 0)


async def test_the_same_attempt_handed_over_twice_is_one_job(far: Far, cluster: Cluster) -> None:
    one = script("echo ran")
    first, second = await asyncio.gather(far.site.submit(one), far.site.submit(one))
    assert first == second == await far.site.submit(one)
    assert list(cluster.present()) == [first]


async def test_launches_with_equal_needs_are_one_array_though_their_programs_differ(
    far: Far, cluster: Cluster
) -> None:
    orders = [script(f"echo {number}; exit {number}") for number in range(7)]
    ids = await asyncio.gather(*(far.site.submit(one) for one in orders))
    jobs = cluster.present()
    assert len({id.partition("_")[0] for id in ids}) == 1
    assert sorted(ids) == sorted(jobs)
    for one in orders:
        await far.site.confirm(one.attempt)
    for number, one in enumerate(orders):
        assert (await far.ended(one.attempt)).exit_code == number
        assert await far.text(one.attempt) == f"{number}\n"


async def test_needs_that_differ_make_jobs_of_their_own(far: Far, cluster: Cluster) -> None:
    orders: list[LaunchOrder] = [
        script("nproc"),
        script("exit 0", cpus=3),
        script("exit 0", wall_limit=70.0),
        script("exit 0", ce="far:22/jobmanager-slurm-short"),
    ]
    await asyncio.gather(*(far.site.submit(one) for one in orders))
    listed = cluster.run("squeue", "-h", "-o", "%j|%C|%P|%l").split()
    found = {line.partition("|")[0].removeprefix(f"{MARK}."): line.partition("|")[2] for line in listed}
    assert [found[one.attempt.tag] for one in orders] == [
        "1|main|4:00:00",
        "3|main|4:00:00",
        "1|main|7:00",
        "1|short|10:00",
    ]


async def test_single_tasks_of_an_array_are_released_and_canceled(far: Far, cluster: Cluster) -> None:
    orders = [script("sleep 60") for _ in range(4)]
    await asyncio.gather(*(far.site.submit(one) for one in orders))
    for one in orders[:2]:
        await far.site.confirm(one.attempt)
    await far.started(orders[0].attempt)
    await far.started(orders[1].attempt)
    await far.site.cancel(orders[0].attempt)
    await far.site.cancel(orders[2].attempt)
    for one in (orders[0], orders[2]):
        assert (await far.ended(one.attempt)).failure == "killed"
    await eventually(lambda: len(cluster.present()) == 2)
    assert not far.starts(orders[2].attempt)
    assert not far.ends(orders[1].attempt)


async def test_a_cancel_ends_a_program_that_ignores_it(far: Far, cluster: Cluster) -> None:
    one = script('trap "" TERM; echo $$; sleep 600 & wait; sleep 600')
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await far.site.cancel(one.attempt)
    ended = await far.ended(one.attempt)
    assert (ended.exit_code, ended.failure) == (None, "killed")
    assert ended.started is not None
    await eventually(lambda: not cluster.present())


async def test_a_cancel_before_the_release_keeps_it_from_starting(far: Far, cluster: Cluster) -> None:
    one = script("echo never")
    await far.site.submit(one)
    await far.site.cancel(one.attempt)
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    assert [(job.state, job.started) for job in done(cluster, one.attempt)] == [("CANCELLED", False)]


async def test_the_wall_limit_is_kept_by_the_starter(far: Far) -> None:
    one = script("sleep 600", wall_limit=1.0)
    assert (await far.run(one)).failure == "wall-limit"


async def test_what_the_batch_system_ends_is_told_apart_from_an_end_of_its_own(
    far: Far, cluster: Cluster
) -> None:
    one = script("sleep 600")
    id = await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    cluster.run("scancel", id)
    ended = await far.ended(one.attempt)
    assert (ended.exit_code, ended.failure) == (None, "lost")
    assert "batch system" in ended.reason


async def test_a_missing_program_is_told(far: Far) -> None:
    ended = await far.run(order("no-such-program"))
    assert (ended.failure, ended.started) == ("executable-missing", None)


async def test_a_queue_that_there_is_not_refuses(far: Far, cluster: Cluster) -> None:
    one = script("exit 0", ce="far:22/jobmanager-slurm-nowhere")
    with pytest.raises(SiteRefused, match="invalid partition"):
        await far.site.submit(one)
    assert not cluster.present()
    assert not any((Path(far.spec.directory) / MARK / "attempts").iterdir())


async def test_the_queues_are_described(far: Far, cluster: Cluster) -> None:
    main, short = await far.site.look()
    assert (main.ce, short.ce) == ("far:22/jobmanager-slurm-main", "far:22/jobmanager-slurm-short")
    assert {computing_element(one.ce).site for one in (main, short)} == {far.site.name}
    assert main.attributes["GlueCEInfoLRMSType"] == "slurm"
    assert main.attributes["GlueCEInfoTotalCPUs"] == cluster.nodes * cluster.cpus
    assert main.attributes["GlueHostMainMemoryRAMSize"] == cluster.cpus * 200
    assert short.attributes["GlueCEPolicyMaxWallClockTime"] == 10
    assert {"PYTHON3", "POSIX"} <= set(main.attributes["GlueHostApplicationRunTimeEnvironment"])


async def test_settings_set_variables_and_options(cluster: Cluster, tmp_path: Path) -> None:
    spec = spec_for(
        cluster,
        tmp_path / "site",
        environment=cluster.environment | {"WHERE": "far away"},
        options=["--comment=tried out"],
    )
    far = await Far(spec, tmp_path / "here").start()
    one = script('echo "$WHERE"')
    id = await far.site.submit(one)
    assert "Comment=tried out" in cluster.run("scontrol", "show", "job", id)
    await far.site.confirm(one.attempt)
    await far.ended(one.attempt)
    assert await far.text(one.attempt) == "far away\n"
    await far.site.close()


async def test_an_array_has_one_input_file_at_the_site(far: Far, tmp_path: Path) -> None:
    (tmp_path / "content").write_bytes(content := bytes(range(256)) * 200)
    data = InputFile("data", tmp_path / "content", False, hashlib.sha256(content).hexdigest())
    jobs = [script("wc -c <data; echo >data", inputs=(data,)) for _ in range(3)]
    await asyncio.gather(*(far.site.submit(one) for one in jobs))
    for one in jobs:
        await far.site.confirm(one.attempt)
    for one in jobs:
        await far.ended(one.attempt)
        assert await far.text(one.attempt) == "51200\n"
    assert [path.read_bytes() for path in (tmp_path / "site").glob("*/files/*")] == [content]
