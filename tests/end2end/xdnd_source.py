"""A second X client that drags something: an XDND source (version 5) moved by real pointer events.

Run as a program: it presses the button on a window of its own, carries the data to a point of the screen,
says on standard output what the target answered, and lets go when it reads a line from standard input.
"""

from __future__ import annotations

import argparse
import json
import select
import sys
import time
from typing import Any

from Xlib import X, Xatom, display
from Xlib.ext import xtest
from Xlib.protocol import event as xevent

_VERSION = 5
_LEFT = 1
_PATIENCE = 60.0


class XdndSource:
    """Drags `content` of one MIME type over the screen."""

    def __init__(self, mime: str, content: bytes) -> None:
        self._display = display.Display()
        self._root = self._display.screen().root
        self._content = content
        self._mime = self._atom(mime)
        self._time = X.CurrentTime
        self._target: Any = None
        self.status: dict[str, Any] = {}
        self.finished: dict[str, Any] | None = None
        self._window = self._root.create_window(
            0,
            0,
            24,
            24,
            0,
            X.CopyFromParent,
            X.InputOutput,
            event_mask=X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask,
            override_redirect=True,
        )

    def _atom(self, name: str) -> int:
        return int(self._display.get_atom(name))

    def press(self) -> None:
        """Press the button on the own window and take the drag selection."""
        self._window.map()
        self._window.configure(stack_mode=X.Above)
        self._display.sync()
        self._motion(12, 12)
        xtest.fake_input(self._display, X.ButtonPress, _LEFT)
        self._display.flush()
        self._until(lambda: self._time != X.CurrentTime, "the own window gets the button press")
        self._window.set_selection_owner(self._atom("XdndSelection"), self._time)
        self._window.change_property(self._atom("XdndTypeList"), Xatom.ATOM, 32, [self._mime])

    def carry(self, x: int, y: int, steps: int = 8) -> None:
        """Move to a point of the screen, telling the target on the way; returns after its last answer."""
        for step in range(1, steps + 1):
            here = (12 + (x - 12) * step // steps, 12 + (y - 12) * step // steps)
            self._motion(*here)
            self._hover(*here)

    def nudge(self, x: int, y: int) -> None:
        """Say once more where the pointer is, and take in the answer."""
        self._hover(x, y)

    def _motion(self, x: int, y: int) -> None:
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
        self._display.sync()

    def _hover(self, x: int, y: int) -> None:
        target = self._aware_at(x, y)
        if target != self._target:
            self._leave()
            self._target = target
            if target is not None:
                self._send("XdndEnter", [_VERSION << 24, self._mime, 0, 0])
        if self._target is not None:
            self.status = {}
            place = (x << 16) | y
            self._send("XdndPosition", [0, place, self._time, self._atom("XdndActionCopy")])
            self._until(lambda: self.status, "the target answers the position")

    def _leave(self) -> None:
        if self._target is not None:
            self._send("XdndLeave", [0, 0, 0, 0])

    def release(self) -> None:
        """Let go: drop if the target accepts, else leave."""
        xtest.fake_input(self._display, X.ButtonRelease, _LEFT)
        self._display.sync()
        if self._target is None or not self.status.get("accepted"):
            self._leave()
            self._display.sync()
            return
        self._send("XdndDrop", [0, self._time, 0, 0])
        self._until(lambda: self.finished is not None, "the target finishes the drop")

    def _aware_at(self, x: int, y: int) -> Any:
        """The window at a point that speaks XDND; the own one is passed over."""
        aware = self._atom("XdndAware")
        for window in reversed(self._root.query_tree().children):
            found = self._descend(window, x, y, aware)
            if found is not None:
                return found
        return None

    def _descend(self, window: Any, x: int, y: int, aware: int) -> Any:
        if window == self._window or window.get_attributes().map_state != X.IsViewable:
            return None
        geometry, place = window.get_geometry(), window.translate_coords(self._root, 0, 0)
        left, top = -place.x, -place.y
        if not (left <= x < left + geometry.width and top <= y < top + geometry.height):
            return None
        if window.get_full_property(aware, X.AnyPropertyType) is not None:
            return window
        inner = (self._descend(child, x, y, aware) for child in reversed(window.query_tree().children))
        return next((found for found in inner if found is not None), None)

    def _send(self, name: str, data: list[int]) -> None:
        message = xevent.ClientMessage(
            window=self._target, client_type=self._atom(name), data=(32, [self._window.id, *data])
        )
        self._target.send_event(message)
        self._display.flush()

    def _until(self, happened: Any, what: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not happened():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"not within {_PATIENCE:g} s: {what}")
            if self._display.pending_events() or select.select([self._display.fileno()], [], [], left)[0]:
                self._take(self._display.next_event())

    def serve(self) -> None:
        """Answer what the target asks while the button is held."""
        while self._display.pending_events():
            self._take(self._display.next_event())

    def fileno(self) -> int:
        """Becomes readable when the target says or asks something."""
        return int(self._display.fileno())

    def _take(self, event: Any) -> None:
        if event.type == X.ButtonPress:
            self._time = event.time
        elif event.type == X.SelectionRequest:
            self._hand_over(event)
        elif event.type == X.ClientMessage and event.client_type == self._atom("XdndStatus"):
            self.status = {"accepted": bool(event.data[1][1] & 1)}
        elif event.type == X.ClientMessage and event.client_type == self._atom("XdndFinished"):
            self.finished = {"accepted": bool(event.data[1][1] & 1)}

    def _hand_over(self, event: Any) -> None:
        known = event.target == self._mime
        if known:
            event.requestor.change_property(event.property, event.target, 8, self._content)
        answer = xevent.SelectionNotify(
            time=event.time,
            requestor=event.requestor,
            selection=event.selection,
            target=event.target,
            property=event.property if known else X.NONE,
        )
        event.requestor.send_event(answer)
        self._display.flush()


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    """Drag as the command line says."""
    options = argparse.ArgumentParser()
    options.add_argument("--mime", required=True)
    options.add_argument("--x", type=int, required=True)
    options.add_argument("--y", type=int, required=True)
    wanted = options.parse_args()
    source = XdndSource(wanted.mime, bytes.fromhex(sys.stdin.readline().strip()))
    source.press()
    source.carry(wanted.x, wanted.y)
    _say(hover=source.status)
    while not select.select([sys.stdin], [], [], 0)[0]:
        select.select([sys.stdin, source.fileno()], [], [])
        source.serve()
    sys.stdin.readline()
    source.nudge(wanted.x, wanted.y)
    source.release()
    _say(dropped=source.finished)


if __name__ == "__main__":
    main()
