"""Aliases of the user's SSH configuration, for completion. Nothing else of it is read."""

from __future__ import annotations

import shlex
from pathlib import Path

_DEEPEST = 4
_MOST_FILES = 100


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
