"""The settings of a site as a form: for a site that was found, and to change one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.sites.adding.found_text import queue_words
from app.widgets.labels import label
from app.widgets.number_entry import NumberEntry
from broker_core.wire.sites import SiteSpec

if TYPE_CHECKING:
    from broker_core.wire.sites import QueueFound

_LINE = 26
_MINUTE = 60
_USUAL = SiteSpec.model_fields["list_interval"].default
_USUALLY = f"{_USUAL:g} s, as usual"
_COUNTING = ("slurm", "sge", "pbs", "lsf", "condor")
"""Kinds whose centers count commands."""


class SpecForm(QWidget):
    """Name and queues in sight, the rest behind one button; `spec` reads it."""

    changed = Signal()

    def __init__(self, spec: SiteSpec, queues: Sequence[QueueFound] = (), new: bool = True) -> None:
        super().__init__()
        self._spec, self._found = spec, list(queues)
        self.name = QLineEdit(spec.name)
        self.queues, self.queue_names = QListWidget(), QLineEdit(", ".join(spec.queues))
        self.directory = QLineEdit(spec.directory, placeholderText="~/.crossdesk")
        self.options = QLineEdit(shlex.join(spec.options), placeholderText="for example --account=phys")
        self.variables = QPlainTextEdit("\n".join(f"{k}={v}" for k, v in spec.environment.items()))
        self.max_jobs = _spin(spec.max_jobs, "no limit", 1_000_000)
        self.lease = _spin(_minutes(spec.lease), "none: jobs run on", 100_000, " min")
        self.cluster = QLineEdit(spec.cluster, placeholderText="the host's own")
        self.list_interval = _spin(_seconds(spec.list_interval), _USUALLY, 3600, " s")
        self.jump, self.proxy, self.trust = QLineEdit(spec.jump), QLineEdit(spec.proxy), QLineEdit(spec.trust)
        self.outside = QCheckBox("Show jobs submitted outside CrossDesk")
        self.outside.setChecked(spec.outside)
        self.reachable = QCheckBox("Nodes can be called from other sites")
        self.reachable.setChecked(spec.reachable)
        self.more = QPushButton("More settings")
        self.fault = label(role="negative", wrap=True)
        self.name.setEnabled(new)
        self._fill_queues()
        self._lay_out()
        self._names()
        self.name.textChanged.connect(lambda _: self.tell(""))

    # --- making

    def _fill_queues(self) -> None:
        wanted = set(self._spec.queues)
        for one in self._found:
            item = QListWidgetItem(f"{one.name}    {queue_words(one)}")
            item.setData(Qt.ItemDataRole.UserRole, one.name)
            item.setFlags(
                Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
            )
            on = one.name in wanted if wanted else one.open
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
            item.setSizeHint(QSize(0, _LINE))
            self.queues.addItem(item)
        self.queues.setFixedHeight(_LINE * min(5, max(1, len(self._found))) + 2)

    def _lay_out(self) -> None:
        self.more.setProperty("kind", "quiet")
        self.more.setCheckable(True)
        self.more.setStyleSheet("text-align: left; padding-left: 0;")
        self.variables.setFixedHeight(64)
        self.variables.setTabChangesFocus(True)
        self.variables.setPlaceholderText("NAME=value, one a line")
        top = _rows(("Name", self.name), ("Queues", self.queues if self._found else self.queue_names))
        self.queue_names.setPlaceholderText("all that are open")
        self.rest = QWidget()
        self.rest.setLayout(_rows(
            ("Directory there", self.directory), ("Submit options", self.options),
            ("Variables", self.variables),
            ("Most jobs at once", self.max_jobs), ("Lease", self.lease),
            *((("Batch system asked every", self.list_interval),) if self._spec.kind in _COUNTING else ()),
            *((("Cluster", self.cluster),) if self._spec.kind == "slurm" else ()),
            ("Other jobs", self.outside),
            *((("Network", self.reachable),) if not self._spec.url else ()),
            *((("Jump host", self.jump),) if self._spec.host else ()),
            *((("Proxy file", self.proxy), ("Authorities", self.trust)) if self._spec.url else ()),
        ))  # fmt: skip
        self.rest.hide()
        self.more.toggled.connect(self.rest.setVisible)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.rest)
        column.addWidget(self.fault)
        column.addStretch(1)
        self.fault.hide()

    def _names(self) -> None:
        for field, name, tip in (
            (self.name, "Name of the site", "Lower-case letters, digits, dots and dashes"),
            (self.queues, "Queues to use", ""),
            (self.queue_names, "Queues to use", "Names separated by commas; empty: all that are open"),
            (self.directory, "Directory there", "An absolute directory that the nodes see too"),
            (self.options, "Submit options", "Words added to each submission"),
            (self.variables, "Variables", "Set before each command at the site, and for its jobs"),
            (self.max_jobs, "Most jobs at once", "Your jobs there, waiting and running together"),
            (self.lease, "Lease", "Without contact for so long the site ends a running job itself"),
            (
                self.list_interval,
                "Batch system asked every",
                "Between two questions after all jobs (squeue); sooner while you look at one that waits",
            ),
            (self.cluster, "Cluster", "The Slurm cluster to use of several that the host serves (-M)"),
            (self.outside, "Show jobs submitted outside CrossDesk", "Of the account that is used there"),
            (
                self.reachable,
                "Nodes can be called from other sites",
                "As one MPI job over several sites needs it: without a firewall or private addresses between",
            ),
            (self.jump, "Jump host", "user@host:port; empty: as the SSH configuration says"),
            (self.proxy, "Proxy file", "The file with your X.509 credential"),
            (
                self.trust,
                "Authorities",
                "Directory or file with the authorities to trust; empty: as grid hosts do",
            ),
        ):
            field.setAccessibleName(name)
            field.setToolTip(tip)

    # --- reading

    def spec(self) -> SiteSpec | None:
        """Return what the form says; None when something is wrong, which is then told in the form."""
        try:
            made = SiteSpec.model_validate(self._spec.model_dump() | self._values())
        except ValidationError as error:
            self.tell(_fault(error))
            return None
        except ValueError as error:
            self.tell(str(error))
            return None
        self.tell("")
        return made

    def _values(self) -> dict[str, object]:
        try:
            options = shlex.split(self.options.text())
        except ValueError as error:
            raise ValueError("Submit options: a quotation mark is not closed.") from error
        return {
            "name": self.name.text().strip(),
            "queues": self._chosen_queues(),
            "directory": self.directory.text().strip(),
            "options": options,
            "environment": _variables(self.variables.toPlainText()),
            "max_jobs": self.max_jobs.value(),
            "lease": self._lease(),
            "outside": self.outside.isChecked(),
            "reachable": self.reachable.isChecked(),
            "cluster": self.cluster.text().strip(),
            "list_interval": self._list_interval(),
            "jump": self.jump.text().strip(),
            "proxy": self.proxy.text().strip(),
            "trust": self.trust.text().strip(),
        }

    def _lease(self) -> float:
        """Seconds; those of a lease that is not touched need not be whole minutes."""
        shown, before = self.lease.value(), self._spec.lease
        return before if shown == _minutes(before) else float(shown * _MINUTE)

    def _list_interval(self) -> float:
        shown, before = self.list_interval.value(), self._spec.list_interval
        return before if shown == _seconds(before) else float(shown or _USUAL)

    def _chosen_queues(self) -> list[str]:
        if not self._found:
            return [one.strip() for one in self.queue_names.text().split(",") if one.strip()]
        items = [self.queues.item(row) for row in range(self.queues.count())]
        chosen = [
            one.data(Qt.ItemDataRole.UserRole) for one in items if one.checkState() is Qt.CheckState.Checked
        ]
        if not chosen:
            raise ValueError("Choose at least one queue.")
        usual = [one.name for one in self._found if one.open]
        return [] if chosen == usual else chosen

    def tell(self, fault: str) -> None:
        """Say what is wrong; empty: nothing."""
        self.fault.setText(fault)
        self.fault.setVisible(bool(fault))


def _rows(*rows: tuple[str, QWidget]) -> QFormLayout:
    form = QFormLayout()
    form.setContentsMargins(0, 0, 0, 0)
    form.setHorizontalSpacing(16)
    form.setVerticalSpacing(8)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    for name, field in rows:
        form.addRow(label(name, "muted"), field)
    return form


def _spin(value: int, none: str, most: int, suffix: str = "") -> NumberEntry:
    made = NumberEntry(maximum=most, suffix=suffix)
    made.setSpecialValueText(none)
    made.setValue(value)
    return made


def _seconds(interval: float) -> int:
    """As shown; 0 for the usual interval."""
    return 0 if interval == _USUAL else max(1, round(interval))


def _minutes(lease: float) -> int:
    return max(1, round(lease / _MINUTE)) if lease else 0


def _variables(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"“{line}” is no variable: write NAME=value.")
        found[name] = value
    return found


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["loc"][:1] == ("name",):
        return "A name has lower-case letters, digits, dots and dashes, and begins with a letter or digit."
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."
