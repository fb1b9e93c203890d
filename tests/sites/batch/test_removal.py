"""Removing attempts at a site, also where a removal before was cut off or failed in its midst."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.adapter import SiteFailed
from broker_core.sites.link import Link
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.transfers import ShellTransfers
from broker_core.sites.shell.workspace import SiteWorkspace
from broker_core.sites.transport.local import LocalTransport

FAILING_RM = """#!/bin/sh
# Fails to remove a directory in which somebody writes, having removed what was there.
if [ -e "{busy}" ]; then
    for one; do [ ! -d "$one" ] || find "$one" -type f -delete; done
    echo "rm: cannot remove 'job': Directory not empty" >&2
    exit 1
fi
exec /bin/rm "$@"
"""


class There:
    """A site on this machine, and what lies in one broker's directory there."""

    def __init__(self, folder: Path) -> None:
        self.busy = folder / "busy"
        rm = folder / "bin" / "rm"
        rm.parent.mkdir()
        rm.write_text(FAILING_RM.format(busy=self.busy))
        rm.chmod(0o700)
        environment = {"PATH": f"{rm.parent}:/usr/bin:/bin"}
        transport = LocalTransport(Link(lambda _: None), environment, 4)
        self.folder = folder / "site" / "mark"
        self.home = SiteWorkspace(transport, str(folder / "site"), "mark")
        self.transfers = ShellTransfers("there", ShellExchanges("there", transport, self.home))

    async def hand_over(self, group: str, *tags: str) -> None:
        """What the hand-over of a group leaves."""
        await self.home.get()
        (self.folder / "groups" / group).mkdir()
        (self.folder / "groups" / group / "list").write_text("".join(f"{tag}\n" for tag in tags))
        for tag in tags:
            (self.folder / "attempts" / tag / "job").mkdir(parents=True)
            (self.folder / "attempts" / tag / "exchange").write_text(f"exchange {group}\n")

    def left(self) -> set[str]:
        """Attempts and groups."""
        return {f"{path.parent.name}/{path.name}" for path in self.folder.glob("[ag]*/*")}


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path)


async def test_a_group_goes_with_the_last_of_its_attempts(there: There) -> None:
    await there.hand_over("a17", "one.1", "two.1")
    await there.hand_over("three.1", "three.1")
    await there.transfers.remove(["one.1", "three.1"])
    assert there.left() == {"attempts/two.1", "groups/a17"}
    await there.transfers.remove(["two.1"])
    assert there.left() == set()


async def test_what_a_removal_left_that_was_cut_off_goes_with_the_next(there: There) -> None:
    await there.hand_over("a17", "one.1", "two.1")
    await there.hand_over("a18", "four.1", "five.1")
    await there.hand_over("three.1", "three.1")
    for tag in ("one.1", "two.1", "three.1", "four.1"):
        (there.folder / "attempts" / tag / "exchange").unlink()
        (there.folder / "attempts" / tag / "job").rmdir()
        (there.folder / "attempts" / tag).rmdir()
    await there.transfers.remove(["one.1", "two.1", "three.1", "four.1"])
    assert there.left() == {"attempts/five.1", "groups/a18"}
    assert not list((there.folder / "incoming").iterdir())


async def test_a_directory_in_which_somebody_writes_is_told_of_and_removed_later(there: There) -> None:
    await there.hand_over("a17", "one.1", "two.1")
    there.busy.touch()
    with pytest.raises(SiteFailed, match="Directory not empty"):
        await there.transfers.remove(["one.1", "two.1"])
    there.busy.unlink()
    await there.transfers.remove(["one.1", "two.1"])
    assert there.left() == set()
