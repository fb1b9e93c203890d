"""The files that come with the program: icons, fonts, themes, samples, help. The only door to them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

PACKAGE = "crossdesk_resources"


@cache
def _root() -> Traversable:
    """Return the installed package, or the folder beside this one when run from a source tree."""
    beside = Path(__file__).resolve().parents[2] / "resources"
    if (beside / "__init__.py").is_file():
        return beside
    return resources.files(PACKAGE)


def data(path: str) -> bytes:
    """Return the bytes of a shipped file; `path` is relative, with `/` between its parts."""
    return _root().joinpath(*path.split("/")).read_bytes()


def text(path: str) -> str:
    """Return the text of a shipped UTF-8 file."""
    return data(path).decode("utf-8")


def exists(path: str) -> bool:
    """Return True if there is such a shipped file."""
    return _root().joinpath(*path.split("/")).is_file()


def folder(path: str) -> Path:
    """Return a shipped folder as a real directory; packages are always installed unpacked."""
    return Path(str(_root().joinpath(*path.split("/"))))
