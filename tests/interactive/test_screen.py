"""A program's own screen: real X server, agent, relay and desks; a moving pattern, input, cuts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from broker_core.interactive.channel.pictures import IN_FLIGHT
from tests.interactive import opengl_drawing
from tests.interactive.drawing import BAR, BUTTON, COUNTER, GROUND, KEY, RELEASED
from tests.interactive.pair import Bench, Screen
from tests.interactive.screens import BESIDE, SIZE, SeenScreen, program
from tests.interactive.wire import Wire
from tests.waiting import eventually, within

pytestmark = pytest.mark.display
SHIFT = 0xFFE1
A_UMLAUT, EURO = 0xE4, 0x010020AC


async def drawn(made: Bench, rate: float) -> SeenScreen:
    """A desk that sees the screen of a program that draws."""
    await made.start_agent(program(rate), screen=SIZE)
    seen = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.color(300, 40) == GROUND, what="the window of the program")
    return seen


async def test_a_moving_pattern_is_seen_and_pictures_are_confirmed(made: Bench) -> None:
    seen = await drawn(made, 60)
    assert (seen.grid.width, seen.grid.height) == SIZE
    counters: list[int] = []
    seen.changed = lambda: counters.append(seen.number(COUNTER))
    await eventually(lambda: len(counters) >= 30)
    assert counters == sorted(counters)
    assert len(set(counters)) >= 20
    # The bar is where the counter says: a picture is one moment of the screen, not several.
    whole = 0
    for _ in range(20):
        pictures = len(seen.pictures)
        await eventually(lambda so_far=pictures: len(seen.pictures) > so_far)
        whole += seen.color((seen.number(COUNTER) * 8 + 8) % SIZE[0], 200) == BAR
    assert whole >= 15
    assert seen.pictures[-1].delay > 0
    assert seen.reasons == []


async def test_mouse_and_keyboard_reach_the_program_and_their_effect_is_seen(made: Bench) -> None:
    seen = await drawn(made, 0)
    seen.tap(ord("x"))
    await seen.takes_input()
    for symbol in (ord("a"), ord("A"), ord("/"), ord("?"), A_UMLAUT, EURO & 0xFFFFFF, 0xFF0D):
        seen.tap(EURO if symbol == EURO & 0xFFFFFF else symbol)
        await seen.shows(KEY, symbol)
    seen.remote.key(-1, down=True)  # no key, and no button
    seen.remote.button(9, down=True)
    seen.remote.key(SHIFT, down=True)
    seen.tap(ord("/"))  # typed with Shift on this desk's keyboard, and without it on that one
    await seen.shows(KEY, ord("/"))
    seen.tap(ord("B"))
    await seen.shows(KEY, ord("B"))
    seen.remote.key(SHIFT, down=False)
    seen.tap(ord("c"))
    await seen.shows(KEY, ord("c"))
    seen.remote.move(201, 151)
    seen.remote.button(3, down=True)
    await seen.shows(BUTTON, 3 << 20 | 201 << 10 | 151)
    seen.remote.move(99999, -5)
    seen.remote.button(5, down=True)
    await seen.shows(BUTTON, 5 << 20 | (SIZE[0] - 1) << 10)
    assert seen.reasons == []


async def test_a_program_of_a_toolkit_is_shown_and_answered_by_a_key(made: Bench) -> None:
    words = ["xmessage", "-geometry", "200x100+0+0", "-buttons", "yes:7,no:8", "-default", "yes", "Go on?"]
    await made.start_agent(words, screen=SIZE)
    console = Screen(made.desk())
    seen = SeenScreen(console.session.forwards.screen)
    await eventually(lambda: seen.color(150, 50) == 0xFFFFFF, what="its window")
    assert seen.color(300, 200) == 0
    await seen.takes_input()
    seen.remote.move(20, 20)
    seen.tap(0xFF0D)
    await console.ended()
    assert console.session.status.exit_code == 7


async def test_a_program_that_draws_by_opengl_is_seen_in_its_colors(made: Bench) -> None:
    await made.start_agent([sys.executable, opengl_drawing.__file__], screen=SIZE)
    seen = SeenScreen(made.desk(BESIDE).forwards.screen)
    for ground in (opengl_drawing.GREEN, opengl_drawing.BLUE, opengl_drawing.GREEN):
        await eventually(lambda ground=ground: seen.color(10, 10) == ground, what=f"the ground {ground:06x}")
        assert seen.color(SIZE[0] // 2, SIZE[1] // 2) == opengl_drawing.RED
    assert seen.reasons == []


async def test_a_cut_shows_the_screen_anew_and_lets_go_of_what_was_pressed(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    seen = await drawn(made, 30)
    await seen.takes_input()
    seen.remote.key(ord("k"), down=True)
    await seen.shows(KEY, ord("k"))
    for times in range(2, 5):
        before = seen.number(COUNTER)
        wire.cut()
        await eventually(lambda times=times: seen.begun == times)
        await eventually(lambda before=before: seen.number(COUNTER) > before)
        await seen.shows(RELEASED, ord("k"))
        assert seen.number(KEY) == ord("k")
    await seen.takes_input()
    seen.tap(ord("m"))
    await seen.shows(KEY, ord("m"))
    assert seen.reasons == []
    await wire.close()


async def test_two_desks_see_the_same_and_one_of_them_has_the_input(made: Bench) -> None:
    first = await drawn(made, 0)
    second = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: second.control_state == (False, False, 2))
    await first.takes_input()
    await eventually(lambda: second.control_state == (False, True, 2))
    first.tap(ord("q"))
    for one in (first, second):
        await one.shows(KEY, ord("q"))
    second.tap(ord("w"))  # not its turn
    first.remote.key(ord("e"), down=True)
    await second.shows(KEY, ord("e"))
    await second.takes_input()
    await second.shows(RELEASED, ord("e"))
    second.tap(ord("w"))
    for one in (first, second):
        await one.shows(KEY, ord("w"))
        await one.shows(RELEASED, ord("w"))
    assert first.control_state == (False, True, 2)
    assert first.pixels == second.pixels
    late = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: late.pixels == first.pixels, what="a desk that comes later sees the same")


async def test_a_desk_that_confirms_nothing_gets_few_pictures_and_holds_up_nobody(made: Bench) -> None:
    seen = await drawn(made, 60)
    slow = SeenScreen(made.desk(BESIDE).forwards.screen, confirms=False)
    await eventually(lambda: len(slow.pictures) == IN_FLIGHT)
    pictures = len(seen.pictures)
    await eventually(lambda: len(seen.pictures) > pictures + 30)
    assert len(slow.pictures) == IN_FLIGHT
    slow.confirms = True
    slow.remote.shown(slow.pictures[-1].number)
    newest = seen.number(COUNTER)
    await eventually(lambda: len(slow.pictures) > IN_FLIGHT)
    assert slow.number(COUNTER) >= newest


async def test_a_program_runs_without_a_display_where_its_server_does_not_start(
    made: Bench, tmp_path: Path
) -> None:
    broken = tmp_path / "Xvfb"
    broken.write_text("#!/bin/sh\necho 'Fatal server error: no fonts' >&2; exit 1\n")
    broken.chmod(0o755)
    path = f"PATH={tmp_path}:/usr/bin:/bin"
    words = ["/bin/sh", "-c", "echo display=$DISPLAY; read line"]
    await made.start_agent(words, within=["/usr/bin/env", "-u", "DISPLAY", path], screen=SIZE)
    screen = Screen(made.desk())
    await screen.shows(b"display=\r\n")
    seen = SeenScreen(screen.session.forwards.screen)
    await eventually(lambda: seen.reasons)
    assert seen.reasons == [
        "The program has no display: Xvfb does not start on this node (Fatal server error: no fonts)."
    ]
    assert "does not start on this node" in (made.folder / "agent.log").read_text()


async def test_the_end_of_the_program_is_told_before_that_of_its_job(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", "mkfifo gate; read line <gate"], screen=SIZE)
    seen = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.pictures and (made.job / "gate").exists())
    (made.job / "gate").write_text("on\n")
    await eventually(lambda: seen.reasons)
    assert seen.reasons[0].startswith("The program has ended;")
    late = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: late.reasons == seen.reasons)


async def test_a_job_that_asks_for_no_display_says_so(made: Bench) -> None:
    await made.start_agent(["/bin/sleep", "600"])
    seen = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.reasons)
    assert "InteractiveDisplay" in seen.reasons[0]
    assert seen.begun == 0


async def test_nothing_is_left_of_a_screen_and_only_its_cookie_opens_it(made: Bench) -> None:
    script = 'echo "at $DISPLAY"; env -u XAUTHORITY HOME=/ xdpyinfo >/dev/null 2>&1; echo code=$?; read line'
    await made.start_agent(["/bin/sh", "-c", script], screen=SIZE)
    screen = Screen(made.desk())
    await screen.shows(b"code=1")
    number = bytes(screen.streams[1]).partition(b"at :")[2].split()[0].decode()
    socket = Path(f"/tmp/.X11-unix/X{number}")
    assert socket.exists()
    # Others may start a screen at this moment, whose pixels have a name for an instant.
    await eventually(lambda: not list(Path("/dev/shm").glob(".crossdesk-screen-*")))
    await eventually(lambda: screen.session.status.writer)
    screen.session.write(b"\n")
    await screen.ended()
    assert made.agent is not None
    await within(made.agent.wait())
    assert not socket.exists()
    assert os.listdir(made.job.parent) == ["job"]


async def test_a_screen_ends_with_an_agent_that_is_killed(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", 'echo "at $DISPLAY."; read line'], screen=SIZE)
    screen = Screen(made.desk())
    await screen.shows(b".")
    number = bytes(screen.streams[1]).partition(b"at :")[2].partition(b".")[0].decode()
    assert made.agent is not None
    made.agent.kill()
    await eventually(lambda: not Path(f"/tmp/.X11-unix/X{number}").exists())
