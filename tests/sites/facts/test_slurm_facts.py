"""What a real Slurm with accounts, GPUs, features and licenses publishes of itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.sites.remote.far_site import Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import wait_until

pytestmark = [pytest.mark.accounting, pytest.mark.cluster]


@pytest.fixture
async def far(equipped: Cluster, tmp_path: Path) -> AsyncIterator[Far]:
    """The cluster as a site."""
    site = await Far(spec_for(equipped, tmp_path / "site"), tmp_path / "here").start()
    yield site
    await site.site.close()


async def _published(far: Far) -> dict[str, Any]:
    main, _ = await far.site.look()
    return dict(main.attributes)


def _hold(cluster: Cluster, *words: str) -> str:
    """A job that runs until it is canceled."""
    id = cluster.run("sbatch", "--parsable", "--output=/dev/null", *words, "--wrap", "sleep 600").strip()
    wait_until(lambda: cluster.run("squeue", "-h", "-j", id, "-o", "%T").strip() == "RUNNING", what="it runs")
    return id


async def test_nodes_are_published_by_what_they_have(far: Far) -> None:
    found = await _published(far)
    assert [
        (one["Count"], one["CPUs"], one["Memory"], one["GPUs"], one.get("GPUModel", ""), one["Features"])
        for one in found["NodeTypes"]
    ] == [
        (1, 16, 3200, 4, "a100", ["epyc", "ib"]),
        (1, 16, 3200, 2, "v100", ["plain"]),
        (1, 16, 3200, 0, "", []),
    ]
    assert found["GPUModels"] == ["a100", "v100"]
    assert (found["GPUsTotal"], found["GPUsFree"], found["GPUsPerNode"]) == (6, 6, 4)
    assert found["Features"] == ["epyc", "ib", "plain"]
    assert (found["NodeCPUs"], found["GlueHostArchitectureSMPSize"]) == (16, 16)
    assert (found["NodeMemory"], found["GlueHostMainMemoryRAMSize"]) == (3200, 3200)


async def test_gpus_and_licenses_in_use_are_told_with_the_next_look(far: Far, equipped: Cluster) -> None:
    before = await _published(far)
    assert before["LicenseUse"] == [{"License": "matlab", "Total": 3, "Free": 3}]
    _hold(equipped, "--gres=gpu:a100:3", "--licenses=matlab:1", "--mem=10")
    after = await _published(far)
    assert (after["GPUsTotal"], after["GPUsFree"]) == (6, 3)
    assert after["Licenses"] == ["matlab"]
    assert after["LicenseUse"] == [{"License": "matlab", "Total": 3, "Free": 2}]


async def test_gpus_of_a_node_that_takes_no_jobs_are_not_free(far: Far, equipped: Cluster) -> None:
    equipped.run("scontrol", "update", "NodeName=a2", "State=DRAIN", "Reason=a test Gres=gpu:a100:99")
    try:
        found = await _published(far)
    finally:
        equipped.run("scontrol", "update", "NodeName=a2", "State=RESUME")
    assert (found["GPUsTotal"], found["GPUsFree"]) == (6, 4)


async def test_accounts_and_qualities_of_service_are_those_of_the_user_with_their_limits(far: Far) -> None:
    found = await _published(far)
    assert "chem" not in found["Accounts"]
    assert "phys" in found["Accounts"]
    assert found["DefaultAccount"] == "phys"
    assert {"normal", "long"} <= set(found["QOSList"])
    rules = {one["Account"]: one for one in found["AccountRules"]}
    assert set(rules["phys"]["QOS"]) == {"normal", "long"}
    assert rules["phys"]["Limits"] == "50 jobs at the same time"
    limits = {one["QOS"]: one for one in found["QOSRules"]}
    assert limits["long"]["Limits"] == "2 days for each job; 2 GPUs for each user"
    assert limits["long"]["MaxWallClockTime"] == 2 * 24 * 60


async def test_reservations_are_told_but_for_those_of_maintenance(far: Far, equipped: Cluster) -> None:
    times = ("StartTime=now+1hour", "Duration=60", "Nodes=a3", "Users=root")
    equipped.run("scontrol", "create", "reservation", "ReservationName=course", *times)
    equipped.run(
        "scontrol", "create", "reservation", "ReservationName=repair", "Flags=MAINT,IGNORE_JOBS", *times
    )
    try:
        far.site.renew()
        found = await _published(far)
    finally:
        for name in ("course", "repair"):
            equipped.run("scontrol", "delete", f"ReservationName={name}")
    assert found["Reservations"] == ["course"]


async def test_a_partition_that_an_account_may_not_use_does_not_offer_it(far: Far, equipped: Cluster) -> None:
    equipped.run("scontrol", "update", "PartitionName=short", "DenyAccounts=phys", "DenyQos=long")
    try:
        far.site.renew()
        main, short = await far.site.look()
    finally:
        equipped.run("scontrol", "update", "PartitionName=short", "DenyAccounts=", "DenyQos=")
    assert "phys" in main.attributes["Accounts"]
    assert "phys" not in short.attributes["Accounts"]
    assert "long" not in short.attributes["QOSList"]


async def test_accounts_are_remembered_until_they_are_asked_for_again(far: Far, equipped: Cluster) -> None:
    before = await _published(far)
    subprocess.run(
        ["sacctmgr", "-i", "add", "user", "root", "Account=chem"],
        env={"PATH": "/usr/bin:/bin"} | equipped.environment,
        check=True,
        capture_output=True,
    )
    try:
        began = time.monotonic()
        assert (await _published(far))["Accounts"] == before["Accounts"]
        assert time.monotonic() - began < 60
        far.site.renew()
        assert set((await _published(far))["Accounts"]) == {*before["Accounts"], "chem"}
    finally:
        equipped.run("sacctmgr", "-i", "remove", "user", "root", "where", "account=chem")


async def test_a_poll_asks_nothing_of_nodes_and_accounts(far: Far, equipped: Cluster, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("scontrol", "sacctmgr", "sinfo"):
        wrapper = folder / name
        wrapper.write_text(f'#!/bin/sh\necho {name} "$@" >>{asked}\nexec /usr/bin/{name} "$@"\n')
        wrapper.chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    spec = spec_for(equipped, tmp_path / "site", environment=equipped.environment | path)
    site = await Far(spec, tmp_path / "here").start()
    try:
        await site.run(script("exit 0"))
        assert "release" in asked.read_text()
        assert not [line for line in asked.read_text().splitlines() if "show" in line]
        await site.site.look()
        assert "sacctmgr" in asked.read_text()
    finally:
        await site.site.close()


async def test_partitions_with_the_same_nodes_name_each_other(far: Far) -> None:
    found = {one.ce: one.attributes.get("SharesNodesWith") for one in await far.site.look()}
    main, other = found
    assert found == {main: [other], other: [main]}
