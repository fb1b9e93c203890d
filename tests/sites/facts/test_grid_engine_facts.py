"""What a real Grid Engine publishes: GPUs and licenses by complexes, projects as accounts."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.wire.sites import SiteSpec
from tests.leaks import lasting
from tests.sites.remote.far_site import Far
from tests.testbed.grid_engine import GridEngine
from tests.waiting import wait_until

pytestmark = pytest.mark.cluster
_COMPLEXES = """\
gpu gpu INT <= YES YES 0 0
gpu_type gpu_type STRING == YES NO NONE 0
ib ib BOOL == YES NO FALSE 0
matlab matlab INT <= YES YES 0 0
"""
_PROJECT = "name {name}\noticket 0\nfshare 0\nacl {acl}\nxacl NONE\n"
_OTHERS = "name others\ntype ACL\nfshare 0\noticket 0\nentries nobody\n"


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GridEngine]:
    """Its host has two GPUs and `ib`; there are three licenses, and a project for everybody."""
    folder = tmp_path_factory.mktemp("complexes")
    made = GridEngine()
    try:
        with lasting():
            made.start()
        _change(made, folder, "-Mc", made.run("qconf", "-sc") + _COMPLEXES)
        for value in ("gpu=2", "gpu_type=v100", "ib=TRUE"):
            made.run("qconf", "-mattr", "exechost", "complex_values", value, socket.gethostname())
        made.run("qconf", "-mattr", "exechost", "complex_values", "matlab=3", "global")
        _change(made, folder, "-Au", _OTHERS)
        _change(made, folder, "-Aprj", _PROJECT.format(name="phys", acl="NONE"))
        _change(made, folder, "-Aprj", _PROJECT.format(name="secret", acl="others"))
        yield made
    finally:
        made.close()


def _change(cell: GridEngine, folder: Path, option: str, text: str) -> None:
    file = folder / "change"
    file.write_text(text)
    cell.run("qconf", option, str(file))


@pytest.fixture
async def far(cell: GridEngine, tmp_path: Path) -> AsyncIterator[Far]:
    """The cell as a site."""
    fields = {
        "name": "far",
        "kind": "sge",
        "poll_interval": 0.1,
        "list_interval": 0.1,
        "directory": str(tmp_path / "site"),
    }
    spec = SiteSpec.model_validate(fields | {"environment": cell.environment, "queues": ["main"]})
    site = await Far(spec, tmp_path / "here").start()
    yield site
    await site.site.close()


async def test_complexes_are_gpus_features_and_licenses_and_what_is_taken_is_not_free(
    far: Far, cell: GridEngine
) -> None:
    (main,) = await far.site.look()
    found = main.attributes
    assert (found["GPUsTotal"], found["GPUsFree"], found["GPUModels"]) == (2, 2, ["v100"])
    assert (found["Features"], found["NodeCPUs"]) == (["ib"], 8)
    assert found["LicenseUse"] == [{"License": "matlab", "Total": 3, "Free": 3}]
    assert found["GlueHostArchitecturePlatformType"] == "x86_64"
    words = ("-terse", "-b", "y", "-l", "gpu=1,matlab=2", "-o", "/dev/null", "-j", "y", "sleep", "600")
    id = cell.run("qsub", *words).strip()
    try:
        wait_until(lambda: " r " in cell.run("qstat"), what="the job runs")
        (main,) = await far.site.look()
    finally:
        cell.run("qdel", id)
    assert (main.attributes["GPUsTotal"], main.attributes["GPUsFree"]) == (2, 1)
    assert main.attributes["LicenseUse"] == [{"License": "matlab", "Total": 3, "Free": 1}]


async def test_projects_are_accounts_but_for_those_of_others(far: Far) -> None:
    (main,) = await far.site.look()
    assert main.attributes["Accounts"] == ["phys"]
    assert "QOSList" not in main.attributes
