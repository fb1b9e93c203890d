"""Pictures of every view in two sizes, and a name for every control in them; in three themes in the soak."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QWidget,
)

from app.shell import sheets
from app.shell.settings import SettingsDialog
from app.stores.link import ConnectionState
from app.theme.tokens import Mode
from broker_core.errors import CrossDeskError
from tests.app.pictures import PICTURES, SIZES, nameless
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

PLACES = (
    "view.jobs",
    "view.sites",
    "view.statistics",
    "view.resources",
    "view.scheduler",
    "view.match",
    "view.welcome",
    "help.contents",
)
LINKED = PLACES[:6]
"""Places that say what is the matter when there is no broker."""
REFUSED = PLACES[1:5]
"""Places that say why the broker refuses to tell, and offer to ask again."""


@pytest.mark.slow
@pytest.mark.expected_log(r"\d+ failed|“killed” failed")
def test_every_view_has_its_picture_and_names_for_all_controls(
    qapp: QApplication, broker: Path, soak: bool
) -> None:
    modes = (Mode.LIGHT, Mode.DARK, Mode.CONTRAST) if soak else (Mode.LIGHT,)
    unnamed: set[str] = set()

    async def scenario(on: Stage) -> None:
        await on.ready()
        for name in ("sweep-200", "killed", "fails", "heat-image"):
            job = await on.finished(name)
        on.window.show_job(job, "output")
        for mode in modes:
            on.context.theme.wear(mode=mode)
            for width, height in SIZES:
                on.window.resize(width, height)
                for place in PLACES:
                    on.context.trigger(place)
                    await _settled(on)
                    unnamed.update(nameless(on.window))
                    _save(on.window, place.partition(".")[2], mode, width)
            await _sheets(on, mode, unnamed)

    play(qapp, broker, scenario)
    assert len(list(PICTURES.glob("desk-jobs-*.png"))) >= 2 * len(modes)
    assert unnamed == set()


def test_views_without_their_broker_have_their_pictures(qapp: QApplication, state_dir: Path) -> None:
    refused = CrossDeskError("The disk could not be read.", place="store", remedy="Look at the broker's log.")

    async def scenario(on: Stage) -> None:
        on.context.theme.wear(mode=Mode.LIGHT)
        for state, reason in (
            (ConnectionState.STARTING, "Starting the broker"),
            (ConnectionState.UNREACHABLE, "Another broker holds the state directory."),
            (ConnectionState.STOPPED, "The broker was stopped."),
        ):
            on.context.link.set(state, reason)
            for place in LINKED:
                on.context.trigger(place)
                await turns()
                assert on.window.tabs.currentWidget().state.isVisible()
                _save(on.window, f"{state.value}-{place.partition('.')[2]}", Mode.LIGHT, SIZES[0][0])
        on.context.link.set(ConnectionState.CONNECTED)
        for place in REFUSED:
            on.context.trigger(place)
            on.window.tabs.currentWidget().show_error(refused)
            await turns()
            assert on.window.tabs.currentWidget().state.primary.text() == "Try again"
            _save(on.window, f"error-{place.partition('.')[2]}", Mode.LIGHT, SIZES[0][0])

    play(qapp, state_dir, scenario, connect=False)


async def _sheets(on: Stage, mode: Mode, unnamed: set[str]) -> None:
    on.window.resize(*SIZES[0])
    on.context.trigger("view.jobs")
    on.context.trigger("app.palette")
    await turns()
    unnamed.update(nameless(on.window))
    _save(on.window, "palette", mode, SIZES[0][0])
    on.window.handlers.palette.leave()
    made: tuple[tuple[str, QDialog], ...] = (
        ("settings", SettingsDialog(on.context, on.window)),
        ("shortcuts", sheets.shortcuts(on.window)),
        ("about", sheets.about(on.window, on.context.theme, on.context.link.broker)),
    )
    for name, sheet in made:
        sheet.open()
        await turns()
        unnamed.update(nameless(sheet))
        _save(sheet, name, mode, sheet.width())
        sheet.close()


async def _settled(on: Stage) -> None:
    await turns()
    page = on.window.tabs.currentWidget()
    if hasattr(page, "numbers"):
        await eventually(lambda: page.numbers is not None)
        await turns()


def _save(widget: QWidget, name: str, mode: Mode, width: int) -> None:
    assert widget.grab().save(str(PICTURES / f"desk-{name}-{mode.value}-{width}.png"))
