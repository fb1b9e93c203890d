"""Real information systems for the tests, started on first use and ended with the session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.information.asking import Grid
from tests.testbed.glue_tree import made_sites, tree
from tests.testbed.openldap import Slapd


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a server, so that it can be left out where none can be had."""
    for item in items:
        if {"grid", "slapds"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("openldap")


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """An index of 40 sites with 2,400 computing elements, and one server that answers for all sites."""
    made = Grid(made_sites(2400, 40))
    folder = tmp_path_factory.mktemp("grid")
    server = Slapd(folder / "sites", tree(made.sites))
    try:
        made.site_server = server.start()
        services = dict.fromkeys(made.sites, made.site_server)
        index = Slapd(folder / "index", tree(made.sites, top="local", services=services))
        try:
            made.index = index.start()
            yield made
        finally:
            index.close()
    finally:
        server.close()


@pytest.fixture
def slapds() -> Iterator[list[Slapd]]:
    """Servers that a test puts here are ended with it."""
    mine: list[Slapd] = []
    yield mine
    for one in mine:
        one.close()
