"""An interactive job on a node of a real Slurm cluster, with the agent that brings its own interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.connect import connect
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive.consoles import SHELL
from tests.interactive.pair import Screen
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.sites.remote.far_site import spec_for
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


async def test_a_console_by_the_agent_file(
    running_broker: RunningBroker, agent_files: AgentFiles, tmp_path: Path
) -> None:
    running_broker.kill()
    (running_broker.state_dir / "broker.toml").write_text(f'agent_program = "{agent_files.agent}"\n')
    running_broker.start()
    bed = Slurm(tmp_path / "bed", ("a",))
    try:
        cluster = bed.start().clusters["a"]
        async with await connect(running_broker.state_dir, start=False) as client:
            await client.add_site(spec_for(cluster, tmp_path / "site"))

            async def known() -> bool:
                return any("slurm" in ce for ce in (await client.resources_page()).columns["ce"])

            await eventually(known, 60)
            text = f'Executable = "/bin/sh"; Interactive = true; {SHELL}'
            job = (await client.submit_prepared(await prepare(text, Path("/")), site="far")).ids[0]
            screen = Screen(await open_session(client, job))
            await screen.shows(b"ready", seconds=60)
            await eventually(lambda: screen.session.status.writer)
            screen.session.write(b"echo runs=$(basename $(readlink /proc/$PPID/exe))= in $SLURM_JOB_ID\n")
            await screen.shows(f"\nruns={agent_files.agent.name}".encode())
            screen.session.write(b"exit 5\n")
            await screen.ended()
            assert screen.session.status.state is SessionState.CLOSED
            assert screen.session.status.exit_code == 5
            await screen.session.close()
            assert (await reach(client, job, "Done"))["exit_code"] == 5
            site = tmp_path / "site"
            # Amid its removal a directory cannot be walked through.
            await eventually(lambda: not list(site.glob("*/attempts/*")), what="the job is removed")
            assert not list(site.rglob(".crossdesk-*"))
    finally:
        bed.close()
