"""The page of sites in a window."""

from __future__ import annotations

from app.sites.page import SitesPage
from tests.app.windows import Stage


def page_of(on: Stage) -> SitesPage:
    on.context.trigger("view.sites")
    page = on.window.tabs.currentWidget()
    assert isinstance(page, SitesPage)
    return page
