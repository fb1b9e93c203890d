"""All pages and dialogs on one picture for each theme, to be looked at together."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from app.theme.tokens import Mode
from tests.app.every_page import PAGES, made_dialogs
from tests.app.pictures import PICTURES, contact_sheet
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

SIZES = ((1280, 800), (900, 560), (2560, 1440))
LOOKS = ((Mode.LIGHT, 13), (Mode.DARK, 13), (Mode.CONTRAST, 13), (Mode.DARK, 18))
"""Themes with the size of text; the first and the last one always, all in the soak."""


@pytest.mark.slow
@pytest.mark.expected_log(r"\d+ failed", "“killed” failed")
def test_a_contact_sheet_is_made_for_each_theme(qapp: QApplication, broker: Path, soak: bool) -> None:
    looks = LOOKS if soak else LOOKS[::3]

    async def scenario(on: Stage) -> None:
        await on.ready()
        for sample in ("sweep-200", "killed", "heat-image"):
            await on.finished(sample)
        on.window.show_job(await on.finished("fails"))
        for mode, text in looks:
            on.context.theme.wear(mode=mode, size=text)
            for size in SIZES:
                on.window.resize(*size)
                taken = await _pages(on) + (await _dialogs(on) if size is SIZES[0] else [])
                contact_sheet(taken, PICTURES / f"contact-{mode.value}-{text}-{size[0]}.png")

    play(qapp, broker, scenario)
    assert len(list(PICTURES.glob("contact-*.png"))) >= len(looks) * len(SIZES)


async def _pages(on: Stage) -> list[tuple[str, QPixmap]]:
    taken = []
    for name in PAGES:
        on.context.trigger(name)
        await turns()
        page = on.window.tabs.currentWidget()
        if hasattr(page, "numbers"):
            await eventually(lambda page=page: page.numbers is not None)
        await turns()
        taken.append((name, on.window.grab()))
        if name == "file.new":
            on.context.trigger("tab.close")
    return taken


async def _dialogs(on: Stage) -> list[tuple[str, QPixmap]]:
    taken = []
    for name, dialog in made_dialogs(on):
        dialog.open()
        await turns()
        taken.append((name, dialog.grab()))
        dialog.close()
    return taken
