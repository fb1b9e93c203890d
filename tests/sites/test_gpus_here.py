"""GPUs of this machine, which the local site gives to one job at a time (by a stand-in's word)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.jobs.use import FILE, samples_of
from broker_core.matching.match import match
from broker_core.sites import gpus as driver
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import LaunchOrder, SiteRefused
from broker_core.sites.local import capacity, use
from tests.matching.made import job as description
from tests.sites.running_site import RunningSite, script
from tests.testbed.simulated.nvidia_smi import nvidia_smi
from tests.waiting import eventually

_TWO = ("GPU-1, NVIDIA A100-SXM4-40GB", "GPU-2, Tesla T4")


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two GPUs; somebody's program is in the first."""
    folder = nvidia_smi(tmp_path / "nvidia", *_TWO, used="GPU-1", figures="40, 1000")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def _asks(gate: Path, gpus: int, model: str = "") -> LaunchOrder:
    text = f'echo "$CUDA_VISIBLE_DEVICES"; while ! [ -e {gate} ]; do sleep 0.02; done'
    return script(text, request=ResourceRequest(gpus=gpus, gpu_model=model))


async def _one_waits(
    folder: Path, gpus: int, model: str = ""
) -> tuple[RunningSite, LaunchOrder, LaunchOrder]:
    """A site with a job that has what another one waits for; the files `a` and `b` end them."""
    here = RunningSite(folder / "site", cpus=4)
    await here.start()
    first, second = _asks(folder / "a", gpus, model), _asks(folder / "b", gpus, model)
    await here.site.submit(first)
    await here.started(first.attempt)
    await here.site.submit(second)
    return here, first, second


async def test_each_job_has_its_own_and_who_finds_none_waits(gpus: Path, tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=4)
    await here.start()
    try:
        first, second, third = (_asks(tmp_path / name, 1) for name in ("a", "b", "c"))
        for one in (first, second, third):
            await here.site.submit(one)
        await eventually(lambda: here.text(second.attempt) == "GPU-1\n")
        assert here.text(first.attempt) == "GPU-2\n"  # nobody is in it
        assert not here.starts(third.attempt)
        known = here.site.describe().attributes
        assert (known["GPUsTotal"], known["GPUsFree"], known["GPUsPerNode"]) == (2, 0, 1)
        (tmp_path / "a").touch()
        await eventually(lambda: here.text(third.attempt) == "GPU-2\n")
        for name in ("b", "c"):
            (tmp_path / name).touch()
        await here.ended(third.attempt)
        await here.ended(second.attempt)
        assert here.site.describe().attributes["GPUsFree"] == 1
    finally:
        await here.close()


async def test_a_restart_gives_the_gpus_of_what_runs_to_no_other(gpus: Path, tmp_path: Path) -> None:
    here, first, second = await _one_waits(tmp_path, 1, "t4")
    here = await here.again([(first.attempt, None), (second.attempt, None)])
    try:
        await eventually(lambda: here.site.describe().attributes.get("GPUsTotal") == 2)
        assert not here.starts(second.attempt)
        (tmp_path / "a").touch()
        await here.ended(first.attempt)
        await eventually(lambda: here.text(second.attempt) == "GPU-2\n")
        (tmp_path / "b").touch()
        assert (await here.ended(second.attempt)).exit_code == 0
    finally:
        await here.close()


async def test_what_waits_for_gpus_that_a_restart_does_not_find_fails_with_the_reason(
    gpus: Path, tmp_path: Path
) -> None:
    here, first, second = await _one_waits(tmp_path, 2)
    nvidia_smi(gpus, _TWO[0])
    here = await here.again([(first.attempt, None), (second.attempt, None)])
    try:
        ended = await here.ended(second.attempt)
        assert (ended.failure, ended.reason) == ("starter", "The job needs 2 GPUs; this site has 1.")
        (tmp_path / "a").touch()
        assert (await here.ended(first.attempt)).exit_code == 0
    finally:
        await here.close()


async def test_more_than_there_is_is_refused_and_told_by_the_match(gpus: Path, tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=4)
    await here.start()
    try:
        with pytest.raises(SiteRefused, match="The job needs 1 GPU of model H100; this site has 0"):
            await here.site.submit(_asks(tmp_path / "a", 1, "H100"))
        known = [here.site.describe()]
        assert len(match(description('GPUNumber = 1; GPUModel = "T4";'), known).candidates) == 1
        (rejected,) = match(description("GPUNumber = 2;"), known).rejected
        assert rejected.reason == "no node of local has 2 GPUs (at most 1)"
    finally:
        await here.close()


async def test_a_machine_without_a_driver_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site")
    await here.start()
    try:
        with pytest.raises(SiteRefused, match="this site has 0"):
            await here.site.submit(_asks(tmp_path / "a", 1))
        (rejected,) = match(description("GPUNumber = 2;"), [here.site.describe()]).rejected
        assert rejected.reason == "local has no GPU"
        assert "NodeTypes" not in here.site.describe().attributes
    finally:
        await here.close()


async def test_the_gpus_of_a_job_are_sampled(
    gpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use, "_LEAST", 0.0)
    monkeypatch.setattr(use, "_SHARE", 0)
    here = RunningSite(tmp_path / "site")
    await here.start()
    try:
        job = _asks(tmp_path / "a", 1, "a100")
        await here.site.submit(job)
        made = Path(AttemptDirectory(here.site.root, job.attempt.tag).job, FILE)
        await eventually(lambda: made.exists() and bool(samples_of(made.read_bytes())))
        first = samples_of(made.read_bytes())[0]
        assert (first.gpu_percent, first.gpu_memory) == (40, 1000 << 20)
        assert "-i GPU-1" in (gpus / "asked").read_text()
        (tmp_path / "a").touch()
        await here.ended(job.attempt)
    finally:
        await here.close()


async def test_a_driver_that_does_not_answer_makes_no_job_fail_that_waits(
    gpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, first, second = await _one_waits(tmp_path, 2)
    monkeypatch.setattr(driver, "_SECONDS", 0.2)
    monkeypatch.setattr(capacity, "_INTERVAL", 0.1)
    silent = gpus / "silent"
    silent.touch()
    program = (gpus / "nvidia-smi").read_text()
    (gpus / "nvidia-smi").write_text(f"#!/bin/sh\n[ ! -e {silent} ] || sleep 600\n" + program)
    here = await here.again([(first.attempt, None), (second.attempt, None)])
    try:
        with pytest.raises(SiteRefused, match="driver does not say"):
            await here.site.submit(_asks(tmp_path / "c", 1))
        (tmp_path / "a").touch()
        await here.ended(first.attempt)
        assert not here.ends(second.attempt)
        silent.unlink()
        (tmp_path / "b").touch()
        assert (await here.ended(second.attempt)).exit_code == 0
    finally:
        await here.close()


async def test_it_says_so_when_it_knows_its_gpus_and_software(gpus: Path, tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=4)
    said: list[object] = []
    here.site.facts_changed = lambda: said.append(here.site.describe().attributes.get("GPUsTotal"))
    await here.start()
    try:
        await eventually(lambda: len(said) == 2)  # its software, which takes a login shell, and its GPUs
        assert 2 in said
    finally:
        await here.close()
