"""The gate before the API: only the broker's own user, and no request larger than allowed (CB-UAM-03, 04)."""

from __future__ import annotations

import os
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker_core.broker.api.listener import user_name
from broker_core.broker.api.responses import error_response
from broker_core.errors import CrossDeskError, NotAuthorized, RequestTooLarge


class Authentication:
    """Wraps the application; puts the peer's user name into the request's state as `owner`."""

    def __init__(self, application: ASGIApp, request_max: int) -> None:
        self._application = application
        self._request_max = request_max
        self._uid = os.getuid()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        uid = scope["state"].get("uid", -1)
        if uid != self._uid:
            await _refuse(NotAuthorized("This broker belongs to another user."), scope, receive, send)
            return
        scope["state"]["owner"] = user_name(uid)
        if _is_upload(scope):
            await self._application(scope, receive, send)
        elif _length(scope) > self._request_max:
            await _refuse(_too_large(self._request_max), scope, receive, send)
        else:
            await self._application(scope, _Counted(receive, self._request_max), send)


class _Counted:
    """Receives a body, and gives up where it grows too large."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._seen = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._most:
            raise _too_large(self._most)
        return message


def _too_large(most: int) -> RequestTooLarge:
    return RequestTooLarge(
        f"The request is too large; at most {most:,} bytes are accepted.", remedy="Send less at once."
    )


def _is_upload(scope: Scope) -> bool:
    return scope["method"] == "PUT" and str(scope["path"]).startswith("/v1/files/")


def _length(scope: Scope) -> int:
    found: list[Any] = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(found[0]) if found and found[0].isdigit() else 0


async def _refuse(error: CrossDeskError, scope: Scope, receive: Receive, send: Send) -> None:
    await error_response(error)(scope, receive, send)
