"""Pages that ask for a token, fetched as a browser does."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit


def fetched(address: str, cookie: str = "") -> tuple[int, bytes, dict[str, str]]:
    """Status, content and headers, as one request of a browser has them."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def page(address: str) -> bytes:
    """The page at an address with a token, by way of its cookie."""
    status, _, headers = fetched(address)
    assert status == 303
    parts = urlsplit(address)
    plain = f"{parts.scheme}://{parts.netloc}{headers['Location']}"
    assert fetched(plain)[0] == 403
    status, content, _ = fetched(plain, headers["Set-Cookie"].partition(";")[0])
    assert status == 200
    return content
