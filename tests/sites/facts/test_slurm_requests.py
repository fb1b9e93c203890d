"""What a job asks for reaches a real Slurm with GPUs, accounts, features and licenses."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.jdl.check import check
from broker_core.jobs.placement import Component
from broker_core.matching.match import Matches, match
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from broker_core.sites.adapter import SiteFailed
from broker_core.sites.contract import LaunchOrder, SiteRefused
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.accounting, pytest.mark.cluster]
NOTHING_MORE = 'Executable = "/bin/sh"; '


@pytest.fixture
async def far(equipped: Cluster, tmp_path: Path) -> AsyncIterator[Far]:
    """The cluster as a site."""
    site = await Far(spec_for(equipped, tmp_path / "site"), tmp_path / "here").start()
    yield site
    await site.site.close()


def asking(text: str, command: str = "true") -> LaunchOrder:
    """An order whose job asks for what a description says."""
    job = check(NOTHING_MORE + text).description
    assert job is not None
    return replace(script(command), cpus=job.cpus, request=job.request, name=job.name)


async def shown(far: Far, cluster: Cluster, one: LaunchOrder) -> dict[str, str]:
    """What Slurm knows of a job that it was handed: `scontrol show job`."""
    id = await far.site.submit(one)
    words = re.findall(r"(\S+?)=(\S*)", cluster.run("scontrol", "show", "job", id))
    return dict(words)


async def test_gpus_of_a_model_in_any_case_are_given_on_one_node(far: Far) -> None:
    one = asking(
        'CpuNumber = 3; GPUNumber = 2; GPUModel = "A100"; MemoryPerNode = 90;',
        "echo $SLURM_JOB_NODELIST $CUDA_VISIBLE_DEVICES $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE",
    )
    assert (await far.run(one)).exit_code == 0
    assert await far.text(one.attempt) == "a1 0,1 3 90\n"


async def test_cpus_of_one_program_are_never_scattered(far: Far, equipped: Cluster) -> None:
    found = await shown(far, equipped, asking("CpuNumber = 9;"))
    assert (found["NumNodes"], found["NumCPUs"], found["CPUs/Task"]) == ("1-1", "9", "9")
    spread = await shown(far, equipped, asking("CpuNumber = 6; HostNumber = 3;"))
    assert (spread["NumNodes"], spread["NumCPUs"], spread["CPUs/Task"]) == ("3-3", "6", "1")
    parallel = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 20;'
    scattered = await shown(far, equipped, asking(parallel))
    assert (scattered["NumTasks"], scattered["CPUs/Task"]) == ("20", "1")


async def test_account_qos_feature_license_and_words_arrive(far: Far, equipped: Cluster) -> None:
    text = (
        'Account = "phys"; QOS = "long"; Features = {"ib", "epyc"}; Licenses = "matlab:2"; '
        'MemoryPerCPU = 70; ScratchSize = 1; WholeNodes = true; WallTime = "30m"; '
        'BatchOptions = [ slurm = {"--nice=7", "--comment=mine"}; sge = {"-p", "-5"} ];'
    )
    found = await shown(far, equipped, asking(text))
    assert (found["Account"], found["QOS"], found["Features"]) == ("phys", "long", "ib&epyc")
    assert (found["Licenses"], found["MinMemoryCPU"]) == ("matlab:2", "70M")
    assert (found["Comment"], found["Nice"], found["OverSubscribe"]) == ("mine", "7", "NO")


async def test_the_users_name_for_a_job_stands_first(far: Far, equipped: Cluster) -> None:
    one = asking('JobName = "night run, part 2";')
    found = await shown(far, equipped, one)
    assert found["JobName"] == f"night-run-part-2.{MARK}.{one.attempt.tag}"
    await far.site.confirm(one.attempt)
    assert (await far.ended(one.attempt)).exit_code == 0


async def test_jobs_named_by_the_version_before_are_found_and_strange_ones_left_alone(
    far: Far, equipped: Cluster, tmp_path: Path
) -> None:
    """A job is renamed to what 0.1.0 called it; it is not handed over twice, and its end is told."""
    command = f"until [ -e {tmp_path}/go ]; do sleep 0.1; done; echo ran >>{tmp_path}/ran"
    one = asking('JobName = "mine";', command)
    id = await far.site.submit(one)
    equipped.run("scontrol", "update", f"JobId={id}", f"JobName={MARK}.{one.attempt.tag}")
    other = equipped.run(
        "sbatch", "--parsable", "--hold", f"--job-name=mine.t2.{one.attempt.tag}", "--wrap", "true"
    ).strip()
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    again = await far.again([(one.attempt, one)])
    try:
        (tmp_path / "go").touch()
        assert (await again.ended(one.attempt)).exit_code == 0
        assert (tmp_path / "ran").read_text() == "ran\n"
        assert other in equipped.run("squeue", "-h", "-o", "%i").split()
    finally:
        await again.site.close()


async def test_an_attempt_nobody_knows_is_canceled_whatever_its_user_calls_it(
    far: Far, equipped: Cluster
) -> None:
    orphan = Component("nobody", 1).tag
    names = (f"{MARK}.{orphan}", f"my-job.{MARK}.{Component('nobody', 2).tag}")
    ids = [
        equipped.run("sbatch", "--parsable", "--hold", f"--job-name={name}", "--wrap", "true").strip()
        for name in names
    ]
    one = asking("")
    assert (await far.run(one)).exit_code == 0
    await eventually(lambda: not set(ids) & set(equipped.run("squeue", "-h", "-o", "%i").split()))


async def test_what_slurm_does_not_know_is_refused_in_its_words(far: Far) -> None:
    with pytest.raises(SiteRefused, match=r"(?i)account"):
        await far.site.submit(asking('Account = "nobody";'))


async def matched(far: Far, text: str) -> Matches:
    main, _ = await far.site.look()
    counts = {name: main.attributes[f"Glue{name}"] for name in ("CEInfoTotalCPUs", "CEStateFreeCPUs")}
    resource = Resource(main.ce, main.site, *counts.values(), 0, 0, 0.0, dict(main.attributes))
    job = check(NOTHING_MORE + text).description
    assert job is not None
    return match(job, Pool.of([resource]))


async def test_what_no_node_has_is_told_before_submission(far: Far) -> None:
    reasons = {
        "GPUNumber = 5;": "no node of far has 5 GPUs (at most 4)",
        'GPUNumber = 3; GPUModel = "V100";': "no node of far has 3 GPUs of model V100 (at most 2)",
        'GPUNumber = 1; GPUModel = "H100";': "far has no GPU of model H100 (there: a100, v100)",
        'Account = "chem";': "account chem is not yours at far (there: phys, root)",
        "CpuNumber = 17;": "no node of far has 17 CPUs (at most 16)",
        "MemoryPerNode = 4000;": "no node of far has 4000 MB of memory (at most 3200)",
        'Licenses = "matlab:4";': "far has 3 of the license matlab; 4 wanted",
        'GPUNumber = 2; Features = "plain"; GPUModel = "a100";': (
            "no node of far has all at once: 1 CPU, 2 GPUs of model a100, plain"
        ),
    }
    assert {text: (await matched(far, text)).rejected[0].reason for text in reasons} == reasons
    assert (
        await matched(far, 'GPUNumber = 4; GPUModel = "A100"; CpuNumber = 16; Account = "phys";')
    ).candidates


async def test_names_that_this_slurm_does_not_have_are_left_out_where_the_description_says_so(
    far: Far, equipped: Cluster
) -> None:
    names = 'NamesOf = "{}"; QueueName = "gpu"; Account = "{}"; QOS = "nowhere"; Reservation = "none";'
    found = await shown(far, equipped, asking(names.format("slurm", "geo")))
    assert (found["Account"], found["QOS"], found.get("Reservation")) == ("phys", "normal", None)
    found = await shown(far, equipped, asking(names.format("pbs", "phys")))
    assert (found["Account"], found["QOS"]) == ("phys", "normal")


async def test_slurm_foretells_the_start_of_a_job_that_is_not_sent(far: Far, equipped: Cluster) -> None:
    before = equipped.run("squeue", "-h")
    free = await far.site.forecast(asking('GPUNumber = 1; GPUModel = "V100"; WallTime = "1h";'))
    assert free is not None
    assert free < 60
    assert equipped.run("squeue", "-h") == before
    words = ("--wrap", "sleep 600", "--time=60", "--gres=gpu:v100:2", "--output=/dev/null", "-p", "main")
    id = equipped.run("sbatch", "--parsable", *words).strip()
    try:

        async def busy() -> bool:
            return "RUNNING" in equipped.run("squeue", "-h", "-j", id, "-o", "%T")

        await eventually(busy)
        later = await far.site.forecast(asking('GPUNumber = 2; GPUModel = "V100"; WallTime = "1h";'))
    finally:
        equipped.run("scancel", id)
    assert later is not None
    assert 3000 < later <= 3700
    with pytest.raises(SiteFailed, match="Slurm says: "):
        await far.site.forecast(asking('Account = "nobodys";'))
