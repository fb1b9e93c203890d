"""Forwards of a real job: a port of this machine leads to a server that the job's shell started."""

from __future__ import annotations

import asyncio
import http.client
import socket
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.forwards.entry import WAYS, ForwardEntry, where_of
from app.console.forwards.panel import ForwardList, ForwardRow
from app.console.view import ConsoleView
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.client.interactive import ForwardView, SessionState
from tests.app.console.programs import SHELL, opened
from tests.app.inspector.recorded import TestContext
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually

SERVER = """import http.server
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print("served", "at", server.server_port, flush=True)
server.serve_forever()
"""


def fetched(address: str, path: str) -> bytes:
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    connection.request("GET", path)
    content = connection.getresponse().read()
    connection.close()
    return content


REQUEST = b"GET /numbers HTTP/1.0\r\n\r\n"


def answered(connection: socket.socket) -> bytes:
    connection.sendall(REQUEST)
    return b"".join(iter(lambda: connection.recv(65536), b""))


def by_socket(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(path))
        return answered(connection)


def by_socks(proxy: str, port: int) -> bytes:
    """As a browser asks a SOCKS 5 proxy for localhost:port."""
    host, own = proxy.rsplit(":", 1)
    with socket.create_connection((host, int(own)), 20) as connection:
        connection.sendall(b"\x05\x01\x00")
        assert connection.recv(2) == b"\x05\x00"
        connection.sendall(b"\x05\x01\x00\x03\x09localhost" + port.to_bytes(2, "big"))
        assert connection.recv(10)[:2] == b"\x05\x00"
        return answered(connection)


def test_a_server_of_the_job_is_reached_over_a_forward_and_its_bytes_are_counted(
    qapp: QApplication, running_broker: RunningBroker, tmp_path: Path
) -> None:
    (tmp_path / "serve.py").write_text(SERVER)
    (tmp_path / "numbers").write_text("".join(f"{number}\n" for number in range(20000)))

    async def scenario(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        screen = view.terminal.terminal.text
        await eventually(lambda: "ready>" in screen())
        QTest.keyClicks(view.terminal, f"cd {tmp_path}; python3 serve.py 2>log &")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "served at " in screen(), what="the server runs")
        port = screen().partition("served at ")[2].split()[0]
        view.toolbar.tools["forwards"].click()
        assert view.forwards.isVisible()
        QTest.keyClicks(view.forwards.entry.target, port)
        view.forwards.entry.add.click()
        await eventually(lambda: view.forwards.rows, what="the forward is listed")
        row = next(iter(view.forwards.rows.values()))
        address = row.shown.listen
        assert row.way.text() == f"{address} → localhost:{port}"
        content = await asyncio.to_thread(fetched, address, "/numbers")
        assert content == (tmp_path / "numbers").read_bytes()
        await eventually(lambda: row.shown.received > len(content), what="bytes are shown")
        await eventually(lambda: row.shown.connections == 0, what="the connection is over")
        row.copied.emit(address)
        assert QGuiApplication.clipboard().text() == address
        row.removed.emit(row.shown)
        await eventually(lambda: not view.forwards.rows, what="it is gone")
        with pytest.raises(OSError, match="refused"):
            await asyncio.to_thread(fetched, address, "/numbers")
        await by_socks_and_by_a_socket(view, int(port), content)
        await told_what_cannot_be_had(view.forwards)
        await ended_by_a_signal(view)

    async def by_socks_and_by_a_socket(view: ConsoleView, port: int, content: bytes) -> None:
        view.forwards.added.emit("dynamic", ("127.0.0.1", 0), "")
        view.forwards.added.emit("local", str(tmp_path / "way"), ("localhost", port))
        view.forwards.added.emit("remote", ("localhost", 0), ("127.0.0.1", 1))
        await eventually(lambda: len(view.forwards.rows) == 3, what="all are listed")
        kinds = {row.shown.kind: row for row in view.forwards.rows.values()}
        got = await asyncio.to_thread(by_socks, kinds["dynamic"].shown.listen, port)
        assert got.endswith(content)
        assert (await asyncio.to_thread(by_socket, tmp_path / "way")).endswith(content)
        assert "localhost:" in kinds["remote"].way.text()
        for row in kinds.values():
            row.removed.emit(row.shown)
        await eventually(lambda: not view.forwards.rows, what="they are gone")

    async def told_what_cannot_be_had(forwards: ForwardList) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            forwards.added.emit("local", taken.getsockname(), ("localhost", 1))
            await eventually(forwards.entry.problem.isVisible, what="a port that is taken is told")
            assert "It cannot listen here: Address already in use." in forwards.entry.problem.text()
        forwards.added.emit("local", ("127.0.0.1", 0), ("localhost", 1))
        await eventually(lambda: forwards.rows, what="a forward to nothing is listed")
        row = next(iter(forwards.rows.values()))
        with pytest.raises((OSError, http.client.HTTPException)):
            await asyncio.to_thread(fetched, row.shown.listen, "/")
        await eventually(row.problem.isVisible, what="its problem is told")
        assert "localhost:1" in row.problem.text()

    async def ended_by_a_signal(view: ConsoleView) -> None:
        view.toolbar.signal_chosen.emit("KILL")
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        assert "signal 9" in view.toolbar.told.text()
        assert not view.toolbar.signals.isEnabled()

    play(qapp, running_broker.state_dir, scenario)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("8888", ("localhost", 8888)),
        (" db.example.org:5432 ", ("db.example.org", 5432)),
        ("[::1]:80", ("::1", 80)),
        ("0", None),
        ("65536", None),
        ("host", None),
        ("a b:1", None),
        ("", None),
        ("/tmp/run/control.sock", "/tmp/run/control.sock"),
        ("./control.sock", "./control.sock"),
    ],
)
def test_a_target_is_a_port_a_host_and_a_port_or_a_socket(
    text: str, target: tuple[str, int] | str | None
) -> None:
    assert where_of(text, "localhost") == target


@pytest.mark.parametrize(
    ("way", "listen", "target", "asked"),
    [
        ("local", "", "8888", ("local", ("127.0.0.1", 0), ("localhost", 8888))),
        ("local", "/tmp/here.sock", "./there.sock", ("local", "/tmp/here.sock", "./there.sock")),
        ("remote", "9000", "db:5432", ("remote", ("localhost", 9000), ("db", 5432))),
        ("remote", "./node.sock", "80", ("remote", "./node.sock", ("127.0.0.1", 80))),
        ("dynamic", "1080", "", ("dynamic", ("127.0.0.1", 1080), "")),
        ("dynamic", "0", "", None),
        ("local", "", "host", None),
    ],
)
def test_a_forward_is_asked_for_as_it_is_written(
    qtbot: QtBot, way: str, listen: str, target: str, asked: tuple[object, ...] | None
) -> None:
    entry = ForwardEntry()
    qtbot.addWidget(entry)
    entry.show()
    heard: list[tuple[object, ...]] = []
    entry.added.connect(lambda *what: heard.append(what))
    entry.way.setCurrentIndex([one.kind for one in WAYS].index(way))
    entry.listen.setText(listen)
    entry.target.setText(target)
    entry.add.click()
    assert heard == ([] if asked is None else [asked])
    assert entry.problem.isVisible() == (asked is None)
    assert entry.target.isVisible() == (way != "dynamic")


def test_a_row_stays_while_its_counters_change(qapp: QApplication) -> None:
    shown = ForwardList(TestContext(Theme(qapp, Mode.LIGHT), None))
    shown.show_forwards((ForwardView("local", "127.0.0.1:9", "localhost:1", 0, 0, 0),))
    (row,) = shown.rows.values()
    shown.show_forwards((ForwardView("local", "127.0.0.1:9", "localhost:1", 2048, 1, 1, "no"),))
    assert next(iter(shown.rows.values())) is row
    assert isinstance(row, ForwardRow)
    assert row.told.text() == "From here · 2.0 KiB sent, 1 B received · 1 connection"
    assert row.problem.text() == "no"
    shown.deleteLater()
