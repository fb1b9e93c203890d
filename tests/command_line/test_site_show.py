"""`crossdesk site show`: what is free now, and all computing elements of a site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.command_line.sites.show import now_in_words
from broker_core.command_line.sites.words import standing
from broker_core.wire.resources import ResourceDetail
from broker_core.wire.sites import LinkView, SiteSpec, SiteView
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.waiting import wait_until

SOURCE = """
cpus = 2
[[sources]]
name = "grid"
kind = "file"
path = "{}"
"""
RESOURCE = """
[[resources]]
ce = "ce{0}.example.org:2119/jobmanager-pbs-long"
site = "{1}"
GlueCEInfoTotalCPUs = 8
GlueCEStateFreeCPUs = {2}
GlueCEStateWaitingJobs = 1
"""


def told(**counts: int) -> str:
    return now_in_words(ResourceDetail(ce="a:1/x", site="a", attributes=[], **counts))


@pytest.fixture
def grid(state_dir: Path) -> Iterator[Path]:
    """A file with a small and a large site, as read by a running broker."""
    path = state_dir.parent / "grid.toml"
    small = [RESOURCE.format(number, "SITE003", 4) for number in (1, 2)]
    large = [RESOURCE.format(number, "Large", 5) for number in range(3, 8)]
    path.write_text("".join([*small, *large]))
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(SOURCE.format(path))
    broker = RunningBroker(state_dir)
    broker.start()
    wait_until(
        lambda: crossdesk("site", "list", "--all", "--json").json["total"] == 8, what="the file is read"
    )
    yield path
    broker.close()


def test_a_site_that_fails_its_jobs_is_marked_where_sites_are_listed() -> None:
    view = SiteView(
        spec=SiteSpec(name="hole", kind="slurm"),
        title="Slurm",
        link=LinkView(state="connected"),
        throttled="It fails its jobs",
    )
    assert (standing(view).plain, standing(view).style) == ("connected (It fails its jobs)", "yellow")
    long = LinkView(state="needs credentials", reason="THE KEY OF far (10.0.0.1) HAS CHANGED. Ask the site.")
    asks = view.model_copy(update={"throttled": "", "link": long})
    assert standing(asks, short=True).plain.endswith("(THE KEY OF far (10.0.0.1) HAS CHANGED.)")
    assert "Ask the site" in standing(asks).plain
    well = view.model_copy(update={"throttled": ""})
    assert (standing(well).plain, standing(well).style) == ("connected", "green")


def test_free_cpus_are_told_apart_from_published_ones_and_those_given_to_jobs() -> None:
    assert told(free_cpus=4, published_free=4) == "4 free CPUs, 0 jobs waiting"
    assert (
        told(free_cpus=1, published_free=4, committed=3, waiting_jobs=1)
        == "1 free CPU (4 published, 3 given to jobs), 1 job waiting"
    )
    assert (
        told(free_cpus=1, published_free=2, committed=3, counted=2)
        == "1 free CPU (2 published, 3 given to jobs, 2 of them counted already), 0 jobs waiting"
    )
    assert "3 given to jobs, all counted already)" in told(published_free=0, committed=3, counted=3)


def test_what_is_free_is_shown_as_the_source_said_last(grid: Path) -> None:
    one = "ce1.example.org:2119/jobmanager-pbs-long"
    assert "4 free CPUs, 1 job waiting" in crossdesk("site", "show", one).out
    grid.write_text(grid.read_text().replace("StateFreeCPUs = 4", "StateFreeCPUs = 2"))
    crossdesk("site", "refresh", "grid")
    assert "2 free CPUs, 1 job waiting" in crossdesk("site", "show", one).out
    shown = crossdesk("site", "show", one, "--json").json
    counts = ("total_cpus", "free_cpus", "published_free", "committed", "waiting_jobs")
    assert [shown[count] for count in counts] == [8, 2, 2, 0, 1]


def test_a_site_is_found_in_any_case_and_shown_with_all_its_computing_elements(grid: Path) -> None:
    small = crossdesk("site", "show", "site003")
    assert small.code == 0
    assert [f"ce{number}.example.org:2119" in small.out for number in (1, 2, 3)] == [True, True, False]
    assert small.out.count("GlueCEInfoTotalCPUs") == 2
    found = crossdesk("site", "show", "site003", "--json").json["resources"]
    assert [one["ce"][:3] for one in found] == ["ce1", "ce2"]


def test_a_site_with_many_computing_elements_is_shown_as_a_table(grid: Path) -> None:
    large = crossdesk("site", "show", "large")
    assert (large.code, "GlueCEInfoTotalCPUs" in large.out) == (0, False)
    lines = [line for line in large.out.splitlines() if line.startswith("ce")]
    assert [line[:3] for line in lines] == ["ce3", "ce4", "ce5", "ce6", "ce7"]
    assert all("5 free CPUs, 1 job waiting" in line for line in lines)
    assert crossdesk("site", "show", "CE5.EXAMPLE.ORG:2119/jobmanager-pbs-long").out.count("TotalCPUs") == 1


EQUIPPED = """
[[resources]]
ce = "gpu.example.org:22/jobmanager-slurm-gpu"
site = "vega"
GlueCEInfoTotalCPUs = 640
Accounts = ["phys", "chem"]
DefaultAccount = "phys"
QOSList = ["long"]
NodeTypes = [
    {Count = 16, CPUs = 64, Memory = 512000, GPUs = 4, GPUModel = "a100", GPUsFree = 12, Features = ["ib"]},
    {Count = 2, CPUs = 48},
]
AccountRules = [{Account = "phys", QOS = ["long"], DefaultQOS = "long", Limits = "50 jobs at the same time"}]
QOSRules = [{QOS = "long", Limits = "2 days for each job"}]
LicenseUse = [{License = "matlab", Total = 30, Free = 18}]
GlueCEStateEstimatedResponseTime = 300
"""


def test_gpus_nodes_accounts_and_limits_of_a_resource_are_shown(grid: Path) -> None:
    grid.write_text(EQUIPPED)
    assert crossdesk("site", "refresh", "grid").code == 0
    text = crossdesk("site", "show", "vega").out
    assert "12 of 64 a100 GPUs free" in text
    assert "18 of 30 matlab free" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["16", "64", "500", "GiB", "4", "a100", "12", "ib"] in rows
    assert ["phys", "(default)", "long", "(default)", "50", "jobs", "at", "the", "same", "time"] in rows
    assert ["long", "2", "days", "for", "each", "job"] in rows
    detail = crossdesk("site", "show", "vega", "--json").json
    assert detail["gpus"] == [{"model": "a100", "total": 64, "free": 12}]
    assert [one["name"] for one in detail["accounts"]] == ["phys", "chem"]
    description = grid.with_name("any.jdl")
    description.write_text('Executable = "/bin/true"; Requirements = Member("a100", other.GPUModels);\n')
    grid.write_text(EQUIPPED + 'GPUModels = ["a100"]\n')
    assert crossdesk("site", "refresh", "grid").code == 0
    listed = crossdesk("job", "list-match", "--assume-access", str(description)).out
    assert "START" in listed
    assert "in 5 min" in listed
