"""Beginnings of descriptions for every kind of job; the texts are files in resources/templates."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP

from broker_core.client import package_data as shipped


@dataclass(frozen=True, slots=True)
class Template:
    """One template: its name in the menu, what it is for, its icon, and the file of its text."""

    name: str
    about: str
    icon: str
    file: str

    def text(self) -> str:
        """The description to start from."""
        return shipped.text(f"templates/{self.file}")


def _t(text: str) -> str:
    return str(QT_TRANSLATE_NOOP("Templates", text))


TEMPLATES: tuple[Template, ...] = (
    Template(_t("Program"), _t("One program that is there, on one CPU"), "play", "program.jdl"),
    Template(_t("Script"), _t("A script of yours with a data file"), "scroll-text", "script.jdl"),
    Template(_t("Parameter sweep"), _t("One job for each of many values"), "layers", "sweep.jdl"),
    Template(_t("MPI"), _t("One parallel program on one cluster"), "network", "mpi.jdl"),
    Template(_t("MPI over several clusters"), _t("Components of fixed size"), "share-2", "components.jdl"),
    Template(_t("Interactive"), _t("You steer it while it runs"), "terminal", "interactive.jdl"),
)
"""In the order of the menu."""
