"""`crossdesk-relay` as a shell calls it: help, settings, and a service that starts."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from broker_core.interactive.relay.configure import SERVICE, SETTINGS
from broker_core.interactive.relay.relay import main
from broker_core.interactive.relay.service import service
from tests.testbed.ports import free_port
from tests.waiting import wait_until

SETTINGS_FOR_ALL, PYTHON_FOR_ALL, CODE_FOR_ALL = Path("/etc/os-release"), Path("/bin/sh"), Path("/usr/share")
"""Not what they are named after, but files and a folder that every Linux lets everybody read."""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The folder of a package that only its owner may read."""
    folder = tmp_path / "own" / "broker_core"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o700)
    return folder


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", ["serve", "configure", "encrypted from end to end"]),
        ("serve", ["--settings", "--idle-exit", "20000", "SIGTERM"]),
        ("configure", ["--directory", "crossdesk-relay.service", "broker.toml"]),
    ],
)
def test_the_help_says_what_each_command_does(
    command: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*([command] if command else []), "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert [word for word in words if word not in said] == []


def test_a_missing_folder_is_made_and_one_that_cannot_be_is_told_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["configure", "--directory", str(tmp_path / "new" / "er")]) == 0
    assert (tmp_path / "new" / "er" / SETTINGS).exists()
    (tmp_path / "file").touch()
    assert main(["configure", "--directory", str(tmp_path / "file" / "x")]) == 1
    assert "--directory" in capsys.readouterr().err


def test_a_file_that_exists_stops_it_before_the_other_is_written(tmp_path: Path) -> None:
    (tmp_path / SERVICE).touch()
    assert main(["configure", "--directory", str(tmp_path)]) == 1
    assert not (tmp_path / SETTINGS).exists()


def test_a_program_that_all_may_read_gets_a_user_of_its_own() -> None:
    made = service(SETTINGS_FOR_ALL, 443, PYTHON_FOR_ALL, CODE_FOR_ALL)
    assert "DynamicUser=yes" in made.text
    assert "AmbientCapabilities=CAP_NET_BIND_SERVICE" in made.text
    assert made.remark == ""


def test_a_program_of_one_user_runs_as_that_user_and_sees_its_files(code: Path) -> None:
    made = service(SETTINGS_FOR_ALL, 20000, PYTHON_FOR_ALL, code)
    assert f"User={code.owner()}\n" in made.text
    assert "DynamicUser" not in made.text
    assert "PrivateTmp" not in made.text
    assert "/opt" in made.remark


def test_words_of_the_service_mean_themselves_to_systemd(tmp_path: Path) -> None:
    settings = tmp_path / "50% $HOME.toml"
    settings.touch()
    text = service(settings, 20000, PYTHON_FOR_ALL, CODE_FOR_ALL).text
    assert f'--settings "{tmp_path}/50%% $$HOME.toml"' in text


def test_the_service_file_is_in_order_and_what_it_starts_answers(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    port = free_port()
    assert main(["configure", "--directory", str(folder), "--address", "127.0.0.1", "--port", str(port)]) == 0
    if verify := shutil.which("systemd-analyze"):
        told = subprocess.run(
            [verify, "verify", folder / SERVICE], capture_output=True, text=True, check=False
        )
        assert (told.returncode, told.stderr) == (0, "")
    settings = dict(line.split("=", 1) for line in (folder / SERVICE).read_text().splitlines() if "=" in line)
    words = shlex.split(settings["ExecStart"])
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", *words]
    with subprocess.Popen(
        words, cwd=settings["WorkingDirectory"], env={"PATH": os.defpath}, stderr=subprocess.DEVNULL
    ) as relay:
        try:
            wait_until(lambda: _answer(port).startswith(b"NO this is a relay"))
        finally:
            relay.terminate()


def _answer(port: int) -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as line:
            line.sendall(b"?\n")
            return line.recv(100)
    except OSError:
        return b""
