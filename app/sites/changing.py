"""Changing the settings of a site that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.context import Notice, Tone
from app.sites.spec_form import SpecForm
from app.widgets.labels import label
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.sites import SiteSpec, SiteView


class ChangeSite(QDialog):
    """The form of the settings with Save; jobs that are there are not touched."""

    def __init__(self, context: AppContext, site: SiteView, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setWindowTitle(f"Change {site.spec.name}")
        self.setObjectName("change-site")
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 540)
        self.form = SpecForm(site.spec, new=False)
        self.form.more.setChecked(True)
        self.form.more.hide()
        self.save, self.cancel = QPushButton("Save"), QPushButton("Cancel")
        self.save.setDefault(True)
        self.cancel.setAutoDefault(False)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(self.form)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(f"Change {site.spec.name}", "title"))
        column.addWidget(label("Jobs that are there now are not touched.", "muted", wrap=True))
        column.addWidget(area, 1)
        column.addLayout(foot)
        self.cancel.clicked.connect(self.reject)
        self.save.clicked.connect(self._save)

    def _save(self) -> None:
        spec = self.form.spec()
        if spec is not None:
            self.save.setEnabled(False)
            self._context.run(self._change(spec), f"changing {spec.name}")

    async def _change(self, spec: SiteSpec) -> None:
        try:
            await self._context.client.change_site(spec)
        except CrossDeskError as error:
            self.form.tell(str(error))
            self.save.setEnabled(True)
            return
        self._context.notify(Notice(f"The settings of {spec.name} were changed.", Tone.GOOD))
        self._context.sites.reload()
        self.accept()
