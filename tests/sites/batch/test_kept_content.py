"""Programs that a site keeps by their hash: sent once, whole or not at all, and not for ever."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.link import Link
from broker_core.sites.shell.content_cache import ContentCache, program_content
from broker_core.sites.shell.workspace import SiteWorkspace
from broker_core.sites.transport.contract import LinkLost, Reply
from broker_core.sites.transport.local import LocalTransport
from tests.sites.remote.failing_transport import Breaking, FailingTransport

MONTHS = 40 * 86400


class There:
    """A site on this machine with one broker's directory; `breaking` counts and breaks its exchanges."""

    def __init__(self, folder: Path) -> None:
        self.breaking = Breaking()
        transport = FailingTransport(LocalTransport(Link(lambda _: None), {}, 4), self.breaking)
        self.home = SiteWorkspace(transport, str(folder), "mark")
        self.programs = ContentCache("there", transport)

    async def have(self, program: CachedProgram) -> None:
        assert await self.programs.have(await self.home.get(), program_content(program))


@pytest.fixture
def program(tmp_path: Path) -> CachedProgram:
    path = tmp_path / "program"
    path.write_bytes(os.urandom(3_000_000))
    return CachedProgram("agent", path, hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path / "site")


def kept(tmp_path: Path, program: CachedProgram) -> Path:
    return tmp_path / "site" / "mark" / "programs" / program.cached_name


async def test_a_program_is_sent_once(there: There, program: CachedProgram, tmp_path: Path) -> None:
    await there.have(program)
    first = kept(tmp_path, program).stat()
    assert first.st_mode & 0o777 == 0o700
    calls = there.breaking.calls
    await there.have(program)
    assert there.breaking.calls == calls + 1
    assert kept(tmp_path, program).stat().st_ino == first.st_ino


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
async def test_a_damaged_program_is_sent_again(
    there: There, program: CachedProgram, tmp_path: Path, damage: str
) -> None:
    await there.have(program)
    path, content = kept(tmp_path, program), program.path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))
    await there.have(program)
    assert path.read_bytes() == content


async def test_what_arrives_changed_is_not_kept(there: There, program: CachedProgram, tmp_path: Path) -> None:
    await there.home.get()
    program.path.write_bytes(b"another")
    with pytest.raises(LinkLost, match="damaged"):
        await there.have(program)
    assert not kept(tmp_path, program).exists()
    assert not list((tmp_path / "site" / "mark" / "incoming").iterdir())


@pytest.mark.parametrize("unpacks", [True, False])
async def test_a_program_is_sent_packed_where_the_site_can_unpack_it(tmp_path: Path, unpacks: bool) -> None:
    path, tools, sent = tmp_path / "program", tmp_path / "tools", 0
    path.write_bytes(os.urandom(1000) * 3000)
    program = CachedProgram("agent", path, hashlib.sha256(path.read_bytes()).hexdigest())
    tools.mkdir()
    for name in os.listdir("/usr/bin"):
        if name != "gzip" or unpacks:
            (tools / name).symlink_to(f"/usr/bin/{name}")

    class Counting(LocalTransport):
        async def send(self, script: str, stdin: AsyncIterator[bytes], *, deadline: float) -> Reply:
            async def counted() -> AsyncIterator[bytes]:
                nonlocal sent
                async for piece in stdin:
                    sent += len(piece)
                    yield piece

            return await super().send(script, counted(), deadline=deadline)

    transport = Counting(Link(lambda _: None), {"PATH": str(tools)}, 4)
    home = await SiteWorkspace(transport, str(tmp_path / "site"), "mark").get()
    before = sent
    assert await ContentCache("there", transport).have(home, program_content(program))
    assert sent - before < 100_000 if unpacks else sent - before == 3_000_000
    assert kept(tmp_path, program).read_bytes() == path.read_bytes()


async def test_what_was_looked_at_and_has_not_changed_is_not_read_again(
    tmp_path: Path, program: CachedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.sites.shell.content_cache._SETTLED", 0)
    tools, reads = tmp_path / "tools", tmp_path / "reads"
    tools.mkdir()
    (tools / "sha256sum").write_text(f'#!/bin/sh\necho read >>"{reads}"\nexec /usr/bin/sha256sum "$@"\n')
    (tools / "sha256sum").chmod(0o755)
    transport = LocalTransport(Link(lambda _: None), {"PATH": f"{tools}:{os.environ['PATH']}"}, 4)
    home = await SiteWorkspace(transport, str(tmp_path / "site"), "mark").get()
    content, cache = program_content(program), ContentCache("there", transport)
    for times in (1, 2, 2, 2):  # as it arrives, and once more
        assert await cache.have(home, content)
        assert reads.read_text().count("read") == times
    path = kept(tmp_path, program)
    inode, size, changed = (int(word) for word in cache.stamp(content).split()[:3])
    assert (inode, size, changed) == (path.stat().st_ino, 3_000_000, int(path.stat().st_mtime))
    path.write_bytes(program.path.read_bytes()[:-1])
    os.utime(path, (changed, changed))
    assert await cache.have(home, content)
    assert path.read_bytes() == program.path.read_bytes()
    cache.forget()
    assert cache.stamp(content) == ""


async def test_what_changed_a_moment_ago_is_looked_at_again(
    there: There, program: CachedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.sites.shell.content_cache._SETTLED", 3600)
    for _ in range(3):
        await there.have(program)
        assert there.programs.stamp(program_content(program)) == "", "its times are whole seconds"


async def test_a_transfer_that_is_cut_off_leaves_nothing_in_its_place(
    there: There, program: CachedProgram, tmp_path: Path
) -> None:
    home = await there.home.get()

    async def until_cut(path: Path) -> AsyncIterator[bytes]:
        yield path.read_bytes()[:1_000_000]
        raise ConnectionResetError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker_core.sites.shell.content_cache._pieces", until_cut)
        with pytest.raises(ConnectionResetError):
            await there.programs.have(home, program_content(program))
    assert not kept(tmp_path, program).exists()
    await there.have(program)
    assert kept(tmp_path, program).read_bytes() == program.path.read_bytes()


async def test_several_at_once_do_not_disturb_each_other(program: CachedProgram, tmp_path: Path) -> None:
    several = [There(tmp_path / "site") for _ in range(6)]
    for one in several:
        await one.home.get()
    await asyncio.gather(*(one.have(program) for one in several))
    assert kept(tmp_path, program).read_bytes() == program.path.read_bytes()
    assert not list((tmp_path / "site" / "mark" / "incoming").iterdir())


async def test_what_nobody_used_for_long_goes_unless_a_job_is_to_be_run_with_it(
    there: There, program: CachedProgram, tmp_path: Path
) -> None:
    await there.have(program)
    path = kept(tmp_path, program)
    order = tmp_path / "site" / "mark" / "attempts" / "job.1" / "order"
    order.parent.mkdir()
    order.write_text(f"export __interactive_agent={path}\n")
    old = time.time() - MONTHS
    os.utime(path, (old, old))
    there.home.forget()
    await there.home.get()
    assert path.exists()
    order.unlink()
    await there.have(program)
    there.home.forget()
    await there.home.get()
    assert path.exists(), "it was just used"
    os.utime(path, (old, old))
    there.home.forget()
    await there.home.get()
    assert not path.exists()
