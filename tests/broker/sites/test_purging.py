"""What is purged while its site is silent goes from there all the same, also over a stop of the broker."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known, link
from tests.running import RunningBroker
from tests.testbed.sshd import Sshd
from tests.waiting import eventually


@pytest.mark.usefixtures("trusting", "cluster")
async def test_what_was_purged_while_its_site_was_silent_goes_after_a_clean_restart(
    client: BrokerClient, running_broker: RunningBroker, spec: SiteSpec, sshd: Sshd, state_dir: Path
) -> None:
    await client.add_site(spec)
    await known(client, NAME)
    job = await script(client, "true", description=f'Requirements = other.GlueSiteName == "{NAME}";')
    await reach(client, job, "Done")
    sshd.kill()
    await link(client, NAME, "retrying", "down")
    await client.purge([job])
    kept = state_dir / "sites" / NAME / "attempts"
    assert list(kept.iterdir())
    running_broker.kill(signal.SIGTERM)
    sshd.start()
    running_broker.start()
    await eventually(lambda: not list(kept.iterdir()), what="nothing is left of it")
