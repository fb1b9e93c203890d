"""The desktop program on a private screen, seen through what it shows and through the broker behind it."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from tests.end2end.screen import Drag, Screen
from tests.running import end_all
from tests.waiting import LONG, wait_until

Control = dict[str, Any]


class Desktop:
    """`python -m app.main --state-dir …` with a home of its own."""

    def __init__(self, screen: Screen, base: Path, more: Mapping[str, str] | None = None) -> None:
        """`more`: for its environment."""
        self.screen, self.base, self.state_dir = screen, base, base / "state"
        self._more = dict(more or {})
        self._runtime = tempfile.mkdtemp(prefix="cd-")
        self._inspect = Path(self._runtime) / "inspect"
        self._log = (base / "desktop.log").open("ab")
        self._process = self._start()
        wait_until(lambda: self.main_window() is not None, 60, "the main window is shown")
        wait_until(lambda: self.broker_pid(), 60, "a broker runs")

    def _start(self) -> subprocess.Popen[bytes]:
        self._inspect.unlink(missing_ok=True)
        home = self.base / "home"
        home.mkdir(parents=True, exist_ok=True)
        places = {
            f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "STATE", "CACHE")
        }
        environment = {
            **self.screen.environment,
            **places,
            "HOME": str(home),
            "XDG_RUNTIME_DIR": self._runtime,
            "CROSSDESK_STATE_DIR": str(self.state_dir),
            "CROSSDESK_INSPECT": str(self._inspect),
            **self._more,
        }
        command = [sys.executable, "-m", "app.main", "--state-dir", str(self.state_dir)]
        return subprocess.Popen(command, env=environment, stdout=self._log, stderr=self._log)

    def crash(self) -> None:
        """Kill the desktop as a crash would."""
        self._process.kill()
        self._process.wait(60)

    def start_again(self) -> None:
        """Start it once more after a crash."""
        self._process = self._start()
        wait_until(lambda: self.main_window() is not None, 60, "the main window is shown again")

    def close(self) -> None:
        """End the desktop, its broker and their jobs."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(60)
        end_all(self.base)
        self._log.close()

    # --- what it shows

    def shown(self) -> dict[str, Any]:
        """What all windows show now; without windows while the desktop does not answer."""
        parts = []
        try:
            with socket.socket(socket.AF_UNIX) as asking:
                asking.settimeout(LONG)
                asking.connect(str(self._inspect))
                while part := asking.recv(1 << 16):
                    parts.append(part)
        except OSError:
            return {"focus": "", "windows": []}
        return dict(json.loads(b"".join(parts) or b'{"focus": "", "windows": []}'))

    def main_window(self) -> dict[str, Any] | None:
        """The largest window."""
        windows = [one for one in self.shown()["windows"] if one["frame"][2] >= 800]
        return max(windows, key=lambda one: int(one["frame"][2]), default=None)

    def controls(self) -> Iterator[Control]:
        """The controls of all windows, those of dialogs before those of the window behind them."""
        for window in sorted(self.shown()["windows"], key=lambda one: int(one["frame"][2])):
            yield from window["controls"]

    def control(self, what: str, kind: str = "") -> Control | None:
        """The first control of this name or text."""
        for one in self.controls():
            if what in (one["name"], one.get("text")) and kind in ("", one["kind"]):
                return one
        return None

    def await_control(self, what: str, kind: str = "", seconds: float = LONG) -> Control:
        """Wait until such a control is there, can be used, and stands still: a dialog may just be growing."""
        places: list[Any] = [None]

        def there() -> Control | None:
            found = self.control(what, kind)
            places.append(found["at"] if found is not None and found["enabled"] else None)
            return found if places[-1] is not None and places[-1] == places[-2] else None

        return dict(wait_until(there, seconds, f"{what!r} is shown"))

    def await_text(self, part: str, seconds: float = LONG) -> Control:
        """Wait until some control's text holds `part`."""
        found = wait_until(
            lambda: next((one for one in self.controls() if part in one.get("text", "")), None),
            seconds,
            lambda: f"{part!r} is shown; shown are {self.texts()}",
        )
        return dict(found)

    def texts(self) -> list[str]:
        """Texts of all controls."""
        return [one["text"] for one in self.controls() if one.get("text")]

    # --- hands

    def click(self, what: str, kind: str = "") -> None:
        """Click a button."""
        self.screen.click(*self.await_control(what, kind)["at"])

    def show_tab(self, name: str) -> None:
        """Click a tab, once its place is the one where it stays, until it is in front."""

        def in_front() -> bool:
            bar = next((one for one in self.controls() if name in one.get("tabs", ())), None)
            if bar is not None and bar["tabs"][bar["current"]] != name:
                self.screen.click(*bar["middles"][bar["tabs"].index(name)])
            return bar is not None and bar["tabs"][bar["current"]] == name

        wait_until(in_front, LONG, f"the tab {name} is in front")

    def carry(self, mime: str, content: bytes, at: tuple[int, int] | None = None) -> Any:
        """Carry something over a point of the window (its middle if none is given)."""
        window = self.main_window()
        assert window is not None
        left, top, width, height = window["frame"]
        place = at or (left + width // 2, top + height // 2)
        return self.screen.drag(mime, content, *place)

    def carry_files(self, *paths: Path, at: tuple[int, int] | None = None) -> Any:
        """Carry files over the window."""
        return self.carry("text/uri-list", "".join(f"{path.as_uri()}\r\n" for path in paths).encode(), at)

    def drop_files(self, *paths: Path, at: tuple[int, int] | None = None) -> None:
        """Drop files on the window."""
        with self.carry_files(*paths, at=at) as drag:
            _let_go(drag)

    def drop_text(self, text: str) -> None:
        """Drop a text on the window."""
        with self.carry("text/plain;charset=utf-8", text.encode()) as drag:
            _let_go(drag)

    # --- the broker behind it

    def broker_pid(self) -> int:
        """Process id of the broker that answers; 0 if none does."""
        try:
            return self.ask(lambda client: client.info()).pid  # type: ignore[no-any-return]
        except OSError:
            return 0

    def kill_broker(self) -> int:
        """Kill the broker without warning; returns the process id it had."""
        pid = self.broker_pid()
        os.kill(pid, signal.SIGKILL)
        return pid

    @contextmanager
    def no_new_broker(self) -> Iterator[None]:
        """Keep everybody from starting a broker, as one who is starting it does."""
        held = os.open(self.state_dir, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
        finally:
            os.close(held)

    def ask(self, question: Callable[[BrokerClient], Awaitable[Any]]) -> Any:
        """Ask the broker something."""

        async def asked() -> Any:
            async with await connect(self.state_dir, start=False) as client:
                return await question(client)

        return asyncio.run(asked())

    def jobs(self) -> list[dict[str, Any]]:
        """Rows of all jobs, newest first."""
        columns = self.ask(lambda client: client.jobs_page()).columns
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def output(self, job: str, path: str = "std.out") -> str:
        """What a job wrote."""
        return self.ask(lambda client: client.read_file(job, path)).content.decode()  # type: ignore[no-any-return]

    def await_jobs(self, before: int, new: int, state: str = "Done") -> list[dict[str, Any]]:
        """Wait until `new` jobs more than `before` are there and ended so; returns them, oldest first."""

        def ended() -> list[dict[str, Any]] | None:
            found = self.jobs()[: -before or None]
            done = len(found) == new and all(row["state"] == state for row in found)
            return found[::-1] if done else None

        return list(wait_until(ended, what=f"{new} jobs more are {state}"))


def _let_go(drag: Drag) -> None:
    assert drag.accepted
    assert drag.drop()
