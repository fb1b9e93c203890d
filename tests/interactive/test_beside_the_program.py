"""What a desk has beside the program: ports, sockets, files, commands, over one connection (CB-I2G-03)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncssh
import pytest

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.echo import Echo, said
from tests.interactive.pair import Bench, Screen
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.running import ended
from tests.waiting import eventually


async def test_a_port_here_leads_to_a_port_there_and_its_bytes_are_counted(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        forward = await screen.session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        assert await said(host, int(port), b"hello" * 1000) == b"HELLO" * 1000
        view = forward.view()
        assert (view.sent, view.received, view.problem) == (5000, 5000, "")


async def test_a_forward_survives_a_cut(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        forward = await screen.session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        back = await screen.session.forwards.remote(("localhost", 0), ("127.0.0.1", echo.port))
        wire.cut()
        await eventually(lambda: screen.session.status.state is not SessionState.CONNECTED)
        await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
        assert await said(host, int(port), b"again") == b"AGAIN"
        host, _, port = back.listen.rpartition(":")
        await eventually(lambda: not back.problem)
        assert await said(host, int(port), b"there") == b"THERE"
    await wire.close()


async def test_a_port_there_leads_to_a_port_here(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    async with Echo() as echo:
        forward = await screen.session.forwards.remote(("localhost", 0), ("127.0.0.1", echo.port))
        host, _, port = forward.listen.rpartition(":")
        assert await said(host, int(port), b"back home") == b"BACK HOME"
        assert (forward.sent, forward.received) == (9, 9)


async def test_a_socket_here_leads_to_a_socket_there(made: Bench, tmp_path: Path) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    served = await asyncio.start_unix_server(Echo.served, str(tmp_path / "there"))
    await screen.session.forwards.local(str(tmp_path / "here"), str(tmp_path / "there"))
    reader, writer = await asyncio.open_unix_connection(str(tmp_path / "here"))
    writer.write(b"unix")
    writer.write_eof()
    assert await reader.read(-1) == b"UNIX"
    writer.close()
    served.close()


async def test_a_target_that_does_not_answer_is_told(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    forward = await screen.session.forwards.local(("127.0.0.1", 0), ("127.0.0.1", 1))
    host, _, port = forward.listen.rpartition(":")
    assert await said(host, int(port), b"?") == b""
    assert "127.0.0.1:1" in forward.problem


async def test_files_of_the_job_are_read_and_written_and_no_others(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    (made.job / "result").write_bytes(b"42\n")
    (made.job.parent / "outside").write_bytes(b"no\n")
    connection = await screen.session.connection()
    async with connection.start_sftp_client() as files:
        assert sorted(await files.listdir("/")) == [".", "..", ".crossdesk-agent", "result"]
        async with files.open("/result", "rb") as file:
            assert await file.read() == b"42\n"
        async with files.open("steer", "wb") as file:
            await file.write(b"faster\n")
        with pytest.raises(asyncssh.SFTPError):
            await files.stat("/../outside")
    assert (made.job / "steer").read_bytes() == b"faster\n"


async def test_commands_run_in_the_job_s_directory_with_their_own_exit_codes(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    connection = await screen.session.connection()
    done = await connection.run("pwd; echo wrong >&2; exit 9", encoding=None)
    assert (done.stdout, done.stderr, done.exit_status) == (f"{made.job}\n".encode(), b"wrong\n", 9)
    fed = await connection.run("cat", input=b"fed", encoding=None)
    assert fed.stdout == b"fed"
    on_terminal = await connection.run("tty; stty size", term_type="xterm", term_size=(90, 30), encoding=None)
    assert b"/dev/pts/" in on_terminal.stdout
    assert b"30 90" in on_terminal.stdout


async def test_a_command_ends_with_its_desk(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    connection = await screen.session.connection()
    process = await connection.create_process("echo $$; exec sleep 600", encoding=None)
    pid = int(await process.stdout.readline())
    await screen.session.close()
    await eventually(lambda: ended(pid))


async def test_nothing_but_the_program_where_the_agent_allows_nothing_else(made: Bench) -> None:
    await made.start_agent(SHELL, forwards=False)
    screen = await ready(made)
    connection = await screen.session.connection()
    assert (await connection.run("echo no", encoding=None)).stdout == b""
    with pytest.raises(asyncssh.ChannelOpenError):
        await connection.open_connection("127.0.0.1", 22)


async def test_a_port_for_others_on_the_node_s_network_is_refused(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    connection = await screen.session.connection()
    with pytest.raises(asyncssh.ChannelListenError):
        await connection.forward_remote_port("0.0.0.0", 0, "127.0.0.1", 1)


async def test_lines_of_a_program_are_no_terminal(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", "test -t 0 || echo no terminal"], mode="lines")
    screen = Screen(made.desk())
    await screen.ended()
    assert bytes(screen.streams[1]) == b"no terminal\n"


async def test_a_command_with_much_to_say_leaves_nothing_when_its_desk_breaks_off(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    assert made.agent is not None
    files = Path(f"/proc/{made.agent.pid}/fd")
    before = len(list(files.iterdir()))
    connection = await screen.session.connection()
    for terminal in ("xterm", None):
        process = await connection.create_process("exec yes", term_type=terminal, encoding=None)
        await process.stdout.read(1)
        process.channel.pause_reading()
        await eventually(lambda: list(files.iterdir())[before:])
    connection.abort()
    await eventually(lambda: SessionState.BUFFERING in screen.states)
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
    await eventually(lambda: len(list(files.iterdir())) <= before)
