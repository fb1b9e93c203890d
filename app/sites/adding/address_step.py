"""First step of adding a site: where it is."""

from __future__ import annotations

import asyncio
import re
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.widgets.labels import label
from app.widgets.save_dialog import FileDialog
from broker_core.wire.sites import DetectRequest

if TYPE_CHECKING:
    from app.context import AppContext


_DEEPEST = 4
_MOST_FILES = 100
_BELOW_CHOICE = 24
"""Pixels by which the sentence about a choice stands behind its button."""
_HOST = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@\s/]+)@)?(?P<host>\[[^\]\s]+\]|[^@:\s/\[\]]+)(?::(?P<port>\d+))?/?$"
)
_URL = re.compile(r"https?://[^\s/]+(/\S*)?$")
SSH, HERE, ARC = range(3)
_KINDS = (
    ("A host that I reach by SSH", "A cluster's login host, or a machine without a batch system."),
    ("This machine's batch system", "Slurm, Grid Engine, PBS, LSF or HTCondor, whose commands work here."),
    ("An ARC grid site", "By its URL, with an X.509 proxy file."),
)


def ssh_aliases(config: Path | None = None) -> list[str]:
    """Return the hosts that `~/.ssh/config` and the files it includes name; patterns are left out.

    What cannot be read has no aliases: the name can still be written.
    """
    path = config or Path.home() / ".ssh" / "config"
    found: dict[str, None] = {}
    _read(path, path.parent, found, 0, [_MOST_FILES])
    return sorted(found)


def _read(path: Path, folder: Path, found: dict[str, None], depth: int, left: list[int]) -> None:
    if depth > _DEEPEST or left[0] <= 0:
        return
    left[0] -= 1
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        word, rest = _statement(line)
        if word == "host":
            found.update(dict.fromkeys(one for one in rest if not set(one) & set("*?!")))
        elif word == "include":
            for pattern in rest:
                for other in _matching(pattern, folder):
                    _read(other, folder, found, depth + 1, left)


def _statement(line: str) -> tuple[str, list[str]]:
    try:
        parts = shlex.split(line.replace("=", " ", 1), comments=True)
    except ValueError:
        return "", []
    return (parts[0].lower(), parts[1:]) if parts else ("", [])


def _matching(pattern: str, folder: Path) -> list[Path]:
    path = Path(pattern).expanduser()
    base = Path(path.anchor) if path.is_absolute() else folder
    wanted = str(path.relative_to(base)) if path.is_absolute() else str(path)
    return sorted(base.glob(wanted))


def read_address(text: str) -> dict[str, Any]:
    """Return fields of a DetectRequest for an alias, `user@host:port` or the URL of an ARC site.

    Raises ValueError with what is wrong, in words.
    """
    text = text.strip()
    if not text:
        raise ValueError("Write the name of a host.")
    if text.lower().startswith(("http://", "https://")):
        if not _URL.match(text):
            raise ValueError("This is no complete URL. It looks like https://arc.example.org/arex.")
        return {"url": text}
    found = _HOST.match(text)
    if found is None:
        raise ValueError(
            "This names no host. It looks like login.example.org, ann@login.example.org:2222 or an alias."
        )
    port = int(found["port"] or 0)
    if port > 65535:
        raise ValueError(f"{port} is no port: they end at 65535.")
    return {"host": found["host"].strip("[]"), "user": found["user"] or "", "port": port}


class WhereStep(QWidget):
    """One field and Return are enough for a host with an alias."""

    asked = Signal(object)
    """DetectRequest."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.kinds = QButtonGroup(self)
        self.host = QLineEdit(placeholderText="Alias, host or user@host:port")
        self.jump = QLineEdit(placeholderText="as the SSH configuration says")
        self.url = QLineEdit(placeholderText="https://arc.example.org/arex")
        self.proxy = QLineEdit(placeholderText="the usual one, /tmp/x509up_u…")
        self.trust = QLineEdit(placeholderText="those that grid hosts, or else this one, trust")
        self.fault = label(role="negative", wrap=True)
        self.aliases = QStringListModel(self)
        self.fields = QStackedWidget()
        self._lay_out()
        self._complete()
        self.kinds.idClicked.connect(self._turn)
        for field in (self.host, self.jump, self.url, self.proxy, self.trust):
            field.textChanged.connect(lambda _: self.tell(""))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for place, (name, about) in enumerate(_KINDS):
            button = QRadioButton(name)
            button.setAccessibleDescription(about)
            self.kinds.addButton(button, place)
            column.addWidget(button)
            sentence = label(about, "small", wrap=True)
            sentence.setContentsMargins(_BELOW_CHOICE, 0, 0, 8)
            column.addWidget(sentence)
        self.kinds.button(SSH).setChecked(True)
        column.addSpacing(12)
        self._fill_fields()
        column.addWidget(self.fields)
        column.addWidget(self.fault)
        column.addStretch(1)
        self.fault.hide()

    def _fill_fields(self) -> None:
        note = label(
            "It is looked for with the commands that are found here; nothing is to be said.",
            "muted",
            wrap=True,
        )
        self.fields.addWidget(_fields(("Host", self.host), ("Jump host, if any", self.jump)))
        self.fields.addWidget(_fields(("", note)))
        choose = QPushButton("Choose…")
        choose.setAccessibleName("Choose the proxy file")
        choose.clicked.connect(self._choose_proxy)
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.proxy, 1)
        row.addWidget(choose)
        self.fields.addWidget(
            _fields(
                ("URL of the site", self.url),
                ("Proxy file", line),
                ("Authorities, if not the usual ones", self.trust),
            )
        )
        for field, name in (
            *((self.host, "Host"), (self.jump, "Jump host")),
            *((self.url, "URL of the site"), (self.proxy, "Proxy file")),
            (self.trust, "Authorities"),
        ):
            field.setAccessibleName(name)

    def _complete(self) -> None:
        completer = QCompleter(self.aliases, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        offers = completer.popup()
        assert offers is not None  # made by the completer for this mode
        self._offers = offers
        offers.setProperty("role", "offers")
        offers.installEventFilter(self)
        self.host.setCompleter(completer)
        reading = self._context.run(self._read_aliases(), "reading the SSH configuration")
        self.destroyed.connect(lambda: reading.cancel())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return means what was typed where none of the offered aliases is chosen."""
        offers = self._offers
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if watched is not offers or offers.currentIndex().isValid():
            return False
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        offers.hide()
        self.look()
        return True

    async def _read_aliases(self) -> None:
        self.aliases.setStringList(await asyncio.to_thread(ssh_aliases))

    def _turn(self, kind: int) -> None:
        self.tell("")
        self.fields.setCurrentIndex(kind)
        self.take_focus()

    def take_focus(self) -> None:
        """Give the keyboard to the field that is to be filled."""
        kind = self.kinds.checkedId()
        (self.host, self.kinds.button(HERE), self.url)[kind].setFocus()

    def _choose_proxy(self) -> None:
        dialog = FileDialog(
            self, "Choose the proxy file", str(Path(self.proxy.text() or tempfile.gettempdir()))
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.proxy.setText)
        dialog.open()

    def look(self) -> None:
        """Ask for what is there, if the fields make sense."""
        try:
            self.asked.emit(self.request())
        except ValueError as error:
            self.tell(str(error))

    def request(self) -> DetectRequest:
        """Return what is to be looked at; raises ValueError with what is wrong."""
        kind = self.kinds.checkedId()
        if kind == HERE:
            return DetectRequest()
        if kind == ARC:
            text = self.url.text().strip()
            if "://" not in text:
                raise ValueError("Write the URL of the site, such as https://arc.example.org/arex.")
            return DetectRequest(
                **read_address(text), proxy=self.proxy.text().strip(), trust=self.trust.text().strip()
            )
        return DetectRequest(**read_address(self.host.text()), jump=self.jump.text().strip())

    def tell(self, fault: str) -> None:
        """Say what is wrong with the fields; empty: nothing."""
        self.fault.setText(fault)
        self.fault.setVisible(bool(fault))


def _fields(*rows: tuple[str, QWidget]) -> QWidget:
    made = QWidget()
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    for name, field in rows:
        if name:
            column.addWidget(label(name, "muted"))
        column.addWidget(field)
        column.addSpacing(4)
    column.addStretch(1)
    return made
