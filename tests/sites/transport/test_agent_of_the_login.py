"""Which ssh-agent the broker asks, and who else gets to see its socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.sites.link import Link
from broker_core.sites.transport.address import SshAddress, SshFiles
from broker_core.sites.transport.local import LocalTransport
from broker_core.sites.transport.login_agent import LOGIN_AGENT, VARIABLE, LoginAgent, use_agent
from broker_core.sites.transport.ssh_settings import SshSettings, read_settings


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    """A socket of this account, as of an agent."""
    with socket.socket(socket.AF_UNIX) as listening:
        path = str(tmp_path / "agent")
        listening.bind(path)
        yield path
    LOGIN_AGENT.forget()


async def _settings(folder: Path, config: str = "") -> tuple[SshSettings, list[str]]:
    """What holds for the host `cluster`, and what is told of it."""
    (folder / "config").write_text(f"Host cluster\n{config}")
    said: list[str] = []
    found = await read_settings(SshFiles(folder / "config"), SshAddress("cluster"), said.append, 60)
    return found, said


async def test_commands_at_this_machine_do_not_have_the_agent_that_was_handed_in(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    use_agent(place)
    transport = LocalTransport(Link(lambda _: None), {}, 1)
    await transport.open()
    assert (await transport.run(f"echo ${{{VARIABLE}-none}}")).out == b"none\n"


def test_a_broker_takes_the_agent_out_of_its_environment_and_a_shared_one_asks_none(place: str) -> None:
    for mode, taken, later in (("embedded", place, place), ("shared", "", "")):
        environment = {VARIABLE: place, "HOME": "/"}
        agent = LoginAgent()
        agent.take(environment, mode)
        assert (environment, agent.path) == ({"HOME": "/"}, taken)
        agent.use(place)
        assert agent.path == later


async def test_the_agent_is_that_of_the_login_unless_the_configuration_names_one(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "/a/stranger's")
    assert (await _settings(tmp_path))[0].more["agent_path"] is None
    use_agent(place)
    assert (await _settings(tmp_path))[0].more == {"agent_path": place}
    assert (await _settings(tmp_path, "IdentityAgent none"))[0].more == {}
    through = (await _settings(tmp_path, "ProxyCommand nc %h 22"))[0].more["proxy_command"]
    assert through == ["env", f"{VARIABLE}={place}", "nc", "cluster", "22"]


async def test_an_agent_whose_login_has_ended_is_not_asked_and_that_is_told(
    place: str, tmp_path: Path
) -> None:
    use_agent(place)
    os.unlink(place)
    settings, said = await _settings(tmp_path)
    assert settings.more == {"agent_path": None}
    assert "its login has ended" in said[0]


@pytest.mark.root
def test_a_socket_that_became_another_accounts_is_not_asked(place: str) -> None:
    use_agent(place)
    os.chown(place, 12345, 12345)
    assert LOGIN_AGENT.path == ""
    LOGIN_AGENT.forget()
    use_agent(place)
    assert not LOGIN_AGENT.is_gone
