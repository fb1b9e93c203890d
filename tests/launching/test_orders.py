"""From a description, a record and sandbox files to a launch order."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.jdl.check import check
from broker_core.jobs.placement import Component, Placement, computing_element
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.files import FileStore
from broker_core.launching.orders import component_order, order_for
from broker_core.launching.spreading import Proxies, chunks_of
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import FetchedFile, LaunchOrder
from broker_core.wire.submission import SandboxFile

FILES = [
    SandboxFile(name="run.sh", sha256="0" * 64, size=1),
    SandboxFile(name="in.txt", sha256="1" * 64, size=1),
]


def made(text: str, directory: Path, files: list[SandboxFile]) -> LaunchOrder:
    description = check(text).description
    assert description is not None
    record = JobRecord("j" * 22, "ann", "n", "Normal", False, 1, JobState.SCHEDULED, "0" * 64, attempt=3)
    return order_for(description, record, files, FileStore(directory))


def test_a_staged_program_is_run_from_the_job_s_directory(tmp_path: Path) -> None:
    text = (
        'Executable = "run.sh"; Arguments = "-n 1"; StdInput = "in.txt"; InputSandbox = {"run.sh", "in.txt"};'
    )
    order = made(text, tmp_path, FILES)
    assert order.executable == "./run.sh"
    assert [(file.name, file.executable) for file in order.inputs] == [("run.sh", True), ("in.txt", False)]
    assert (order.stdin, order.attempt.tag, order.owner) == ("in.txt", "j" * 22 + ".3", "ann")


def test_files_arrive_under_the_names_that_the_description_gives_them(tmp_path: Path) -> None:
    text = (
        'Executable = "start"; StdInput = "data"; InputSandbox = {"here/run.sh", "in.txt"};'
        'InputSandboxDestFileName = {"start", "data"};'
    )
    order = made(text, tmp_path, FILES)
    assert (order.executable, order.stdin) == ("./start", "data")
    assert [(file.name, file.executable) for file in order.inputs] == [("start", True), ("data", False)]
    assert [file.path.name for file in order.inputs] == ["0" * 64, "1" * 64]


def test_output_is_readable_though_no_file_was_named(tmp_path: Path) -> None:
    order = made('Executable = "/bin/true";', tmp_path, [])
    assert (order.executable, order.stdout, order.stderr) == ("/bin/true", "std.out", "std.err")


def test_what_has_an_address_is_fetched_by_the_starter(tmp_path: Path) -> None:
    text = 'Executable = "run.sh"; InputSandbox = {"https://h/run.sh?t=1", "in.txt", "http://h/b"};'
    order = made(text, tmp_path, FILES[1:])
    assert order.executable == "./run.sh"
    assert order.fetched == (
        FetchedFile("run.sh", "https://h/run.sh?t=1", True),
        FetchedFile("b", "http://h/b", False),
    )
    assert order.input_names == ["in.txt", "run.sh", "b"]
    directory = AttemptDirectory(tmp_path, order.attempt.tag)
    directory.make(order)
    kept = directory.order()
    assert kept is not None
    assert (kept.fetched, kept.inputs) == (order.fetched, order.inputs)


def test_a_component_of_a_job_over_several_sites_is_that_of_its_site_and_at_one_site_it_is_mpich(
    tmp_path: Path,
) -> None:
    text = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 6; Executable = "/bin/ranks";'
    whole = made(text, tmp_path, [])
    assert (whole.mpi, whole.cpus) == ("mpich", 6)
    where = Placement(computing_element("b:22/jobmanager-slurm-x"), 2)
    one = component_order(whole, Component("j", 1, 1), where, Proxies("--proxy-id 1", (2,)))
    assert (one.mpi, one.cpus, one.ce, one.attempt.tag) == ("mpich-g2", 2, where.ce, "j.1.1")
    assert (one.request.hosts, one.environment[-1]) == (1, ("CROSSDESK_MPI_PROXY", "--proxy-id 1"))


@pytest.mark.parametrize(
    ("more", "cpus", "node", "chunks", "hosts"),
    [
        ("", 4, 0, (4,), 1),
        ("", 4, 4, (4,), 1),
        ("", 8, 4, (4, 4), 2),
        ("", 7, 4, (1,) * 7, 0),
        ("SMPGranularity = 2;", 4, 16, (2, 2), 2),
        ("SMPGranularity = 2;", 3, 16, (1, 1, 1), 2),
        ("HostNumber = 12;", 3, 16, (1, 1, 1), 3),
    ],
)
def test_a_component_has_a_proxy_for_each_node_or_for_each_process(
    tmp_path: Path, more: str, cpus: int, node: int, chunks: tuple[int, ...], hosts: int
) -> None:
    text = f'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 12; Executable = "/bin/x"; {more}'
    whole = made(text, tmp_path, [])
    found = chunks_of(whole.request, 12, cpus, node)
    where = Placement(computing_element("b:22/jobmanager-slurm-x"), cpus)
    one = component_order(whole, Component("j", 1, 1), where, Proxies("--proxy-id 1", found))
    assert (found, one.request.hosts) == (chunks, hosts)
    given = dict(one.environment).get("CROSSDESK_MPI_LAYOUT")
    assert given == (f"{len(chunks)} {chunks[0]}" if len(chunks) > 1 else None)


def test_a_starter_of_the_user_runs_in_place_of_the_program_which_it_is_told(tmp_path: Path) -> None:
    text = (
        'Executable = "run.sh"; Arguments = "-n 1"; InputSandbox = {"run.sh", "in.txt"}; CpuNumber = 2;'
        'JobStarter = "in.txt"; JobStarterArguments = "-v"; Environment = "A=b";'
    )
    order = made(text, tmp_path, FILES)
    assert (order.executable, order.arguments) == ("./in.txt", "-v")
    assert all(file.executable for file in order.inputs)
    assert dict(order.environment) == {
        "A": "b",
        "CROSSDESK_EXECUTABLE": "./run.sh",
        "CROSSDESK_ARGUMENTS": "-n 1",
        "CROSSDESK_CPUS": "2",
    }
