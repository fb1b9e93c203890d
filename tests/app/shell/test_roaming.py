"""The desk follows its user: queries, columns and order are the same on another machine."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_config_path
from PySide6.QtWidgets import QApplication

from app.jobs.columns import BY_NAME
from app.stores.roaming import NAME
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually


def _another_machine() -> None:
    """Forget what this machine remembers; the broker stays."""
    (user_config_path("crossdesk") / "desktop.json").unlink()


def test_queries_and_columns_are_there_on_another_machine(qapp: QApplication, broker: Path) -> None:
    async def first(on: Stage) -> None:
        await on.ready()
        assert on.context.preferences["roamed"] == 0.0, "nothing was chosen yet"
        on.context.saved.save("Mine", "name:ann*")
        on.window.jobs.view.setColumnHidden(BY_NAME["site"], True)
        on.window.jobs.columns.keep()

        async def kept() -> bool:
            found = await on.context.client.document(NAME)
            return bool(found) and found["saved_queries"] == [["Mine", "name:ann*"]]

        await eventually(kept)

    async def second(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: [query.name for query in on.context.saved.own] == ["Mine"])
        assert on.window.jobs.view.isColumnHidden(BY_NAME["site"])
        names = [on.window.sidebar.list.item(at).text() for at in range(on.window.sidebar.list.count())]
        assert "Mine" in names

    play(qapp, broker, first)
    _another_machine()
    play(qapp, broker, second)


def test_the_later_change_wins_and_an_older_document_changes_nothing(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        old = {"at": 1.0, "saved_queries": [["Old", ""]], "columns": "no list", "compact": True}
        await on.context.client.save_document(NAME, old)
        on.context.saved.save("New", "state:done")
        for tell in on.context.session.on_connected:
            tell()

        async def replaced() -> bool:
            found = await on.context.client.document(NAME)
            return bool(found["saved_queries"] == [["New", "state:done"]])

        await eventually(replaced)
        assert [query.name for query in on.context.saved.own] == ["New"]
        assert on.context.preferences["compact"] is False
        later = {
            "at": on.context.preferences["roamed"] + 5,
            "saved_queries": [["Later", ""]],
            "columns": "no list",
        }
        await on.context.client.save_document(NAME, later)
        for tell in on.context.session.on_connected:
            tell()
        await eventually(lambda: [query.name for query in on.context.saved.own] == ["Later"])
        assert isinstance(on.context.preferences["columns"], list)
        await turns()

    play(qapp, broker, scenario)
