"""The demonstrators, dropped from the samples on a real window, watched and steered there (CB-APP-04)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from Xlib import X

from broker_core.client.samples import sample
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from tests.end2end.desktop import Desktop
from tests.end2end.screen import Screen
from tests.testbed.mpi import installed
from tests.waiting import wait_until

pytestmark = [pytest.mark.mpi, pytest.mark.display]
PICTURES = Path("build/screenshots")
SMALLEST = 50_000
"""Pixels of the picture at the least."""
LONG = 90
PART = 1 << 20


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.fixture(scope="module")
def desktop(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """With MPICH in PATH, and processors enough for four processes on any machine."""
    base = tmp_path_factory.mktemp("desktop")
    (base / "state").mkdir()
    (base / "state/broker.toml").write_text("cpus = 6\n")
    made = Desktop(screen, base, {"PATH": f"{os.environ['PATH']}:{installed('mpich').prefix / 'bin'}"})
    yield made
    screen.picture(PICTURES / "real-window-demonstrators.png")
    made.close()


def _submitted(desktop: Desktop, name: str) -> str:
    """Drop the description of a sample, submit it; returns its job."""
    before = {row["id"] for row in desktop.jobs()}
    desktop.drop_files(sample(name).jdl)
    desktop.click("Submit", "QPushButton")
    new = wait_until(lambda: {row["id"] for row in desktop.jobs()} - before, what="a job is there")
    return str(next(iter(new)))


def _published(desktop: Desktop, job: str) -> Recording:
    """All that a job published so far."""
    found = Recording()
    while part := desktop.ask(lambda client: client.read_file(job, FILE, found.position, PART)).content:
        found.feed(part)
    return found


def _pulled(desktop: Desktop, name: str) -> None:
    """Move the slider of a parameter to its end."""
    desktop.await_control(name, "QSlider", LONG)

    def at_end() -> bool:
        """Clicks and presses until it is: what is above it may still be growing."""
        now = desktop.control(name, "QSlider")
        if now is not None and now["value"] != now["most"]:
            desktop.screen.click(*now["at"])
            desktop.screen.press("End")
        return now is not None and now["value"] == now["most"]

    wait_until(at_end, LONG, f"the slider of {name} is at its end")


def _drawn(screen: Screen) -> tuple[int, int]:
    """How many pixels of the dark picture have rather the color of electrons, and of ions; a video of moving
    dots has no exact ones."""
    root = screen.display.screen().root
    shape = root.get_geometry()
    seen = root.get_image(0, 0, shape.width, shape.height, X.ZPixmap, 0xFFFFFFFF)
    found = np.frombuffer(seen.data, np.uint8).reshape(shape.height, shape.width, 4)[:, :, 2::-1].astype(int)
    brightest = found.max(axis=2)
    dark = np.argwhere((brightest > 8) & (brightest < 60))  # around the window all is black
    if len(dark) < SMALLEST:
        return 0, 0
    (top, left), (bottom, right) = np.percentile(dark, (1, 99), axis=0).astype(int)
    inside = found[top:bottom, left:right]
    warmth = inside[:, :, 0] - inside[:, :, 2]
    return int((warmth < -50).sum()), int((warmth > 50).sum())


def test_the_plasma_is_watched_and_steered(desktop: Desktop, screen: Screen) -> None:
    wait_until(lambda: "MPICH" in str(desktop.ask(lambda client: client.resource("local"))), what="MPICH")
    job = _submitted(desktop, "plasma")
    wait_until(lambda: min(_drawn(screen)) > 500, LONG, "electrons and ions are drawn")
    desktop.await_text(" pictures/s")
    desktop.await_text("picture ")
    for name in ("magnetic field", "temperature"):
        _pulled(desktop, name)
    seen = wait_until(lambda: _steered(desktop, job), LONG, "the program has taken both changes")
    assert seen.curves["energy of ions"].points()[1][0] < 1
    wait_until(lambda: _energy(desktop, job) > 2, LONG, "electrons have the temperature of the device")
    screen.picture(PICTURES / "real-window-plasma.png")
    assert {"speeds of electrons", "charge"} <= set(_published(desktop, job).arrays)
    desktop.ask(lambda client: client.cancel([job]))
    wait_until(lambda: _drawn(screen) == (0, 0), LONG, "its display goes with it")


def _steered(desktop: Desktop, job: str) -> Recording | None:
    found = _published(desktop, job)
    taken = {change.name: change.after for change in found.steering.changes}
    return found if taken.get("magnetic field") == 20 and taken.get("temperature") == 4 else None


def _last_change(desktop: Desktop, job: str) -> tuple[str, object] | None:
    changes = _published(desktop, job).steering.changes
    return (changes[-1].name, changes[-1].after) if changes else None


def _energy(desktop: Desktop, job: str) -> float:
    return float(_published(desktop, job).curves["energy of electrons"].points()[1][-1])


def test_the_network_is_trained_in_view_and_steered(desktop: Desktop, screen: Screen) -> None:
    job = _submitted(desktop, "neural-net")
    desktop.show_tab("View")
    desktop.await_text(" of 120", LONG)
    _pulled(desktop, "learning rate")
    # The click before the key may have been a change of its own.
    wait_until(lambda: _last_change(desktop, job) == ("learning rate", 0.5), LONG, "the program has it")
    losses = len(_published(desktop, job).curves["loss"])
    wait_until(lambda: len(_published(desktop, job).curves["loss"]) > losses, LONG, "it learns on")
    screen.picture(PICTURES / "real-window-neural-net.png")
    desktop.ask(lambda client: client.cancel([job]))
