"""What a description asks of nodes, accounts and batch systems, and what it may not say to these."""

from __future__ import annotations

import pytest

from broker_core.jdl.batch_options import refusals
from broker_core.jdl.check import Checked, check
from broker_core.jdl.resource_request import ResourceRequest, same_model
from tests.jdl.slips import PROGRAM

MPI = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 8; '


def read(text: str) -> Checked:
    return check(PROGRAM + text)


def request(text: str) -> ResourceRequest:
    found = read(text)
    assert found.description is not None, found.errors
    return found.description.request


def codes(text: str) -> set[str]:
    return {item.code for item in read(text).diagnostics}


def test_all_attributes_are_read() -> None:
    text = (
        'GPUNumber = 2; GPUModel = "a100"; MemoryPerNode = 4000; ScratchSize = 10; Account = "phys";'
        'QOS = "long";'
        'Features = {"ib", "epyc"}; Licenses = {"matlab:2", "idl"}; Reservation = "r1"; QueueName = "main";'
        "WholeNodes = true; IgnoreUnsupported = true;"
        'BatchOptions = [ slurm = "--nice=5"; pbs = {"-p", "3"} ];'
    )
    assert request(text) == ResourceRequest(
        hosts=1,
        whole_nodes=True,
        gpus=2,
        gpu_model="a100",
        memory_per_node=4000,
        scratch=10,
        account="phys",
        qos="long",
        features=("ib", "epyc"),
        licenses=(("matlab", 2), ("idl", 1)),
        reservation="r1",
        queue="main",
        options=(("slurm", ("--nice=5",)), ("pbs", ("-p", "3"))),
        ignore_unsupported=True,
    )
    assert not read(text).diagnostics


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", 1),
        ("CpuNumber = 8;", 1),
        ("CpuNumber = 8; HostNumber = 3;", 3),
        ("CpuNumber = 8; HostNumber = 0;", 0),
        ("CpuNumber = 8; HostNumber = 0; MemoryPerNode = 9;", 0),
        ("CpuNumber = 1; HostNumber = 0;", 1),
        ("CpuNumber = 9; SMPGranularity = 4;", 3),
        (MPI, 0),
        (MPI + "HostNumber = 2;", 2),
        (MPI + "GPUNumber = 1;", 1),
        (MPI + "MemoryPerNode = 1;", 1),
        (MPI + "MemoryPerCPU = 1;", 0),
    ],
)
def test_cpus_are_spread_only_where_the_description_says_so(text: str, hosts: int) -> None:
    assert request(text).hosts == hosts


def test_figures_of_one_node_follow_from_the_spread() -> None:
    asked = ResourceRequest(hosts=3, memory_per_cpu=100)
    assert (asked.cpus_on_host(8), asked.memory_on_host(8), asked.memory_of_cpu(8)) == (3, 300, 100)
    assert asked.split(8) == [(2, 3), (1, 2)]
    whole = ResourceRequest(hosts=1, memory_per_node=1000)
    assert (whole.memory_on_host(3), whole.memory_of_cpu(3)) == (1000, 334)
    assert ResourceRequest().split(8) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("MemoryPerNode = 1; MemoryPerCPU = 2;", "attributes-exclude"),
        ("MemoryPerNode = 0;", "count-too-small"),
        (
            'GPUNumber = 1; GPUModel = "a100"; BatchOptions = [ condor = {"Require_GPUs = Name > 8"} ];',
            "attributes-exclude",
        ),
        ("GPUNumber = -1;", "count-too-small"),
        ('GPUNumber = "2";', "wrong-type"),
        ('GPUNumber = 0; GPUModel = "a100";', "attributes-exclude"),
        ("CpuNumber = 8; HostNumber = 2; SMPGranularity = 8; WholeNodes = true;", "counts-differ"),
        ('Account = "a b";', "resource-name"),
        ('Features = {"ib", "a|b"};', "resource-name"),
        ('Licenses = "matlab:0";', "resource-name"),
        ('Licenses = {"matlab", "matlab:2"};', "attributes-exclude"),
        ("BatchOptions = [ slurm = 5 ];", "batch-option"),
        ('BatchOptions = [ windows = "x" ];', "batch-option"),
        ('BatchOptions = [ slurm = "--constraint=ib" ]; Features = "ib";', "attributes-exclude"),
        ('BatchOptions = [ slurm = "--gres=disk:1" ]; GPUNumber = 1;', "attributes-exclude"),
    ],
)
def test_what_cannot_be_is_refused(text: str, code: str) -> None:
    assert code in {item.code for item in read(text).errors}


def test_a_model_without_a_number_is_one_gpu_and_says_so() -> None:
    found = read('GPUModel = "a100";')
    assert request('GPUModel = "a100";').gpus == 1
    warning = found.diagnostics[0]
    assert (warning.severity, warning.code) == ("warning", "gpu-number-implied")
    fix, text = warning.fixes[0], PROGRAM + 'GPUModel = "a100";'
    assert not check(text[: fix.start] + fix.text + text[fix.end :]).diagnostics
    assert "one-node" in codes(MPI + "GPUNumber = 1;")


PASSED_ON = {
    "slurm": [
        "--nice=5",
        "--comment",
        "a job",
        "-w",
        "node1",
        "-xnode2",
        "-sO",
        "--exclusive",
        "--constraint=a|b",
        "--gres=disk:2",
        "--begin=now+1hour",
        "--spank-plugin=on",
    ],
    "pbs": ["-p", "10", "-l", "file=2gb", "-lsoftware=x", "-W", "group_list=phys"],
    "sge": ["-p", "-5", "-l", "h_vmem=3G,arch=lx-amd64", "-pe", "smp", "-hard", "-js", "3"],
    "lsf": ["-sp", "10", "-R", "select[type==any]", "-app", "big"],
    "condor": ["rank = Mips", '+Project = "x"', "requirements = HasX", "nice_user = True"],
}


@pytest.mark.parametrize("kind", PASSED_ON)
def test_harmless_words_are_passed_on(kind: str) -> None:
    assert list(refusals(kind, PASSED_ON[kind])) == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        *(
            ("slurm", words)
            for words in (
                "-Jx",
                "-J x",
                "--job-name=x",
                "--job-name x",
                "--job-na=x",
                "--jo x",
                "-sJx",
                "-a 1-3",
                "--array=1-3",
                "--arr=1-3",
                "-H",
                "-sH",
                "--hold",
                "--ho",
                "-o x",
                "--output=x",
                "--out=x",
                "-e x",
                "--error=x",
                "--err x",
                "-i x",
                "--input=x",
                "--requeue",
                "--req",
                "--no-requeue",
                "--no-r",
                "--wrap=ls",
                "--wra=ls",
                "-D /",
                "--chdir=/",
                "--ch=/",
                "-d afterok:1",
                "--dependency=singleton",
                "--dep=singleton",
                "--parsable",
                "--pars",
                "--test-only",
                "--tes",
                "--open-mode=append",
                "--mail-type=ALL",
                "--export=NONE",
                "--uid=1",
                "--signal=B:USR1@60",
                "-M b",
                "--clusters=b",
                "-W",
                "--wait",
                "-Q",
                "-A phys",
                "--account=phys",
                "--acc=phys",
                "-p x",
                "--partition=x",
                "-t 5",
                "--time=5",
                "-n 4",
                "--ntasks=4",
                "-c 4",
                "--mem=4G",
                "--gpus=1",
                "--gres=gpu:1",
                "--gr gpu",
                "-Z",
                "--unknown",
                "script.sh",
                "-",
                "--",
                "--comment",
            )
        ),
        *(
            ("pbs", words)
            for words in (
                "-N x",
                "-Nx",
                "-J 1-3",
                "-t 1-3",
                "-h",
                "-o x",
                "-ox",
                "-e x",
                "-j oe",
                "-r y",
                "-W depend=afterok:1",
                "-Wdepend=afterok:1",
                "-W block=true",
                "-l select=2",
                "-lselect=2",
                "-l file=1gb,walltime=5",
                "-l mem=1gb",
                "-I",
                "-v A=1",
                "-V",
                "-q x",
                "-A x",
                "-C #",
                "script",
                "-p",
            )
        ),
        *(
            ("sge", words)
            for words in (
                "-N x",
                "-t 1-3",
                "-h",
                "-o x",
                "-e x",
                "-j y",
                "-r y",
                "-hold_jid 1",
                "-hold_jid_ad 1",
                "-terse",
                "-verify",
                "-w v",
                "-sync y",
                "-cwd",
                "-wd /",
                "-b y",
                "-@ file",
                "-S /bin/csh",
                "-l h_rt=5",
                "-l arch=x,gpu=1",
                "-notify",
                "-q x",
                "-P x",
                "-v A",
                "-ckpt x",
                "-pe smp 4",
                "script",
            )
        ),
        *(
            ("lsf", words)
            for words in (
                "-J x",
                "-Jx",
                "-H",
                "-o x",
                "-oo x",
                "-e x",
                "-eo x",
                "-r",
                "-rn",
                "-K",
                "-I",
                "-w done(1)",
                "-cwd /",
                "-outdir /",
                "-R span[ptile=1]",
                "-R rusage[mem=5]",
                "-n 4",
                "-q x",
                "-W 5",
                "-gpu num=1",
                "-P x",
                "script",
            )
        ),
        *(
            ("condor", [line])
            for line in (
                "batch_name = x",
                "executable = /x",
                "Executable=/x",
                "hold = False",
                "queue 5",
                "queue = 5",
                "output = x",
                "error = x",
                "log = x",
                "initialdir = /",
                "periodic_remove = False",
                "max_retries = 3",
                "request_gpus = 1",
                "+JobStatus = 2",
                'My.CrossDeskName = "x"',
                '+Iwd = "/"',
                "include : x",
                "rank = 1 \\",
                'environment = "A=1"',
                "unknown = 1",
            )
        ),
    ],
)
def test_words_that_would_break_something_are_refused_in_every_spelling(
    kind: str, words: str | list[str]
) -> None:
    given = words.split() if isinstance(words, str) else words
    found = list(refusals(kind, given))
    assert found, words
    assert all(0 <= at < len(given) and reason for at, reason in found)


@pytest.mark.parametrize("word", ["", " ", "--comment=a\nb", "--comment=\x1b[2J"])
def test_empty_words_and_control_characters_are_refused(word: str) -> None:
    for kind in PASSED_ON:
        assert list(refusals(kind, [*PASSED_ON[kind], word]))


def test_the_reason_stands_at_the_word() -> None:
    text = PROGRAM + 'BatchOptions = [ slurm = {"--nice=5", "--job-na=x"} ];'
    error = check(text).errors[0]
    assert text[error.start : error.end] == '"--job-na=x"'
    assert "the broker finds its jobs again by their names" in error.message


@pytest.mark.parametrize(
    ("wanted", "name", "same"),
    [
        ("A100", "a100", True),
        ("a100", "nvidia_a100-sxm4-80gb", True),
        ("NVIDIA A100", "nvidia_a100-sxm4-80gb", True),
        ("a10", "a100", False),
        ("v100", "a100", False),
        ("a100 80gb", "nvidia_a100-sxm4-80gb", False),
    ],
)
def test_a_model_is_known_by_whole_words_of_its_name(wanted: str, name: str, same: bool) -> None:
    assert same_model(wanted, name) is same


def test_what_a_batch_system_cannot_give_is_named_and_left_out() -> None:
    asked = ResourceRequest(hosts=2, gpus=1, qos="long", account="phys", memory_per_cpu=5)
    assert asked.unsupported("slurm") == []
    assert asked.unsupported("condor") == ["HostNumber", "QOS"]
    assert asked.carried_by("condor") == ResourceRequest(hosts=1, gpus=1, account="phys", memory_per_cpu=5)
    assert asked.unsupported("shell") == ["HostNumber", "Account", "QOS"]
    assert asked.unsupported("unheard of") == []
