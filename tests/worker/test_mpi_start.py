"""MPI-Start by itself: what batch systems gave, hooks, variables, and hosts without a shared file system."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from broker_core.worker.markers import EndedMark
from broker_core.worker.script import mpi_start_path
from tests.testbed.mpi import installed
from tests.worker.starting import SHELLS, run

Pairs = tuple[tuple[str, str], ...]
ALONE = "/usr/bin:/bin"


def started(
    directory: Path, kind: str, program: str, *words: str, environment: Pairs = (), **more: object
) -> tuple[int, EndedMark]:
    """One run of a parallel job with two processes."""
    given = {"shell": SHELLS[0], "cpus": 2} | more
    shell = given.pop("shell")
    return run(  # type: ignore[arg-type]
        shell,
        directory,
        program,
        *words,
        mpi=kind,
        mpi_path=str(mpi_start_path()),
        environment=environment,
        **given,
    )


def hook(directory: Path, name: str, text: str) -> tuple[str, str]:
    """A hook in the job's directory, and the variable that names it."""
    (directory / "job").mkdir(parents=True, exist_ok=True)
    (directory / "job" / f"{name.lower()}.sh").write_text(text)
    return f"I2G_MPI_{name}_RUN_HOOK", f"{name.lower()}.sh"


def text(directory: Path, name: str = "out") -> str:
    return (directory / "job" / name).read_text()


MACHINES = (
    ("PE_HOSTFILE", "a 2 all.q@a UNDEFINED\nb 1 all.q@b UNDEFINED\n", "a 2\nb 1\n"),
    ("PBS_NODEFILE", "a\na\nb\n", "a 2\nb 1\n"),
    ("LSB_DJOB_HOSTFILE", "a\nb\na\n", "a 2\nb 1\n"),
)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: Path(words[0]).name)
@pytest.mark.parametrize(("variable", "content", "machines"), MACHINES)
def test_the_hosts_are_those_that_the_batch_system_gave(
    shell: list[str], variable: str, content: str, machines: str, tmp_path: Path
) -> None:
    (tmp_path / "hosts").write_text(content)
    given = ((variable, str(tmp_path / "hosts")),)
    program = ("sh", "-c", 'cat "$I2G_MPI_MACHINEFILE"')
    code, mark = started(tmp_path / "d", "plain", *program, environment=given, cpus=3, shell=shell)
    assert (code, mark.failure) == (0, "")
    assert text(tmp_path / "d") == machines


def test_hosts_of_lsf_are_read_from_its_variable_and_only_as_many_are_used_as_are_needed(
    tmp_path: Path,
) -> None:
    given = (("LSB_MCPU_HOSTS", "a 2 b 4 c 2"),)
    started(tmp_path / "d", "plain", "sh", "-c", 'cat "$I2G_MPI_MACHINEFILE"', environment=given, cpus=4)
    assert text(tmp_path / "d") == "a 2\nb 2\n"


def test_fewer_processors_than_processes_start_nothing(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a\n")
    given = (("PBS_NODEFILE", str(tmp_path / "hosts")),)
    code, mark = started(tmp_path / "d", "plain", "echo", "started", environment=given)
    assert (code, mark.failure, mark.exit_code) == (229, "software", None)
    assert mark.reason == "The batch system gave 1 processors for 2 processes; nothing was started."
    assert text(tmp_path / "d") == ""


@pytest.mark.parametrize(("kind", "title"), [("openmpi", "Open MPI"), ("mpich", "MPICH")])
def test_a_node_without_that_mpi_starts_nothing_and_says_so(kind: str, title: str, tmp_path: Path) -> None:
    bare = (("PATH", str(tmp_path / "empty") + ":" + str(_tools(tmp_path))),)
    code, mark = started(tmp_path / "d", kind, "/bin/echo", "started", environment=bare)
    assert (code, mark.failure, mark.exit_code) == (229, "software", None)
    assert mark.reason == f"There is no mpiexec of {title} on this node."
    assert text(tmp_path / "d") == ""


HUB = ("CROSSDESK_MPI_OVERLAY", f"127.0.0.1 1 10.99.0.1 {'s' * 43}")


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        (True, "The hub of the job at 127.0.0.1:1 does not answer this node: "),
        (False, "There is no python3 of 3.7 or newer on this node, which carries the network of a job over "),
    ],
)
def test_a_component_without_its_hub_or_python_starts_nothing_and_says_why(
    python: bool, reason: str, tmp_path: Path
) -> None:
    path = f"{installed('mpich').prefix}/bin:{ALONE}" if python else str(_tools(tmp_path))
    given = (("PATH", path), ("CROSSDESK_MPI_PROXY", "--proxy-id 0"), HUB)
    code, mark = started(tmp_path / "d", "pacx-mpi", "/bin/echo", "started", environment=given)
    assert (code, mark.failure, mark.exit_code) == (229, "software", None)
    assert mark.reason.startswith(reason)
    assert text(tmp_path / "d") == ""


def _tools(folder: Path) -> Path:
    """A folder with the programs that scripts need and no launcher of MPI."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "awk", "sed", "grep", "uname", "env", "tr", "rm", "id", "cat"):
        for base in ALONE.split(":"):
            if Path(base, name).exists():
                (tools / name).symlink_to(Path(base, name))
                break
    return tools


def test_what_the_broker_says_holds_whatever_the_description_sets(tmp_path: Path) -> None:
    given = (("I2G_MPI_TYPE", "lam"), ("I2G_MPI_RELAY", "there"), ("I2G_MPI_JOB_NUMBER", "7"))
    words = 'echo "$I2G_MPI_TYPE,$I2G_MPI_RELAY,$I2G_MPI_JOB_NUMBER,$I2G_MPI_APPLICATION,$I2G_MPI_NP"'
    started(tmp_path / "d", "plain", "/bin/sh", "-c", words, environment=given)
    assert text(tmp_path / "d") == "plain,,0,/bin/sh,2\n"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: Path(words[0]).name)
def test_hooks_run_before_and_after_the_program_and_what_the_first_sets_is_there(
    shell: list[str], tmp_path: Path
) -> None:
    before = hook(tmp_path / "d", "PRE", "echo before\nexport FROM_HOOK=set\n")
    after = hook(tmp_path / "d", "POST", "post_run_hook() { echo after; }\n")
    words = ("sh", "-c", 'echo "program $FROM_HOOK"; exit 4')
    code, _ = started(tmp_path / "d", "plain", *words, environment=(before, after), shell=shell)
    assert code == 4
    assert text(tmp_path / "d") == "before\nprogram set\nafter\n"


def test_a_failing_hook_before_the_start_stops_the_job_with_its_code(tmp_path: Path) -> None:
    before = hook(tmp_path / "d", "PRE", "pre_run_hook() { return 6; }\n")
    code, mark = started(tmp_path / "d", "plain", "echo", "started", environment=(before,))
    assert (code, mark.failure) == (6, "")
    assert text(tmp_path / "d") == ""
    assert "The hook pre.sh failed; nothing was started." in text(tmp_path / "d", "err")


def test_a_failing_hook_after_the_end_is_told_and_changes_nothing(tmp_path: Path) -> None:
    after = hook(tmp_path / "d", "POST", "exit 6\n")
    code, _ = started(tmp_path / "d", "plain", "echo", "started", environment=(after,))
    assert (code, text(tmp_path / "d")) == (0, "started\n")
    assert "The hook post.sh failed." in text(tmp_path / "d", "err")


def test_an_mpi_start_of_the_site_is_used_where_there_is_one(tmp_path: Path) -> None:
    own = tmp_path / "mpi-start"
    own.write_text(
        '#!/bin/sh\necho "$I2G_MPI_TYPE $I2G_MPI_NP $I2G_MPI_APPLICATION $I2G_MPI_APPLICATION_ARGS"\nexit 3\n'
    )
    own.chmod(0o755)
    given = (("PATH", f"{tmp_path}:{os.environ['PATH']}"),)
    code, _ = started(tmp_path / "d", "openmpi", "/bin/echo", "-n", "two", environment=given)
    assert (code, text(tmp_path / "d")) == (3, "openmpi 2 /bin/echo -n two\n")


@pytest.mark.mpi
@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: Path(words[0]).name)
@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_an_installation_outside_of_path_is_found_in_the_folders_of_the_site(
    kind: str, shell: list[str], tmp_path: Path
) -> None:
    mpi = installed(kind)
    code, mark = started(
        tmp_path / "d",
        kind,
        str(mpi.program),
        shell=shell,
        environment=(("PATH", str(_tools(tmp_path))), ("HOME", str(tmp_path))),
        mpi_folders=lambda _: ("/nowhere", str(mpi.prefix)),
    )
    assert (code, mark.failure) == (0, ""), text(tmp_path / "d", "err")
    assert text(tmp_path / "d") == "2 ranks of 1 launchers, pi 3.141593, halo right, given -\n"


@contextmanager
def _other_host(folder: Path, hidden: Path) -> Iterator[Path]:
    """A host that does not share `hidden` with this one; yields what runs commands there as ssh does."""
    words = ["unshare", "-m", "/bin/sh", "-c", f"mount -t tmpfs none {hidden} && echo there && exec cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as inside:
        assert inside.stdout is not None
        assert inside.stdout.readline() == "there\n"
        ssh = folder / "ssh"
        # Options are all of the form that has a value, or -x; then the host, and the command in words.
        ssh.write_text(
            "#!/bin/sh\n"
            "while :; do case $1 in -o) shift 2 ;; -*) shift ;; *) break ;; esac; done\n"
            '[ "$1" = other ] || { echo "ssh: $1: unknown host" >&2; exit 255; }\n'
            "shift\n"
            f'exec nsenter -m -t {inside.pid} -w/ /bin/sh -c "$*"\n'
        )
        ssh.chmod(0o755)
        yield ssh
        inside.communicate("")


@pytest.mark.root
@pytest.mark.mpi
@pytest.mark.parametrize("by", ["ssh", "mpi"])
def test_without_a_shared_file_system_the_files_are_copied_and_the_copy_goes(by: str, tmp_path: Path) -> None:
    mpi = installed("mpich")
    (tmp_path / "site").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "hosts").write_text(f"{socket.gethostname()} 1 q\nother 1 q\n")
    directory = tmp_path / "site/d"
    after = hook(directory, "POST", f"{tmp_path}/bin/ssh other ls {directory}/job\n")
    (directory / "job/ranks").write_bytes(mpi.program.read_bytes())
    (directory / "job/ranks").chmod(0o700)
    with _other_host(tmp_path / "bin", tmp_path / "site") as ssh:
        given = (
            *mpi.variables,
            ("PE_HOSTFILE", str(tmp_path / "hosts")),
            ("HYDRA_LAUNCHER", "ssh"),
            ("HYDRA_LAUNCHER_EXEC", str(ssh)),
            ("PATH", f"{tmp_path}/bin:{ALONE}" if by == "ssh" else f"{_no_ssh(tmp_path)}:{ALONE}"),
            after,
        )
        code, mark = started(directory, "mpich", "./ranks", environment=given)
        assert (code, mark.failure) == (0, ""), text(directory, "err")
        told, *files = text(directory).splitlines()
        assert told == "2 ranks of 2 launchers, pi 3.141593, halo right, given -"
        assert "ranks" in files
        assert f"files were copied to the other hosts ({by})" in text(directory, "err")
        left = subprocess.run([ssh, "other", f"ls -A {tmp_path}/site/d"], capture_output=True, text=True)
        assert left.stdout == ""
    assert (directory / "job/ranks").exists()


def _no_ssh(folder: Path) -> Path:
    """A folder whose `ssh` reaches nobody."""
    refusing = folder / "refusing"
    refusing.mkdir()
    (refusing / "ssh").write_text("#!/bin/sh\nexit 255\n")
    (refusing / "ssh").chmod(0o755)
    return refusing


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: Path(words[0]).name)
def test_a_launcher_that_ends_before_the_word_of_the_batch_system_comes_was_ended_by_it(
    shell: list[str], tmp_path: Path
) -> None:
    """Its ranks on other nodes may be told first; then it fails with a status of its own."""
    (tmp_path / "news").mkdir()
    told = "starter=$(sed -n 's/^starter //p' ../started); (sleep 0.3; kill -TERM \"$starter\") & exit 15"
    _, mark = started(tmp_path / "d", "plain", "sh", "-c", told, news=str(tmp_path / "news"), shell=shell)
    assert (mark.exit_code, mark.terminated) == (15, True)
