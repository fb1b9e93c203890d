"""Services of a job: what its program says, what the agent finds of it, and how a desk reaches them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from broker_core.client.package_data import folder
from broker_core.interactive.shadow.services import NoService
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import ServiceState, SessionState
from broker_core.worker.agent_settings import SERVICES
from broker_core.worker.sub_channels.services import ENDED, LONGEST, READY, REFUSED, STARTING, JobServices
from tests.interactive.pages import page
from tests.interactive.pair import Bench
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.waiting import eventually, within

SERVE = str(folder("samples") / "web-page" / "serve.py")


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def told(directory: Path, *lines: object) -> None:
    with open(directory / SERVICES, "a") as file:
        file.writelines(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)


def test_a_service_is_ready_while_something_of_this_account_listens(
    tmp_path: Path, listening: socket.socket
) -> None:
    services = JobServices(tmp_path)
    assert services.survey() == []
    port = listening.getsockname()[1]
    told(tmp_path, {"name": "Board", "port": 1}, {"name": "Board", "port": port, "path": "/x", "token": "t"})
    (one,) = services.survey()
    assert (one.name, one.port, one.path, one.token, one.state) == ("Board", port, "/x", "t", READY)
    assert (tmp_path / SERVICES).stat().st_mode & 0o077 == 0
    listening.close()
    (one,) = services.survey()
    assert (one.state, one.path, one.token) == (ENDED, "/", "")


def test_what_does_not_listen_yet_is_starting(tmp_path: Path) -> None:
    told(tmp_path, {"port": 1})
    assert [(one.name, one.state) for one in JobServices(tmp_path).survey()] == [("Service", STARTING)]


LISTEN = """import socket, sys
made = socket.create_server(("127.0.0.1", 0))
print(made.getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.root
def test_a_port_of_another_account_is_refused_and_its_secrets_stay_here(tmp_path: Path) -> None:
    words = ["/usr/bin/python3", "-c", LISTEN]
    with subprocess.Popen(words, user=65534, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/") as other:
        assert other.stdout is not None
        told(tmp_path, {"name": "Trap", "port": int(other.stdout.readline()), "token": "secret"})
        (one,) = JobServices(tmp_path).survey()
    assert (one.state, one.token) == (REFUSED, "")
    assert "another account" in one.problem


@pytest.mark.parametrize(
    "line",
    ["{", "[1]", "7", '{"name": "x"}', '{"port": true}', '{"port": 70000}', '{"port": 80, "name": ""}',
     '{"port": 80, "path": "@evil.example/"}', '{"port": 80, "token": 1}', "[" * 50_000],
)  # fmt: skip
def test_a_line_that_is_not_understood_is_told(tmp_path: Path, line: str) -> None:
    told(tmp_path, line, {"name": "good", "port": 1})
    bad, good = JobServices(tmp_path).survey()
    assert (bad.name, bad.state) == ("Line 1", REFUSED)
    assert bad.problem.startswith("Not understood: ")
    assert good.name == "good"


@pytest.mark.parametrize("kind", ["link", "pipe", "large", "open to all"])
def test_a_file_that_is_not_the_program_s_own_is_not_read(tmp_path: Path, kind: str) -> None:
    file = tmp_path / SERVICES
    if kind == "link":
        (tmp_path / "other").write_text('{"port": 1}\n')
        file.symlink_to(tmp_path / "other")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "large":
        file.write_bytes(b"\n" * (LONGEST + 1))
    else:
        told(tmp_path, {"port": 1})
        file.chmod(0o666)
    (one,) = JobServices(tmp_path).survey()
    assert (one.state, one.problem[:23]) == (REFUSED, "The file cannot be used")


async def offered(session: ShadowSession, state: ServiceState) -> str:
    """Name of the service, as soon as it is in a state."""
    views = session.forwards.services.views
    await eventually(lambda: [one.state for one in views()] == [state], what=f"it is {state}")
    return views()[0].name


async def test_a_page_is_reached_with_its_token_and_after_a_cut(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    wire.keeps = True
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    assert session.forwards.services.views() == ()
    session.write(f"CROSSDESK_SERVICES=$PWD/{SERVICES} {sys.executable} {SERVE} & \n".encode())
    name = await offered(session, ServiceState.READY)
    assert name == "Files of the job"
    await eventually(lambda: session.status.services, what="the status has it")
    address = await session.forwards.services.address(name)
    token = urlsplit(address).query.removeprefix("token=")
    assert token
    assert token not in str(session.status)
    assert b"Directory listing" in await asyncio.to_thread(page, address)
    assert wire.cut() > 0
    await eventually(lambda: session.status.state is SessionState.BUFFERING)
    await eventually(lambda: session.status.state is SessionState.CONNECTED)
    assert await session.forwards.services.address(name) == address
    assert b"Directory listing" in await asyncio.to_thread(page, address)
    assert token.encode() not in wire.seen
    session.write(b"kill $!\n")
    await offered(session, ServiceState.ENDED)
    assert session.forwards.views() == ()
    with pytest.raises(NoService, match="It is ended"):
        await session.forwards.services.address(name)
    await wire.close()


async def test_names_with_markup_and_addresses_are_kept_as_they_are(
    made: Bench, listening: socket.socket
) -> None:
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    name, port = "<b>\x1b[31m", listening.getsockname()[1]
    told(made.job, {"name": name, "port": port, "path": '/a b?x="<&y#z', "token": "a&b=c"})
    assert await offered(session, ServiceState.READY) == name
    address = await session.forwards.services.address(name)
    host = session.forwards.views()[0].listen
    assert address == f"http://{host}/a%20b?x=%22%3C&y&token=a%26b%3Dc#z"
    with pytest.raises(NoService, match="no such service"):
        await session.forwards.services.address("other")


async def test_an_agent_that_gives_nothing_else_tells_of_no_services(made: Bench) -> None:
    await made.start_agent(SHELL, forwards=False)
    session = (await ready(made)).session
    await within(session.forwards.services.answered.wait(), 60)
    assert session.forwards.services.views() == ()
