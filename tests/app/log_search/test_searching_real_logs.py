"""Searching in the logs of jobs that really ran, in a real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.inspector.log_search.found_lines import TEXT, found_lines
from app.inspector.log_search.page import LogSearchPage
from app.theme.tokens import Mode
from broker_core.client.client import BrokerClient
from broker_core.wire.log_search import LogHit, LogSearch, LogSearchAnswer, SearchedLog
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.pictures import PICTURES, nameless
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

JOB = r"""[ Executable = "/bin/sh"; Arguments = "-c '%s'"; StdOutput = "o"; StdError = "e";
  OutputSandbox = {"o", "e"}; ]"""
HOSTILE = r"printf \"\\\\033[31mout of memory\\\\033[0m <b>bold</b> \\\\007\\\\n\""


async def run(on: Stage, commands: dict[str, str]) -> list[str]:
    ids: list[str] = []
    for name, command in commands.items():
        item = SubmissionItem(description=JOB % command, name=name)
        receipt = await on.context.client.submit(Submission(key=f"search-{name}", items=[item]))
        ids += receipt.ids
    await eventually(lambda: all(on.ended(job) for job in ids), 90)
    return ids


async def opened(on: Stage) -> LogSearchPage:
    on.context.trigger("jobs.search_logs")
    page = on.window.tabs.currentWidget()
    assert isinstance(page, LogSearchPage)
    return page


async def search(page: LogSearchPage, text: str) -> None:
    page.text.setText(text)
    page.search()
    await eventually(lambda: not page.running)


def hits(page: LogSearchPage) -> list[str]:
    return [row.text for row in page.found.rows if row.hit]


async def save(on: Stage, name: str) -> None:
    for mode in (Mode.LIGHT, Mode.DARK):
        on.context.theme.wear(mode=mode)
        for width, height in ((1280, 800), (900, 560)):
            on.window.resize(width, height)
            await turns(8)
            assert on.window.grab().save(str(PICTURES / f"log-search-{name}-{mode.value}-{width}.png"))


@pytest.mark.expected_log(r"\d+ failed")
def test_a_line_found_leads_to_the_log(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {
            "long": "seq 1 5000; echo step 5001: out of memory; seq 5002 6000",
            "errors": "echo fine; echo Out of Memory again >&2; exit 9",
            "hostile": HOSTILE,
            "silent": "true",
            "removed": "echo out of memory",
        })  # fmt: skip
        page = await opened(on)
        await save(on, "before")
        removed = ids.pop()
        await on.context.client.purge([removed])
        await search(page, "out of memory")
        assert sorted(hits(page)) == [
            "Out of Memory again", "out of memory <b>bold</b> ·", "step 5001: out of memory",
        ]  # fmt: skip
        assert page.hits == 3
        assert nameless(on.window) == set()
        assert page.minimumSizeHint().width() <= on.window.tabs.minimumSizeHint().width()
        await save(on, "found")
        row = next(at for at, one in enumerate(page.found.rows) if one.line == 5001)
        assert page.found.data(page.found.index(row, TEXT)) == "step 5001: out of memory"
        page.table.selectRow(row)
        inspector = on.window.inspector
        assert inspector is not None
        await eventually(lambda: "step 5001: out of memory" in inspector.logs.view.visible_text())
        assert inspector.ids == [ids[0]]
        assert on.window.tabs.currentWidget() is page
        page.table.selectRow(next(at for at, one in enumerate(page.found.rows) if one.role == "stderr"))
        await eventually(lambda: inspector.logs.view.visible_text() == "Out of Memory again")
        await save(on, "shown")

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_scope_expression_and_refusal(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {f"job-{number}": f"echo loss 0.{number}" for number in range(4)})
        on.window.show_jobs(ids[:2])
        await eventually(lambda: len(on.window.jobs.view.chosen()) == 2)
        page = await opened(on)
        page.regex.setChecked(True)
        await search(page, r"^loss \d\.\d$")
        assert sorted(hits(page)) == ["loss 0.0", "loss 0.1"]
        page.choose_scope(False)
        on.window.jobs.bar.show_text("name:job-3")
        await eventually(lambda: len(on.window.jobs.table.view) == 1)
        await search(page, r"^loss \d\.\d$")
        assert hits(page) == ["loss 0.3"]
        await search(page, "(")
        assert page.state.title.text() == "The search ended early"
        assert "no regular expression" in page.state.text.text()
        await save(on, "refused")
        page.regex.setChecked(False)
        await search(page, "nowhere")
        assert page.state.title.text() == "Nothing found"

    play(qapp, broker, scenario)


def test_a_search_can_be_stopped_and_ends_with_its_page(
    qapp: QApplication, broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    pages: list[LogSearchPage] = []

    async def answer(client: BrokerClient, wanted: LogSearch) -> LogSearchAnswer:
        asked.append(len(wanted.ids))
        if len(asked) == 2:
            pages[0].stop()
        hit = LogHit(line=1, offset=0, text="found", start=0, length=5)
        log = SearchedLog(job="a", path="o", role="stdout", hits=[hit])
        return LogSearchAnswer(searched=wanted.ids, logs=[log])

    monkeypatch.setattr(BrokerClient, "search_logs", answer)

    async def scenario(on: Stage) -> None:
        await on.ready()
        page = LogSearchPage(on.context, lambda: [f"job-{at}" for at in range(2000)], list)
        pages.append(page)
        await search(page, "found")
        await turns()
        assert asked == [50, 50]
        assert page.summary.text().startswith("Stopped. 1 hit · 50 of 2,000 jobs searched")
        assert page.button.text() == "Search"
        page.deleteLater()

    play(qapp, broker, scenario)


def test_lines_around_two_hits_stand_once() -> None:
    log = SearchedLog(
        job="a", path="o", role="stdout", more=True, remark="Only its first 64 MiB were searched.",
        hits=[
            LogHit(line=2, offset=2, text="hit", start=0, length=3, before=["one"], after=["three"]),
            LogHit(line=4, offset=9, text="hit", start=0, length=3, before=["three"], after=["five"]),
        ],
    )  # fmt: skip
    rows = list(found_lines(log))
    assert [(row.line, row.text, row.hit) for row in rows] == [
        (1, "one", False), (2, "hit", True), (3, "three", False), (4, "hit", True), (5, "five", False),
        (0, "There are more hits in this log.", False), (0, "Only its first 64 MiB were searched.", False),
    ]  # fmt: skip
    assert [row.first for row in rows] == [True] + [False] * 6
