"""Scripts on this machine and over SSH behave the same."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import warnings
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.sites.link import LinkState
from broker_core.sites.transport.contract import MOST_OUT, LinkLost, NotSent, Transport
from tests.running import ended
from tests.sites.transport.ssh_user import SshUser, raises
from tests.testbed.sshd import Sshd
from tests.waiting import LONG, eventually, within

pytestmark = [pytest.mark.cluster]
BIG = 100 * 2**20
DEADLINES = (0.5, 3.0, 20.0)
"""A machine that is too busy to begin, or to go on, within one of these is given the next one."""
HARD = 'it\'s "hard" !\\ $x\nsecond line'


@pytest.fixture(params=["this machine", "ssh"])
async def way(request: pytest.FixtureRequest, user: SshUser, server: Sshd) -> Transport:
    """A way to a site that sets a variable and runs two scripts at once."""
    settings = {"environment": {"HARD": HARD}, "at_once": 2}
    if request.param == "this machine":
        return await user.connect("", **settings)
    user.knows(server).write(server.alias("cluster"))
    return await user.connect("cluster", **settings)


async def test_a_script_gets_its_input_and_answers(way: Transport) -> None:
    reply = await way.run('printf %s "$HARD"; cat; echo trouble >&2; exit 3', stdin=b" input\0\xff")
    assert (reply.status, reply.out, reply.err) == (3, HARD.encode() + b" input\0\xff", b"trouble\n")
    assert way.link.state is LinkState.CONNECTED
    assert way.link.heard is not None


async def test_a_signal_is_told_like_shells_do(way: Transport) -> None:
    assert (await way.run("kill -TERM $$")).status == 128 + 15


async def test_input_that_is_not_read_is_no_error(way: Transport) -> None:
    assert (await way.run("exit 4", stdin=b"x" * 5_000_000)).status == 4


async def test_a_process_left_behind_does_not_hold_the_answer_up(way: Transport) -> None:
    reply = await within(way.run("sleep 600 & echo $!"), LONG)
    os.kill(int(reply.out), 9)


async def test_after_the_deadline_the_whole_process_group_is_gone(way: Transport, tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! >{tmp_path}/child; sleep 600"
    for deadline in DEADLINES:
        words = await raises(LinkLost, way.run(script, deadline=deadline))
        assert f"within {deadline:g} s" in words
        if (tmp_path / "child").exists():
            break
    await eventually(lambda: _is_gone(tmp_path / "child"), what="the child ends")


async def test_a_cancelled_call_ends_its_script(way: Transport, tmp_path: Path) -> None:
    call = asyncio.create_task(way.run(f"echo $$ >{tmp_path}/child; exec sleep 50"))
    await eventually((tmp_path / "child").exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await eventually(lambda: _is_gone(tmp_path / "child"), what="the script ends")
    assert (await way.run("echo next")).out == b"next\n"


async def test_a_call_cancelled_while_its_script_is_being_started_leaves_nothing(
    user: SshUser, tmp_path: Path
) -> None:
    way = await user.connect("")
    await way.run("true")
    before = len(os.listdir("/proc/self/fd"))
    for turns in range(12):
        child = tmp_path / f"child{turns}"
        call = asyncio.create_task(way.run(f"sleep 600 & echo $! >{child}; sleep 600"))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert call.cancelled()
        if child.exists() and child.read_text():
            await eventually(lambda child=child: _is_gone(child), what="the script ends")
    await eventually(lambda: len(os.listdir("/proc/self/fd")) <= before, what="all pipes are closed")


async def test_a_call_that_is_cancelled_again_while_its_script_ends_leaves_nothing_open(
    user: SshUser, tmp_path: Path
) -> None:
    way = await user.connect("")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for turns in range(8):
            child = tmp_path / f"child{turns}"
            call = asyncio.create_task(way.run(f"echo $$ >{child}; exec sleep 600"))
            await eventually(child.exists)
            call.cancel()
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert call.cancelled()
            await eventually(lambda child=child: _is_gone(child), what="the script ends")
        del call
        # What is over is taken apart by now, and tells of what it left open.
        gc.collect()
    assert not [str(one.message) for one in told]


def _is_gone(file: Path) -> bool:
    """False too while the file is not written yet."""
    words = file.read_text().split() if file.exists() else []
    return bool(words) and ended(int(words[0]))


async def test_no_more_scripts_run_at_once_than_the_site_allows(way: Transport, tmp_path: Path) -> None:
    script = (
        f"mkdir {tmp_path}/$0$$; ls -d {tmp_path}/sh* | wc -l; sleep 0.05; ls -d {tmp_path}/sh* | wc -l;"
        f" rmdir {tmp_path}/$0$$"
    )
    replies = await asyncio.gather(*(way.run(script) for _ in range(10)))
    counts = {int(word) for reply in replies for word in reply.out.split()}
    assert max(counts) == 2


async def test_waiting_for_a_turn_ends_with_the_deadline_and_nothing_is_sent(
    way: Transport, tmp_path: Path
) -> None:
    busy = [asyncio.create_task(way.run(f"echo >{tmp_path}/{n}; exec sleep 50")) for n in range(2)]
    await eventually(lambda: len(list(tmp_path.glob("[01]"))) == 2)
    await raises(NotSent, way.run(f"echo >{tmp_path}/sent", deadline=0.2))
    for call in busy:
        call.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    assert not (tmp_path / "sent").exists()


async def test_a_long_output_needs_little_memory(way: Transport) -> None:
    received = 0

    def count(piece: bytes) -> None:
        nonlocal received
        received += len(piece)

    before = _peak(anew=True)
    reply = await way.receive(f"head -c {BIG} /dev/zero; echo done >&2", count)
    assert (reply.status, reply.out, reply.err, received) == (0, b"", b"done\n", BIG)
    assert _peak() - before < BIG // 3


async def test_a_long_input_needs_little_memory(way: Transport) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield bytes(BIG // 100)

    before = _peak(anew=True)
    reply = await way.send("wc -c", pieces())
    assert int(reply.out) == BIG
    assert _peak() - before < BIG // 3


def _peak(*, anew: bool = False) -> int:
    """Most memory in bytes that this process had since the last time that this was asked `anew`."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


async def test_an_answer_too_large_for_memory_is_refused(way: Transport) -> None:
    words = await raises(LinkLost, way.run(f"head -c {MOST_OUT + 1} /dev/zero"))
    assert "64 MiB" in words
    assert (await way.run("echo next")).out == b"next\n"


async def test_an_error_of_who_writes_the_output_ends_the_call(way: Transport) -> None:
    def refuse(piece: bytes) -> None:
        raise OSError("no space left")

    assert "no space" in await raises(OSError, way.receive("yes", refuse))
    assert (await way.run("echo next")).out == b"next\n"


async def test_an_error_of_who_gives_the_input_ends_the_call(way: Transport) -> None:
    async def break_off() -> AsyncIterator[bytes]:
        yield b"x"
        raise OSError("the file is gone")

    assert "is gone" in await raises(OSError, way.send("cat; sleep 50", break_off()))


async def test_silence_ends_a_transfer_that_moves_nothing(way: Transport) -> None:
    pieces: list[bytes] = []
    for deadline in DEADLINES:
        await raises(LinkLost, way.receive("echo begin; sleep 600", pieces.append, deadline=deadline))
        if pieces:
            break
    assert b"".join(pieces) == b"begin\n"


async def test_a_transfer_that_moves_goes_on_past_its_deadline(way: Transport) -> None:
    for deadline in DEADLINES:
        pieces: list[bytes] = []
        script = f"for n in 1 2 3 4 5 6 7 8; do head -c 4096 /dev/zero; sleep {deadline / 5:g}; done"
        with contextlib.suppress(LinkLost):
            await way.receive(script, pieces.append, deadline=deadline)
            break
    assert sum(map(len, pieces)) == 8 * 4096


async def test_a_transfer_that_drips_is_ended(way: Transport) -> None:
    await raises(LinkLost, way.receive("while echo; do sleep 0.1; done", lambda _piece: None, deadline=0.5))
