"""Keys, passphrases, the agent, passwords and codes; aliases and jump hosts of the SSH configuration."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import ClassVar

import asyncssh
import pytest

from broker_core.sites.contract import InputFile
from broker_core.sites.link import LinkState
from broker_core.sites.shell.content_cache import ContentCache, input_content
from broker_core.sites.shell.workspace import SiteWorkspace
from broker_core.sites.transport.contract import NotSent
from broker_core.sites.transport.login_agent import LOGIN_AGENT, use_agent
from tests.running import children
from tests.sites.transport.ssh_user import SshUser, asked, becomes, raises, said
from tests.testbed.accounts import account
from tests.testbed.ssh_agent import SshAgent
from tests.testbed.sshd import Sshd, make_key
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster]
OwnServer = Callable[..., Sshd]
PASSPHRASE = "correct horse battery"
PASSWORD = "staple 7!"
WITH_PASSWORD = "gridpass"


@pytest.fixture
def locked_key(own_server: OwnServer, tmp_path: Path) -> tuple[Sshd, Path]:
    """A server which accepts an encrypted key, and that key."""
    server = own_server()
    key = make_key(tmp_path / "locked", passphrase=PASSPHRASE)
    server.authorize("root", key)
    return server, key


def _alias(server: Sshd, key: Path, user: str = "root") -> str:
    return server.alias("cluster", user).replace(str(server.key), str(key))


@pytest.mark.parametrize("with_public_key", [True, False])
async def test_an_encrypted_key_asks_for_its_passphrase_until_it_is_right(
    user: SshUser, locked_key: tuple[Sshd, Path], with_public_key: bool
) -> None:
    server, key = locked_key
    if not with_public_key:
        key.with_name("locked.pub").unlink()
    way = await user.knows(server).write(_alias(server, key)).connect("cluster")
    question = await asked(way, "passphrase")
    assert str(key) in question.text
    assert (question.secret, question.keep_as) == (True, f"ssh-key:{key}")
    way.answer(question.id, "wrong secret")
    again = await _other_question(way, question.id)
    assert "refused" in again.text
    way.answer(again.id, PASSPHRASE)
    assert (await way.run("echo in")).out == b"in\n"
    assert not _shows(way, PASSPHRASE, "wrong secret")


async def _other_question(way: object, old: str) -> object:
    await eventually(lambda: way.link.question is not None and way.link.question.id != old)
    return way.link.question


def _shows(way: object, *secrets: str) -> bool:
    texts = [said(way), repr(way), repr(vars(way)), repr(vars(way.link))]
    return any(secret in text for secret in secrets for text in texts)


async def test_after_a_lost_connection_the_passphrase_is_not_asked_again(
    user: SshUser, locked_key: tuple[Sshd, Path]
) -> None:
    server, key = locked_key
    way = await user.knows(server).write(_alias(server, key)).connect("cluster")
    way.answer((await asked(way, "passphrase")).id, PASSPHRASE)
    await becomes(way, LinkState.CONNECTED)
    server.kill()
    await becomes(way, LinkState.RETRYING)
    server.start()
    assert (await way.run("echo again")).out == b"again\n"
    assert said(way).count("passphrase") == 0
    assert said(way).count("Passphrase") == 1


async def test_an_old_key_without_a_public_part_is_told_with_its_remedy(
    user: SshUser, server: Sshd, tmp_path: Path
) -> None:
    key = tmp_path / "old"
    words = ["ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", PASSPHRASE, "-f", str(key)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    key.with_name("old.pub").unlink()
    way = await user.knows(server).write(_alias(server, key)).connect("cluster")
    await becomes(way, LinkState.DOWN)
    assert "ssh-keygen -y" in said(way)


async def test_no_passphrase_is_asked_for_a_key_that_the_server_does_not_accept(
    user: SshUser, server: Sshd, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "stranger", passphrase=PASSPHRASE)
    way = await user.knows(server).write(_alias(server, key)).connect("cluster")
    link = await becomes(way, LinkState.DOWN)
    assert "none of your keys" in link.reason
    assert "ssh-add" in link.reason
    assert "none of your keys" in await raises(NotSent, way.run("true"))


@pytest.fixture
def agent(locked_key: tuple[Sshd, Path], tmp_path: Path) -> Iterator[None]:
    """A real agent with the key of the server in it."""
    running = SshAgent(tmp_path / "agent")
    running.add(locked_key[1], PASSPHRASE)
    use_agent(str(running.socket))
    yield
    LOGIN_AGENT.forget()
    running.close()


@pytest.mark.usefixtures("agent")
async def test_a_key_in_the_agent_needs_no_question(user: SshUser, locked_key: tuple[Sshd, Path]) -> None:
    server, key = locked_key
    way = await user.knows(server).write(_alias(server, key)).connect("cluster")
    assert (await way.run("echo in")).out == b"in\n"


async def test_a_password_is_asked_and_used_again_after_a_loss(user: SshUser, own_server: OwnServer) -> None:
    account(WITH_PASSWORD, password=PASSWORD)
    server = own_server(users=("root",), password=True)
    way = await user.knows(server).write(server.alias("cluster", WITH_PASSWORD)).connect("cluster")
    question = await asked(way, "password")
    assert question.keep_as == f"ssh:{WITH_PASSWORD}@127.0.0.1:{server.port}"
    way.answer(question.id, "wrong secret")
    way.answer((await _other_question(way, question.id)).id, PASSWORD)
    assert (await way.run("id -un")).out.decode().strip() == WITH_PASSWORD
    server.kill()
    server.start()
    await eventually(lambda: said(way).count("logged in") == 2)
    await becomes(way, LinkState.CONNECTED)
    assert not _shows(way, PASSWORD, "wrong secret")


async def test_declining_a_password_leaves_the_site_down_until_the_user_connects(
    user: SshUser, own_server: OwnServer
) -> None:
    account(WITH_PASSWORD, password=PASSWORD)
    server = own_server(users=("root",), password=True)
    way = await user.knows(server).write(server.alias("cluster", WITH_PASSWORD)).connect("cluster")
    way.answer((await asked(way, "password")).id, "")
    await becomes(way, LinkState.DOWN)
    assert "without the password, which you did not give" in way.link.reason
    way.connect_now()
    way.answer((await asked(way, "password")).id, PASSWORD)
    await becomes(way, LinkState.CONNECTED)


class _TwoSteps(asyncssh.SSHServer):
    """Asks for a password and then for a code; a server of asyncssh, since sshd needs PAM for that."""

    connections: ClassVar[list[asyncssh.SSHServerConnection]] = []

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.connections.append(conn)

    def __init__(self) -> None:
        self._steps = [("Password: ", PASSWORD), ("One-time code: ", "123456")]

    def begin_auth(self, username: str) -> bool:
        return True

    def kbdint_auth_supported(self) -> bool:
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> object:
        return "", "\033[2JTwo\nsteps.", "", [(self._steps[0][0], False)]

    def validate_kbdint_response(self, username: str, responses: list[str]) -> object:
        _, right = self._steps.pop(0)
        if responses != [right]:
            return False
        return ("", "\033[2JTwo\nsteps.", "", [(self._steps[0][0], False)]) if self._steps else True


@pytest.fixture
async def two_steps(user: SshUser) -> AsyncIterator[asyncssh.SSHAcceptor]:
    """A server that asks for a password and a code, and runs nothing but the shell."""

    async def process(process: asyncssh.SSHServerProcess[bytes]) -> None:
        done = subprocess.run(["sh", "-c", process.command], capture_output=True, stdin=subprocess.DEVNULL)
        process.stdout.write(done.stdout)
        process.exit(done.returncode)

    key = asyncssh.generate_private_key("ssh-ed25519")
    listener = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=_TwoSteps,
        server_host_keys=[key],
        process_factory=process,
        encoding=None,
    )
    user.known_hosts.write_text(
        f"[127.0.0.1]:{listener.get_port()} {key.convert_to_public().export_public_key().decode()}"
    )
    yield listener
    listener.close()
    await listener.wait_closed()


async def test_a_code_is_asked_while_the_server_waits_and_never_kept(
    user: SshUser, two_steps: asyncssh.SSHAcceptor
) -> None:
    way = await user.connect("127.0.0.1", port=two_steps.get_port(), user="someone")
    way.answer((await asked(way, "password")).id, PASSWORD)
    question = await asked(way, "code")
    assert question.text.endswith("asks: [2JTwo steps. One-time code:")
    assert (question.secret, question.keep_as) == (True, "")
    way.answer(question.id, "654321")
    again = await _other_question(way, question.id)
    assert (again.kind, "refused" in again.text) == ("code", True)
    way.answer(again.id, "123456")
    assert (await way.run("echo in")).out == b"in\n"
    assert not _shows(way, PASSWORD, "123456", "654321")


async def test_a_code_is_asked_once_for_each_connection(
    user: SshUser, two_steps: asyncssh.SSHAcceptor
) -> None:
    way = await user.connect("127.0.0.1", port=two_steps.get_port(), user="someone")
    way.answer((await asked(way, "password")).id, PASSWORD)
    question = await asked(way, "code")
    way.answer(question.id, "123456")
    said_by = await asyncio.gather(*(way.run(f"echo {number}") for number in range(20)))
    assert [one.out for one in said_by] == [f"{number}\n".encode() for number in range(20)]
    assert (said(way).count("logged in"), way.link.question) == (1, None)
    for connection in _TwoSteps.connections:
        connection.abort()
    again = await asked(way, "code")  # the password is known
    assert again.id != question.id
    way.answer(again.id, "123456")
    assert (await way.run("echo back")).out == b"back\n"
    assert said(way).count("logged in") == 2


async def test_a_kerberos_login_without_its_library_is_told_with_what_it_needs(
    user: SshUser, server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.sites.transport.ssh_settings.gss_available", False)
    alias = _alias(server, make_key(tmp_path / "stranger")) + "  GSSAPIAuthentication yes\n"
    way = await user.knows(server).write(alias).connect("cluster")
    link = await becomes(way, LinkState.DOWN)
    for words in ("no key of yours", "Python package gssapi is missing", "pip install gssapi"):
        assert words in link.reason
    assert "no Kerberos login is tried" in said(way)


async def test_a_code_that_comes_too_late_for_one_connection_is_used_for_the_next(
    user: SshUser, own_server: OwnServer, two_steps: asyncssh.SSHAcceptor
) -> None:
    jump = own_server()
    user.knows(jump).write(jump.alias("gate"))
    way = await user.connect("127.0.0.1", port=two_steps.get_port(), user="someone", jump="gate")
    way.answer((await asked(way, "password")).id, PASSWORD)
    question = await asked(way, "code")
    jump.kill()
    jump.start()
    await eventually(lambda: "did not wait" in said(way))
    assert way.link.question == question
    way.answer(question.id, "123456")
    assert (await way.run("echo in")).out == b"in\n"


@pytest.mark.parametrize("how", ["configuration", "settings"])
async def test_a_host_is_reached_through_jump_hosts_each_with_a_key_of_its_own(
    user: SshUser, own_server: OwnServer, server: Sshd, how: str
) -> None:
    gate = own_server(users=("root",))
    user.write(
        gate.alias("gate"), server.alias("inner", more=["ProxyJump gate"] if how == "configuration" else [])
    )
    user.write(server.alias("cluster", "griduser", more=["ProxyJump gate,inner"]))
    jump = f"root@gate:{gate.port},inner" if how == "settings" else ""
    way = await user.connect("cluster", jump=jump)
    first = await asked(way, "trust-host")
    assert gate.fingerprint in first.text
    way.answer(first.id, "yes")
    second = await _other_question(way, first.id)
    assert server.fingerprint in second.text
    way.answer(second.id, "yes")
    assert (await way.run("id -un")).out == b"griduser\n"
    gate.kill()
    await becomes(way, LinkState.RETRYING)
    gate.start()
    assert (await way.run("id -un")).out == b"griduser\n"


async def test_a_jump_host_that_cannot_go_on_is_told(user: SshUser, server: Sshd) -> None:
    user.knows(server).write(server.alias("gate"), "Host cluster\n  Hostname 127.0.0.1\n  Port 1\n")
    link = await becomes(await user.connect("cluster", jump="gate"), LinkState.RETRYING)
    assert "jump host cannot reach" in link.reason


async def test_jump_hosts_in_a_circle_are_refused(user: SshUser) -> None:
    user.write("Host one\n  ProxyJump two\nHost two\n  ProxyJump one\n")
    link = await becomes(await user.connect("one"), LinkState.DOWN)
    assert "circle" in link.reason


async def test_a_command_that_makes_the_way_is_used(user: SshUser, server: Sshd) -> None:
    relay = f"ssh -F none -i {server.key} -o UserKnownHostsFile={server.known_hosts} -p {server.port}"
    more = [f"ProxyCommand {relay} -W %h:%p root@127.0.0.1"]
    before = children()
    way = await user.knows(server).write(server.alias("cluster", more=more)).connect("cluster")
    assert (await way.run("echo in")).out == b"in\n"
    assert children() - before
    await way.close()
    await eventually(lambda: children() <= before, what="the command has ended")


async def test_settings_of_the_site_come_before_the_configuration(user: SshUser, server: Sshd) -> None:
    user.knows(server).write(server.alias("cluster", "nobody", more=["ProxyJump nowhere"]))
    way = await user.connect("cluster", user="griduser", port=server.port, jump="none")
    assert (await way.run("id -un")).out == b"griduser\n"


async def test_a_configuration_that_cannot_be_read_is_told_with_its_line(user: SshUser) -> None:
    user.write("Host cluster\n  Port many\n")
    link = await becomes(await user.connect("cluster"), LinkState.DOWN)
    assert "line 2" in link.reason
    assert str(user.config) in link.reason


async def test_the_configuration_is_read_anew_for_each_try(user: SshUser, server: Sshd) -> None:
    way = await user.knows(server).connect("cluster.invalid")
    await becomes(way, LinkState.RETRYING)
    user.write(server.alias("cluster.invalid"))
    assert (await way.run("echo in")).out == b"in\n"


async def test_an_account_without_a_shell_is_told_in_the_words_of_the_server(
    user: SshUser, own_server: OwnServer
) -> None:
    account("gridclosed", shell="/usr/sbin/nologin")
    server = own_server(users=("gridclosed",))
    way = await user.knows(server).write(server.alias("cluster", "gridclosed")).connect("cluster")
    link = await becomes(way, LinkState.RETRYING)
    assert "not available" in link.reason


async def test_an_account_with_csh_and_noise_at_login_runs_scripts(
    user: SshUser, own_server: OwnServer
) -> None:
    home = account("gridcsh", shell="/bin/csh")
    (home / ".cshrc").write_text("echo Welcome\necho please read the news\nset echo\nset prompt = '> '\n")
    server = own_server(users=("gridcsh",))
    way = await user.knows(server).write(server.alias("cluster", "gridcsh")).connect("cluster")
    reply = await way.run("cat; echo $(( 1 + 1 )) '!x' >&2; exit 5", stdin=b"body")
    assert (reply.status, reply.out, reply.err) == (5, b"body", b"2 !x\n")


async def test_an_account_with_csh_keeps_input_files(
    user: SshUser, own_server: OwnServer, tmp_path: Path
) -> None:
    home = account("gridcsh", shell="/bin/csh")
    (home / ".cshrc").write_text("echo Welcome\nset echo\n")
    server = own_server(users=("gridcsh",))
    way = await user.knows(server).write(server.alias("cluster", "gridcsh")).connect("cluster")
    (tmp_path / "a file").write_bytes(raw := os.urandom(500_000))
    data = InputFile("a file", tmp_path / "a file", False, hashlib.sha256(raw).hexdigest())
    place, cache = SiteWorkspace(way, "kept here", "mark"), ContentCache("cluster", way)
    for _ in range(2):
        assert await cache.have(await place.get(), input_content(data))
    kept = home / "kept here" / "mark" / "files" / data.sha256
    assert kept.read_bytes() == raw
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_fewer_sessions_than_wanted_are_enough(user: SshUser, own_server: OwnServer) -> None:
    server = own_server(sessions=2)
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster", at_once=8)
    replies = await asyncio.gather(*(way.run(f"sleep 0.05; echo {n}") for n in range(16)))
    assert [int(reply.out) for reply in replies] == list(range(16))
    assert "no further session" in said(way)
    assert way.link.state is LinkState.CONNECTED
