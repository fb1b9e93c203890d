"""A screen reader's view of a program: its tree of accessible objects, over AT-SPI on buses of its own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from tests.end2end.screen import Screen
from tests.waiting import wait_until

LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_REGISTRY = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_FOCUSABLE, _SHOWING = 11, 25
"""Bits of AtspiStateType."""
_LABELED_BY = 2
"""Kind of AtspiRelationType."""
_ROWS = ("table", "tree table", "list", "tree", "list box", "terminal")
"""Roles whose children are rows, which may be many: the list as a whole has the name."""
Reference = tuple[str, str]
"""Name on the bus and path of an accessible object."""


@dataclass(frozen=True, slots=True)
class Accessible:
    """One object as a screen reader has it."""

    role: str
    name: str
    description: str
    focusable: bool
    within: str
    """Role and name of what it stands in."""
    inner: bool
    """It stands directly in something that takes the keyboard itself, as a viewport does."""
    labeled: bool
    """Another object is its label."""

    def __str__(self) -> str:
        return f"{self.role} “{self.name}” in {self.within}"


class ScreenReader:
    """The session bus, the accessibility bus, and questions to the programs that are on it."""

    def __init__(self, screen: Screen) -> None:
        self._runtime = tempfile.TemporaryDirectory(prefix="cd-")
        self._bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self._bus.stdout is not None
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": self._bus.stdout.readline().strip(),
            "QT_ACCESSIBILITY": "1",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        """What a program on the same screen needs to be heard."""
        around = {
            **os.environ,
            **self.environment,
            "DISPLAY": screen.name,
            "XDG_RUNTIME_DIR": self._runtime.name,
        }
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._launcher = subprocess.Popen([LAUNCHER, "--launch-immediately"], env=around, **quiet)  # type: ignore[call-overload]
        session = open_dbus_connection(bus=self.environment["DBUS_SESSION_BUS_ADDRESS"])
        address = wait_until(lambda: _address_on(session), what="the accessibility bus is there")
        session.close()
        self._connection = open_dbus_connection(bus=address)

    def close(self) -> None:
        """End the buses."""
        self._connection.close()
        for process in (self._launcher, self._bus):
            process.terminate()
            process.wait(60)
        assert self._bus.stdout is not None
        self._bus.stdout.close()
        self._runtime.cleanup()

    def windows(self) -> list[tuple[str, Reference]]:
        """Titles and objects of all windows of all programs."""
        found = []
        for program in self._children(_REGISTRY):
            for window in self._children(program):
                with suppress(DBusErrorResponse):  # it has been closed since it was listed
                    found.append((self._name(window), window))
        return found

    def walk(self, window: Reference) -> Iterator[Accessible]:
        """All that is shown in a window, rows of tables and lists left out."""
        yield from self._below(window, "the screen", False)

    def _below(self, one: Reference, within: str, inner: bool) -> Iterator[Accessible]:
        try:
            told, children = self._told(one, within, inner)
        except DBusErrorResponse:
            return  # a view that was replaced while its window was walked
        if told is None:
            return
        yield told
        here = f"{told.role} “{told.name}”" if told.name else within
        for child in children:
            yield from self._below(child, here, told.focusable)

    def _told(self, one: Reference, within: str, inner: bool) -> tuple[Accessible | None, list[Reference]]:
        """An object with what is in it; nothing of one that is not shown."""
        role, states = self._role(one), self._states(one)
        if not states >> _SHOWING & 1 and role not in ("frame", "dialog", "window"):
            return None, []
        focusable = bool(states >> _FOCUSABLE & 1)
        labeled = focusable and self._is_labeled(one)
        told = Accessible(role, self._name(one), self._about(one), focusable, within, inner, labeled)
        return told, [] if role in _ROWS else self._children(one)

    # --- questions

    def _children(self, one: Reference) -> list[Reference]:
        return [tuple(child) for child in self._call(one, _ACCESSIBLE, "GetChildren")[0]]

    def _role(self, one: Reference) -> str:
        return str(self._call(one, _ACCESSIBLE, "GetRoleName")[0])

    def _states(self, one: Reference) -> int:
        low, high = self._call(one, _ACCESSIBLE, "GetState")[0]
        return int(low) | int(high) << 32

    def _is_labeled(self, one: Reference) -> bool:
        return any(kind == _LABELED_BY for kind, _ in self._call(one, _ACCESSIBLE, "GetRelationSet")[0])

    def _name(self, one: Reference) -> str:
        return self._property(one, "Name")

    def _about(self, one: Reference) -> str:
        return self._property(one, "Description")

    def _property(self, one: Reference, name: str) -> str:
        asked = ("org.freedesktop.DBus.Properties", "Get", "ss", (_ACCESSIBLE, name))
        return str(self._call(one, *asked)[0][1]).strip()

    def _call(
        self, one: Reference, interface: str, method: str, kinds: str = "", values: tuple[Any, ...] = ()
    ) -> tuple[Any, ...]:
        where = DBusAddress(one[1], one[0], interface)
        answer = self._connection.send_and_get_reply(
            new_method_call(where, method, kinds or None, values), timeout=60
        )
        return unwrap_msg(answer)  # type: ignore[no-any-return]


def _address_on(session: DBusConnection) -> str:
    """The address of the accessibility bus; empty while nobody knows it."""
    where = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
    try:
        (address,) = unwrap_msg(session.send_and_get_reply(new_method_call(where, "GetAddress"), timeout=60))
    except DBusErrorResponse:
        return ""
    return str(address)
