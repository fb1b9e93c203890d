"""Hosts that lack commands that can do what it takes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from broker_core.sites.link import Link
from broker_core.sites.shell.workspace import SiteUnfit, SiteWorkspace, words_of
from broker_core.sites.transport.local import LocalTransport


def home_at(folder: Path, environment: dict[str, str]) -> tuple[LocalTransport, SiteWorkspace]:
    """The broker's directory at a site on this machine."""
    transport = LocalTransport(Link(lambda _: None), environment, 4)
    return transport, SiteWorkspace(transport, str(folder), "mark")


@pytest.mark.cluster
@pytest.mark.parametrize("command", ["tar", "find"])
async def test_a_host_whose_commands_bring_no_output_is_unfit_and_says_what_helps(
    tmp_path: Path, command: str
) -> None:
    busybox = shutil.which("busybox")
    assert busybox is not None
    (tmp_path / command).symlink_to(busybox)
    transport, home = home_at(tmp_path / "site", {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with pytest.raises(SiteUnfit, match="not those of GNU") as unfit:
        await home.get()
    assert "findutils" in str(unfit.value)
    assert "findutils" in transport.link.trouble
    assert not (tmp_path / "site").exists()
    (tmp_path / command).unlink()
    assert (await home.get()).path.startswith(str(tmp_path))
    assert transport.link.trouble == ""


@pytest.mark.cluster
async def test_what_runs_payloads_is_compiled_as_it_comes_to_a_site(tmp_path: Path) -> None:
    _, home = home_at(tmp_path / "site", {})
    programs = Path((await home.get()).path, "programs")
    archive = programs / home.programs["boxing"].name
    assert archive.is_file()
    (compiled,) = programs.glob(f"{archive.name}.cpython-*")
    assert not compiled.name.endswith(".new")
    made = compiled.stat().st_mtime_ns
    home.forget()
    await home.get()
    assert compiled.stat().st_mtime_ns == made


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"sh: 10: eval: cannot create incoming/probe.21572: Permission denied\n", "Permission denied"),
        (b"/bin/sh: line 9: incoming/probe.8: No space left on device\n", "No space left on device"),
        (
            b"hello\nmkdir: cannot create directory '/x': Not a directory\n",
            "mkdir: cannot create directory '/x': Not a directory",
        ),
        (b"sbatch: error: Batch job submission failed.\n", "sbatch: error: Batch job submission failed"),
        (
            b"tar: a: Cannot mkdir: No space left on device\ntar: Exiting due to previous errors\n",
            "tar: a: Cannot mkdir: No space left on device",
        ),
        (b"", "no reason was given"),
    ],
)
def test_a_complaint_is_told_without_the_place_in_the_script(said: bytes, told: str) -> None:
    assert words_of(said) == told
