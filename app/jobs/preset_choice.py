"""The choice of a preset in sheets about jobs: what they need, under a name of the user's."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox

from app.stores.named_texts import NamedTexts
from broker_core.client.printable import printable


class PresetChoice(QComboBox):
    """All presets; the first entry keeps what is asked for already."""

    def __init__(self, as_it_is: str) -> None:
        super().__init__()
        self.setAccessibleName("Preset of what it needs")
        self.addItem(as_it_is, "")

    def offer(self, presets: NamedTexts) -> bool:
        """Offer these presets; False if there are none."""
        for one in presets.all:
            self.addItem(printable(one.name), one.text)
        return bool(presets.all)

    @property
    def chosen(self) -> str:
        """Text of the preset that was chosen; empty: none."""
        return str(self.currentData() or "")
