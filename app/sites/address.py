"""What a user writes to name a host, read into the fields of a question to the broker. Pure."""

from __future__ import annotations

import re
from typing import Any

_HOST = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@\s/]+)@)?(?P<host>\[[^\]\s]+\]|[^@:\s/\[\]]+)(?::(?P<port>\d+))?/?$"
)
_URL = re.compile(r"https?://[^\s/]+(/\S*)?$")


def read_address(text: str) -> dict[str, Any]:
    """Return fields of a DetectRequest for an alias, `user@host:port` or the URL of an ARC site.

    Raises ValueError with what is wrong, in words.
    """
    text = text.strip()
    if not text:
        raise ValueError("Write the name of a host.")
    if text.lower().startswith(("http://", "https://")):
        if not _URL.match(text):
            raise ValueError("This is no complete URL. It looks like https://arc.example.org/arex.")
        return {"url": text}
    found = _HOST.match(text)
    if found is None:
        raise ValueError(
            "This names no host. It looks like login.example.org, ann@login.example.org:2222 or an alias."
        )
    port = int(found["port"] or 0)
    if port > 65535:
        raise ValueError(f"{port} is no port: they end at 65535.")
    return {"host": found["host"].strip("[]"), "user": found["user"] or "", "port": port}
