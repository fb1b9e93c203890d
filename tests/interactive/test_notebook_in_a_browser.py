"""JupyterLab as a job, its page in a real browser over the channel, and a cut in between (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.package_data import folder
from tests.command_line.calling import command, crossdesk
from tests.interactive.wire import Wire
from tests.testbed.browser import Browser, browser
from tests.waiting import eventually, within

pytestmark = [pytest.mark.notebook, pytest.mark.browser]
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
PROGRAMS = Path(sys.prefix) / "notebook" / "bin"
"""Where `packaging/test.sh` puts JupyterLab."""
TEXT = f"""Executable = "notebook.sh"; InputSandbox = {{"notebook.sh"}};
Environment = {{"PATH={PROGRAMS}:/usr/bin:/bin"}};"""
NEW = '.jp-LauncherCard[data-category="Notebook"]'
CELL = ".jp-Notebook .jp-mod-active .cm-content"
FOCUSED = f"document.activeElement === document.querySelector('{CELL}')"
TYPED = f"document.querySelector('{CELL}')?.innerText.trim()"
STATUS = "document.querySelector('#jp-main-statusbar')?.innerText.match(/ipykernel\\) \\| (\\w+)/)?.[1]"
"""Of the kernel, as the page shows it at its lower edge."""
PRINTED = "[...document.querySelectorAll('.jp-OutputArea-output')].map(one => one.innerText.trim())"
SLOW = 180.0
"""Seconds: a busy machine loads the page slowly, and JupyterLab waits longer after each attempt."""


def submitted(place: Path) -> str:
    """Id of a job that runs the sample's script."""
    script = place / "notebook.sh"
    script.write_bytes((folder("samples") / "notebook" / "notebook.sh").read_bytes())
    script.chmod(0o755)
    (place / "notebook.jdl").write_text(TEXT)
    told = crossdesk("job", "submit", "--json", str(place / "notebook.jdl"))
    assert told.code == 0, told.err
    return str(told.json["ids"][0])


async def reached(page: Browser, script: str, *wanted: Any) -> None:
    """Wait until a script on the page gives one of these."""

    async def holds() -> bool:
        return await page.value(script) in wanted

    await eventually(holds, SLOW, f"{script} is one of {json.dumps(wanted)}")


async def run_cell(page: Browser, code: str, printed: list[str]) -> None:
    """Type code into the active cell and run it; all that the page shows as output then."""
    await page.click(CELL)
    await reached(page, FOCUSED, True)
    await page.type(code)
    await reached(page, TYPED, code)
    await page.enter(shift=True)
    await reached(page, PRINTED, printed)
    await reached(page, STATUS, "Idle")


@asynccontextmanager
async def way_to(job: str) -> AsyncIterator[str]:
    """The address of the page while the command keeps the way to it open, until the job has ended."""
    words = command("job", "services", job, "JupyterLab", "--url")
    way = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert way.stdout is not None
    try:
        yield (await within(way.stdout.readline(), SLOW)).decode().strip()
    finally:
        told = await asyncio.to_thread(crossdesk, "job", "cancel", job)
        code = await within(way.wait(), SLOW)
    assert (told.code, code) == (0, 0), told.err


async def test_cells_run_before_and_after_a_cut_in_the_page_that_is_open(wire: Wire, tmp_path: Path) -> None:
    job = await asyncio.to_thread(submitted, tmp_path)
    async with way_to(job) as address, browser(tmp_path) as page:
        await page.open(address)
        await page.click(NEW)
        await reached(page, STATUS, "Idle")
        await run_cell(page, "x = 41; print(x)", ["41"])
        wire.up = False
        assert wire.cut() > 0
        await reached(page, STATUS, "Connecting")
        wire.up = True
        # JupyterLab connects by itself, but says "Unknown" of its kernel until the next cell runs, also where
        # nothing of ours is between.
        await reached(page, STATUS, "Unknown", "Idle")
        await run_cell(page, "print(x + 1)", ["41", "42"])
        await page.picture(PICTURES / "notebook-after-a-cut.png")
