"""Nodes as batch systems describe them: answers as in their manuals, and what is no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.resources.node_types import NodeType, node_attributes, node_types
from broker_core.sites.batch.condor import Condor
from broker_core.sites.batch.grid_engine import GridEngine
from broker_core.sites.batch.host import Host
from broker_core.sites.batch.lsf import Lsf
from broker_core.sites.batch.pbs import Pbs
from broker_core.sites.batch.slurm import Slurm
from broker_core.sites.batch.system import BatchSystem, NodeReport

_RECORDED = Path(__file__).parents[1] / "batch" / "recorded"
_SLURM = """\
     12 IDLE|64|257000|gpu:a100:4(S:0-1)|gpu:a100:1(IDX:0)|ib,epyc|gpu,all|x86_64
      2 IDLE+DRAIN|64|257000|gpu:a100:4(S:0-1)|gpu:a100:0(IDX:N/A)|ib,epyc|gpu|x86_64
      1 MIXED|48|128000|gpu:tesla:2,gpu:1,shard:8|gpu:tesla:2(IDX:0-1),gpu:(null):0(IDX:N/A)|(null)|all|x86_64
@@@
LicenseName=matlab@db Total=30 Used=12 Free=18 Reserved=0 Remote=yes
@@@
1000000
all|1000060
all,gpu|1000600

"""
_GRID_ENGINE = """\
      <name>main@node1</name>
      <qtype>BIP</qtype>
      <slots_total>32</slots_total>
      <arch>lx-amd64</arch>
      <resource name="mem_total" type="hl">62.5G</resource>
      <resource name="gpu" type="hc">1.000000</resource>
      <resource name="gpu_type" type="hf">v100</resource>
      <resource name="infiniband" type="hf">1</resource>
      <resource name="matlab" type="gc">2.000000</resource>
      <job_list state="running">
        <state>r</state>
      <name>main@node2</name>
      <qtype>BIP</qtype>
      <slots_total>32</slots_total>
      <arch>lx-amd64</arch>
      <state>d</state>
      <resource name="gpu" type="hc">2.000000</resource>
      <name>desk@node3</name>
      <qtype>I</qtype>
      <slots_total>4</slots_total>
@@@
infiniband
exclusive
@@@
global matlab=5
node1 gpu=2,slots=32
node2 gpu=2
"""
_PBS = """\
gpu1
     Mom = gpu1
     state = job-busy
     resources_available.gpu_model = a100
     resources_available.ib = True
     resources_available.mem = 527433728kb
     resources_available.ncpus = 64
     resources_available.ngpus = 8
     resources_assigned.ncpus = 16
     resources_assigned.ngpus = 6

gpu2
     state = offline
     resources_available.ncpus = 64
     resources_available.ngpus = 8

cpu1
     state = free
     queue = night
     resources_available.mem = 16424888kb
     resources_available.ncpus = 8
"""
_TORQUE = """\
node1
     state = free
     np = 16
     properties = big,ib
     status = opsys=linux,physmem=16424888kb,ncpus=16
     gpus = 2
     gpu_status = gpu[1]=gpu_id=0000:03:00.0;gpu_product_name=Tesla K80;gpu_state=Unallocated,\
gpu[0]=gpu_id=0000:02:00.0;gpu_product_name=Tesla K80;gpu_state=Exclusive,driver_ver=396.37
"""
_LSF_GPUS = """\
HOST_NAME              GPU_ID           MODEL     MUSED      MRSV  NJOBS    RUN   SUSP    RSV    VENDOR
node1                       0  TeslaV100_SXM2       39M        0M      0      0      0      0    Nvidia
                            1  TeslaV100_SXM2       10G        0M      1      1      0      0    Nvidia
node2                       -               -         -         -      -      -      -      -         -
"""
_CONDOR = """\
Partitionable\tUnclaimed\t32\t128000\t4\t1\tTesla V100-SXM2\tundefined\tX86_64\tAlmaLinux9
Dynamic\tClaimed\t8\t128000\t4\t3\tTesla V100-SXM2\tundefined\tX86_64\tAlmaLinux9
Static\tOwner\t4\t7900\tundefined\t1\tundefined\tGeForce GTX 1080\tX86_64\tDebian12
.
"""
_HOST = """\
processors 8 used 3 running 2 waiting 1 memory 32000
used GPU-1
gpu GPU-1, NVIDIA A100-SXM4-40GB
gpu GPU-2, NVIDIA A100-SXM4-40GB
"""


def _lsf() -> str:
    _, details, hosts, machines = (_RECORDED / "lsf_queues.txt").read_text().split("@@@\n")
    return "@@@\n".join((details, hosts, machines, _LSF_GPUS))


def _gpus(report: NodeReport, queue: str) -> list[tuple[int, int, str, int]]:
    """Number of nodes, GPUs of each, model, free ones."""
    return [(one.count, one.gpus, one.gpu_model, one.gpus_free) for one in report.of(queue)]


def test_slurm_counts_equal_nodes_models_on_one_node_and_what_is_drained() -> None:
    report = Slurm().node_report(_SLURM)
    assert _gpus(report, "gpu") == [(14, 4, "a100", 36)]
    assert _gpus(report, "all") == [(12, 4, "a100", 36), (1, 2, "tesla", 0), (1, 1, "", 1)]
    assert report.of("gpu")[0].features == ("epyc", "ib")
    assert [(one.name, one.total, one.free) for one in report.licenses or ()] == [("matlab@db", 30, 18)]
    assert report.foreseen_waits == {"all": 330.0, "gpu": 600.0}


@pytest.mark.parametrize(
    ("report", "queues", "shared"),
    [
        (Slurm().node_report(_SLURM), ["gpu", "all"], {"gpu": ["all"], "all": ["gpu"]}),
        (Lsf().node_report(_lsf()), ["normal", "short"], {"normal": ["short"], "short": ["normal"]}),
        (
            GridEngine().node_report(_GRID_ENGINE.replace("desk@node3", "short@node1").replace(">I<", ">B<")),
            ["main", "short"],
            {"main": ["short"], "short": ["main"]},
        ),
        (
            GridEngine().node_report(_GRID_ENGINE.replace("desk@node3", "short@node2").replace(">I<", ">B<")),
            ["main", "short"],
            {"main": [], "short": []},
        ),
        (
            Pbs().node_report(_PBS),
            ["workq", "night", "day"],
            {"workq": ["night", "day"], "night": ["workq", "day"], "day": ["workq", "night"]},
        ),
        (
            Pbs().node_report(_PBS.replace("state = job-busy", "state = job-busy\n     queue = gpus")),
            ["night", "gpus"],
            {"night": [], "gpus": []},
        ),
        (Host().node_report(_HOST), ["default"], {"default": []}),
    ],
    ids=["Slurm", "LSF", "slots of a host", "slots of queues alone", "PBS", "PBS apart", "a host"],
)
def test_queues_whose_jobs_run_on_the_same_nodes_are_known(
    report: NodeReport, queues: list[str], shared: dict[str, list[str]]
) -> None:
    assert {queue: report.beside(queue, queues) for queue in queues} == shared


def test_grid_engine_counts_a_complex_of_hosts_and_licenses_of_the_cell() -> None:
    report = GridEngine().node_report(_GRID_ENGINE)
    assert set(report.types) == {"main"}
    assert _gpus(report, "main") == [(1, 2, "v100", 1), (1, 2, "", 0)]
    first = report.of("main")[0]
    assert (first.cpus, first.memory, first.features, first.machine) == (32, 64000, ("infiniband",), "x86_64")
    assert [(one.name, one.total, one.free) for one in report.licenses or ()] == [("matlab", 5, 2)]


def test_pbs_professional_counts_gpus_and_keeps_the_nodes_of_a_queue_apart() -> None:
    report = Pbs().node_report(_PBS)
    assert _gpus(report, "workq") == [(1, 8, "a100", 2)]
    assert [(one.cpus, one.gpus) for one in report.of("night")] == [(64, 8), (8, 0)]
    assert report.of("workq")[0].features == ("ib",)


def test_torque_tells_models_and_states_of_gpus() -> None:
    report = Pbs().node_report(_TORQUE)
    assert _gpus(report, "batch") == [(1, 2, "Tesla K80", 1)]
    assert (report.of("batch")[0].features, report.of("batch")[0].memory) == (("big", "ib"), 16039)


def test_lsf_joins_hosts_machines_and_gpus_for_each_queue() -> None:
    report = Lsf().node_report(_lsf())
    assert _gpus(report, "normal") == [(1, 2, "TeslaV100_SXM2", 1), (1, 0, "", 0)]
    assert [one.cpus for one in report.of("normal")] == [8, 4]
    assert report.of("normal")[0].features == ("cs", "mg")


def test_an_old_lsf_says_nothing_of_gpus() -> None:
    without = _lsf().replace(_LSF_GPUS, "")
    assert _gpus(Lsf().node_report(without), "short") == [(1, 0, "", 0)]


def test_htcondor_counts_a_slot_that_can_be_divided_as_a_node() -> None:
    report = Condor().node_report(_CONDOR)
    assert _gpus(report, "default") == [(1, 4, "Tesla V100-SXM2", 1), (1, 1, "GeForce GTX 1080", 0)]
    assert report.of("default")[0].system == "AlmaLinux9"


def test_a_gpu_of_a_plain_host_is_free_while_no_program_uses_it() -> None:
    assert _gpus(Host().node_report(_HOST), "default") == [(1, 2, "NVIDIA A100-SXM4-40GB", 1)]


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (Slurm(), _SLURM),
        (Slurm(), "three nodes\n@@@\n"),
        (GridEngine(), _GRID_ENGINE),
        (Lsf(), _lsf()),
        (Condor(), _CONDOR),
        (Host(), _HOST.replace("processors", "")),
        (Pbs(), "Connection refused\n     what is this\n"),
    ],
    ids=lambda one: one.title if isinstance(one, Slurm | GridEngine | Lsf | Condor | Host | Pbs) else "",
)
def test_a_part_of_an_answer_is_none(system: BatchSystem, text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        system.node_report(text.partition("@@@")[0].removesuffix(".\n"))


def test_what_is_published_of_nodes_is_read_back_as_they_are() -> None:
    types = [NodeType(2, 64, 256_000, 4, "a100", 3, ("ib",), "x86_64"), NodeType(10, 16, 32_000)]
    found = node_attributes(types)
    assert node_types(found["NodeTypes"]) == types
    assert (found["GPUsTotal"], found["GPUsFree"], found["NodeCPUs"], found["NodeMemory"]) == (
        8,
        3,
        64,
        256_000,
    )
    assert node_types([{"Count": "many"}, 3, {"CPUs": 4}]) == []
    assert node_attributes([]) == {}


def test_a_source_that_knows_nothing_of_gpus_does_not_say_that_there_are_none() -> None:
    found = node_attributes([NodeType(3, 8)], with_gpus=False)
    assert found["NodeTypes"] == [{"Count": 3, "CPUs": 8}]
    assert not {"GPUsTotal", "GPUModels", "Features", "NodeMemory"} & set(found)
