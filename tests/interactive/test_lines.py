"""The Bypass agent: lines, a program that runs on while the network is away, an end in time (CB-BYP)."""

from __future__ import annotations

from broker_core.interactive.shadow.session_events import SessionState
from broker_core.worker.agent_settings import NO_DESK
from tests.interactive.pair import Bench, Screen
from tests.interactive.wire import Wire
from tests.waiting import eventually, within


async def test_both_streams_arrive_apart_and_input_goes_out_at_enter(made: Bench) -> None:
    await made.start_agent(
        ["/bin/sh", "-c", "printf 'name? '; read name; echo hello $name; echo wrong >&2; exit 4"],
        mode="lines",
    )
    screen = Screen(made.desk())
    await screen.shows(b"name? ")
    await eventually(lambda: screen.session.status.writer)
    screen.session.write(b"an")
    assert screen.session.input.line.line == b"an"
    assert screen.session.status.sent == 0
    screen.session.write(b"na\n")
    await screen.ended()
    assert bytes(screen.streams[1]) == b"name? hello anna\n"
    assert bytes(screen.streams[2]) == b"wrong\n"
    assert screen.session.status.exit_code == 4


async def test_the_program_runs_on_while_the_network_is_away_and_its_output_is_drained_first(
    made: Bench,
) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    marker = made.folder / "written"
    script = (
        f"echo one; read go; for n in 2 3 4 5 6 7 8 9; do echo $n; done; touch {marker}; read end; echo end"
    )
    await made.start_agent(["/bin/sh", "-c", script], mode="lines")
    screen = Screen(made.desk())
    await screen.shows(b"one")
    await eventually(lambda: screen.session.status.writer)
    screen.session.write(b"go\n")
    wire.up = False
    wire.cut()
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    await eventually(lambda: screen.session.status.retries > 2)
    wire.up = True
    await eventually(marker.exists)
    await screen.shows(b"9\n")
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
    screen.session.write(b"\n")
    await screen.ended()
    assert bytes(screen.streams[1]) == b"one\n2\n3\n4\n5\n6\n7\n8\n9\nend\n"
    follow = [SessionState.BUFFERING, SessionState.DRAINING, SessionState.CONNECTED, SessionState.CLOSED]
    assert screen.states[-4:] == follow
    await wire.close()


async def test_the_program_is_killed_when_no_desk_comes_back(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", "echo one; sleep 600"], mode="lines", max_retries=5)
    assert made.agent is not None
    assert await made.agent.wait() != 0
    reason, kind = (made.job.parent / "agent-failure").read_text().splitlines()
    assert reason == "No desk came back after 5 attempts, so the program was ended."
    assert kind == NO_DESK


async def test_more_output_than_the_disk_may_hold_makes_the_program_wait(made: Bench) -> None:
    script = "head -c 3000000 /dev/zero; echo end"
    small = {"memory": 65536, "disk": 500_000, "replay": 100_000, "max_retries": 0}
    await made.start_agent(["/bin/sh", "-c", script], mode="lines", **small)
    screen = Screen(made.desk(), keep=False)
    await screen.ended()
    assert screen.sizes[1] == 3_000_004


async def test_a_program_that_waits_for_room_is_killed_too_when_no_desk_comes_back(made: Bench) -> None:
    small = {"memory": 65536, "disk": 100_000, "replay": 50_000, "max_retries": 10}
    await made.start_agent(["/bin/sh", "-c", "head -c 3000000 /dev/zero; sleep 600"], mode="lines", **small)
    assert made.agent is not None
    assert await within(made.agent.wait(), 60) != 0
    assert "No desk came back after 10 attempts" in (made.job.parent / "agent-failure").read_text()
