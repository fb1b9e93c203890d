"""Hosts that lack commands that can do what it takes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from broker_core.sites.batch.site_home import SiteHome, SiteUnfit
from broker_core.sites.link import Link
from broker_core.sites.transport.local import LocalTransport


def home_at(folder: Path, environment: dict[str, str]) -> tuple[LocalTransport, SiteHome]:
    """The broker's directory at a site on this machine."""
    transport = LocalTransport(Link(lambda _: None), environment, 4)
    return transport, SiteHome(transport, str(folder), "mark")


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
