"""The relay as a package of its own: Python and nothing else (CB-GCB-02)."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from broker_core.interactive.channel.rendezvous import AGENT, DESK, GO, WAIT
from broker_core.version import VERSION
from tests.packaging.sources import ROOT
from tests.packaging.wheels import built, installed
from tests.testbed.ports import free_port
from tests.waiting import wait_until

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which pip installed its folder, without a network, and so nothing that it needs."""
    base = tmp_path_factory.mktemp("relay")
    return installed(built(base, "packaging/relay"), base / "venv")


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _said(connection: socket.socket) -> bytes:
    found = b""
    while not found.endswith(GO):
        more = connection.recv(64)
        assert more, found
        found = (found + more).replace(WAIT, b"")
    return found


def test_it_joins_two_ends_with_nothing_else_installed(environment: Path, tmp_path: Path) -> None:
    program, port = str(environment / "bin" / "crossdesk-relay"), free_port()
    words = ["configure", "--directory", str(tmp_path), "--address", "127.0.0.1", "--port", str(port)]
    told = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "crossdesk-relay.service" in told.stdout
    settings = str(tmp_path / "crossdesk-relay.toml")
    with subprocess.Popen([program, "serve", "--settings", settings], cwd=tmp_path, env={}) as relay:
        try:
            wait_until(lambda: _listens(port), what="it listens")
            token = secrets.token_urlsafe(32)
            ends = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2)]
            for end, role in zip(ends, (AGENT, DESK), strict=True):
                end.sendall(f"CROSSDESK-MEET 1 {role} {token}\n".encode())
            assert [_said(end) for end in ends] == [GO, GO]
            ends[0].sendall(b"bytes")
            assert ends[1].recv(5) == b"bytes"
            for end in ends:
                end.close()
        finally:
            relay.terminate()


def test_its_version_is_that_of_the_whole_and_it_needs_nothing(environment: Path) -> None:
    words = "from importlib.metadata import *; print(version('crossdesk-relay'), requires('crossdesk-relay'))"
    told = subprocess.run(
        [environment / "bin" / "python", "-c", words], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == [VERSION, "None"]


def test_it_has_every_package_that_the_relay_reads() -> None:
    listed = tomllib.loads((ROOT / "packaging" / "relay" / "pyproject.toml").read_text())
    words = (
        "import sys; from broker_core.interactive.relay import relay;"
        "print(*{name.rpartition('.')[0] for name in sys.modules if name.startswith('broker_core.')})"
    )
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert sorted(told.stdout.split()) == listed["tool"]["setuptools"]["packages"]
