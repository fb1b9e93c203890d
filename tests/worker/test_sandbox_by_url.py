"""The Job Starter gets the input and sends the output itself, from and to where it is told (CB-JS-02)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.contract import FetchedFile, InputFile, SiteRefused
from broker_core.sites.starting import StarterSettings, starter_variables
from broker_core.worker.encoding import encode
from broker_core.worker.markers import EndedMark, read_ended
from broker_core.worker.script import starter_path
from tests.worker.starting import SHELLS, plain_order


class _Files(BaseHTTPRequestHandler):
    """Gives and takes the files of a folder."""

    folder: Path

    def do_GET(self) -> None:
        place = self.folder / self.path.partition("?")[0].lstrip("/")
        content = place.read_bytes() if place.is_file() else b""
        self.send_response(200 if place.is_file() else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        there = self.folder.is_dir()
        if there:
            (self.folder / self.path.lstrip("/")).write_bytes(content)
        self.send_response(201 if there else 507)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *said: object) -> None:
        """Nothing is said of it."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the URL under which a server gives it."""
    folder = tmp_path / "store"
    folder.mkdir()
    handler = type("Handler", (_Files,), {"folder": folder})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=[pytest.param("http", marks=pytest.mark.tools), "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A folder, and the URL under which a node reaches it."""
    if request.param == "http":
        web: tuple[Path, str] = request.getfixturevalue("web")
        return web
    folder = tmp_path / "store"
    folder.mkdir()
    return folder, f"file://{folder}"


def run(tmp_path: Path, url: str, script: str) -> tuple[int, EndedMark]:
    """One run; its exit status and the marker."""
    directory = tmp_path / "attempt"
    directory.mkdir()
    order = replace(
        plain_order("sh", "-c", script),
        attempt=Component(f"j{os.getpid()}", 2),
        inputs=(InputFile("data.txt", Path("data.txt"), False),),
        outputs=("result.txt", "out"),
    )
    given = starter_variables(order, StarterSettings(str(directory)))
    given |= {"__input_base_url": encode(url), "__output_base_url": encode(url)}
    given |= {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(["sh", str(starter_path())], env=given, check=False, timeout=120)
    mark = read_ended(directory)
    assert mark is not None
    return done.returncode, mark


def test_input_is_fetched_and_output_sent_by_the_starter(tmp_path: Path, store: tuple[Path, str]) -> None:
    folder, url = store
    (folder / "data.txt").write_text("given")
    code, mark = run(tmp_path, url, "tr a-z A-Z <data.txt >result.txt; echo said; exit 3")
    assert (code, mark.exit_code, mark.failure) == (3, 3, "")
    assert (folder / "result.txt").read_text() == "GIVEN"
    assert (folder / "out").read_text() == "said\n"


def test_input_that_is_not_there_starts_nothing(tmp_path: Path, store: tuple[Path, str]) -> None:
    folder, url = store
    code, mark = run(tmp_path, url, "echo ran >result.txt")
    assert (code, mark.failure, mark.exit_code) == (220, "download", None)
    assert "data.txt could not be fetched from" in mark.reason
    assert not (folder / "result.txt").exists()


def test_output_that_cannot_be_sent_is_told_with_the_exit_code(
    tmp_path: Path, store: tuple[Path, str]
) -> None:
    folder, url = store
    (folder / "data.txt").write_text("given")
    code, mark = run(tmp_path, url, f"echo made >result.txt; rm -r {folder}; exit 4")
    assert (code, mark.exit_code, mark.failure) == (223, 4, "upload")
    assert url in mark.reason


@pytest.fixture(params=["curl", "wget", "python3"])
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for PATH with the usual programs and one that fetches."""
    there = tmp_path / "bin"
    there.mkdir()
    for folder in (Path("/usr/bin"), Path("/bin")):
        for program in folder.iterdir():
            if program.name not in {"curl", "wget", "python3"} and not (there / program.name).is_symlink():
                (there / program.name).symlink_to(program)
    found = shutil.which(request.param)
    assert found, f"{request.param} is installed by packaging/components.sh"
    (there / request.param).symlink_to(found)
    return there


def fetched(tmp_path: Path, url: str, path: str, shell: Sequence[str] = ("sh",)) -> tuple[int, EndedMark]:
    """One run of a program that is fetched; its exit status and the marker."""
    directory = tmp_path / "attempt"
    directory.mkdir()
    order = replace(plain_order("./tool.sh"), fetched=(FetchedFile("tool.sh", url, True),))
    given = starter_variables(order, StarterSettings(str(directory))) | {"PATH": path}
    done = subprocess.run([*shell, str(starter_path())], env=given, check=False, timeout=120)
    mark = read_ended(directory)
    assert mark is not None
    return done.returncode, mark


@pytest.mark.tools
def test_a_file_comes_from_its_address_by_whatever_the_node_has(
    tmp_path: Path, web: tuple[Path, str], tool: Path
) -> None:
    folder, url = web
    (folder / "run.sh").write_text("#!/bin/sh\necho ran; exit 7\n")
    code, mark = fetched(tmp_path, f"{url}/run.sh?token=secret", str(tool))
    assert (code, mark.reason) == (7, "")
    assert (tmp_path / "attempt" / "job" / "out").read_text() == "ran\n"


@pytest.mark.tools
def test_what_cannot_be_fetched_is_told_without_passwords_and_tokens(
    tmp_path: Path, web: tuple[Path, str], tool: Path
) -> None:
    _, url = web
    where = url.replace("http://", "http://me:pass@")
    code, mark = fetched(tmp_path, f"{where}/gone@x?token=secret", str(tool))
    assert (code, mark.failure) == (220, "download")
    assert mark.reason.startswith(f"The input file tool.sh could not be fetched from {url}/gone@x: ")
    assert not {"me", "pass", "token", "secret"} & set(re.split(r"\W+", mark.reason))
    left = [path.read_bytes() for path in (tmp_path / "attempt").rglob("*") if path.is_file()]
    assert not any(b"secret" in content for content in left)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: Path(words[0]).name)
@pytest.mark.tools
def test_a_file_that_is_too_large_is_not_taken(
    tmp_path: Path, web: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, shell: list[str]
) -> None:
    folder, url = web
    (folder / "big").write_bytes(bytes(200_000))
    monkeypatch.setattr("broker_core.sites.starting.MOST_FETCHED", 100 << 10)
    code, mark = fetched(tmp_path, f"{url}/big", "/usr/bin:/bin", shell)
    assert (code, mark.failure) == (220, "download")
    assert mark.reason.endswith("/big: it has more than 100 KiB.")


def test_an_address_that_a_value_made_unfit_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(SiteRefused, match="no blanks, quotes"):
        fetched(tmp_path, 'http://h/x"\nupload-file = "/etc/passwd', "/bin")
