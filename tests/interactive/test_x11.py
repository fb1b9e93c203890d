"""Windows of programs on the node, shown at the desk (CB-I2G-03)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.display,
]


def test_a_program_on_the_node_reaches_the_display_of_the_desk_and_leaves_no_secret_there(
    job: str, display: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shell = f"export HOME={home}; echo $DISPLAY; xdpyinfo | grep dimensions; ls -A $HOME"
    told = crossdesk("job", "exec", "-X", job, "--", "sh", "-c", shell, **display)
    assert told.code == 0, told.err
    name, dimensions = told.out.splitlines()
    assert name.startswith("localhost:")
    assert "640x480 pixels" in dimensions
    alone = crossdesk("job", "exec", job, "--", "sh", "-c", "echo $DISPLAY", **display)
    assert alone.out.strip() not in (name, display["DISPLAY"])


def test_without_a_display_at_the_desk_the_wish_is_refused_with_the_reason() -> None:
    told = crossdesk("job", "exec", "-X", "A" * 22, "true", DISPLAY="")
    assert told.code != 0
    assert "DISPLAY is not set" in told.err
