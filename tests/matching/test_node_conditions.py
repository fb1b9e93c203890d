"""What a job asks of nodes, accounts and batch systems, and the reasons where it cannot have it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from broker_core.matching.exact import fits
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from tests.matching.made import job, resource

NODES = [
    {"Count": 2, "CPUs": 8, "Memory": 32000, "GPUs": 4, "GPUModel": "a100", "Features": ["ib"]},
    {"Count": 4, "CPUs": 64, "Memory": 256000, "GPUs": 2, "GPUModel": "v100", "Features": ["ib", "big"]},
]
VEGA: dict[str, Any] = {
    "GlueCEInfoLRMSType": "slurm",
    "GlueCEName": "main",
    "NodeTypes": NODES,
    "GPUModels": ["a100", "v100"],
    "GPUsPerNode": 4,
    "NodeCPUs": 64,
    "GlueHostArchitectureSMPSize": 64,
    "NodeMemory": 256000,
    "Features": ["big", "ib"],
    "Accounts": ["chem", "phys"],
    "QOSList": ["long", "normal"],
    "AccountRules": [{"Account": "phys", "QOS": ["normal"]}, {"Account": "chem", "QOS": ["long", "normal"]}],
    "Licenses": ["matlab"],
    "Reservations": ["course_12"],
    "LicenseUse": [{"License": "matlab", "Total": 3, "Free": 1}],
}


def vega(**more: Any) -> Resource:
    return resource("vega", total=128, free=128, **(VEGA | more))


def bare(kind: str) -> Resource:
    """A site, named by its kind, of which nothing of all this is known."""
    return resource(kind, total=128, free=128, GlueCEInfoLRMSType=kind, GlueHostMainMemoryRAMSize=512)


def reason(text: str, here: Resource) -> str:
    found = match(job(text), [here])
    assert fits(job(text), here) is bool(found.candidates)
    return found.rejected[0].reason if found.rejected else ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('GPUNumber = 4; GPUModel = "A100"; CpuNumber = 8; MemoryPerNode = 32000;', ""),
        ("GPUNumber = 5;", "no node of vega has 5 GPUs (at most 4)"),
        ('GPUNumber = 4; GPUModel = "V100";', "no node of vega has 4 GPUs of model V100 (at most 2)"),
        ('GPUNumber = 1; GPUModel = "H100";', "vega has no GPU of model H100 (there: a100, v100)"),
        ("CpuNumber = 65; HostNumber = 0;", ""),
        ("CpuNumber = 8; HostNumber = 2; GPUNumber = 4;", ""),
        ("CpuNumber = 48; HostNumber = 6; GPUNumber = 2;", ""),
        ("CpuNumber = 72; HostNumber = 3; MemoryPerNode = 64000;", ""),
        ("CpuNumber = 9; HostNumber = 2; MemoryPerCPU = 4000; GPUNumber = 2;", ""),
        (
            "CpuNumber = 50; HostNumber = 50; GPUNumber = 4;",
            "2 of the nodes of vega have 1 CPU, 4 GPUs; 50 wanted",
        ),
        (
            "CpuNumber = 40; HostNumber = 5; MemoryPerCPU = 5000;",
            "4 of the nodes of vega have 8 CPUs, 40000 MB; 5 wanted",
        ),
        ("CpuNumber = 12; HostNumber = 7;", "6 of the nodes of vega have 1 CPU; 7 wanted"),
        ('Reservation = "course_12";', ""),
        ('Reservation = "curse";', "reservation curse is none that vega keeps (there: course_12)"),
        ("CpuNumber = 65;", "no node of vega has 65 CPUs (at most 64)"),
        ("CpuNumber = 48; MemoryPerCPU = 8000;", "no node of vega has 384000 MB of memory (at most 256000)"),
        (
            'CpuNumber = 16; GPUNumber = 4; GPUModel = "a100";',
            "no node of vega has all at once: 16 CPUs, 4 GPUs of model a100",
        ),
        ('CpuNumber = 8; GPUNumber = 4; Features = "big";', "no node of vega has 4 GPUs (at most 2)"),
        ('Features = {"ib", "knl"};', "no node of vega has the feature knl (there: big, ib)"),
        ('Account = "bio";', "account bio is not yours at vega (there: chem, phys)"),
        ('QOS = "debug";', "QOS debug is not yours at vega (there: long, normal)"),
        ('Account = "phys"; QOS = "long";', "account phys may not use QOS long at vega"),
        ('Account = "chem"; QOS = "long";', ""),
        ('Licenses = "matlab:3";', ""),
        ('Licenses = "matlab:4";', "vega has 3 of the license matlab; 4 wanted"),
        ('Licenses = "idl";', "vega has no license idl"),
        ('QueueName = "main";', ""),
        ('QueueName = "long";', "this is the queue main of vega; QueueName is long"),
    ],
)
def test_what_is_published_decides(text: str, words: str) -> None:
    assert reason(text, vega()) == words


@pytest.mark.parametrize("kind", ["pbs", "slurm"])
def test_what_words_ask_of_a_batch_system_is_for_its_sites_to_know(kind: str) -> None:
    wanted = 'GPUNumber = 1; GPUModel = "v100"; BatchOptions = [ pbs = {"-l", ":gpu_type=v100"} ];'
    known = resource(kind, total=9, free=9, GlueCEInfoLRMSType=kind, GPUsPerNode=1)
    assert reason(wanted, known) == ("" if kind == "pbs" else "slurm has no GPU of model v100")


def test_cpus_that_may_be_scattered_fit_one_node_where_no_job_gets_more() -> None:
    pool = vega(GlueCEInfoLRMSType="condor")
    assert reason("CpuNumber = 65; HostNumber = 0;", pool) == "no node of vega has 65 CPUs (at most 64)"
    assert reason("CpuNumber = 64; HostNumber = 0;", pool) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GPUNumber = 1;", "slurm says nothing of GPUs"),
        ('Features = "ib"; Account = "phys"; QOS = "long"; Licenses = "matlab:9"; QueueName = "q";', ""),
        ("CpuNumber = 100;", ""),
        ("MemoryPerNode = 600;", "no node of slurm has 600 MB of memory (at most 512)"),
    ],
)
def test_what_is_not_published_keeps_out_only_where_gpus_are_wanted(text: str, words: str) -> None:
    assert reason(text, bare("slurm")) == words


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("condor", 'QOS = "x";', "HTCondor cannot give QOS"),
        ("sge", 'QOS = "x"; Account = "y";', "Grid Engine cannot give QOS"),
        (
            "shell",
            'Account = "x"; Reservation = "y";',
            "Host without a batch system cannot give Account and Reservation",
        ),
        ("fork", "HostNumber = 2; CpuNumber = 2;", "This machine cannot give HostNumber"),
    ],
)
def test_what_a_batch_system_cannot_give_is_never_left_out_silently(kind: str, text: str, words: str) -> None:
    assert reason(text, bare(kind)) == f"{words}; IgnoreUnsupported = true leaves it out"
    asked = job(f"{text} IgnoreUnsupported = true;")
    found = match(asked, [bare(kind)])
    assert found.candidates
    assert [one.explanation for one in found.explain(0) if one.origin == "kind"] == [
        f"{words}, which is left out here"
    ]


def test_what_is_ignored_counts_all_the_same_where_it_can_be_given() -> None:
    asked = job("GPUNumber = 5; IgnoreUnsupported = true;")
    assert [one.resource.site for one in match(asked, [vega(), bare("arc"), bare("slurm")]).candidates] == [
        "arc"
    ]


NAMES = 'NamesOf = "slurm"; QueueName = "gpu"; Account = "geo"; QOS = "fast"; Reservation = "r1";'


def test_names_of_one_batch_system_count_where_they_exist_and_keep_nobody_else_out() -> None:
    main = vega()
    gpu = replace(vega(GlueCEName="gpu", Accounts=["geo"]), ce="vega:2119/jobmanager-slurm-gpu")
    far = resource("far", total=128, free=128, **VEGA)
    others = [bare("pbs"), resource("gpus", GlueCEInfoLRMSType="pbs", GlueCEName="gpu"), bare("fork")]
    found = match(job(NAMES), [gpu, main, far, *others])
    taken = {one.resource.ce for one in found.candidates}
    assert taken == {one.ce for one in (gpu, far, *others)}
    assert found.rejected[0].reason == "this is the queue main of vega; QueueName is gpu"
    told = {one.text: one.explanation for one in found.explain(2)}
    assert told["account geo"] == "Account is left out here"
    assert told["QOS fast"] == "QOS is left out here"
    assert told["queue gpu"] == "there is no queue gpu here, which is left out"
    assert {one.text: one.explanation for one in found.explain(0)}["account geo"] == ""


def test_names_of_another_batch_system_are_carried_nowhere_else() -> None:
    request = job(NAMES).request
    assert request.carried_by("slurm") == request
    assert request.unsupported("shell") == request.unsupported("arc") == []
    foreign = request.carried_by("pbs")
    assert (foreign.account, foreign.qos, foreign.reservation) == ("", "", "")


def test_columns_and_single_resources_agree_about_requests_and_published_facts() -> None:
    """Many sites, made by chance, all of whose conditions are compared with the exact evaluation."""
    chance = random.Random(13)
    texts = [
        'Account = "phys";',
        'Features = "ib";',
        'GPUModel = "a100"; GPUNumber = 2;',
        "CpuNumber = 16;",
        "MemoryPerNode = 40000;",
        'Licenses = "matlab:2";',
        "IgnoreUnsupported = true;",
        'QOS = "long";',
    ]
    sites = []
    for number in range(60):
        kept = {name: value for name, value in VEGA.items() if chance.random() < 0.6}
        kept["GlueCEInfoLRMSType"] = chance.choice(("slurm", "sge", "condor", "fork"))
        sites.append(resource(f"s{number}", total=128, free=128, **kept))
    pool = Pool.of(sites)
    for _ in range(40):
        asked = job(" ".join(chance.sample(texts, 3)))
        matching = {one.resource.site for one in match(asked, pool).candidates}
        assert matching == {one.site for one in sites if fits(asked, one)}


def test_it_is_told_how_many_gpus_are_free_where_a_job_could_run() -> None:
    found = match(job("GPUNumber = 4;"), [vega(GPUsTotal=64, GPUsFree=12)])
    (here,) = report(found).resources
    (clause,) = [one for one in here.clauses if one.text == "a node with 4 GPUs"]
    assert (clause.value, clause.explanation) == ("true", "12 of 64 GPUs free")
    assert here.order.endswith(", 12 of 64 GPUs free")
    assert "GPU" not in report(match(job("GPUNumber = 4;"), [vega()])).resources[0].order
