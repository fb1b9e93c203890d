"""A shell beside a program, whose pane changes its size while the shell is being started."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import asyncssh
from PySide6.QtWidgets import QApplication

from app.console.shell_channel import ShellChannel
from tests.waiting import within


class Anybody(asyncssh.SSHServer):
    """Lets anybody in."""

    def begin_auth(self, username: str) -> bool:
        return False


async def test_a_size_that_changes_while_the_shell_starts_reaches_it(qapp: QApplication) -> None:
    told: list[tuple[int, int]] = []

    async def shell(process: asyncssh.SSHServerProcess[bytes]) -> None:
        told.append(process.term_size[:2])
        try:
            await process.stdin.read()
        except asyncssh.TerminalSizeChanged as changed:
            told.append((changed.width, changed.height))
        process.exit(7)

    key = asyncssh.generate_private_key("ssh-ed25519")
    options: dict[str, Any] = {"server_host_keys": [key], "process_factory": shell, "encoding": None}
    server = await asyncssh.create_server(Anybody, "127.0.0.1", 0, **options)
    channel = ShellChannel(lambda: asyncio.sleep(0), "job", 80, 24)  # type: ignore[arg-type, return-value]
    async with asyncssh.connect("127.0.0.1", server.get_port(), known_hosts=None, config=None) as connection:

        async def connected() -> asyncssh.SSHClientConnection:
            asyncio.get_running_loop().call_soon(channel._fit, 100, 40)
            return connection

        session: Any = SimpleNamespace(connection=connected, status=SimpleNamespace(node="here"))
        ended = await within(channel._run_shell(session), 20)
    assert told == [(80, 24), (100, 40)]
    assert "exit code 7" in ended
    server.close()
    await server.wait_closed()
