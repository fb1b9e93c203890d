"""A private X server with a window manager, and hands to use it with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from Xlib import XK, X, display
from Xlib.ext import xtest

from tests.waiting import wait_until


class Screen:
    """One X server, `DISPLAY` being its `name`."""

    def __init__(self, width: int = 1440, height: int = 900) -> None:
        reader, writer = os.pipe()
        size = f"{width}x{height}x24"
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
            pass_fds=(writer,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        with os.fdopen(reader) as stream:
            self.name = f":{stream.readline().strip()}"
        self.display = display.Display(self.name)
        self._manager = self._start("openbox", "--sm-disable")
        root = self.display.screen().root
        wait_until(
            lambda: self._property(root, "_NET_SUPPORTING_WM_CHECK"), what="openbox manages the screen"
        )

    @property
    def environment(self) -> dict[str, str]:
        """Environment of programs on this screen."""
        return {**os.environ, "DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb", "QT_XCB_GL_INTEGRATION": "none"}

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env={**os.environ, "DISPLAY": self.name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        """End window manager and server."""
        self.display.close()
        for process in (self._manager, self._server):
            process.terminate()
            process.wait(60)

    # --- looking

    def _property(self, window: Any, name: str) -> Any:
        found = window.get_full_property(self.display.get_atom(name), X.AnyPropertyType)
        return found.value if found is not None else None

    def windows(self) -> dict[str, Any]:
        """Managed windows by title."""
        ids = self._property(self.display.screen().root, "_NET_CLIENT_LIST")
        found = {}
        for one in [] if ids is None else ids:
            window = self.display.create_resource_object("window", int(one))
            title = self._property(window, "_NET_WM_NAME")
            if title:
                found[bytes(title).decode()] = window
        return found

    def active(self) -> int:
        """Id of the window that has the keyboard; 0 for none."""
        value = self._property(self.display.screen().root, "_NET_ACTIVE_WINDOW")
        return int(value[0]) if value is not None and len(value) else 0

    def picture(self, file: Path) -> Path:
        """A picture of the whole screen."""
        file.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-display", self.name, "-window", "root", str(file)], check=True)
        return file

    # --- hands

    def press(self, keys: str) -> None:
        """Press a combination such as `ctrl+Return`, as X names the keys."""
        codes = [self.display.keysym_to_keycode(_keysym(part)) for part in keys.split("+")]
        for code in codes:
            xtest.fake_input(self.display, X.KeyPress, code)
        for code in reversed(codes):
            xtest.fake_input(self.display, X.KeyRelease, code)
        self.display.sync()

    def write(self, text: str) -> None:
        """Type a text."""
        subprocess.run(["xdotool", "type", "--delay", "4", "--", text], env=self.environment, check=True)

    def click(self, x: int, y: int) -> None:
        """Click at a point of the screen."""
        xtest.fake_input(self.display, X.MotionNotify, x=x, y=y)
        for kind in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self.display, kind, 1)
        self.display.sync()

    @contextmanager
    def drag(self, mime: str, content: bytes, x: int, y: int) -> Iterator[Drag]:
        """Carry something to a point of the screen from another X client."""
        dragging = Drag(self, mime, content, x, y)
        try:
            yield dragging
        finally:
            dragging.close()


class Drag:
    """Something held over a point of the screen by another X client."""

    def __init__(self, screen: Screen, mime: str, content: bytes, x: int, y: int) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.end2end.xdnd_source",
            "--mime",
            mime,
            "--x",
            str(x),
            "--y",
            str(y),
        ]
        self._process = subprocess.Popen(
            command, env=screen.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._tell(content.hex())
        self.accepted: bool = self._hear()["hover"].get("accepted", False)
        """Whether the window under the pointer would take it."""

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the dragging client ended"
        return dict(json.loads(line))

    def drop(self) -> bool:
        """Let go; True if the target took it."""
        self._tell("")
        said = self._hear()["dropped"]
        return bool(said and said["accepted"])

    def close(self) -> None:
        """End the client."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(60)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


def _keysym(name: str) -> int:
    known = {"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L", "period": "period"}
    return int(XK.string_to_keysym(known.get(name, name)))
