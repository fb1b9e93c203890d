"""A secret of the broker in a file of its own that nobody else may read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def kept_secret(path: Path, make: Callable[[], bytes]) -> bytes:
    """What is kept there, made and on disk for good before it is first used."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        made, fresh = make(), path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(made)
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return made
