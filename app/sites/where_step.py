"""First step of adding a site: where it is."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCompleter,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.inspector.labels import label
from app.sites.address import read_address
from app.sites.aliases import ssh_aliases
from broker_core.wire.sites import DetectRequest

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk

SSH, HERE, ARC = range(3)
_KINDS = (
    ("A host that I reach by SSH", "A cluster's login host, or a machine without a batch system."),
    ("This machine's batch system", "Slurm, Grid Engine, PBS, LSF or HTCondor, whose commands work here."),
    ("An ARC grid site", "By its URL, with an X.509 proxy file."),
)


class WhereStep(QWidget):
    """One field and Return are enough for a host with an alias."""

    asked = Signal(object)
    """DetectRequest."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self._desk = desk
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
            button.setToolTip(about)
            button.setAccessibleDescription(about)
            self.kinds.addButton(button, place)
            column.addWidget(button)
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
        completer.popup().setProperty("role", "offers")
        completer.popup().installEventFilter(self)
        self.host.setCompleter(completer)
        self._desk.run(self._read_aliases(), "reading the SSH configuration")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return means what was typed where none of the offered aliases is chosen."""
        offers = self.host.completer().popup()
        returned = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if watched is not offers or not returned or offers.currentIndex().isValid():
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
        dialog = QFileDialog(
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
