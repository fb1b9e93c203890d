"""The glossary: every name in it is one of the sources, or stands in its list of those on their way."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.architecture.modules import Module
from tests.architecture.names import defined_names
from tests.packaging.sources import ROOT

PAGE = ROOT / "broker_core" / "GLOSSARY.md"
_ROW = re.compile(r"^\| `([^`]+)` \|(.*)\|(.*)\|$", re.M)
_CODE = re.compile(r"`([A-Za-z_]\w*)`")
_LIST = "## Names on their way\n"


def rows(page: str) -> list[tuple[str, str, str]]:
    """Name, meaning and source of every word."""
    return [(name, meaning.strip(), source.strip()) for name, meaning, source in _ROW.findall(page)]


def on_their_way(page: str) -> list[str]:
    """Names of the list at the end."""
    return _CODE.findall(page.partition(_LIST)[2])


def names_in(page: str, modules: Sequence[Module]) -> tuple[set[str], set[str]]:
    """Of the names in the page's table: those that the sources define, and those that they do not."""
    named = {name for name, _, _ in rows(page)}
    known = {name.text for name in defined_names(modules)} | {
        part for module in modules for part in module.name.split(".")
    }
    return named & known, named - known


def renew(modules: Sequence[Module], file: Path = PAGE) -> None:
    """Take names that came off the list of those on their way; once it is empty, its section goes too."""
    page = file.read_text()
    missing = names_in(page, modules)[1] & set(on_their_way(page))
    head, _, rest = page.partition(_LIST)
    words = rest.partition(":\n")[0]
    listed = textwrap.fill(", ".join(f"`{name}`" for name in sorted(missing, key=str.lower)), 110)
    file.write_text(f"{head}{_LIST}{words}:\n\n{listed}.\n" if missing else head.rstrip() + "\n")
