"""GPUs of a host without a batch system, given to one job at a time by its queue (by a stand-in's word)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.host import QUEUE, Host
from broker_core.sites.batch.system import BatchJob
from tests.sites.batch.beds import Bed, gone
from tests.testbed.simulated.nvidia_smi import nvidia_smi
from tests.waiting import wait_until

_A100, _T4 = "NVIDIA A100-SXM4-40GB", "Tesla T4"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    """A host with 8 processors and three GPUs, in one of which somebody's program is."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    programs = nvidia_smi(
        tmp_path / "nvidia", f"GPU-1, {_A100}", f"GPU-2, {_A100}", f"GPU-3, {_T4}", used="GPU-1"
    )
    path = f"{programs}:{os.environ['PATH']}"
    bed = Bed(Host(), QUEUE, {"CROSSDESK_SLOTS": "8", "PATH": path, "CUDA_VISIBLE_DEVICES": "7"}, tmp_path)
    bed.run(Host().nodes())  # what a broker does when it connects
    yield bed
    bed.end_all()
    wait_until(lambda: not bed.listed("m1"), what="all are gone")


def _asks(bed: Bed, name: str, gpus: int, model: str = "") -> str:
    """A job that writes what it has, and ends when a file of its name says so."""
    body = (
        f"echo \"$CUDA_VISIBLE_DEVICES\" >{name}.new; mv {name}.new {name}.has\n"
        f"until [ -e {name}.go ]; do sleep 0.1; done"
    )
    request = ResourceRequest(gpus=gpus, gpu_model=model)
    id = bed.submit(f"m1.{name}.1", bed.script(name, body), request=request)
    bed.release(id)
    return id


def _has(bed: Bed, name: str) -> list[str]:
    file = bed.folder / f"{name}.has"
    wait_until(file.exists, what=f"{name} runs")
    return file.read_text().strip().split(",")


def _free(bed: Bed) -> dict[str, tuple[int, int]]:
    report = Host().node_report(bed.run(Host().nodes()))
    return {one.gpu_model: (one.gpus, one.gpus_free) for one in report.of(QUEUE)}


def test_each_job_has_its_own_and_who_finds_none_waits(host: Bed) -> None:
    assert _free(host) == {_A100: (2, 1), _T4: (1, 1)}
    _asks(host, "a", 1, "a100")
    assert _has(host, "a") == ["GPU-2"]  # nobody is in it
    other = _asks(host, "b", 2)
    assert _has(host, "b") == ["GPU-3", "GPU-1"]
    assert _free(host) == {_A100: (2, 0), _T4: (1, 0)}
    waiting = _asks(host, "c", 1, "SXM4-40GB")
    assert host.listed("m1")[waiting].seen is AttemptStatus.QUEUED
    (host.folder / "a.go").touch()
    assert _has(host, "c") == ["GPU-2"]
    for name in "bc":
        (host.folder / f"{name}.go").touch()
    for id in (waiting, other):
        gone(host, "m1", id)
    assert _free(host) == {_A100: (2, 1), _T4: (1, 1)}


def test_one_that_was_killed_with_its_leader_gives_its_gpus_back(host: Bed) -> None:
    id = _asks(host, "a", 3)
    assert sorted(_has(host, "a")) == ["GPU-1", "GPU-2", "GPU-3"]
    next_one = _asks(host, "b", 1, "t4")
    assert host.listed("m1")[next_one].seen is AttemptStatus.QUEUED
    host.cancel(id)
    assert _has(host, "b") == ["GPU-3"]
    home = Path(os.environ["HOME"], ".crossdesk/queue")
    (given,) = home.glob("*/given")
    wait_until(lambda: [one.name.split(":")[0] for one in given.iterdir()] == [next_one], what="one is left")


def test_a_canceled_one_leaves_no_trace_of_what_it_asked_for(host: Bed) -> None:
    request = ResourceRequest(gpus=1)
    id = host.submit("m1.held.1", host.script("held", "true"), request=request)
    (asked,) = Path(os.environ["HOME"], ".crossdesk/queue").glob("*/gpus")
    assert [one.read_text() for one in asked.iterdir()] == ["1 \n"]
    host.cancel(id)
    host.listed("m1")
    assert not list(asked.iterdir())


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (ResourceRequest(gpus=4), "The host has 3 GPUs, the job needs 4."),
        (ResourceRequest(gpus=1, gpu_model="H100"), "The host has 0 GPUs of model h100, the job needs 1."),
        (ResourceRequest(gpus=1, gpu_model="$(touch /tmp/x)'; :"), "of model touch tmp x, the job needs 1."),
    ],
)
def test_more_than_there_is_is_refused_at_submission(
    host: Bed, request_: ResourceRequest, says: str
) -> None:
    job = BatchJob("m1.n.1", str(host.script("n", "true")), 1, QUEUE, request=request_)
    done = host.ask(Host().submit(job))
    assert (done.returncode != 0, says in done.stderr) == (True, True), done
    assert not host.listed("m1")


def test_what_asks_for_none_is_as_the_account_has_it(host: Bed) -> None:
    (host.folder / "a.go").touch()
    _asks(host, "a", 0)
    assert _has(host, "a") == ["7"]
