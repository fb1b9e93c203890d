"""Windows of programs on the node, shown at the desk (CB-I2G-03)."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.interactive.test_command_line import job

__all__ = ["job"]
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.display,
]


def give(file: Path, display: str, cookie: str) -> None:
    subprocess.run(["xauth", "-q", "-f", str(file), "add", display, ".", cookie], check=True)


@pytest.fixture
def display(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A display that lets in who has the cookie, with the variables to use it."""
    cookie, cookies = secrets.token_hex(16), tmp_path / "cookies"
    give(cookies, ":0", cookie)
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-auth", str(cookies)]
    server = subprocess.Popen(
        [*words, "-nolisten", "tcp", "-noreset"], pass_fds=(writer,), stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader) as stream:
        name = f":{stream.readline().strip()}"
    give(cookies, name, cookie)
    yield {"DISPLAY": name, "XAUTHORITY": str(cookies)}
    server.terminate()
    server.wait(60)


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
