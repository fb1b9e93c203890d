"""What a job asks for, in the words of each batch system; those that can be had are asked for real."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.jobs.placement import Component
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.arc.description import Activity, document
from broker_core.sites.batch.names import JobNames, title_of
from broker_core.sites.batch.system import BatchJob, Listed
from broker_core.sites.batch.systems import SYSTEMS
from broker_core.sites.contract import SiteRefused
from tests.sites.batch.beds import Bed, gone
from tests.sites.batch.conftest import grid_engine_bed
from tests.sites.remote.far_site import order
from tests.testbed.grid_engine import SHORT_QUEUE, GridEngine

ALL = ResourceRequest(
    hosts=1,
    whole_nodes=True,
    gpus=2,
    gpu_model="A100",
    memory_per_node=4000,
    scratch=10,
    account="phys",
    qos="long",
    features=("ib", "epyc"),
    licenses=(("matlab", 2),),
    reservation="r1",
    options=(
        ("slurm", ("--nice=5",)),
        ("pbs", ("-p", "9")),
        ("lsf", ("-sp", "7")),
        ("condor", ("rank = Mips",)),
    ),
)
SPREAD = ResourceRequest(hosts=3, mpi=True, memory_per_cpu=500)
SCATTERED = ResourceRequest(mpi=True, memory_per_cpu=500)


def words(kind: str, request: ResourceRequest, cpus: int) -> str:
    """The text of a submission of one job."""
    job = BatchJob("m.a.1", "/w/run", cpus, "main", request=request.carried_by(kind), title="train")
    return SYSTEMS[kind].submit(job)


PROFESSIONAL, TORQUE, SLURM = "professional", "torque", "slurm"


def options(text: str, kind: str) -> str:
    """The submission command alone."""
    if kind in (PROFESSIONAL, TORQUE):
        torque, professional = re.findall(r"set -- (.*?);", text)
        return torque if kind == TORQUE else professional
    return text


@pytest.mark.parametrize(
    ("kind", "request_", "expected"),
    [
        (
            PROFESSIONAL,
            ALL,
            (
                "-A phys -N train.m.a.1 -l select=1:ncpus=4:mpiprocs=1:mem=4000mb:ngpus=2 "
                "-l place=excl -r n -p 9"
            ),
        ),
        (
            PROFESSIONAL,
            SPREAD,
            "select=1:ncpus=2:mpiprocs=2:mem=1000mb+2:ncpus=1:mpiprocs=1:mem=500mb -l place=scatter",
        ),
        (PROFESSIONAL, SCATTERED, "select=4:ncpus=1:mpiprocs=1:mem=500mb -r n"),
        (TORQUE, ALL, "-A phys -r n -N train.m.a.1 -l nodes=1:ppn=4:gpus=2 -l pmem=1000mb -n -p 9"),
        (TORQUE, SPREAD, "nodes=1:ppn=2+2:ppn=1 -l pmem=500mb"),
        (
            "lsf",
            ALL,
            (
                "-R 'select[ib && epyc] rusage[mem=4000MB/host:tmp=10MB/host:matlab=2] span[hosts=1]' -x "
                "-gpu num=2:j_exclusive=yes:gmodel=A100 -P phys -U r1 -sp 7 "
            ),
        ),
        ("lsf", SPREAD, "-R 'rusage[mem=500MB/task] span[ptile=2]'"),
        ("lsf", SCATTERED, "-R 'rusage[mem=500MB/task]'"),
        (
            "condor",
            ALL,
            (
                "request_cpus = 4\nperiodic_remove = (NumJobStarts > 0 && JobStatus == 1)\n"
                'request_memory = 4000\nrequest_gpus = 2\nrequire_gpus = regexp("A100", DeviceName, "i")\n'
                "request_disk = 10240\naccounting_group = phys\nconcurrency_limits = matlab:2\nqueue 1"
            ),
        ),
        ("condor", ALL, "condor_submit -terse -append 'rank = Mips' -"),
        ("condor", ALL, 'batch_name = "train.m.a.1"\nMy.CrossDeskName = "m.a.1"'),
        (SLURM, SPREAD, "--ntasks=4 --nodes=3 --ntasks-per-node=2"),
        (SLURM, SCATTERED, "--partition=main --ntasks=4 --chdir"),
        (SLURM, ALL, "--nodes=1 --ntasks=1 --cpus-per-task=4"),
    ],
)
def test_the_words_are_those_of_the_manual(kind: str, request_: ResourceRequest, expected: str) -> None:
    system = "pbs" if kind in (PROFESSIONAL, TORQUE) else kind
    assert expected in options(words(system, request_, 4), kind)


def test_what_each_node_must_have_stands_in_every_chunk_or_node() -> None:
    asked = ResourceRequest(hosts=2, options=(("pbs", ("-l", ":gpu_type=v100", "-p", "9", "-l", ":ib")),))
    said = words("pbs", asked, 3)
    chunks = "-l select=1:ncpus=2:mpiprocs=2:gpu_type=v100:ib+1:ncpus=1:mpiprocs=1:gpu_type=v100:ib "
    assert chunks in options(said, PROFESSIONAL)
    assert "-l nodes=1:ppn=2:gpu_type=v100:ib+1:ppn=1:gpu_type=v100:ib -p 9" in options(said, TORQUE)


def test_arc_is_told_memory_of_a_slot_and_slots_of_a_host() -> None:
    asked = ResourceRequest(hosts=2, whole_nodes=True, memory_per_node=100)
    text = document([Activity("n", "q", 8, request=asked)]).decode()
    assert f"<IndividualPhysicalMemory>{25 << 20}</IndividualPhysicalMemory>" in text
    assert (
        "<NumberOfSlots>8</NumberOfSlots><SlotsPerHost>4</SlotsPerHost>"
        "<ExclusiveExecution>true</ExclusiveExecution>"
    ) in text
    plain = document([Activity("n", "q", 1, request=ResourceRequest(hosts=1))]).decode()
    assert "SlotsPerHost" not in plain
    assert "Memory" not in plain


def test_what_a_system_cannot_give_is_refused_or_left_out_as_the_job_says() -> None:
    asked = order("true", request=ResourceRequest(hosts=1, qos="long", account="phys"))
    assert asked.carried("slurm").qos == "long"
    with pytest.raises(SiteRefused, match="HTCondor cannot give what QOS ask for"):
        asked.carried("condor")
    ignoring = order(
        "true", request=ResourceRequest(hosts=1, qos="long", account="phys", ignore_unsupported=True)
    )
    assert (ignoring.carried("condor").qos, ignoring.carried("condor").account) == ("", "phys")


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["train"], "train"),
        (["night run, part 2"], "night-run-part-2"),
        (["step_001", "step_002"], "step_00"),
        (["a.b; rm -rf /"], "a-b-rm--rf"),
        (["3rd"], "rd"),
        (["ünïcode"], "n-code"),
        (["m1"], ""),
        (["a", "b"], ""),
        (["x" * 99], "x" * 40),
        ([], ""),
    ],
)
def test_the_users_name_is_made_fit_for_batch_systems(names: list[str], title: str) -> None:
    assert title_of(names, "m1") == title


def test_names_of_now_and_before_are_known_and_those_of_others_are_not() -> None:
    names, tag = JobNames("m1", 0), Component("job", 1).tag
    for name in (f"m1.{tag}", f"train.m1.{tag}"):
        assert names.is_mine(name)
        assert names.group_of(name) == tag
    for name in (
        f"m12.{tag}",
        f"train.m12.{tag}",
        f"m12.m2.{tag}",
        f"a.b.m1.{tag}",
        "m1",
        "train",
        "train.m1",
    ):
        assert not names.is_mine(name), name
    listed = [
        Listed("7", f"train.m1.{tag}", AttemptStatus.QUEUED),
        Listed("8", "other", AttemptStatus.QUEUED),
    ]
    assert [one.id for one in names.mine(listed)] == ["7"]
    assert set(names.sightings(names.mine(listed))) == {tag}


@pytest.fixture
def cell_with_gpus(grid_engine_cell: GridEngine, tmp_path: Path) -> Iterator[GridEngine]:
    """The cell, whose host has 4 GPUs that are counted by slot."""
    path = tmp_path / "complex"
    before = grid_engine_cell.run("qconf", "-sc")
    path.write_text(before + "gpu gpu INT <= YES YES 0 0\n")
    grid_engine_cell.run("qconf", "-Mc", str(path))
    host = grid_engine_cell.run("qconf", "-sel").split()[0]
    grid_engine_cell.run("qconf", "-mattr", "exechost", "complex_values", "gpu=4", host)
    yield grid_engine_cell
    grid_engine_cell.run("qconf", "-rattr", "exechost", "complex_values", "NONE", host)
    path.write_text(before)
    grid_engine_cell.run("qconf", "-Mc", str(path))


@pytest.mark.cluster
def test_grid_engine_gives_gpus_and_processors_of_one_host(
    request: pytest.FixtureRequest, cell_with_gpus: GridEngine, tmp_path: Path
) -> None:
    bed: Bed = grid_engine_bed(request, tmp_path)
    script = bed.script("a", f"echo $PE $NSLOTS >{tmp_path}/told")
    asked = ResourceRequest(hosts=1, gpus=2, memory_per_node=10)
    id = bed.submit("g1.a.1", script, cpus=2, request=asked, title="train")
    told = cell_with_gpus.run("qstat", "-j", id)
    assert re.search(r"^hard resource_list: +(?=.*gpu=1)(?=.*mem_free=10M)", told, re.MULTILINE)
    assert re.search(r"^job_name: +train\.g1\.a\.1$", told, re.MULTILINE)
    assert [one.name for one in bed.system.listed(bed.run(bed.system.status("g1")))] == ["train.g1.a.1"]
    bed.release(id)
    gone(bed, "train", id)
    assert (tmp_path / "told").read_text() == "smp 2\n"


@pytest.mark.cluster
def test_grid_engine_scatters_where_the_job_may_be_and_refuses_what_no_environment_gives(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    bed: Bed = grid_engine_bed(request, tmp_path)
    script = bed.script("a", f"echo $PE >{tmp_path}/told")
    id = bed.submit("g2.a.1", script, cpus=2, request=ResourceRequest(mpi=True))
    bed.release(id)
    gone(bed, "g2", id)
    assert (tmp_path / "told").read_text() == "mpi\n"
    for queue, asked, part in (
        (SHORT_QUEUE, ResourceRequest(hosts=1), "2 processors of one host"),
        (bed.queue, ResourceRequest(hosts=2), "2 processors, 1 of each host"),
        (bed.queue, ResourceRequest(hosts=1, gpus=1), "no complex gpu"),
    ):
        job = BatchJob("g2.b.1", str(script), 2, queue, request=asked)
        done = bed.ask(bed.system.submit(job))
        assert done.returncode != 0
        assert part in done.stderr


def test_words_of_the_description_stay_words(tmp_path: Path) -> None:
    """Whatever came past the checks: no shell reads it."""
    trap, programs = tmp_path / "trapped", tmp_path / "bin"
    programs.mkdir()
    for name in ("sbatch", "sinfo", "qsub", "qstat", "qconf", "bsub", "condor_submit"):
        (programs / name).write_text("#!/bin/sh\ncat >/dev/null\n")
        (programs / name).chmod(0o755)
    for value in (f"$(touch {trap})", f"'; touch {trap}; '", f'"; touch {trap}; "', f"`touch {trap}`"):
        asked = replace(
            ALL, account=value, gpu_model=value, features=(value,), reservation=value, licenses=((value, 1),)
        )
        for kind in SYSTEMS:
            job = BatchJob("m.a.1", "/w/run", 1, "default", request=asked.carried_by(kind))
            environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
            subprocess.run(["/bin/sh", "-c", SYSTEMS[kind].submit(job)], env=environment, input="", text=True)
    assert not trap.exists()
