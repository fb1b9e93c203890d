"""Errors, warnings and where it goes, as lines with icons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.submission.draft import JobDraft
from app.theme.theme import Theme
from app.units import counted, size
from app.widgets.severity import SEVERITY_ICONS
from broker_core.client.prepare import Prepared
from broker_core.client.printable import printable
from broker_core.wire.matches import MatchReport

_MOST = 6

Remark = tuple[str, str]
"""Severity (error, warning, hint) and a sentence."""


def remarks_on(jobs: Sequence[JobDraft], prepared: Sequence[Prepared]) -> list[Remark]:
    """Errors and warnings of all descriptions, errors first; the job is named where there are several."""
    said = [
        (one.severity, f"{job.name}: {one.message}" if len(jobs) > 1 else one.message)
        for job, ready in zip(jobs, prepared, strict=True)
        for one in ready.diagnostics
        if one.severity != "hint"
    ]
    for job in jobs:
        for one in job.translation.refusals if job.translation is not None else ():
            where = f"{job.name}, line {one.line}" if len(jobs) > 1 else f"Line {one.line}"
            said.append(("warning", printable(f"{where}: {one.option} is not possible. {one.why}")))
    return sorted(dict.fromkeys(said), key=lambda remark: list(SEVERITY_ICONS).index(remark[0]))


class RemarkList(QWidget):
    """A few lines; the rest is counted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: list[Remark] = []
        self._rows = QGridLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setColumnStretch(1, 1)
        self._rows.setVerticalSpacing(4)

    def show_remarks(self, remarks: Iterable[Remark]) -> None:
        """Show these in place of the old ones."""
        self.shown = list(remarks)
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for row, (severity, sentence) in enumerate(self.shown[:_MOST]):
            self._add(row, severity, sentence)
        if len(self.shown) > _MOST:
            rest = counted(len(self.shown) - _MOST, self.tr("more remark"), self.tr("more remarks"))
            self._add(_MOST, "hint", self.tr("and {0}; open it in the editor to see them").format(rest))
        self.setVisible(bool(self.shown))

    def _add(self, row: int, severity: str, sentence: str) -> None:
        icon, text = QLabel(), QLabel(sentence)
        icon.setPixmap(self._theme.icon(*SEVERITY_ICONS[severity]).pixmap(16, 16))
        icon.setAccessibleName(severity)
        text.setWordWrap(True)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._rows.addWidget(icon, row, 0, Qt.AlignmentFlag.AlignTop)
        self._rows.addWidget(text, row, 1)


def amount(prepared: Sequence[Prepared], jobs: int) -> str:
    """CPUs, files and bytes of all descriptions together, which make so many jobs."""
    cpus = {one.description.cpus for one in prepared if one.description is not None}
    each = f"{counted(cpus.pop(), 'CPU', 'CPUs')}{' each' if jobs > 1 else ''}" if len(cpus) == 1 else ""
    contents = {file.sha256: file.size for one in prepared for file in one.files}
    files = sum(len(one.files) for one in prepared)
    sent = (
        f"{counted(files, 'file', 'files')}, {size(sum(contents.values()))}" if files else "no files to send"
    )
    return " · ".join(part for part in (each, sent) if part)


def where(report: MatchReport) -> tuple[bool, str]:
    """Whether it can start somewhere, and a sentence on where it goes or why it will wait."""
    matching = [resource for resource in report.resources if resource.matches]
    if not matching:
        why = report.advice or next((one.reason for one in report.resources if one.reason), "")
        return False, f"It will wait: no resource matches now. {why}".strip()
    best = matching[0]
    sites = {resource.site for resource in matching}
    others = f", or {counted(len(sites) - 1, 'other site', 'other sites')}" if len(sites) > 1 else ""
    free = f"{best.free_cpus} of {counted(best.total_cpus, 'CPU', 'CPUs')} free"
    return True, f"Goes to {best.site} ({free}){others}."
