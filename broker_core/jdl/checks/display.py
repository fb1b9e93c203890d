"""The screen that a description asks for."""

from __future__ import annotations

import re

from broker_core.jdl.checks.kind import DescriptionKind
from broker_core.jdl.reading import Reading

_KEY = "interactivedisplay"
_SIZE = re.compile(r"(\d{1,5}) ?[xX×] ?(\d{1,5})", re.ASCII)
_LEAST, _MOST = 64, 4096
"""Pixels of a side."""


def size(reading: Reading, kind: DescriptionKind) -> tuple[int, int] | None:
    """Width and height of the job's virtual screen in pixels; None where it has none."""
    text = reading.string(_KEY)
    if not reading.has(_KEY) or not isinstance(reading.value(_KEY), str):
        return None
    found = _SIZE.fullmatch(text.strip())
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(_LEAST <= side <= _MOST for side in sides):
        message = (
            'InteractiveDisplay is the size of a screen in pixels, as in "1024x768";'
            f" each side has {_LEAST} to {_MOST}."
        )
        reading.error("display-size", message, _KEY)
        return None
    if not kind.interactive:
        message = (
            "InteractiveDisplay has no meaning for a job that is not interactive; set Interactive = true."
        )
        reading.warning("attribute-without", message, _KEY)
    return sides
