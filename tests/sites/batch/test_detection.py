"""Looking what is at a host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CrossDeskError
from broker_core.sites.batch.detection import detect, interpret
from broker_core.sites.batch.detection_script import Probed, read_probes
from broker_core.sites.link import Link
from broker_core.sites.transport.contract import Reply
from broker_core.sites.transport.local import LocalTransport
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.wire.sites import Detection, DetectRequest
from tests.sites.transport.ssh_user import SshUser
from tests.testbed import grid_engine, slurm
from tests.testbed.sshd import Sshd


async def _look(environment: dict[str, str]) -> Detection:
    transport = LocalTransport(Link(lambda _: None), environment, 4)
    await transport.open()
    try:
        return await detect(transport, DetectRequest(environment=environment))
    finally:
        await transport.close()


async def test_a_host_without_a_batch_system_is_suggested_as_such() -> None:
    found = await _look({})
    host = next(system for system in found.systems if system.kind == "shell")
    assert host.trouble == ""
    assert [queue.total_cpus > 0 for queue in host.queues] == [True]
    assert found.host == os.uname().nodename
    assert found.home == os.environ["HOME"]
    assert found.python.count(".") == 2
    assert found.suggestion is not None
    assert found.suggestion.kind == "shell"


@pytest.mark.cluster
async def test_grid_engine_is_found_with_its_queues_and_preferred(
    grid_engine_cell: grid_engine.GridEngine,
) -> None:
    found = await _look(grid_engine_cell.environment)
    assert found.systems[0].kind == "sge"
    assert found.systems[0].version.startswith("SGE ")
    limits = {queue.name: queue.wall_limit for queue in found.systems[0].queues}
    assert limits == {grid_engine.QUEUE: None, grid_engine.SHORT_QUEUE: 600.0}
    assert found.suggestion is not None
    assert found.suggestion.kind == "sge"
    assert found.suggestion.environment == grid_engine_cell.environment


@pytest.mark.cluster
async def test_variables_that_only_a_login_shell_sets_become_part_of_the_suggestion(
    grid_engine_cell: grid_engine.GridEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    lines = [f"export {name}='{value}'" for name, value in grid_engine_cell.environment.items()]
    greeting = ["echo 'Welcome!'", "echo 'h login.sge'", "export LSF_BINDIR='it'\\''s'"]
    Path(os.environ["HOME"], ".profile").write_text("\n".join([*greeting, *lines]))
    found = await _look({})
    assert found.suggestion is not None
    assert found.suggestion.kind == "sge"
    assert grid_engine_cell.environment.items() <= found.suggestion.environment.items()
    assert found.suggestion.environment["LSF_BINDIR"] == "it's"


async def test_a_batch_system_that_does_not_answer_comes_last_with_its_own_words(tmp_path: Path) -> None:
    for name in ("qsub", "qconf", "qstat"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho 'no master today' >&2\nexit 1\n")
        program.chmod(0o755)
    found = await _look({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    broken = next(system for system in found.systems if system.kind == "sge")
    assert "no master today" in broken.trouble
    assert found.systems.index(broken) > [system.kind for system in found.systems].index("shell")


async def test_mpi_implementations_and_modules_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\necho 'Report bugs to them'\n")
    program.chmod(0o755)
    modules = "/opt/modules:\ngcc/12.2\npython/3.11(default)\nUnable to locate a modulefile"
    Path(os.environ["HOME"], ".profile").write_text(f"module() {{ echo '{modules}' >&2; }}\n")
    monkeypatch.setenv("SHELL", "/bin/bash")
    found = await _look({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert found.mpi[0] == "openmpi 4.1.4"
    assert found.modules == ["gcc/12.2", "python/3.11"]


class _Strange:
    """Stands in for a host that answers something else than what it was asked."""

    link = Link(lambda _: None)

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = 0.0) -> Reply:
        return Reply(1, b"\xffWelcome", b"This account is not available.")


async def test_a_host_that_runs_no_scripts_is_an_error_in_its_own_words() -> None:
    with pytest.raises(CrossDeskError, match="This account is not available"):
        await detect(_Strange(), DetectRequest(host="gate"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("ann@Login1.Example.ORG", "login1.example.org"),
        ("10.1.2.3", "head"),
        ("my_alias", "my-alias"),
        ("ann@localhost", "head"),
        ("", ""),
    ],
)
def test_a_suggestion_is_named_after_the_alias_or_else_the_host(host: str, name: str) -> None:
    listing = ["Linux 6", "@@@", "processors 4 used 1 running 1 waiting 0 memory 900"]
    probes = {"plain.shell": Probed(0, listing), "host": Probed(0, ["head", "ann", "/home/ann"])}
    suggestion = interpret(probes, DetectRequest(host=host)).suggestion
    assert suggestion is not None
    assert suggestion.name == (name or "head-shell")


def test_where_nothing_can_be_used_it_says_so() -> None:
    found = interpret({}, DetectRequest())
    assert found.suggestion is None
    assert "flock" in found.reason


@given(st.text())
def test_whatever_a_host_prints_is_read_or_refused(text: str) -> None:
    try:
        probes = read_probes(text)
    except ValueError:
        return
    assert "end" in probes
    interpret(probes, DetectRequest())


@pytest.mark.cluster
async def test_slurm_is_found_through_ssh_with_its_default_queue(
    slurm_cluster: slurm.Cluster, tmp_path: Path
) -> None:
    environment = slurm_cluster.environment | {"HOME": str(tmp_path)}
    server = Sshd(tmp_path / "server", environment=environment).start()
    user = SshUser(tmp_path / "user").knows(server).write(server.alias("head"))
    try:
        way = await user.connect("head", patience=RetryPolicy())
        found = await detect(way, DetectRequest(host="head"))
    finally:
        await user.close()
        server.close()
    assert found.systems[0].kind == "slurm"
    assert found.systems[0].version[0].isdigit()
    assert {queue.name: queue.default for queue in found.systems[0].queues} == {"main": True, "short": False}
    assert found.suggestion is not None
    assert (found.suggestion.name, found.suggestion.kind, found.suggestion.host) == ("head", "slurm", "head")
