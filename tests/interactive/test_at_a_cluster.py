"""Interactive jobs on a node of a real Slurm cluster, with the agent that brings its own interpreter."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive import drawing
from tests.interactive.consoles import SHELL
from tests.interactive.pair import Screen
from tests.interactive.screens import SeenScreen
from tests.interactive.video import DecodedScreen, near
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.sites.remote.far_site import spec_for
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture
async def far(
    running_broker: RunningBroker, agent_files: AgentFiles, tmp_path: Path
) -> AsyncIterator[BrokerClient]:
    """A desk whose broker knows a cluster and has the agent file."""
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
            yield client
            # Amid its removal a directory cannot be walked through.
            site = tmp_path / "site"
            await eventually(lambda: not list(site.glob("*/attempts/*")), what="the job is removed")
            assert not list(site.rglob(".crossdesk-*"))
    finally:
        bed.close()


async def _submitted(client: BrokerClient, text: str) -> str:
    return (await client.submit_prepared(await prepare(text, Path("/")), site="far")).ids[0]


async def test_a_console_by_the_agent_file(far: BrokerClient, agent_files: AgentFiles) -> None:
    job = await _submitted(far, f'Executable = "/bin/sh"; Interactive = true; {SHELL}')
    screen = Screen(await open_session(far, job))
    await screen.shows(b"ready", seconds=60)
    await eventually(lambda: screen.session.status.writer)
    screen.session.write(b"echo runs=$(basename $(readlink /proc/$PPID/exe))= in $SLURM_JOB_ID\n")
    await screen.shows(f"\nruns={agent_files.agent.name}".encode())
    screen.session.write(b"exit 5\n")
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    assert screen.session.status.exit_code == 5
    await screen.session.close()
    assert (await reach(far, job, "Done"))["exit_code"] == 5


@pytest.mark.display
async def test_a_program_that_draws_is_seen_from_there_and_answers_a_key(far: BrokerClient) -> None:
    """The broker carries the pictures; the node's Xvfb and the agent file make them."""
    words = "-geometry 200x100+0+0 -buttons yes:7,no:8 -default yes Ready"
    text = f"""Executable = "/usr/bin/xmessage"; Arguments = "{words}";
        Interactive = true; InteractiveDisplay = "320x240";"""
    job = await _submitted(far, text)
    console = Screen(await open_session(far, job))
    seen = SeenScreen(console.session.forwards.screen)
    await eventually(lambda: seen.begun and seen.color(150, 50) == 0xFFFFFF, 60, what="its window")
    await seen.takes_input()
    seen.remote.move(20, 20)
    seen.tap(0xFF0D)
    await console.ended()
    await console.session.close()
    assert (await reach(far, job, "Done"))["exit_code"] == 7


async def test_video_from_there_goes_on_without_the_broker_and_at_a_second_desk(
    far: BrokerClient, running_broker: RunningBroker
) -> None:
    """The agent's file has the libraries that make it."""
    words = shlex.join([drawing.__file__, "30", "0", "380"])
    text = f"""Executable = "{sys.executable}"; Arguments = "{words}";
        Interactive = true; InteractiveDisplay = "640x480";"""
    job = await _submitted(far, text)
    first = Screen(await open_session(far, job))
    seen = DecodedScreen(first.session.forwards.screen)
    await eventually(lambda: seen.frames > 20, 60, what="video")
    assert near(seen.color(300, 40), drawing.GROUND)
    running_broker.kill()
    so_far = seen.frames, seen.counter
    await eventually(lambda: seen.frames > so_far[0] + 60 and seen.counter > so_far[1], what="it goes on")
    running_broker.start()
    async with await connect(running_broker.state_dir, start=False) as client:
        second = Screen(await open_session(client, job))
        other = DecodedScreen(second.session.forwards.screen)
        await eventually(lambda: other.frames > 20, 60, what="video at the second desk")
        assert (seen.without_video, seen.reasons, other.reasons) == ("", [], [])
        for screen in (first, second):
            await screen.session.close()
        await client.cancel([job])
        await reach(client, job, "Canceled")
