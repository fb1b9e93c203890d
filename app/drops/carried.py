"""What a drag carries, read into paths or text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData

from app.drops.classify import classify
from app.drops.facts import look_at
from app.drops.plan import Deed, Plan, plan_for, plan_for_text
from broker_core.jdl.limits import DESCRIPTION_MAX

MOST_FILES = 1000
PRIVATE = "application/x-crossdesk-"
"""Beginning of the MIME types of the desk's own drags, which are not dropped on the window."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Paths, or else a text."""

    paths: tuple[Path, ...] = ()
    text: str = ""
    elsewhere: tuple[str, ...] = ()
    """Addresses that are not files of this machine."""

    def plan(self, on_editor: bool = False) -> Plan:
        """What dropping this does; looks at the files."""
        if len(self.paths) > MOST_FILES:
            why = f"More than {MOST_FILES:,} files at once; drop their folder instead."
            return Plan(Deed.REFUSE, why=why)
        if self.paths:
            return plan_for([classify(look_at(path)) for path in self.paths], on_editor)
        if self.elsewhere:
            return Plan(Deed.REFUSE, why="Only files of this machine can be dropped; download it first.")
        if len(self.text) > DESCRIPTION_MAX:
            return Plan(Deed.REFUSE, why="The text is too long; save it as a file and drop that.")
        return plan_for_text(self.text)


def read(mime: QMimeData) -> Carried | None:
    """What the drag carries; None if it is nothing for the desk, or a drag of its own."""
    if any(name.startswith(PRIVATE) for name in mime.formats()):
        return None
    if mime.hasUrls():
        urls = mime.urls()
        paths = tuple(Path(url.toLocalFile()) for url in urls if url.isLocalFile())
        elsewhere = tuple(url.toDisplayString() for url in urls if not url.isLocalFile())
        return Carried(paths, elsewhere=elsewhere)
    return Carried(text=mime.text()) if mime.hasText() else None
