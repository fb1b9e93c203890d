"""A directory as one JSON file: readable in a review, and free of the paths of the machine that made it."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def packed(root: Path, names: Mapping[str, str]) -> str:
    """All that lies below `root`, in order. `names`: texts of this machine to what is written instead."""
    return json.dumps(list(_entries(root, names)), indent=1) + "\n"


def unpack(tree: Path, root: Path, names: Mapping[str, str]) -> None:
    """Lay a packed directory out below `root`. `names`: what was written instead to texts of this machine."""
    for entry in json.loads(tree.read_text(encoding="utf-8")):
        path = root / entry["path"]
        if "link" in entry:
            path.symlink_to(_renamed(entry["link"], names))
            continue
        if "pipe" in entry:
            os.mkfifo(path)
        elif "text" in entry:
            path.write_text(_renamed(entry["text"], names), encoding="utf-8")
        elif "bytes" in entry:
            path.write_bytes(base64.b64decode(entry["bytes"]))
        else:
            path.mkdir(parents=True, exist_ok=True)
        path.chmod(entry["mode"])


def _entries(root: Path, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(folder, name)
            found = path.lstat().st_mode
            entry: dict[str, Any] = {"path": str(path.relative_to(root))}
            if stat.S_ISLNK(found):
                yield entry | {"link": _renamed(os.readlink(path), names)}
                continue
            entry["mode"] = stat.S_IMODE(found)
            if stat.S_ISFIFO(found):
                yield entry | {"pipe": True}
                continue
            yield entry | (_content(path, names) if stat.S_ISREG(found) else {})


def _content(path: Path, names: Mapping[str, str]) -> dict[str, str]:
    raw = path.read_bytes()
    try:
        return {"text": _renamed(raw.decode(), names)}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(raw).decode()}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for before, after in names.items():
        text = text.replace(before, after)
    return text
