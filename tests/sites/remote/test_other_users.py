"""Other users of a site neither read what is there nor put anything in its place."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.errors import CrossDeskError
from tests.sites.remote.far_site import MARK
from tests.sites.remote.host_far import HostFar, released, script

pytestmark = pytest.mark.cluster


@pytest.mark.root
async def test_a_directory_of_another_user_is_not_used(folder: Path) -> None:
    theirs = folder / "site" / MARK
    (theirs / "programs").mkdir(parents=True)
    os.chown(theirs, 65534, 65534)
    far = await HostFar(folder).start()
    with pytest.raises(CrossDeskError, match="belongs to another user"):
        await far.site.look()
    assert "belongs to another user" in far.site.link.trouble
    assert [one.name for one in theirs.iterdir()] == ["programs"]
    await far.site.close()


async def test_nothing_of_a_job_is_open_to_others(folder: Path) -> None:
    (folder / "site" / MARK).mkdir(parents=True)
    (folder / "site" / MARK).chmod(0o777)
    far = await HostFar(folder).start()
    one = script("umask 022; echo said; echo more >out; sleep 600", outputs=("out",))
    await far.started((await released(far, one)).attempt)
    top = stat.S_IMODE((folder / "site" / MARK).stat().st_mode)
    assert top == 0o700
    loose = []
    for place, folders, files in os.walk(folder / "site" / MARK):
        for name in folders + files:
            with suppress(FileNotFoundError):  # news that were heard are removed
                mode = Path(place, name).lstat().st_mode
                if mode & 0o077 and name != "out" and not stat.S_ISLNK(mode):
                    loose.append(name)
    assert loose == []
    await far.site.close()
