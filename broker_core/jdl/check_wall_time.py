"""How long a job may run: WallTime and its other names."""

from __future__ import annotations

import re

from broker_core.jdl.reading import Reading

KEYS = ("walltime", "maxwalltime", "walltimelimit")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_CLOCK = re.compile(r"(?:(\d{1,6})-)?(\d{1,9}):([0-5]?\d)(?::([0-5]?\d))?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([smhd]?)", re.ASCII)


def seconds(value: object) -> float | None:
    """Seconds from a number or a text such as `01:30:00`, `2-12:00`, `90m` or `2h`; None from others."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return float(days * 86400 + hours * 3600 + minutes * 60 + rest)
    if amount := _AMOUNT.fullmatch(text):
        return float(amount[1]) * _UNITS[amount[2] or "s"]
    return None


def wall_limit(reading: Reading) -> float | None:
    """Seconds after which the job is ended; None if the description sets no limit."""
    found: float | None = None
    for key in KEYS:
        if not reading.has(key):
            continue
        value = seconds(reading.value(key))
        name = reading.ad.entries[key].name
        if value is None or not 0 < value < 1e10:
            message = f'{name} must be a time above 0: seconds, or a text such as "01:30:00" or "90m".'
            reading.error("wall-time-format", message, key)
        elif found is not None and found != value:
            reading.error(
                "wall-times-differ", f"{name} differs from the other wall time given; leave out one.", key
            )
        else:
            found = value
    return found
