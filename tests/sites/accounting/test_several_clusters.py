"""A login host that serves two real Slurm clusters: a site is one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.outside import OutsideEnd
from broker_core.wire.outside import OutsideJob
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_all_commands_go_to_the_cluster_that_the_site_names(
    home: Cluster, other: Cluster, tmp_path: Path
) -> None:
    spec = spec_for(home, tmp_path / "site").model_copy(update={"cluster": "b"})
    far = await Far(spec, tmp_path / "here").start()
    facts = await far.site.look()
    assert [one.ce for one in facts] == ["far:22/jobmanager-slurm-main", "far:22/jobmanager-slurm-short"]
    assert facts[0].attributes["GlueCEInfoTotalCPUs"] == 4
    first, second = script("echo $SLURM_CLUSTER_NAME"), script("sleep 600")
    assert (await far.run(first)).exit_code == 0
    assert await far.text(first.attempt) == "b\n"
    await far.site.submit(second)
    assert list(other.present().values()) == [f"{MARK}.{second.attempt.tag}"]
    assert not home.present()
    await far.site.confirm(second.attempt)
    await far.started(second.attempt)
    again = await far.again([(second.attempt, None)])
    await again.started(second.attempt)
    await again.site.cancel(second.attempt)
    assert (await again.ended(second.attempt)).failure == "killed"
    await eventually(lambda: not other.present())
    tags = first.attempt.tag, second.attempt.tag
    assert not [one for one in home.completed() if one.name.endswith(tags)]
    await again.site.close()


async def test_jobs_outside_are_those_of_the_cluster_that_the_site_names(
    home: Cluster, other: Cluster, tmp_path: Path
) -> None:
    spec = spec_for(home, tmp_path / "site").model_copy(update={"cluster": "b"})
    far = await Far(spec, tmp_path / "here").start()
    outside = far.site.outside
    assert outside is not None

    def sbatch(cluster: str, body: str, *words: str) -> str:
        out = f"--output={tmp_path}/{cluster}.out"
        line = home.run("sbatch", "--parsable", "-M", cluster, out, *words, f"--wrap={body}")
        return line.strip().partition(";")[0]

    sbatch("a", "sleep 600", "--job-name=elsewhere")
    theirs = sbatch("b", "echo seen; sleep 600", "--job-name=theirs")

    async def running() -> OutsideJob | None:
        jobs = await outside.jobs()
        assert {job.name for job in jobs} == {"theirs"}
        return next((job for job in jobs if job.state == "Running"), None)

    job = await eventually(running, what="the job of the other cluster runs")
    assert isinstance(job, OutsideJob)
    assert job.id == theirs
    assert dict(await outside.facts(theirs))["JobState"] == "RUNNING"

    async def said() -> bool:
        return (await outside.output(theirs, error=False)).text == "seen\n"

    await eventually(said, what="its output is read")
    await outside.cancel(theirs)

    async def ended() -> OutsideEnd | None:
        return (await outside.ends([theirs])).get(theirs)

    end = await eventually(ended, what="accounting knows its end")
    assert isinstance(end, OutsideEnd)
    assert (end.state, bool(end.ended)) == ("Canceled", True)
    assert list(home.present().values()) == ["elsewhere"]
    await far.site.close()


@pytest.mark.parametrize("name", ["a,b", "all", "-x", "a b", "$(id)"])
def test_what_names_no_single_cluster_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of one cluster"):
        SiteSpec(name="far", kind="slurm", cluster=name)
