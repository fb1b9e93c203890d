"""What tests of programs at sites share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker.glidein_node import Node


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path / "there")
    yield made
    made.close()


@pytest.fixture
def lasting(node: Node) -> Node:
    """A node whose glidein runs payloads without a shell for each."""
    node.lasting, node.writes = True, (str(node.root),)
    return node


@pytest.fixture(params=["by shell", "lasting"])
def either(request: pytest.FixtureRequest, node: Node) -> Node:
    """A node for each of the two ways."""
    node.lasting = request.param == "lasting"
    node.writes = (str(node.root),)
    return node
