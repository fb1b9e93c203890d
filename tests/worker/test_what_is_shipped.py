"""What agents on worker nodes import of the project, directly or by way of others: a list that is allowed."""

from __future__ import annotations

import grimp
import pytest

SHIPPED = "broker_core.worker"
CHANNEL = {
    "broker_core.interactive.channel.frames",
    "broker_core.interactive.channel.pictures",
    "broker_core.interactive.channel.rendezvous",
    "broker_core.interactive.channel.tunnel",
    "broker_core.interactive.channel.x_setup",
}
"""The parts of the channel that both of its ends have."""


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("broker_core", exclude_type_checking_imports=True, cache_dir=None)


def _beyond(imports: grimp.ImportGraph) -> set[str]:
    """Modules that a worker node would need besides those that are meant."""
    reached = imports.find_upstream_modules(SHIPPED, as_package=True)
    return {one for one in reached if one not in CHANNEL and not one.startswith(f"{SHIPPED}.")}


def test_agents_bring_along_what_both_ends_of_the_channel_have_and_nothing_else(
    imports: grimp.ImportGraph,
) -> None:
    assert _beyond(imports) == set()
    assert imports.find_upstream_modules(SHIPPED, as_package=True) >= CHANNEL


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("broker_core.worker.agent_dial", "broker_core.interactive.shadow.event_buffer"),
        ("broker_core.interactive.channel.rendezvous", "broker_core.interactive.shadow.input"),
        ("broker_core.interactive.channel.frames", "broker_core.errors"),
        ("broker_core.worker.agent", "broker_core.simulation"),
    ],
)
def test_one_import_more_is_noticed_wherever_it_is(
    imports: grimp.ImportGraph, importer: str, imported: str
) -> None:
    assert not imports.direct_import_exists(importer=importer, imported=imported)
    imports.add_import(importer=importer, imported=imported)
    assert imported in _beyond(imports)
    imports.remove_import(importer=importer, imported=imported)
    assert _beyond(imports) == set()
