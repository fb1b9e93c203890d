"""Pictures of the sites view and of adding a site, light and dark, small and large; all is named."""

from __future__ import annotations

import time

from PySide6.QtWidgets import QWidget

from app.sites.adding.sheet import FOUND, LOOKING, TRIAL
from app.sites.changing import ChangeSite
from app.theme.tokens import Mode
from broker_core.wire.sites import Detection
from tests.app.inspector.recorded import row
from tests.app.pictures import PICTURES, SIZES, nameless
from tests.app.sites.conftest import Act
from tests.app.sites.made_up import NEW_HOST, PASSPHRASE, SitesBroker, every_state, found, site
from tests.app.sites.pages import page_of
from tests.app.sites.sheets import sheet_of
from tests.app.windows import Stage, turns
from tests.waiting import eventually

MODES = (Mode.LIGHT, Mode.DARK)


def _save(widget: QWidget, name: str, mode: Mode, unnamed: set[str]) -> None:
    unnamed.update(nameless(widget))
    assert widget.grab().save(str(PICTURES / f"desk-{name}-{mode.value}-{widget.width()}.png"))


def test_sites_in_every_state_have_their_pictures(act: Act) -> None:
    unnamed: set[str] = set()

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: len(page.cards) == 8)
        page.choose("cluster-c")
        await eventually(lambda: page.detail.plot is not None)
        for mode in MODES:
            on.context.theme.wear(mode=mode)
            for width, height in (*SIZES, (900, 640)):
                on.window.resize(width, height)
                shown = (
                    ("sites-every-state", ""),
                    ("site-detail", "cluster-c"),
                    ("site-equipment", "cluster-a"),
                )
                for name, chosen in shown:
                    page.choose(chosen)
                    await turns()
                    _save(on.window, name, mode, unnamed)

    act(SitesBroker(every_state()), scene)
    assert unnamed == set()


def test_no_site_one_and_fifty_have_their_pictures(act: Act) -> None:
    unnamed: set[str] = set()

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        for number in (0, 1, 50):
            broker.views = [site(f"site-{at:02}") for at in range(number)]
            on.context.sites.reload()
            await eventually(lambda wanted=number: len(page.cards) == wanted and on.context.sites.loaded)
            for mode in MODES:
                on.context.theme.wear(mode=mode)
                await turns()
                _save(on.window, f"sites-{number}", mode, unnamed)

    act(SitesBroker([]), scene)
    assert unnamed == set()


def test_each_step_of_adding_has_its_picture(act: Act) -> None:
    unnamed: set[str] = set()

    async def scene(on: Stage, broker: SitesBroker) -> None:
        for mode in MODES:
            on.context.theme.wear(mode=mode)
            broker.job, broker.views = f"test-{mode.value}", []
            await _adding(on, broker, mode, unnamed)

    act(SitesBroker([]), scene)
    assert unnamed == set()


async def _adding(on: Stage, broker: SitesBroker, mode: Mode, unnamed: set[str]) -> None:
    async def look(name: str) -> None:
        await turns()
        _save(sheet, f"add-site-{name}", mode, unnamed)

    broker.detections = [Detection(id="d1", state="question", question=NEW_HOST)]
    sheet = sheet_of(on)
    await look("where")
    sheet.where.host.setText("cluster-b")
    sheet.next.click()
    await eventually(lambda: sheet.step == LOOKING and sheet.look.form.question)
    await look("new-host")
    broker.detections = [Detection(id="d1", state="question", question=PASSPHRASE)]
    await eventually(lambda: sheet.look.form.question.kind == "passphrase")
    await look("passphrase")
    broker.detections = [found()]
    await eventually(lambda: sheet.step == FOUND)
    await look("what-was-found")
    sheet.found.form.more.click()
    await look("more-settings")
    sheet.next.click()
    await eventually(lambda: sheet.step == TRIAL and sheet.trial.trial.job)
    await look("testing")
    _end_test(on, broker.job)
    await eventually(lambda: "It works" in sheet.trial.line.said.text())
    await look("works")
    sheet.next.click()
    await eventually(lambda: on.window.handlers.adding is None)


def _end_test(on: Stage, job: str) -> None:
    begun = time.time()
    told = row("Done", id=job, site="cluster-b:22/jobmanager-slurm-short", exit_code=0, submitted=begun - 4,
               ended=begun)  # fmt: skip
    on.context.jobs.merge({name: [value] for name, value in told.items()})


def test_changing_a_site_and_failing_to_look_have_their_pictures(act: Act) -> None:
    unnamed: set[str] = set()

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        for mode in MODES:
            on.context.theme.wear(mode=mode)
            page.cards["cluster-a"].menu().actions()[-2].trigger()
            sheet = next(one for one in on.window.findChildren(ChangeSite) if one.isVisible())
            await turns()
            _save(sheet, "change-site", mode, unnamed)
            sheet.close()
            await _failing(on, broker, mode, unnamed)

    act(SitesBroker(every_state()), scene)
    assert unnamed == set()


async def _failing(on: Stage, broker: SitesBroker, mode: Mode, unnamed: set[str]) -> None:
    broker.detections = [Detection(id="d", state="failed", reason="Nothing listens at far port 22.")]
    sheet = sheet_of(on)
    sheet.where.host.setText("far")
    sheet.next.click()
    await eventually(lambda: sheet.look.failed)
    await turns()
    _save(sheet, "add-site-failed", mode, unnamed)
    sheet.close()
    await eventually(lambda: on.window.handlers.adding is None)
