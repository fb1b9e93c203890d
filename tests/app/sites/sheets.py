"""The sheet on which a site is added."""

from __future__ import annotations

from app.sites.adding.sheet import AddSite
from tests.app.windows import Stage


def sheet_of(on: Stage) -> AddSite:
    on.context.trigger("site.add")
    sheet = on.window.handlers.adding
    assert sheet is not None
    return sheet
