"""A program on a terminal rules it from within its box, and ends as it says."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from broker_core.worker.agent_program import UserProgram
from tests.waiting import eventually
from tests.worker.two_slots import NOBODY, PATH, NodeOfTwoSlots, two_slots

pytestmark = pytest.mark.software
_each = pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])


@pytest.fixture(scope="module")
def node() -> Iterator[NodeOfTwoSlots]:
    with two_slots() as made:
        yield made


class OnTerminal:
    """A program as the agent runs it."""

    def __init__(self, program: UserProgram) -> None:
        self.program = program
        self.shown = bytearray()
        self._ended = asyncio.Event()
        program.run(lambda stream, data: self.shown.extend(data), self._ended.set)

    async def shows(self, text: bytes) -> None:
        """Wait for what it writes."""
        await eventually(lambda: text in self.shown, what=lambda: f"{text!r} in {bytes(self.shown)!r}")

    async def status(self) -> int | None:
        """Exit status, at its end."""
        await eventually(self._ended.is_set, what=lambda: f"it ends: {bytes(self.shown)!r}")
        return self.program.status


Starting = Callable[..., OnTerminal]


@pytest.fixture
def started(node: NodeOfTwoSlots, kind: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starting]:
    """Starts a program on a terminal in a box."""
    made: list[UserProgram] = []
    opened = os.openpty

    def opened_by_the_account() -> tuple[int, int]:
        master, slave = opened()
        if os.getuid() == 0:
            os.fchown(slave, NOBODY, NOBODY)
        return master, slave

    monkeypatch.setattr(os, "openpty", opened_by_the_account)

    def start(*command: str, path: str = PATH) -> OnTerminal:
        assert node.find(kind).startswith(kind if kind != "none" else "not boxed")
        program = UserProgram(
            node.words("a", *command),
            {"PATH": path},
            terminal=True,
            size=(80, 24),
            directory=node.root / "a/job",
            boxed=True,
        )
        made.append(program)
        return OnTerminal(program)

    yield start
    for program in made:
        program.kill()
        program.close()


@_each
async def test_a_shell_controls_its_jobs_and_its_exit_code_is_what_it_was_told(started: Starting) -> None:
    shell = started("/bin/sh", "-i")
    shell.program.write(b"sh -c 'echo be\"\"gun; read line; echo \"<$line>\"'\n")
    await shell.shows(b"begun")
    shell.program.write(b"\x1a")
    await shell.shows(b"Stopped")
    shell.program.write(b"fg\nover\n")
    await shell.shows(b"<over>")
    shell.program.write(b"exit 4\n")
    assert await shell.status() == 4, bytes(shell.shown)
    assert b"tty" not in shell.shown.lower(), bytes(shell.shown)


@_each
async def test_keys_and_signals_go_to_what_has_the_terminal(started: Starting) -> None:
    for trap, act in (
        ("INT", lambda program: program.write(b"\x03")),
        ("TERM", lambda program: program.signal(signal.SIGTERM)),
    ):
        waits = started("/bin/sh", "-c", f"trap 'exit 6' {trap}; echo waits; while :; do read line; done")
        await waits.shows(b"waits")
        act(waits.program)
        assert await waits.status() == 6, (trap, bytes(waits.shown))


@_each
async def test_what_takes_no_signal_is_killed_with_its_box(started: Starting) -> None:
    deaf = started("/bin/sh", "-c", "trap '' INT TERM HUP; echo deaf; while :; do sleep 0.05; done")
    await deaf.shows(b"deaf")
    deaf.program.kill()
    assert await deaf.status() in (-signal.SIGKILL, 128 + signal.SIGKILL)


@pytest.mark.parametrize("kind", ["bubblewrap"])
async def test_keys_go_to_the_program_also_where_there_is_no_setsid(
    started: Starting, node: NodeOfTwoSlots
) -> None:
    few = node.root / "programs" / "few"
    few.mkdir()
    for name in ("bwrap", "env", "mkdir", "readlink"):
        (few / name).symlink_to(f"/usr/bin/{name}")
    waits = started(
        "/bin/sh", "-c", "trap 'exit 6' INT; echo waits; while :; do read line; done", path=str(few)
    )
    await waits.shows(b"waits")
    waits.program.write(b"\x03")
    assert await waits.status() == 6
