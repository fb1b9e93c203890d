"""A server's key is checked: a new one is asked about, a changed one loudly, and never taken by mistake."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from broker_core.errors import NotFound
from broker_core.sites.link import LinkState
from broker_core.sites.transport.contract import LinkLost, NotSent
from broker_core.sites.transport.known_hosts import KnownHosts, name_of
from tests.sites.transport.ssh_user import SshUser, asked, becomes, raises, said
from tests.testbed.sshd import Sshd, make_key
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster]
OwnServer = Callable[..., Sshd]


async def test_a_new_host_is_asked_about_with_its_fingerprint_and_kept_when_trusted(
    user: SshUser, server: Sshd
) -> None:
    way = await user.write(server.alias("cluster")).connect("cluster")
    question = await asked(way, "trust-host")
    assert server.fingerprint in question.text
    assert f"cluster (127.0.0.1, port {server.port})" in question.text, "the alias is what its user knows"
    assert (question.secret, question.keep_as) == (False, "")
    assert "not known" in await raises(NotSent, way.run("true"))
    assert not user.known_hosts.exists()
    way.answer(question.id, "yes")
    assert (await way.run("echo in")).out == b"in\n"
    assert user.known_hosts.read_text() == server.known_hosts.read_text()
    assert stat.S_IMODE(user.known_hosts.stat().st_mode) == 0o600
    assert server.fingerprint in said(way)


@pytest.mark.parametrize("answer", ["", "no", "SHA256:something"])
async def test_a_new_host_that_is_not_trusted_is_not_used(user: SshUser, server: Sshd, answer: str) -> None:
    way = await user.write(server.alias("cluster")).connect("cluster")
    way.answer((await asked(way, "trust-host")).id, answer)
    link = await becomes(way, LinkState.DOWN)
    assert "not trusted" in link.reason
    assert not user.known_hosts.exists()


async def test_what_was_declined_is_asked_again_when_the_user_wants_to_connect(
    user: SshUser, server: Sshd
) -> None:
    way = await user.write(server.alias("cluster")).connect("cluster")
    way.answer((await asked(way, "trust-host")).id, "")
    await becomes(way, LinkState.DOWN)
    way.connect_now()
    way.answer((await asked(way, "trust-host")).id, server.fingerprint)
    await becomes(way, LinkState.CONNECTED)


async def test_a_changed_key_takes_its_fingerprint_as_the_answer(
    user: SshUser, own_server: OwnServer
) -> None:
    server = own_server()
    old = server.fingerprint
    user.knows(server).write(server.alias("cluster"))
    before = user.known_hosts.read_text()
    _renew(server)
    way = await user.connect("cluster")
    question = await asked(way, "changed-host")
    assert "HAS CHANGED" in question.text
    assert old in question.text
    assert server.fingerprint in question.text
    for wrong in ("yes", "SHA256:", old):
        way.answer(question.id, wrong)
        question = await _another(way, question.id)
        assert "refused" in question.text
        assert user.known_hosts.read_text() == before
    way.answer(question.id, server.fingerprint)
    await becomes(way, LinkState.CONNECTED)
    assert user.known_hosts.read_text() == server.known_hosts.read_text()


async def _another(way: object, old: str) -> object:
    await eventually(lambda: way.link.question is not None and way.link.question.id != old)
    return way.link.question


def _renew(server: Sshd) -> None:
    server.kill()
    server.new_host_key()
    server.start()


async def test_a_key_that_changes_while_connected_is_noticed_at_the_next_connection(
    user: SshUser, own_server: OwnServer
) -> None:
    server = own_server()
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster")
    await becomes(way, LinkState.CONNECTED)
    _renew(server)
    question = await asked(way, "changed-host")
    way.answer(question.id, "")
    await becomes(way, LinkState.DOWN)
    await raises(NotSent, way.run("true"))


async def test_an_answer_to_a_question_that_is_not_open_is_refused(user: SshUser, server: Sshd) -> None:
    way = await user.write(server.alias("cluster")).connect("cluster")
    question = await asked(way, "trust-host")
    with pytest.raises(NotFound):
        way.answer("another", "yes")
    way.answer(question.id, "yes")
    await becomes(way, LinkState.CONNECTED)
    with pytest.raises(NotFound):
        way.answer(question.id, "yes")
    local = await user.connect("")
    with pytest.raises(NotFound):
        local.answer(question.id, "yes")


async def test_an_alias_for_the_key_names_the_host_in_the_file(user: SshUser, server: Sshd) -> None:
    way = await user.write(server.alias("cluster", more=["HostKeyAlias farm"])).connect("cluster")
    way.answer((await asked(way, "trust-host")).id, "yes")
    await becomes(way, LinkState.CONNECTED)
    assert user.known_hosts.read_text().startswith("farm ssh-ed25519 ")


async def test_a_revoked_key_is_refused_without_a_question(user: SshUser, server: Sshd) -> None:
    user.write(server.alias("cluster"))
    user.known_hosts.write_text(f"@revoked * {server.known_hosts.read_text().partition(' ')[2]}")
    way = await user.connect("cluster")
    link = await becomes(way, LinkState.DOWN)
    assert "revoked" in link.reason
    assert link.question is None


async def test_a_host_certificate_of_a_known_authority_needs_no_question(
    user: SshUser, own_server: OwnServer, tmp_path: Path
) -> None:
    server = own_server()
    authority = make_key(tmp_path / "authority")
    sign = ["ssh-keygen", "-q", "-s", str(authority), "-I", "host", "-h", "-n", server.address]
    subprocess.run([*sign, str(server.folder / "host_key.pub")], check=True)
    server.kill()
    server.start(more=f"HostCertificate {server.folder}/host_key-cert.pub\n")
    user.known_hosts.write_text(f"@cert-authority * {authority.with_suffix('.pub').read_text()}")
    way = await user.write(server.alias("cluster")).connect("cluster")
    assert (await way.run("echo in")).out == b"in\n"


def test_lines_are_added_behind_a_line_without_an_end(tmp_path: Path) -> None:
    own = tmp_path / "new" / "known_hosts"
    hosts = KnownHosts(own)
    one, two = (asyncssh.generate_private_key("ssh-ed25519").convert_to_public() for _ in range(2))
    hosts.add("one", one)
    own.write_text("# mine\nbad line\n" + own.read_text().rstrip("\n"))
    hosts.add(name_of("two", 2222), two)
    assert hosts.look_up("one", 22).keys == (one,)
    assert hosts.look_up("two", 2222).keys == (two,)
    assert hosts.look_up("two", 22).keys == ()
    assert own.read_text().startswith("# mine\nbad line\n")
    assert stat.S_IMODE(own.parent.stat().st_mode) == 0o700


def test_a_replaced_key_leaves_other_hosts_hashes_and_modes_as_they_are(tmp_path: Path) -> None:
    own = tmp_path / "known_hosts"
    hosts = KnownHosts(own)
    old, new = (asyncssh.generate_private_key("ssh-ed25519").convert_to_public() for _ in range(2))
    for name in ("here,there", "*.org", "hashed"):
        hosts.add(name, old)
    own.chmod(0o644)
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(own)], check=True, capture_output=True)
    text = own.read_text() + f"here,elsewhere {old.export_public_key().decode()}"
    own.write_text(text)
    hosts.replace("here", new)
    hosts.replace("hashed", new)
    assert hosts.look_up("here", 22).keys == (new,)
    assert hosts.look_up("hashed", 22).keys == (new,)
    assert hosts.look_up("there", 22).keys == (old,)
    assert hosts.look_up("elsewhere", 22).keys == (old,)
    assert hosts.look_up("any.org", 22).keys == (old,)
    assert stat.S_IMODE(own.stat().st_mode) == 0o644


async def test_a_file_that_cannot_be_written_is_told_and_the_host_trusted_until_the_end(
    user: SshUser, server: Sshd
) -> None:
    user.known_hosts.mkdir()
    way = await user.write(server.alias("cluster")).connect("cluster")
    way.answer((await asked(way, "trust-host")).id, "yes")
    await becomes(way, LinkState.CONNECTED)
    assert "cannot be kept" in said(way)


async def test_a_lost_connection_is_told_as_such_to_those_who_wait(
    user: SshUser, own_server: OwnServer
) -> None:
    server = own_server()
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster")
    await becomes(way, LinkState.CONNECTED)
    await way.close()
    await raises(LinkLost, way.run("true"))


async def test_a_file_of_known_hosts_that_cannot_be_read_is_no_empty_one(user: SshUser, server: Sshd) -> None:
    user.known_hosts.symlink_to(user.known_hosts)
    way = await user.write(server.alias("cluster")).connect("cluster")
    link = await becomes(way, LinkState.DOWN)
    assert "known_hosts" in link.reason
    assert link.question is None
