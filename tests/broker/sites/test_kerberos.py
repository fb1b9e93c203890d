"""A site is entered by a Kerberos ticket alone: no key, no password, a real KDC, sshd and ticket cache."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script
from tests.broker.sites.watching import known, link, view
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.testbed.kerberos import Kerberos
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually, wait_until

pytestmark = pytest.mark.kerberos
LIBRARY = Path(sys.prefix) / "kerberos"
"""Where `packaging/test.sh` puts the Python package gssapi."""
_SERVER = """
GSSAPIAuthentication yes
GSSAPIStrictAcceptorCheck no
AuthenticationMethods gssapi-with-mic
"""
NAME, USER = "hall", "root"
REMEDY = "Get a Kerberos ticket (kinit)"


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberos]:
    bed = Kerberos(tmp_path_factory.mktemp("kerberos") / "realm")
    try:
        yield bed.start(USER, "host/localhost")
    finally:
        bed.close()


@pytest.fixture
def sshd(tmp_path: Path, realm: Kerberos) -> Iterator[Sshd]:
    """A server that no key and no password opens."""
    keys = [f"{name}={realm.environment[name]}" for name in ("KRB5_CONFIG", "KRB5_KTNAME")]
    server = Sshd(tmp_path / "sshd", users=(), prefix=("/usr/bin/env", *keys), environment=own_home(tmp_path))
    try:
        yield server.start(more=_SERVER)
    finally:
        server.close()


@pytest.fixture
def broker(isolated: Path, sshd: Sshd, realm: Kerberos, state_dir: Path) -> Iterator[RunningBroker]:
    """A broker that has the library, and whose user has an empty ticket cache."""
    ssh = isolated / "home" / ".ssh"
    ssh.mkdir(mode=0o700)
    words = ["Hostname localhost", f"Port {sshd.port}", f"User {USER}", "GSSAPIAuthentication yes"]
    (ssh / "config").write_text("\n  ".join([f"Host {NAME}", *words, f"HostKeyAlias {NAME}"]) + "\n")
    (ssh / "known_hosts").write_text(f"{NAME} {sshd.known_hosts.read_text().split(None, 1)[1]}")
    realm.cache.unlink(missing_ok=True)
    (library,) = LIBRARY.glob("lib/python3*/site-packages")
    running = RunningBroker(state_dir)
    running.start(PYTHONPATH=str(library), **realm.environment)
    yield running
    running.close()


@pytest.fixture
async def client(broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with BrokerClient(BrokerTransport(broker.state_dir, patience=10)) as made:
        yield made


def spec(tmp_path: Path) -> SiteSpec:
    return SiteSpec(name=NAME, kind="shell", host=NAME, directory=str(tmp_path / "there"), poll_interval=0.2)


async def test_a_ticket_alone_opens_a_site_whose_test_passes_and_where_a_job_ends_well(
    client: BrokerClient, realm: Kerberos, tmp_path: Path
) -> None:
    realm.kinit(USER)
    await client.add_site(spec(tmp_path))
    await known(client, NAME)
    tested = await asyncio.to_thread(crossdesk, "site", "test", NAME, "--json")
    assert tested.json["test"]["state"] == "Done", tested.err
    job = await script(client, "id -un", description=f'Requirements = other.GlueSiteName == "{NAME}";')
    row = await reach(client, job, "Done", "Aborted")
    assert row["state"] == "Done", row


async def test_without_a_ticket_the_site_says_kinit_and_is_entered_once_there_is_one(
    client: BrokerClient, realm: Kerberos, tmp_path: Path
) -> None:
    await client.add_site(spec(tmp_path))
    await _refused(client, "There is no Kerberos ticket")
    realm.kinit(USER)
    await link(client, NAME, "connected")
    log = await asyncio.to_thread(crossdesk, "site", "log", NAME)
    assert "logged in at root@localhost" in log.out


async def test_a_ticket_that_has_expired_is_told_as_such(
    client: BrokerClient, realm: Kerberos, tmp_path: Path
) -> None:
    realm.kinit(USER, lifetime="1s")
    wait_until(lambda: not realm.has_ticket(), what="the ticket has expired")
    await client.add_site(spec(tmp_path))
    await _refused(client, "Your Kerberos ticket has expired")


async def _refused(client: BrokerClient, reason: str) -> None:
    async def down() -> bool:
        return (await view(client, NAME)).link.state == "down"

    await eventually(down, what="the site is down")
    shown = await asyncio.to_thread(crossdesk, "site", "show", NAME)
    said = " ".join(shown.out.split())
    assert reason in said, said
    assert REMEDY in said, said
