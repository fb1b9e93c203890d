"""A real browser without a window, driven over a pipe by Chromium's DevTools protocol.

Needs the package chromium-headless-shell of Debian.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.waiting import LONG, eventually, within

PROGRAM = "chromium-headless-shell"
SIZE = (1280, 800)
_ANSWER = 64 << 20
"""Bytes of the longest answer."""
_PIPES = (
    "import fcntl, os, sys; low = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]; "
    "os.dup2(low[0], 3); os.dup2(low[1], 4); os.execvp(sys.argv[3], sys.argv[3:])"
)
"""Chromium reads commands at descriptor 3 and answers at 4."""
_CENTER = """(() => {
    const found = document.querySelector(%s);
    if (!found) return null;
    found.scrollIntoView({block: "center"});
    const box = found.getBoundingClientRect();
    return box.width ? [box.x + box.width / 2, box.y + box.height / 2] : null;
})()"""


class PageFault(Exception):
    """The browser refused a command, or a script on the page failed."""


class Browser:
    """One page. Made by `browser`."""

    def __init__(self, reader: asyncio.StreamReader, commands: int) -> None:
        self._reader, self._commands = reader, commands
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self.listening = asyncio.ensure_future(self._listen())

    async def call(self, method: str, **values: Any) -> dict[str, Any]:
        """One command of the protocol; raises PageFault."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        told = await within(answer, LONG)
        if "error" in told:
            raise PageFault(f"{method}: {told['error']}")
        return dict(told["result"])

    async def begin(self) -> None:
        """Make the page that all further commands are about."""
        target = (await self.call("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    async def open(self, address: str) -> None:
        """Go to an address; raises PageFault where there is no such page."""
        told = await self.call("Page.navigate", url=address)
        if told.get("errorText"):
            raise PageFault(told["errorText"])

    async def value(self, script: str) -> Any:
        """What a script gives on the page; raises PageFault."""
        told = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise PageFault(str(told["exceptionDetails"]))
        return told["result"].get("value")

    async def click(self, selector: str) -> None:
        """Click what is chosen, with the mouse, as soon as it is there."""

        async def center() -> Any:
            return await self.value(_CENTER % json.dumps(selector))

        x, y = await eventually(center, what=f"{selector} is on the page")
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def type(self, text: str) -> None:
        """Type where the focus is."""
        await self.call("Input.insertText", text=text)

    async def enter(self, *, shift: bool = False) -> None:
        """Press Enter."""
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 8 if shift else 0}
        for kind in ("rawKeyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, **key)

    async def picture(self, path: Path) -> None:
        """Save what is seen."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode((await self.call("Page.captureScreenshot"))["data"]))

    async def _listen(self) -> None:
        """Take answers; events of the page are dropped."""
        try:
            while True:
                told = json.loads((await self._reader.readuntil(b"\0"))[:-1])
                answer = self._answers.pop(told.get("id"), None)
                if answer is not None and not answer.done():
                    answer.set_result(told)
        except asyncio.IncompleteReadError:
            for answer in self._answers.values():
                answer.cancel()


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Browser]:
    """A browser with a profile of its own in `folder`, ended with all its processes.

    Where an assertion fails a picture is left there.
    """
    read_commands, commands = os.pipe()
    answers, write_answers = os.pipe()
    words = [f"--user-data-dir={folder / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}", "--disable-gpu"]
    words += ["--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank"]
    with open(folder / "browser.log", "wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _PIPES, str(read_commands), str(write_answers), PROGRAM, *words,
            pass_fds=(read_commands, write_answers),
            stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    os.close(read_commands)
    os.close(write_answers)
    reader = asyncio.StreamReader(limit=_ANSWER)
    pipe = os.fdopen(answers, "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    made = Browser(reader, commands)
    try:
        await made.begin()
        yield made
    except AssertionError:
        await made.picture(folder / "failed.png")
        raise
    finally:
        os.close(commands)  # Chromium ends when nobody commands it
        await within(process.wait(), LONG)
        await made.listening
        transport.close()
